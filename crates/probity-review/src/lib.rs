//! A repository in, proven issues out; and the history of reviews.
//!
//! **Invariant:** a defect counts only when probity-proof has proven it by an experiment. The
//! reviewed repository is never written to, only copies of it. The only room with a database; requests are made
//! by `publish` alone.

mod claims;
mod classify;
mod clean;
mod config;
mod excerpt;
mod findings;
mod fix;
mod history;
mod ignore;
mod language;
mod output;
mod prompt;
mod proved;
mod publish;
mod redact;
mod review;
mod risk;
mod score;
mod summary;
mod tests_on_disk;
mod unstarted;
mod verdict;
mod wording;

pub use crate::{
    claims::{
        BadShard, Claims, ClaimsError, NamedPart, Part, SCHEMA as CLAIMS_SCHEMA, Shard,
        read_claims, read_part,
    },
    classify::{Classified, Judged},
    config::{
        ConfigError, PatternError, ProofConfig, ReviewConfig, SCHEMA as CONFIG_SCHEMA, Weights,
    },
    excerpt::excerpt,
    findings::{AgentFinding, Findings, FindingsError, Rejected, parse as parse_findings},
    fix::{FixError, FixedFile, changes, check_fixed, fixable, missing_fix, prove_fix},
    history::{Entry, History, HistoryError, HistoryPlace, Retention},
    ignore::apply_ignores,
    language::{Language, languages},
    output::{
        Changes, Closed, Cost, Deduction, Discarded, Dismissed, FailureKind, FixGuard, Gone,
        GuardState, Invalid, Isolation, MAX_SCORE, Metadata, Observation, Proof, ProofFix,
        ProofRun, ProvenIssue, ReadError, ReviewFailure, ReviewOutput, SCHEMA as REVIEW_SCHEMA,
        SCHEMA_VERSION, Score, Standing, Status, TestSummary, TrendPoint, Unstarted, read,
    },
    prompt::{PromptParts, answer_schema, prompt},
    proved::Proved,
    publish::{
        About, CommentPlace, Conclusion, ForgeKind, IssueComment, OpenPull, PersonalVerdict,
        Publication, PublishError, Published, PullTarget, ReviewStatus,
    },
    redact::Redactor,
    review::{
        AgentSeat, AskOptions, Checkout, Event, OpenAgent, Previous, ProveOptions, ProvedClaim,
        Reviewed, StepError, TestPlace, Unopened, ask, ask_again, merge, prove, review,
    },
    risk::{Category, Risk, UnknownWord},
    score::{Bar, score},
    tests_on_disk::TestFile,
    verdict::{PersonVerdict, VerdictRecord, apply_verdicts, issue_with_id, reconsider},
};
