//! A repository in, proven issues out; and the history of reviews.
//!
//! **Invariant:** a defect counts only when probity-proof has proven it by an experiment. The
//! reviewed repository is never written to, only copies of it. The only room with a database.

mod classify;
mod clean;
mod config;
mod excerpt;
mod findings;
mod history;
mod language;
mod output;
mod prompt;
mod redact;
mod review;
mod risk;
mod score;
mod tests_on_disk;
mod unstarted;
mod wording;

pub use crate::{
    classify::{Classified, Judged},
    config::{
        ConfigError, PatternError, ProofConfig, ReviewConfig, SCHEMA as CONFIG_SCHEMA, Weights,
    },
    excerpt::excerpt,
    findings::{AgentFinding, Findings, FindingsError, Rejected, parse as parse_findings},
    history::{Entry, History, HistoryError, HistoryPlace, Retention},
    language::{Language, languages},
    output::{
        Changes, Closed, Cost, Deduction, Discarded, FailureKind, Gone, Invalid, Isolation,
        MAX_SCORE, Metadata, Observation, Proof, ProofFix, ProofRun, ProvenIssue, ReadError,
        ReviewFailure, ReviewOutput, SCHEMA as REVIEW_SCHEMA, SCHEMA_VERSION, Score, Standing,
        Status, TestSummary, read,
    },
    prompt::{PromptParts, answer_schema, prompt},
    redact::Redactor,
    review::{
        AgentSeat, Event, OpenAgent, Previous, ReviewOptions, Reviewed, TestPlace, Unopened, review,
    },
    risk::{Category, Risk, UnknownWord},
    score::{Bar, score},
    tests_on_disk::TestFile,
};
