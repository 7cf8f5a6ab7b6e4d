//! A repository in, proven issues out; and the history of reviews.
//!
//! **Invariant:** a defect counts only when its test ran and failed for the right reason. The
//! reviewed repository is never written to, only copies of it. The only room with a database.

mod proof;

pub use proof::{
    Claim, Evidence, Level, Outcome, ProofError, ProofOptions, Reach, Run, Verdict, Workshop,
};
