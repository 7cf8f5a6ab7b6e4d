//! Proofs as their users see them: real repositories, real runners, real verdicts.

mod corpus;
mod python;
mod sample;
mod stage;
mod tools;
