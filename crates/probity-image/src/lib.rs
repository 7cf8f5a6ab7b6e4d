//! Two images in, a comparison out: both are built, looked into and started by a container engine.
//!
//! An [`Experiment`] builds an original and proposals from one context and compares what came of
//! them; [`compare`] is the part that runs nothing of the images. Every check is a difference from the
//! original: a fault that both images have says nothing about the change.
//!
//! **Invariant:** nothing of a proof outlives it: images and containers carry [`LABEL`] and are
//! removed when it ends, and [`abandoned`] finds those of a proof that was killed.

mod build;
mod compare;
mod configuration;
mod difference;
mod engine;
mod error;
mod inspect;
mod leftovers;
mod proof;
mod recipe;
mod root;
mod start;

pub use build::{BuildOptions, Variant};
pub use compare::{Image, Pair, Sizes, compare};
pub use configuration::Configuration;
pub use difference::{Difference, Setting};
pub use engine::{Engine, EngineKind, Interrupt};
pub use error::ImageError;
pub use inspect::inspect;
pub use leftovers::{LABEL, Leftover, LeftoverKind, Workbench, abandoned, remove};
pub use proof::{Evidence, Experiment, Level, Obstacle, Options, Subject, Verdict};
pub use recipe::{AddSource, Origin, Recipe, RunFlag};
pub use root::{Entry, EntryKind, Root};
pub use start::{Observation, StartOptions, State, TestEnd};
