//! Where lint and agents meet: objectives, prompts, patches, acceptance checks, the bounded loop.
//!
//! **Invariant:** an agent's patch becomes an ordinary unsafe fix, and only after every check passed.
//! Nothing here writes a file.

mod answer;
mod edits;
mod patch;

pub use crate::{
    answer::{Answer, Expect, Malformed, parse_answer},
    edits::{diff_of, minimal_edits},
    patch::{Applied, ApplyFailure, Hunk, HunkLine, LineKind, Patch, PatchError, Relocated},
};
