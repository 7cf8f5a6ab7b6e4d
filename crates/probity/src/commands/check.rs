//! `check`: find the files, lint and fix them in parallel, report them in order.

mod ai;
mod baseline;
mod fixing;
mod options;
mod output;
mod proof;
mod refusals;
mod reporting;
mod statistics;
mod summary;
mod watch;

use std::{
    collections::HashMap,
    io::Write as _,
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::Context as _;
use probity_check::{
    Configured, FileRules, FixHandling, IgnoreFiles, Job, MOST_THREADS, Run, RunEnd, RunOptions,
    ShellcheckProgram,
    builds::{self, ChosenBuilds, Described},
    discover::{self, Request, Targets},
};
use probity_lint::OwnRule;
use probity_report::Detail;

use self::{
    ai::Trace,
    options::configs,
    reporting::{Reported, Reporting},
};
pub(crate) use self::{
    ai::{FileEffects, Progress, RunEffects},
    options::{check_options, configs_of},
};
use crate::{
    ci::in_ci,
    config::{Catalogue, Choice, Configs, Dialect, Layer, Settings},
    exit::Exit,
    failure::Failure,
    manual::Manual,
    name::Name,
    screen::count::Count,
    streams,
};

/// What one run is told besides its settings.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) name: Name,
    pub(crate) paths: Vec<PathBuf>,
    pub(crate) choice: Choice,
    /// Show the settings of this file, and stop.
    pub(crate) print_config: Option<PathBuf>,
    pub(crate) list_rules: bool,
    pub(crate) stdin_filename: Option<PathBuf>,
    /// A base: findings on lines that have not changed since are not reported.
    pub(crate) changed: Option<String>,
    pub(crate) write_baseline: Option<PathBuf>,
    pub(crate) watch: bool,
    pub(crate) builds: ChosenBuilds,
    /// Files at the same time; 0 is one for each processor.
    pub(crate) jobs: usize,
    pub(crate) show_secrets: bool,
    pub(crate) statistics: bool,
    /// How much of each finding the text report shows.
    pub(crate) detail: Detail,
    pub(crate) diff: bool,
    /// Digests are written, so that tags are asked about anew.
    pub(crate) is_pinning: bool,
    /// Agents' fixes are within the ceiling, whatever it is.
    pub(crate) fix_ai: bool,
    pub(crate) ai_trace: Option<PathBuf>,
    pub(crate) ai_dry_run: bool,
    /// An agent is asked for problems.
    pub(crate) ai_detect: bool,
    pub(crate) flags: Layer,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<Exit> {
    refusals::refuse_nonsense(options)?;
    let directory = std::env::current_dir().context("cannot tell the working directory")?;
    if options.watch {
        return watch::run(options, &directory, || run_once(options, &directory));
    }
    run_once(options, &directory)
}

/// The rules that the configuration of the working directory has.
pub(crate) fn own_rules(choice: Choice) -> anyhow::Result<Vec<Arc<OwnRule>>> {
    let directory = std::env::current_dir().context("cannot tell the working directory")?;
    let mut configs = configs_of(Name::Probity, choice, Layer::default(), &directory)?;
    let config = configs.for_target(&directory.join("Dockerfile"))?;
    Ok(config.check.rule.read())
}

fn run_once(options: &Options, directory: &Path) -> anyhow::Result<Exit> {
    let mut configs = configs(options, directory)?;
    if let Some(file) = &options.print_config {
        return print_config(options, &directory.join(file), &mut configs);
    }
    let general = configs.without_file()?;
    let fixes = fixing::handling(options, &general);
    let (targets, described) = targets(options, &general, directory)?;
    if options.name == Name::Tally && fixes != FixHandling::Offer && !described.is_empty() {
        return Err(Failure::new(
            "--fix cannot be used with a Compose or Bake file",
            "name the Dockerfiles instead",
        )
        .into());
    }
    let mut configured = ConfiguredFiles::new(options.name);
    let jobs = probity_check::jobs(
        &targets,
        &described,
        options.stdin_filename.as_deref(),
        directory,
        |path| configured.of(configs.for_target(path)?),
    )?;
    warn(&mut configs);
    let first_job = configured.settings.first();
    if options.list_rules {
        return list_rules(options.name, first_job.unwrap_or(&general));
    }
    for error in &targets.errors {
        tracing::error!("{error}{}", error.way_out());
    }
    // A description without builds is checked, and its report is empty.
    let first = match (first_job, described.files.first()) {
        (Some(config), _) => Arc::clone(config),
        (None, Some(file)) if targets.errors.is_empty() => configs.for_target(file)?,
        (None, _) => return no_files(&targets),
    };
    warn(&mut configs);
    let all = || configured.settings.iter().map(|config| &**config);
    refusals::refuse_unknown_rules(options, all().chain(std::iter::once(&*first)))?;
    if options.jobs > 0 {
        // The pool is made once; a second request in one process would keep the first.
        let threads = options.jobs.min(MOST_THREADS);
        drop(rayon::ThreadPoolBuilder::new().num_threads(threads).build_global());
    }
    if options.ai_detect {
        refusals::refuse_detection_by_nobody(all())?;
    }
    fixing::warn_about_idle_flags(options, &general);
    let checking = Checking { options, first: &first, fixes, directory };
    let exit = checking.check(&jobs, &configured.run)?;
    Ok(if targets.errors.is_empty() { exit } else { Exit::Failure })
}

/// `--print-config`: what holds for a file, and where each value comes from.
fn print_config(options: &Options, file: &Path, configs: &mut Configs<'_>) -> anyhow::Result<Exit> {
    let config = configs.for_target(file)?;
    refusals::refuse_unknown_rules(options, std::iter::once(&*config))?;
    warn(configs);
    let is_tally = options.name == Name::Tally;
    let dialect = if is_tally { Dialect::Tally } else { Dialect::Probity };
    let page = config.print(&Catalogue::shipped(), dialect, &["check", "ai"]);
    streams::stdout().for_programs().write_all(page.as_bytes())?;
    Ok(Exit::Clean)
}

/// The files that the command line means, and how builds use them.
fn targets(
    options: &Options,
    general: &Settings,
    directory: &Path,
) -> anyhow::Result<(Targets, Described)> {
    let request = Request { paths: &options.paths, exclude: &general.check.exclude, directory };
    let mut targets = discover::discover(&request)?;
    if let Some(name) = &options.stdin_filename {
        targets.stdin &= !discover::excludes(&request, name)?;
    }
    let described = builds::expand(&mut targets, &options.builds, directory);
    if described.files.is_empty() && targets.errors.is_empty() {
        warn_about_idle(&options.builds);
    }
    Ok((targets, described))
}

/// `--list-rules`: what would run here, and as what.
fn list_rules(name: Name, config: &Settings) -> anyhow::Result<Exit> {
    let options = check_options(name, config);
    let rules =
        FileRules::new(&options, || ShellcheckProgram::find(options.rules.shellcheck_timeout))?;
    let mut out = streams::stdout().lock();
    for (rule, choice) in rules.set.active(&[]) {
        writeln!(out, "{:<44} {}", rule.metadata().name, choice.severity)?;
    }
    Ok(Exit::Clean)
}

/// What holds for files, made once for each configuration.
struct ConfiguredFiles {
    name: Name,
    run: Arc<RunEffects>,
    made: HashMap<*const Settings, Configured>,
    /// In the order in which they were first met.
    settings: Vec<Arc<Settings>>,
    /// One for the whole run, so that what it knows is known to all.
    shellcheck: Option<Arc<ShellcheckProgram>>,
}

impl ConfiguredFiles {
    fn new(name: Name) -> Self {
        let (run, made, settings) = (Arc::default(), HashMap::new(), Vec::new());
        Self { name, run, made, settings, shellcheck: None }
    }

    fn of(&mut self, config: Arc<Settings>) -> anyhow::Result<Configured> {
        if let Some(made) = self.made.get(&Arc::as_ptr(&config)) {
            return Ok(made.clone());
        }
        let options = check_options(self.name, &config);
        let rules = FileRules::new(&options, || match &self.shellcheck {
            Some(found) => Ok(Arc::clone(found)),
            None => {
                let found = ShellcheckProgram::find(options.rules.shellcheck_timeout)?;
                Ok(Arc::clone(self.shellcheck.insert(found)))
            }
        })?;
        let effects = FileEffects { config: Arc::clone(&config), run: Arc::clone(&self.run) };
        let (options, rules) = (Arc::new(options), Arc::new(rules));
        let configured = Configured { options, rules, effects: Arc::new(effects) };
        self.made.insert(Arc::as_ptr(&config), configured.clone());
        // The settings stay, so that their address means nothing else.
        self.settings.push(config);
        Ok(configured)
    }
}

fn warn(configs: &mut Configs<'_>) {
    for warning in configs.take_warnings() {
        tracing::warn!("{warning}");
    }
}

/// Names of builds choose nothing where no file describes builds.
fn warn_about_idle(chosen: &ChosenBuilds) {
    if let Some(service) = chosen.services.first() {
        tracing::warn!(
            "--service has no effect without a Compose file; pass one: `probity check compose.yaml \
             --service {service}`"
        );
    }
    if let Some(target) = chosen.targets.first() {
        tracing::warn!(
            "--target has no effect without a Bake file; pass one: `probity check docker-bake.hcl \
             --target {target}`"
        );
    }
}

fn no_files(targets: &Targets) -> anyhow::Result<Exit> {
    if !targets.errors.is_empty() {
        return Ok(Exit::Failure);
    }
    tracing::error!(
        "no Dockerfile or Containerfile found\n  help: name a file, or name the directory if it is \
         hidden or ignored"
    );
    Ok(Exit::NoFiles)
}

/// The directory that the build would be given, where one is named.
fn build_context(config: &Settings) -> anyhow::Result<Option<&Path>> {
    let named = config.check.context.as_deref();
    if let Some(missing) = named.filter(|dir| !dir.is_dir()) {
        let what = format!("the build context {} is not a directory", missing.display());
        return Err(Failure::new(
            what,
            "pass a directory that exists with --context, or remove the flag",
        )
        .into());
    }
    Ok(named)
}

/// What a run of checks goes by.
struct Checking<'c> {
    options: &'c Options,
    /// Says how the report is written.
    first: &'c Settings,
    fixes: FixHandling,
    directory: &'c Path,
}

