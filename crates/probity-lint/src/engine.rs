//! What runs the rules: what a rule is, which of them run, what suppresses or excludes a finding, and
//! the loop that fixes until nothing changes.

#[macro_use]
pub(crate) mod rule;
pub(crate) mod context;
pub(crate) mod detections;
pub(crate) mod directive;
pub(crate) mod elsewhere;
pub(crate) mod exclusion;
pub(crate) mod fix;
#[cfg(test)]
pub(crate) mod harness;
pub(crate) mod overlap;
pub(crate) mod own_rule;
pub(crate) mod parsed;
pub(crate) mod preset;
pub(crate) mod rejection;
pub(crate) mod ruleset;
pub(crate) mod suppress;
pub(crate) mod syntax;
pub(crate) mod template;
pub(crate) mod union;
pub(crate) mod uses;
