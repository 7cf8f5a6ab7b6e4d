//! What the answers and patches of agents are made of, shown on cases and on generated texts.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod answer;
mod patch_cases;
mod patch_edits;
mod patch_limits;
mod patch_properties;
mod patch_rules;
