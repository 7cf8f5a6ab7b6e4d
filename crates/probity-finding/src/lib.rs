//! Findings, edits and fixes as plain values, and applying fixes to a text.
//!
//! The one vocabulary that every capability reports in. Positions are byte offsets; [`LineIndex`]
//! turns them into lines and columns where a person or an editor asks for those.
//!
//! **Invariant:** values only: no IO, no serialization, no knowledge of Dockerfiles, agents or
//! models. Whatever crosses a wire is converted in the crate that owns the wire.
#![cfg_attr(not(test), warn(clippy::disallowed_methods, reason = "probity-finding is pure"))]

mod apply;
mod finding;
mod fingerprint;
mod fix;
mod line_index;
pub mod patch;
mod severity;
mod slice;
mod span;

pub use crate::{
    apply::{Applied, Skipped, apply},
    finding::{Finding, Related},
    fingerprint::Fingerprints,
    fix::{Applicability, Edit, Fix, Objective, Signal},
    line_index::{LineIndex, Position},
    severity::{Severity, UnknownSeverity},
    slice::TextSlice,
    span::Span,
};
