//! Shell text in; commands, words and findings with spans out.
//!
//! The only room that knows the shell parser crate: no type of it leaves here, so that the parser
//! can be replaced without touching a rule.
//!
//! **Invariant:** broken shell is a value with spans, never a failure. This crate opens no file,
//! reads no variable of the environment and starts no process.
#![cfg_attr(not(test), warn(clippy::disallowed_methods, reason = "probity-shell is pure"))]

mod breaks;
mod call;
mod check;
mod command;
mod dialect;
mod exec_form;
mod failure;
mod flat;
mod inner;
mod lexed;
mod limits;
mod lower;
mod optional_span;
mod parse;
mod scan;
mod script;
mod word;

pub use crate::{
    call::Call,
    check::{
        MAX_COMMANDS, MAX_EXPANSIONS, MAX_LENGTH, ShellChecked, ShellFinding, ShellLevel,
        Unchecked, check, shell_code_about, shell_codes,
    },
    command::{Assignment, Command, CommandPlace, HereDocument, Redirection, RedirectionKind},
    dialect::{Dialect, Invocation},
    exec_form::exec_form,
    limits::{MAX_DEPTH, MAX_OPERATORS, MAX_REREADS},
    parse::{parse, parse_mapped, parse_shared},
    script::{
        Block, BlockKind, Compound, CompoundKind, Joiner, Opaque, Pipeline, Script, ShellError,
        Stage, StageKind,
    },
    word::{Operation, Part, PartKind, Quote, Variable, Word},
};
