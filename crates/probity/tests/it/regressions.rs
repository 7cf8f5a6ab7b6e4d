//! Command lines that once did something else than what they said.

mod flags;
mod rules;
mod streams;
