//! Audit skills in, findings out.
//!
//! A skill is a page about one class of vulnerability. For each skill a model is asked what it wants
//! to read, reads it through this crate, and ends with findings; [`run`] does that for all skills
//! and tells an [`Observer`] the state after each. [`Report`] is what people read in the end.
//!
//! **Invariant:** a finding whose quoted evidence does not stand in the sources is never reported as
//! verified. Reads go through probity-scope; files are written by the binary.

mod action;
mod answer;
mod audit;
mod baseline;
mod duplicates;
mod evidence;
mod heuristic;
mod ignores;
mod permission;
mod prompt;
mod provider;
mod report;
mod resume;
mod risk;
mod secrets;
mod session;
mod skill;
mod sources;
mod state;
mod text;
mod tools;

pub use crate::{
    audit::{AuditError, AuditOptions, run},
    baseline::{Baseline, BaselineError},
    heuristic::{classes as heuristic_classes, detect},
    permission::{PermissionPrompt, ReadScope},
    provider::{Provider, ProviderSpec},
    report::{FileFindings, Report, ReportOptions, Reported},
    resume::{Resumed, resume},
    risk::Risk,
    secrets::Secrets,
    session::{Event, MAX_STEPS, Observer},
    skill::{Skill, SkillError, embedded},
    sources::{SourceError, digest, discover},
    state::{Finding, Iteration, NextPrompt, State, TokenUsage},
    tools::{OpenError, ReadTools, ToolError, ToolOptions, request::Request},
};
