//! `audit`: sources and skills in, state and report out.
//!
//! The order is part of the contract: provider and key, sources, scope, skills, first state, and only
//! then the first question. So a missing key is told before a missing directory, and a broken skill
//! leaves no state behind.

mod cache;
mod changed;
mod former;
mod output;
mod project;
mod prove;
mod provider;
mod rescue;
mod sarif;
mod scope;
mod seat;
pub(crate) mod skills;
mod summary;
pub(crate) mod verify;
mod watch;

use std::{
    env,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use probity_agent::Limits;
use probity_audit::{
    AnswerCache, AuditOptions, AuditScope, Baseline, PermissionPrompt, Previous, Proving, Report,
    ReportOptions, Rules, Skill, State, ToolOptions,
};
use probity_scope::{MOST_BYTES, read_text};

use crate::{
    commands::stop::Stop,
    config::{self, Layer, Settings, table::audit::Audit, words::AuditFailOn},
    exit::Exit,
    failure::Failure,
    name::Name,
};

/// What one run is told besides its settings.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) name: Name,
    /// The profile that the project has to have, which only `trix` asks for.
    pub(crate) profile: Option<String>,
    pub(crate) ai_logs: bool,
    pub(crate) resume: bool,
    pub(crate) baseline: Option<PathBuf>,
    /// Whether comments in the sources take findings back.
    pub(crate) heeds_ignores: bool,
    /// Whether each finding goes to a conversation that tries to show that it is wrong.
    pub(crate) refute: bool,
    /// Whether each finding goes to a conversation that writes an exploit for it.
    pub(crate) prove: bool,
    /// The commit since which sources have to have changed to be audited.
    pub(crate) changed: Option<String>,
    /// Whether answers of earlier runs are used and kept.
    pub(crate) has_cache: bool,
    pub(crate) quiet: bool,
    pub(crate) flags: Layer,
}

pub(crate) fn run(options: Options) -> anyhow::Result<Exit> {
    let root = env::current_dir().context("cannot find the working directory")?;
    let settings = config::in_force(options.name, &["audit"], &root, options.flags.clone())?;
    output::refuse_linked_defaults(&settings).map_err(as_audit_error)?;
    // Not an error of the audit, but of how it was called.
    let chosen = provider::named(options.name, &settings.audit, &root)?;
    if options.refute && provider::asks_no_model(&chosen) {
        let what = format!("--refute needs a model, and the provider '{chosen}' asks none");
        let way_out = "name one, for example `--provider openai`, or leave out --refute";
        return Err(Failure::new(what, way_out).into());
    }
    if options.prove {
        prove::check(&settings.audit, &chosen)?;
    }
    audited(&options, &settings, &root, &chosen).map_err(as_audit_error)
}

