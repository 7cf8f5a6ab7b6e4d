//! Audit skills in, findings out.
//!
//! A skill is a page about one class of vulnerability. For each skill a model is asked what it wants
//! to read, reads it through this crate, and ends with findings; [`run`] does that for all skills
//! and tells an [`Observer`] the state after each. [`Report`] is what people read in the end.
//!
//! **Invariant:** a finding whose quotes do not occur in the sources is never reported as verified. Reads go through probity-scope; files are written by the binary.

mod action;
mod answer;
mod audit;
mod baseline;
mod cache;
mod coverage;
mod duplicates;
mod evidence;
mod exploit;
mod heuristic;
mod ignores;
mod inlined;
mod language;
mod permission;
mod previous;
mod prompt;
mod provider;
mod report;
mod resume;
mod risk;
mod rules;
mod secrets;
mod session;
mod skill;
mod sources;
mod state;
mod text;
mod tools;
mod verify;

pub use probity_proof::ExploitLevel;

pub use crate::{
    audit::{AuditError, AuditOptions, run},
    baseline::{Baseline, BaselineError},
    cache::AnswerCache,
    coverage::FileCoverage,
    exploit::{Exploitation, Proving},
    heuristic::{classes as heuristic_classes, detect},
    ignores::Excuse,
    permission::{PermissionPrompt, ReadScope},
    previous::Previous,
    provider::{Detected, Opening, Provider, ProviderSpec},
    report::{
        AuditScope, FileFindings, Ignored, Mark, NamedDigest, Report, ReportError, ReportOptions,
        Reported, SkillCoverage, Status,
    },
    resume::{Resumed, resume},
    risk::Risk,
    rules::Rules,
    secrets::Secrets,
    session::{Event, MAX_STEPS, Observer},
    skill::{Pack, Skill, SkillError, embedded},
    sources::{SourceError, digest, digests, discover, ignored_files, is_contract, is_not_own},
    state::{Finding, Iteration, NextPrompt, Refutation, State, TokenUsage, Verdict},
    tools::{OpenError, ReadTools, Reading, ToolError, ToolOptions, request::Request},
    verify::verify,
};
