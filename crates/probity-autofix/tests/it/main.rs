//! What the answers and patches of agents are made of, and what becomes of them, shown on cases, on
//! generated texts, and with agents that answer from the prompt they got.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]

mod agents;
mod alone;
mod answer;
mod batches;
#[path = "../../../probity-lint/tests/it/callgrind.rs"]
mod callgrind;
mod checks;
mod checks_of_objectives;
mod combined;
mod context;
mod corpus;
mod failures;
mod harmful;
mod linear;
mod objectives;
mod patch_cases;
mod patch_edits;
mod patch_limits;
mod patch_properties;
mod patch_rules;
mod prompts;
mod secrets;
#[path = "../../../probity/tests/it/whole_corpus.rs"]
mod whole_corpus;
