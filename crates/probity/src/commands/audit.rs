//! `audit`: sources and skills in, state and report out.
//!
//! The order is part of the contract: provider and key, sources, scope, skills, first state, and only
//! then the first question. So a missing key is told before a missing directory, and a broken skill
//! leaves no state behind.

mod output;
mod project;
mod provider;
mod seat;
pub(crate) mod skills;
mod summary;
mod watch;

use std::{env, fs, path::Path};

use anyhow::Context as _;
use probity_agent::Limits;
use probity_audit::{
    AuditOptions, Baseline, PermissionPrompt, ReadScope, Report, ReportOptions, Risk, Skill, State,
    ToolOptions, resume,
};

use crate::{
    cli::audit::{AuditArgs, FailOn, MoreArgs, Scope},
    commands::stop::Stop,
    exit::Exit,
    failure::Failure,
    name::Name,
};

pub(crate) fn run(
    name: Name,
    args: &AuditArgs,
    more: &MoreArgs,
    quiet: bool,
) -> anyhow::Result<Exit> {
    audited(name, None, args, more, quiet).map_err(as_audit_error)
}

/// The audit under the name `trix`, which needs a project that has this profile.
pub(crate) fn run_in_profile(profile: &str, args: &AuditArgs) -> anyhow::Result<Exit> {
    let more = MoreArgs::default();
    audited(Name::Trix, Some(profile), args, &more, false).map_err(as_audit_error)
}

fn audited(
    name: Name,
    profile: Option<&str>,
    args: &AuditArgs,
    more: &MoreArgs,
    quiet: bool,
) -> anyhow::Result<Exit> {
    let root = env::current_dir().context("cannot find the working directory")?;
    let project = match profile {
        Some(profile) => Some(project::read(&root)?.with_profile(profile)?),
        None => None,
    };
    let chosen = provider::choose(name, args, more)?;
    let sources = project::sources(&root, project)?;
    let read_scope = match args.read_scope {
        Scope::Workspace => ReadScope::Workspace,
        Scope::Strict => ReadScope::Strict,
    };
    let sensitive = more.allow_sensitive;
    let permission =
        PermissionPrompt::new(read_scope, args.interactive_permissions, sensitive, &sources);
    let skills = skills::load(&args.skills_dir)?;
    let baseline = more.baseline.as_deref().map(read_baseline).transpose()?;
    let source_digest = probity_audit::digest(&root, &sources)
        .map(Some)
        .with_context(|| failed("cannot read the sources".to_owned()))?;
    let stop = Stop::listen();
    // An agent is shown what the scope allows, which is known only now.
    let provider = chosen.ready(&root, &permission, sensitive)?;
    let report_out = output::report_path(&args.report_out, more.format);
    output::preflight(&args.state_out, &report_out, &root, &sources)?;
    let earlier = match more.resume {
        true => earlier(&args.state_out, &skills, &provider.spec, source_digest.as_deref())?,
        false => Vec::new(),
    };
    let watch = watch::Watch::new(args, &provider.spec, &skills, earlier.len());
    watch.start(sources.len());
    let options = AuditOptions {
        root: &root,
        sources: &sources,
        source_digest,
        skills: &skills,
        provider: &provider,
        permission,
        tools: ToolOptions { numbered: more.numbered_reads, allow_sensitive: sensitive },
        limits: Limits::within(more.timeout),
        jobs: more.jobs.into(),
        budget: more.budget,
        earlier,
    };
    let keep = |state: &State| output::write_state(&args.state_out, state);
    let state = probity_audit::run(options, &watch, &keep, &stop.cancel)
        .with_context(|| failed(format!("cannot audit into {}", args.state_out.display())))?;
    watch.finish();
    if let Some(exit) = stop.called_off() {
        tracing::error!(
            "the audit was called off; {} keeps what is done, and `--resume` continues",
            args.state_out.display()
        );
        return Ok(exit);
    }
    let generated_at = output::now();
    let options = ReportOptions { root: &root, generated_at, baseline: baseline.as_ref() };
    let report = Report::new(&state, &options);
    output::write_report(&report_out, &report, more.format, &root)?;
    summary::print(name, &state, &report, &args.state_out, &report_out, quiet)?;
    Ok(judged(&report, more.fail_on))
}

fn judged(report: &Report, fail_on: Option<FailOn>) -> Exit {
    let limit = fail_on.map(|risk| match risk {
        FailOn::Low => Risk::Low,
        FailOn::Medium => Risk::Medium,
        FailOn::High => Risk::High,
        FailOn::Critical => Risk::Critical,
    });
    match (limit, report.worst()) {
        (Some(limit), Some(worst)) if worst >= limit => Exit::Findings,
        _ if !report.failed.is_empty() => Exit::SkillFailed,
        _ => Exit::Clean,
    }
}

fn read_baseline(path: &Path) -> anyhow::Result<Baseline> {
    let text = fs::read_to_string(path)
        .with_context(|| failed(format!("cannot read the baseline {}", path.display())))?;
    Baseline::parse(&text).with_context(|| failed(format!("{} is no baseline", path.display())))
}

/// The finished iterations of an earlier run, and a word on why others are not.
fn earlier(
    path: &Path,
    skills: &[Skill],
    provider: &probity_audit::ProviderSpec,
    source_digest: Option<&str>,
) -> anyhow::Result<Vec<probity_audit::Iteration>> {
    if !path.exists() {
        tracing::warn!("there is no {} to resume; everything is asked", path.display());
        return Ok(Vec::new());
    }
    let text = fs::read_to_string(path)
        .with_context(|| failed(format!("cannot read the state {}", path.display())))?;
    let state: State = serde_json::from_str(&text).with_context(|| {
        Failure::new(
            format!("{} is not the state of an audit", path.display()),
            "start over without --resume",
        )
    })?;
    let resumed = resume(state, skills, provider, source_digest);
    if let Some(reason) = resumed.reason {
        tracing::warn!("{} is not resumed: {reason}", path.display());
    }
    Ok(resumed.iterations)
}

/// A failure whose remedy is in its cause.
fn failed(what: String) -> Failure {
    Failure::new(what, "`docs/audit.md` describes the files and flags of an audit")
}

/// The specification gives errors the code 1, and leaves 2 to wrong usage.
fn as_audit_error(mut error: anyhow::Error) -> anyhow::Error {
    if let Some(failure) = error.downcast_mut::<Failure>() {
        // Its exit code is set by value, so that it is taken out for a moment.
        let taken = std::mem::replace(failure, Failure::new("", ""));
        *failure = taken.with_exit(Exit::AuditError);
        return error;
    }
    error.context(failed("the audit could not be done".to_owned()).with_exit(Exit::AuditError))
}
