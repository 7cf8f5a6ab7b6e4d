//! A repository in, proven issues out; and the history of reviews.
//!
//! **Invariant:** a defect counts only when its test ran and failed for the right reason. The
//! reviewed repository is never written to, only copies of it. The only room with a database.

mod classify;
mod clean;
mod config;
mod excerpt;
mod findings;
mod git;
mod history;
mod language;
mod output;
mod prompt;
mod proof;
mod redact;
mod review;
mod risk;
mod score;
mod tests_on_disk;
mod tree;
mod unstarted;

pub use crate::{
    classify::{Classified, Judged},
    config::{
        ConfigError, PatternError, ProofConfig, ReviewConfig, SCHEMA as CONFIG_SCHEMA, Weights,
    },
    excerpt::excerpt,
    findings::{AgentFinding, Findings, FindingsError, Rejected, parse as parse_findings},
    git::{Change, ChangedFile, GitError, GitFacts, NO_COMMIT, change},
    history::{Entry, History, HistoryError, HistoryPlace, Retention},
    language::{Language, languages},
    output::{
        Changes, Closed, Cost, Deduction, Discarded, FailureKind, Gone, Invalid, Isolation,
        MAX_SCORE, Metadata, Observation, Proof, ProofRun, ProvenIssue, ReadError, ReviewFailure,
        ReviewOutput, SCHEMA as REVIEW_SCHEMA, SCHEMA_VERSION, Score, Standing, Status,
        TestSummary, read,
    },
    prompt::{PromptParts, answer_schema, prompt},
    proof::{
        Claim, Control, Evidence, Level, Outcome, ProofError, ProofOptions, Reach, Run, Verdict,
        Workshop,
    },
    redact::Redactor,
    review::{
        AgentSeat, Event, OpenAgent, Previous, ReviewOptions, Reviewed, TestPlace, Unopened, review,
    },
    risk::{Category, Risk, UnknownWord},
    score::{Bar, score},
    tests_on_disk::TestFile,
    tree::{Tree, TreeError},
};
