//! Where lint and agents meet: objectives, prompts, patches, acceptance checks, the bounded loop.
//!
//! [`resolve`] asks an agent to meet the objectives of one file and gives back edits: those of a
//! proposal that passed every check, or none. [`preview`] shows what would be sent. [`detect`] asks an
//! agent for problems and gives back those whose quotes exist.
//!
//! **Invariant:** an agent's patch becomes an ordinary unsafe fix, and only after every check passed.
//! Nothing here writes a file.

mod answer;
mod batch;
mod checks;
mod context;
mod detect;
mod edits;
mod engine;
mod objective;
mod outcome;
mod prompt;
mod secrets;

pub use crate::{
    answer::{Answer, Expect, Malformed, parse_answer},
    batch::Member,
    checks::Issue,
    context::{AgentContext, ContextOptions, ContextRead, ReadOutcome, SharedDetector},
    detect::{
        DETECTION_VERSION, Detected, DetectionRequest, Unaccepted, UnacceptedBecause, detect,
        preview_detection, read_detections,
    },
    edits::{diff_of, minimal_edits},
    engine::{Event, Opening, Proof, Proving, Request, Settings, preview, resolve},
    objective::check_names,
    outcome::{Outcome, Reason, Refusal, Resolution, Session},
    secrets::SecretsPolicy,
};
pub use probity_finding::patch::{
    Applied, ApplyFailure, Hunk, HunkLine, LineKind, Patch, PatchError, Relocated,
};