impl Checking<'_> {
    fn check(&self, jobs: &[Job], effects: &RunEffects) -> anyhow::Result<Exit> {
        let Self { options, first, fixes, directory } = *self;
        output::refuse_input(&first.check.output.path, jobs)?;
        let manual = Manual::of(options.name);
        let mut reporting = Reporting::open(options, first, fixes, &manual, jobs)?;
        let ignore_files = IgnoreFiles::new(build_context(first)?);
        let run = Run {
            options: RunOptions {
                fixes,
                admits_ai_fixes: options.fix_ai,
                is_dry_run: options.ai_dry_run,
                detects: options.ai_detect,
            },
            directory,
            ignore_files: &ignore_files,
            at_once: options.jobs,
            is_pinning: options.is_pinning,
            is_watched: !in_ci() && streams::stderr().is_terminal(),
        };
        let trace = self.trace(jobs)?;
        let what = if jobs.len() == 1 { "file" } else { "files" };
        let count = Arc::new(Count::of(jobs.len(), what));
        if run.asks_agents(jobs) {
            let said = Arc::clone(&count);
            let progress =
                Box::new(move |file: &str, what: &str| said.say(&format!("{file}: {what}")));
            effects.ask_agents(trace, options.ai_dry_run, progress)?;
        }
        let (mut known, baseline) = baseline::known(options, first, directory)?;
        let end = run.check(jobs, &mut known, &|| count.add_one(), &mut |job, checked| {
            reporting.file(job, checked)
        })?;
        if end == RunEnd::CalledOff {
            tracing::error!("cancelled: unfinished files are unchanged");
            return Ok(effects.called_off().unwrap_or(Exit::Failure));
        }
        count.hide();
        let exit = reporting.finish(jobs)?;
        let old = known.finish(&options.paths);
        let written = baseline::finish(&old, baseline, fixes == FixHandling::Diff)?;
        Ok(match exit {
            // What could not be done is not made good by a new baseline.
            Reported::Decided(exit) => exit,
            Reported::Counted(exit) => written.unwrap_or(exit),
        })
    }

    /// Nobody is asked in a dry run, so that there is nothing to trace.
    fn trace(&self, jobs: &[Job]) -> anyhow::Result<Option<Trace>> {
        let path = self.options.ai_trace.as_ref().filter(|_| !self.options.ai_dry_run);
        let Some(path) = path else { return Ok(None) };
        output::refuse_input(&path.to_string_lossy(), jobs)?;
        Ok(Some(Trace::open(path)?))
    }
}
