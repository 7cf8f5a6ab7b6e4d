//! The classes that syntax can decide: one file a class, and one line here.

mod arbitrary_datum;
mod double_satisfaction;
mod duplicate_signatories;
mod locked_value;
mod minting_policy;
mod missing_address_validation;
mod missing_signatory;
mod missing_utxo_authentication;
mod negative_amount;
mod oracle_freshness;
mod other_token_name;
mod own_input_confusion;
mod permissive_fallback;
mod rounding;
mod staking_control;
mod strict_value_equality;
mod time_handling;
mod unbounded_datum;
mod unbounded_inputs;
mod unbounded_value;
mod unvalidated_datum;
mod unvalidated_index;
mod unvalidated_reference_script;
mod withdraw_zero;

use super::{
    Hit, Project,
    evaluate::{HandlerPaths, Purpose},
    path::{Fact, FactSource},
    term::{Location, Node, Root, Selector, Term, Terms},
    tree::Operator,
    view::{AddressPart, View},
};
use crate::Risk;

/// What is reported about a class, and the code that decides it for one handler.
pub(super) struct Class {
    /// The id of its skill without the number.
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) severity: Risk,
    pub(super) summary: &'static str,
    pub(super) recommendation: &'static str,
    pub(super) detect: fn(&Project<'_>, &HandlerPaths<'_>) -> Vec<Hit>,
}

pub(super) const CLASSES: &[Class] = &[
    arbitrary_datum::CLASS,
    double_satisfaction::CLASS,
    duplicate_signatories::CLASS,
    staking_control::CLASS,
    locked_value::CLASS,
    minting_policy::CLASS,
    missing_address_validation::CLASS,
    missing_signatory::CLASS,
    missing_utxo_authentication::CLASS,
    negative_amount::CLASS,
    oracle_freshness::CLASS,
    other_token_name::CLASS,
    own_input_confusion::CLASS,
    permissive_fallback::CLASS,
    rounding::CLASS,
    strict_value_equality::CLASS,
    time_handling::CLASS,
    unbounded_datum::CLASS,
    unbounded_inputs::CLASS,
    unbounded_value::CLASS,
    unvalidated_datum::CLASS,
    unvalidated_index::CLASS,
    unvalidated_reference_script::CLASS,
    withdraw_zero::CLASS,
];

impl Hit {
    fn at(at: Location) -> Self {
        Self { at, detail: None }
    }
}

/// The first fact about a term: where the source says what it expects of it.
fn first_fact(view: &View<'_, '_>, term: Term) -> Location {
    view.facts_about(term).first().map_or(view.terms.origin(term), |fact| fact.origin)
}

/// Continuing outputs whose checks are all known.
fn known_continuing(view: &View<'_, '_>) -> Vec<Term> {
    let mut outputs = view.continuing_outputs();
    outputs.retain(|output| !view.used_whole(*output) && !view.may_be_checked_elsewhere(*output));
    outputs
}
