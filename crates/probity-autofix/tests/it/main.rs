//! What the answers and patches of agents are made of, shown on cases and on generated texts.

mod answer;
mod patch_cases;
mod patch_edits;
mod patch_limits;
mod patch_properties;
mod patch_rules;
