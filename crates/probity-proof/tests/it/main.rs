//! Proofs as their users see them: real repositories, real runners, real verdicts.

mod python;
mod repositories;
mod stage;
