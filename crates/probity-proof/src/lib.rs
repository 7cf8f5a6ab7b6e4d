//! A claim and its fix in, a verdict out: git, copies, paired runs, one file a test runner.
//!
//! **Invariant:** a verdict rests on runs that were compared, never on what a text looks like. Text
//! may refuse a fix; it never accepts a claim. The repository is only read, and no agent and no
//! database is known here.
//!
//! **Invariant:** nothing below a directory that was mounted writable is reached by a path. `clippy.toml`
//! beside this crate's manifest lists what is not called for that reason.

#![cfg_attr(
    not(test),
    warn(
        clippy::disallowed_methods,
        reason = "a path may lead wherever a sandboxed process wants"
    )
)]

mod claim;
mod experiment;
mod exploit;
#[cfg_attr(
    not(test),
    expect(
        clippy::disallowed_methods,
        reason = "what is the machine's own is reached by its path"
    )
)]
mod host;
mod mounts;
mod options;
mod places;
mod repository;
mod runner;
mod syntax;
mod text;
mod verdict;
mod watch;
pub mod wording;
mod workshop;

/// Where tests run, which the options name.
pub use probity_sandbox::Backend;

pub use crate::{
    claim::Claim,
    exploit::{Exploit, ExploitFault, ExploitLevel, ExploitVerdict, Replay, Standing},
    mounts::mounts_as_markdown,
    options::{Base, ProofError, ProofOptions, WithoutFix, WithoutGuard},
    repository::{
        Tree, TreeError,
        git::{
            Ancestor, Change, ChangedFile, CommitError, Commits, GitError, GitFacts, NO_COMMIT,
            Note, begun_from, change, changed_files, check_clean, default_branch, directory_name,
            file_at_merge_base, has_commit, is_shallow, renames, tracked_files,
        },
    },
    runner::{
        CustomRunner, CustomRunnerError, FetchOptions, LanguageTools, MalformedReport, NotTaken,
        ReportFault, TriedInterpreter, Trouble, Unavailable, language_tools,
    },
    verdict::{
        BaseResult, BrokenTest, Cheat, FixFault, FixResult, Gap, Level, Outcome, Refusal, Run,
        RunDetail, Verdict, Why,
    },
    watch::{Activity, ClaimStep, Watch},
    workshop::{PlacedTest, PrepareNote, ProcessCounts, TestTool, Workshop},
};
