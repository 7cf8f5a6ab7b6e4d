//! A review that did not happen, as a review.

use std::fmt::Display;

use probity_agent::{AgentError, Cause};

use probity_proof::{GitError, Note, ProofError, TreeError};

use super::{Page, Reviewed, Unopened};
use crate::{
    ReviewConfig,
    claims::ClaimsError,
    classify::Classified,
    clean::{capped, one_line},
    findings::FindingsError,
    output::{FailureKind, ReviewFailure, ReviewOutput, SCHEMA_VERSION, Score, Status, Unstarted},
    redact::Redactor,
    wording,
};

const STDERR_BYTES: usize = 8 << 10;
const SHOWN_PATTERNS: usize = 3;

/// Why there is no review.
pub(super) struct Failed {
    kind: FailureKind,
    message: String,
    help: String,
    stderr: String,
    /// What was claimed, if it came as far as that.
    claimed: Box<Classified>,
    /// What kept every test of it from starting.
    unstarted: Vec<Unstarted>,
}

impl Failed {
    pub(super) fn into_message(self) -> String {
        self.message
    }

    pub(super) fn machine(error: &impl Display) -> Self {
        let help = "check the space and the rights of the temporary directory".to_owned();
        let message = error.to_string();
        Self {
            kind: FailureKind::Machine,
            message,
            help,
            stderr: String::new(),
            claimed: Box::default(),
            unstarted: Vec::new(),
        }
    }
}

impl Failed {
    /// Patterns that match nothing are a mistake in them, and no clean review.
    pub(super) fn nothing_to_review(config: &ReviewConfig) -> Self {
        let paths: Vec<&str> = config.paths().collect();
        let message = match paths.as_slice() {
            [] => format!(
                "no file to review: no file matches `include` ({}), or `exclude` removes it",
                first(config.include().iter().map(String::as_str))
            ),
            paths => format!("no file matches {}", first(paths.iter().copied())),
        };
        let help = "check --paths or REVIEW_PATHS, and `include` and `exclude` in review.yml; \
                    `probity review -v` prints all patterns";
        let help = help.to_owned();
        Self {
            kind: FailureKind::Repository,
            message,
            help,
            stderr: String::new(),
            claimed: Box::default(),
            unstarted: Vec::new(),
        }
    }
}

impl Failed {
    /// Claims that nobody could try are no review, and leave nothing to have a score of.
    pub(super) fn nothing_started(unstarted: Vec<Unstarted>, claimed: Classified) -> Self {
        let why: Vec<String> = unstarted.iter().map(ToString::to_string).collect();
        Self {
            kind: FailureKind::Machine,
            message: why.join("; "),
            help: "install what is missing, or review where the repository's own tests run; \
                   `probity doctor` says what is here"
                .to_owned(),
            stderr: String::new(),
            claimed: Box::new(claimed),
            unstarted,
        }
    }
}

impl From<AgentError> for Failed {
    fn from(error: AgentError) -> Self {
        let kind = match error.cause {
            Cause::TimedOut(_) => FailureKind::Timeout,
            Cause::Cancelled => FailureKind::Cancelled,
            _ => FailureKind::Agent,
        };
        let help = error.way_out().to_owned();
        Self {
            kind,
            message: error.to_string(),
            help,
            stderr: error.stderr.to_string(),
            claimed: Box::default(),
            unstarted: Vec::new(),
        }
    }
}

impl From<Unopened> for Failed {
    fn from(unopened: Unopened) -> Self {
        let Unopened { message, help } = unopened;
        Self {
            kind: FailureKind::Agent,
            message,
            help,
            stderr: String::new(),
            claimed: Box::default(),
            unstarted: Vec::new(),
        }
    }
}

impl From<FindingsError> for Failed {
    fn from(error: FindingsError) -> Self {
        let help = "run it again, or ask another agent or model".to_owned();
        let message = error.to_string();
        Self {
            kind: FailureKind::Agent,
            message,
            help,
            stderr: String::new(),
            claimed: Box::default(),
            unstarted: Vec::new(),
        }
    }
}