fn audited(
    options: &Options,
    all: &Settings,
    root: &Path,
    provider_name: &str,
) -> anyhow::Result<Exit> {
    let settings = &all.audit;
    let project = match &options.profile {
        Some(profile) => Some(project::read(root)?.with_profile(profile)?),
        None => None,
    };
    let rules = if options.name == Name::Trix { Rules::Specification } else { Rules::Probity };
    let chosen = provider::choose(options.name, settings, provider_name)?;
    let sources = project::sources(root, &settings.include, settings.allow_ignored, project)?;
    let changed = match &options.changed {
        Some(base) => Some(changed::since(root, base, &sources)?),
        None => None,
    };
    let sensitive = settings.allow_sensitive;
    let is_interactive = settings.interactive_permissions;
    let permission =
        PermissionPrompt::new(settings.read_scope, is_interactive, sensitive, &sources);
    let mut skills = skills::load(&settings.skills_dir, options.name)?;
    if changed.as_ref().is_some_and(Vec::is_empty) {
        skills.clear();
    }
    let baseline = options.baseline.as_deref().map(read_baseline).transpose()?;
    let source_digest = probity_audit::digest(root, &sources)
        .map(Some)
        .with_context(|| failed("cannot read the sources".to_owned()))?;
    let stop = Stop::listen();
    // An agent is shown what the scope allows, which is known only now.
    let ignored = probity_audit::ignored_files(settings.allow_ignored);
    let provider = chosen.ready(root, &permission, sensitive, ignored)?;
    let report_out = output::report_path(&settings.report_out, settings.format);
    let outputs = output::preflight(all, &report_out, root, &sources)?;
    let former = former::read(&outputs.state, rules, options.resume)?;
    let now = former::Now {
        skills: &skills,
        provider: &provider.spec,
        source_digest: source_digest.as_deref(),
        changed: changed.as_deref(),
    };
    let resumed = former.as_ref().filter(|_| options.resume);
    let earlier = resumed.map(|former| former::finished(&settings.state_out, former, &now));
    let earlier = earlier.unwrap_or_default();
    let workshop = if options.prove { Some(prove::workshop(root, all, &stop)?) } else { None };
    let talk = watch::Talk { logs: options.ai_logs, asks: is_interactive };
    let mut watch = watch::Watch::new(talk, &provider.spec, &skills, earlier.len());
    watch.start(sources.len());
    let cache = if options.has_cache { cache::Files::open() } else { None };
    let audit = AuditOptions {
        rules,
        root,
        sources: &sources,
        source_digest,
        skills: &skills,
        provider: &provider,
        permission,
        tools: ToolOptions {
            numbered: settings.numbered_reads,
            allow_sensitive: sensitive,
            allow_ignored: settings.allow_ignored,
            rules,
        },
        limits: Limits::within(settings.timeout),
        jobs: settings.jobs.into(),
        budget: settings.budget,
        earlier,
        previous: former.map(Previous::of).unwrap_or_default(),
        changed,
        refute: options.refute,
        prove: workshop.as_ref().map(|workshop| Proving {
            workshop,
            rounds: settings.prove_rounds.into(),
            heeds_ignores: options.heeds_ignores,
        }),
        cache: cache.as_ref().map(|files| files as &dyn AnswerCache),
    };
    let keep = |state: &State| output::write_state(&outputs.state, state);
    let ended = probity_audit::run(audit, &watch, &keep, &stop.cancel);
    watch.finish();
    let state = ended.map_err(|error| {
        let rescued = rescue::keep(&error);
        let what = format!("cannot audit into {}", settings.state_out.display());
        anyhow::Error::new(error).context(Failure::new(what, rescued))
    })?;
    if let Some(exit) = stop.called_off() {
        tracing::error!(
            "the audit was cancelled; {} has the finished skills, and `--resume` continues",
            settings.state_out.display()
        );
        return Ok(exit);
    }
    let scope = match rules {
        Rules::Specification => None,
        Rules::Probity => Some(scope::of(root, &state, &skills, workshop.as_ref())),
    };
    let reporting = Reporting { options, settings, root, rules, outputs: &outputs };
    reporting.write(&state, scope, baseline.as_ref(), &skills)
}

/// How an audit is reported, and where.
struct Reporting<'r> {
    options: &'r Options,
    settings: &'r Audit,
    root: &'r Path,
    rules: Rules,
    outputs: &'r output::Outputs,
}

impl Reporting<'_> {
    fn write(
        &self,
        state: &State,
        scope: Option<AuditScope>,
        baseline: Option<&Baseline>,
        skills: &[Skill],
    ) -> anyhow::Result<Exit> {
        let Self { options, settings, root, rules, outputs } = *self;
        let how = ReportOptions {
            root,
            generated_at: output::now(),
            baseline,
            rules,
            heeds_ignores: options.heeds_ignores,
            scope,
        };
        let report = Report::new(state, &how);
        output::write_report(&outputs.report, &report, settings.format, root, skills)?;
        let place = output::report_path(&settings.report_out, settings.format);
        summary::print(options.name, state, &report, &settings.state_out, &place, options.quiet)?;
        Ok(judged(&report, settings.fail_on, rules))
    }
}

/// The specification calls an audit that asked nobody done; we do not.
fn judged(report: &Report, fail_on: Option<AuditFailOn>, rules: Rules) -> Exit {
    let is_whole = match rules {
        Rules::Specification => report.failed.is_empty(),
        Rules::Probity => report.is_whole(),
    };
    let fails =
        fail_on.map(AuditFailOn::bar).is_some_and(|(risk, level)| report.reaches(risk, level));
    if fails {
        Exit::Findings
    } else if is_whole {
        Exit::Clean
    } else {
        Exit::SkillFailed
    }
}

fn read_baseline(path: &Path) -> anyhow::Result<Baseline> {
    let text = read_text(path, MOST_BYTES)
        .with_context(|| failed(format!("cannot read the baseline {}", path.display())))?;
    Baseline::parse(&text).with_context(|| failed(format!("{} is not a baseline", path.display())))
}

/// A failure whose remedy is in its cause.
fn failed(what: String) -> Failure {
    Failure::new(what, "`probity audit --help` lists the flags for files and directories")
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
