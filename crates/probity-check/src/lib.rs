//! What `probity check` and the language server do: files found, read, linted and fixed.
//!
//! A caller turns its settings into [`CheckOptions`], finds targets with [`discover`] and [`builds`],
//! makes [`jobs`] of them and gives these to a [`Run`]. An editor asks [`EditorRules`] about one text.
//! Whatever starts an agent, builds an image, writes a file or shows something is asked of the caller
//! through [`Effects`].
//!
//! **Invariant:** no command line and no configuration file is known here. Nothing here prints, and no
//! file of the user is written.

#![cfg_attr(
    not(test),
    warn(
        clippy::disallowed_methods,
        reason = "the caller prints, and `probity_scope` opens files"
    )
)]

mod ai;
mod ai_detection;
mod ai_fix;
mod base_images;
mod baseline;
pub mod builds;
mod cache;
mod changed;
mod context_files;
mod diff;
pub mod discover;
mod editor;
mod effects;
mod error;
mod examine;
mod fix;
mod ignore_file;
mod inline;
mod job;
mod known;
mod mask;
mod open_texts;
mod opened;
mod options;
mod proof;
mod rules;
mod run;
mod searched;
mod shellcheck;
pub mod source;
mod stages;

pub use crate::{
    ai_detection::{AiDetection, DetectionOutcome},
    ai_fix::{AiFix, AiIssue, AiRefusal, AiSession, masked_read, read_in_words},
    baseline::{Baseline, BaselineError},
    changed::{EarlierTexts, EarlierUnknown},
    diff::unified_diff,
    editor::{EditorFixes, EditorRules, EditorText},
    effects::{
        AskedFor, Effects, NotSeated, Prover, SeatedAgent, SessionOf, Subject, Unwritten, Voice,
    },
    error::CheckError,
    examine::Checked,
    fix::Fixing,
    ignore_file::IgnoreFiles,
    job::{Configured, Job, Target, jobs},
    known::{BaselineNow, Known, OldFindings},
    mask::{Hider, masked},
    open_texts::OpenTexts,
    options::{
        AiOptions, CheckOptions, FixChoice, FixHandling, RuleOptions, RuleSeverity, RuleStart,
        RunOptions, ShellcheckMode, SingleRule, SlowCheckOptions, SlowChecksMode,
    },
    proof::{DifferenceReport, ProofReport},
    rules::FileRules,
    run::{MOST_THREADS, Run, RunEnd},
    shellcheck::{ShellcheckError, ShellcheckProgram},
    stages::{StageNeed, StageShown, StagesReport},
};