impl From<GitError> for Failed {
    fn from(error: GitError) -> Self {
        let (message, help) = (error.to_string(), error.help());
        Self {
            kind: FailureKind::Repository,
            message,
            help,
            stderr: String::new(),
            claimed: Box::default(),
            unstarted: Vec::new(),
        }
    }
}

impl From<TreeError> for Failed {
    fn from(error: TreeError) -> Self {
        let kind = match error {
            TreeError::Copy { .. } => FailureKind::Machine,
            _ => FailureKind::Repository,
        };
        let help = "name a smaller directory with --repo, or make room".to_owned();
        Self {
            kind,
            message: error.to_string(),
            help,
            stderr: String::new(),
            claimed: Box::default(),
            unstarted: Vec::new(),
        }
    }
}

impl From<ProofError> for Failed {
    fn from(error: ProofError) -> Self {
        let kind = match error {
            ProofError::Cancelled => FailureKind::Cancelled,
            ProofError::Tree(error) => return error.into(),
            ProofError::Container | ProofError::Directory(_) => FailureKind::Machine,
        };
        let help = "nothing was proven; the agent's answer is lost".to_owned();
        Self {
            kind,
            message: error.to_string(),
            help,
            stderr: String::new(),
            claimed: Box::default(),
            unstarted: Vec::new(),
        }
    }
}

/// The first three patterns; a profile has dozens.
fn first<'a>(patterns: impl ExactSizeIterator<Item = &'a str>) -> String {
    let more = patterns.len().saturating_sub(SHOWN_PATTERNS);
    let shown = patterns.take(SHOWN_PATTERNS).collect::<Vec<_>>().join(", ");
    if more == 0 { shown } else { format!("{shown} and {more} more") }
}

/// Why a step of a review could not be taken.
#[derive(Debug, thiserror::Error)]
pub enum StepError {
    #[error(transparent)]
    Claims(#[from] ClaimsError),
    #[error("{message}")]
    Failed { message: String, help: String },
}

impl StepError {
    /// What to do about it.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::Claims(error) => error.help(),
            Self::Failed { help, .. } => help.clone(),
        }
    }
}

impl From<Failed> for StepError {
    fn from(Failed { message, help, .. }: Failed) -> Self {
        Self::Failed { message, help }
    }
}

impl Page {
    /// Complete and valid, and without a score that anybody could mistake for one.
    pub(super) fn failed(mut self, failed: Failed, redactor: Option<&Redactor>) -> Reviewed {
        let shown = |text: &str| redactor.map_or_else(String::new, |redactor| redactor.text(text));
        self.metadata.duration_seconds = self.milliseconds() / 1000;
        let facts = self.git_notes.iter().map(|note| match note {
            Note::Dirty => wording::DIRTY_UNREVIEWED,
            other => wording::note(*other),
        });
        let facts: Vec<String> = facts.map(str::to_owned).collect();
        self.notes.splice(0..0, facts);
        let message = match redactor {
            Some(redactor) => one_line(&redactor.text(&failed.message), 1_000),
            // Without knowing what to hide nothing of a stranger's is shown.
            None => "probity cannot determine which files to hide here".to_owned(),
        };
        let Classified { observations, discarded, summary, tests, .. } = *failed.claimed;
        self.metadata.tests_generated = summary.total_generated;
        let output = ReviewOutput {
            schema_version: SCHEMA_VERSION.to_owned(),
            status: Status::Error,
            summary: format!("There was no review: {message}."),
            error: Some(ReviewFailure {
                kind: failed.kind,
                message,
                help: shown(&failed.help),
                stderr: capped(&shown(&failed.stderr), STDERR_BYTES),
            }),
            unstarted: failed.unstarted,
            metadata: self.metadata,
            score: Score::failed(&self.bar),
            proven_issues: Vec::new(),
            observations,
            discarded,
            test_summary: summary,
            cost: self.cost,
            isolation: Some(self.isolation),
            changes: None,
            trend: Vec::new(),
            dismissed: Vec::new(),
            notes: self.notes,
        };
        Reviewed { output, tests }
    }
}
