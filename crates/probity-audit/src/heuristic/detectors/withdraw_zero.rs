//! Withdraw zero: the handler defers to a withdrawal, and any withdrawal will do.

use super::{Class, Fact, HandlerPaths, Hit, Location, Project, Purpose, Risk, Root, View};

pub(super) const CLASS: Class = Class {
    name: "withdraw-zero",
    title: "Any withdrawal satisfies the check",
    severity: Risk::Critical,
    summary: "The handler leaves its checks to a withdrawal script and does not compare that \
              script's hash with a trusted one. An attacker withdraws from a script of their own.",
    recommendation: "Require the expected credential: \
                     `pairs.has_key(self.withdrawals, Script(logic_hash))` with a parameter.",
    detect,
};

fn detect(project: &Project<'_>, handler: &HandlerPaths<'_>) -> Vec<Hit> {
    if handler.purpose == Purpose::Govern {
        return open_certificates(project, handler).into_iter().collect();
    }
    if !matches!(handler.purpose, Purpose::Spend | Purpose::Mint) {
        return Vec::new();
    }
    let mut hits = Vec::new();
    for view in handler.views() {
        let Some(withdrawals) = view.transaction_field("withdrawals") else { continue };
        let about = view.facts_about(withdrawals);
        let named = about.iter().any(|fact| names_script(&view, fact));
        if named || view.has_unknown_checks() || view.looks_at("redeemers") {
            continue;
        }
        hits.extend(about.first().map(|fact| Hit::at(fact.origin)));
    }
    hits
}

/// Anyone may deregister the credential whose withdrawal the same validator relies on.
fn open_certificates(project: &Project<'_>, handler: &HandlerPaths<'_>) -> Option<Hit> {
    let is_open = handler.views().iter().any(|view| view.facts().next().is_none());
    let same = |other: &&HandlerPaths<'_>| {
        other.validator == handler.validator
            && matches!(other.purpose, Purpose::Spend | Purpose::Mint)
    };
    let relies = project
        .handlers
        .iter()
        .filter(same)
        .any(|other| other.views().iter().any(|view| view.looks_at("withdrawals")));
    let at = Location { file: handler.file, span: handler.body };
    (is_open && relies).then(|| Hit::at(at))
}

fn names_script(view: &View<'_, '_>, fact: &Fact) -> bool {
    // What another condition makes equal to a trusted value is that value.
    let parts = view.terms.parts(fact.term);
    let equal_to_trusted =
        view.facts().flat_map(|other| other.equality(view.terms)).any(|(side, other)| {
            parts.contains(&side)
                && view.terms.mentions_root(side, Root::Redeemer)
                && view.is_trusted(other)
        });
    equal_to_trusted
        || view.is_trusted(fact.term)
        || view.terms.mentions_root(fact.term, Root::PolicyId)
        || view.terms.mentions_root(fact.term, Root::OwnReference)
        || view.elements("inputs").iter().any(|input| view.terms.mentions(fact.term, *input))
}
