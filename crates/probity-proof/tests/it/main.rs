//! Proofs as their users see them: real repositories, real runners, real verdicts.

mod base;
mod corpus;
mod fixes;
mod go;
mod javascript;
mod misbehavior;
mod python;
mod rust;
mod sample;
mod stage;
mod tools;
mod workshop;
