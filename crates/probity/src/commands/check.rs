//! `check`: find the files, lint and fix them in parallel, report them in order.

mod ai;
mod base_images;
mod cache;
mod editor;
mod examine;
mod fix;
mod inline;
mod job;
mod known;
mod mask;
mod opened;
mod output;
mod proof;
mod searched;
mod settings;
mod shellcheck;
mod statistics;
mod watch;

use std::{
    io::Write as _,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use anyhow::Context as _;
use probity_check::{
    IgnoreFiles,
    builds::{self, ChosenBuilds},
    discover::{self, Request, Targets},
};
use probity_finding::Finding;
use probity_lint::{OwnRule, Rejection, is_syntax_rule};
use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};

use self::{
    base_images::SlowChecks,
    examine::{Checked, examine},
    fix::{Summary, Way},
    job::{Job, Target, configs, configs_of, jobs},
    known::Known,
    output::Output,
};
pub(crate) use self::{
    editor::{EditorFixes, EditorRules, EditorText, editor_configs},
    fix::unified_diff,
    mask::Hider,
};
use crate::{
    config::{Catalogue, Choice, Configs, Dialect, Layer, Settings},
    exit::Exit,
    failure::Failure,
    manual::Manual,
    name::Name,
    report::{Detail, FileReport},
    screen::{
        Screen,
        count::{self, Count},
    },
    streams,
};

/// Files that are held in memory together: linted in parallel, then reported in order.
const BATCH: usize = 512;

/// More threads than this help nobody and hurt the machine.
const MOST_THREADS: usize = 256;

/// Agents that work at the same time, unless `--jobs` says otherwise: they wait more than they work.
const AGENTS_AT_ONCE: usize = 4;

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
    settings::refuse_nonsense(options)?;
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
        let config = configs.for_target(&directory.join(file))?;
        settings::refuse_unknown_rules(options, std::iter::once(&*config))?;
        warn(&mut configs);
        let is_tally = options.name == Name::Tally;
        let dialect = if is_tally { Dialect::Tally } else { Dialect::Probity };
        let page = config.print(&Catalogue::shipped(), dialect, &["check", "ai"]);
        streams::stdout().for_programs().write_all(page.as_bytes())?;
        return Ok(Exit::Clean);
    }
    let general = configs.without_file()?;
    let request = Request { paths: &options.paths, exclude: &general.check.exclude, directory };
    let mut targets = discover::discover(&request)?;
    if let Some(name) = &options.stdin_filename {
        targets.stdin &= !discover::excludes(&request, name)?;
    }
    let described = builds::expand(&mut targets, &options.builds, directory);
    if described.files.is_empty() && targets.errors.is_empty() {
        warn_about_idle(&options.builds);
    }
    if options.name == Name::Tally
        && Way::of(options, &general) != Way::Offer
        && !described.is_empty()
    {
        return Err(Failure::new(
            "--fix cannot be used with a Compose or Bake file",
            "name the Dockerfiles instead",
        )
        .into());
    }
    let jobs = jobs(&targets, &described, options, directory, &mut configs)?;
    warn(&mut configs);
    if options.list_rules {
        let config = jobs.first().map_or(&general, |job| &job.config);
        return settings::list_rules(options.name, config);
    }
    for error in &targets.errors {
        tracing::error!("{error}{}", error.way_out());
    }
    // A description without builds is checked, and its report is empty.
    let first = match (jobs.first(), described.files.first()) {
        (Some(job), _) => Arc::clone(&job.config),
        (None, Some(file)) if targets.errors.is_empty() => configs.for_target(file)?,
        (None, _) => return no_files(&targets),
    };
    warn(&mut configs);
    let all = jobs.iter().map(|job| &*job.config).chain(std::iter::once(&*first));
    settings::refuse_unknown_rules(options, all)?;
    if options.jobs > 0 {
        // The pool is made once; a second request in one process would keep the first.
        let threads = options.jobs.min(MOST_THREADS);
        drop(rayon::ThreadPoolBuilder::new().num_threads(threads).build_global());
    }
    if options.ai_detect {
        settings::refuse_detection_by_nobody(&jobs)?;
    }
    let way = Way::of(options, &general);
    let exit = check(&jobs, &first, options, way, directory)?;
    Ok(if targets.errors.is_empty() { exit } else { Exit::Failure })
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

/// Checks all files; the `first` configuration says how the report is written.
fn check(
    jobs: &[Job],
    first: &Settings,
    options: &Options,
    way: Way,
    directory: &Path,
) -> anyhow::Result<Exit> {
    output::refuse_input(&first.check.output.path, jobs)?;
    let manual = Manual::of(options.name);
    let mut output = Output::open(first, options, &manual, way.takes_stdout(jobs), jobs)?;
    let ignore_files = IgnoreFiles::new(build_context(first)?);
    let trace = match &options.ai_trace {
        // Nobody is asked in a dry run, so that there is nothing to trace.
        Some(_) if options.ai_dry_run => None,
        Some(path) => {
            output::refuse_input(&path.to_string_lossy(), jobs)?;
            Some(ai::Trace::open(path)?)
        }
        None => None,
    };
    let asks = |jobs: &[Job]| {
        let fixes = way != Way::Offer && jobs.iter().any(|job| job.config.ai.enabled);
        options.ai_detect || fixes
    };
    let count = Arc::new(Count::of(jobs.len(), if jobs.len() == 1 { "file" } else { "files" }));
    let said = Arc::clone(&count);
    let progress = Box::new(move |file: &str, what: &str| said.say(&format!("{file}: {what}")));
    let ai = ai::AiRun::new(options, trace, asks(jobs), progress)?;
    let mut slow_checks = SlowChecks::new(options.is_pinning);
    let mut known = Known::of_run(options, first, directory)?;
    let mut counted = Counted::default();
    let mut summary = Summary::default();
    let mut unread_input = false;
    for batch in jobs.chunks(BATCH) {
        shellcheck::learn(batch, directory)?;
        slow_checks.learn(batch, directory, &ignore_files);
        known.learn(batch, directory)?;
        let work = |job: &Job| {
            let mut checked = examine(job, way, directory, &ignore_files, &ai);
            checked.findings.iter_mut().for_each(|finding| manual.link(finding));
            count.add_one();
            checked
        };
        let mut checked: Vec<Checked> = match batch {
            // One file is not worth waking the pool for.
            [job] => vec![work(job)],
            _ if asks(batch) => {
                let most = match options.jobs {
                    0 => AGENTS_AT_ONCE,
                    jobs => jobs,
                };
                in_threads(batch, most, || ai.called_off().is_some(), work)
            }
            _ => batch.par_iter().map(work).collect(),
        };
        if let Some(exit) = ai.called_off() {
            tracing::error!("cancelled: unfinished files are unchanged");
            return Ok(exit);
        }
        // What fixing has changed was looked at again.
        shellcheck::refuse_failure(batch)?;
        for (job, checked) in batch.iter().zip(&mut checked) {
            known.take_old(job, directory, checked);
            counted.add(job, &checked.findings);
            let hider = Hider::new(&job.rules.secrets, &checked.text, &checked.secrets);
            if let Some(fixing) = &checked.fixing {
                summary.add(&checked.shown, fixing, |message| {
                    if options.show_secrets { message.to_owned() } else { hider.message(message) }
                });
                let text = fixing.output.as_deref().unwrap_or_default();
                let text = match way {
                    Way::Diff => Screen::stdout().painted_diff(text),
                    Way::Offer | Way::Write => text.to_owned(),
                };
                count::beside(|| streams::stdout().for_programs().write_all(text.as_bytes()))?;
            }
            // A filter whose input could not be read has written nothing, which must not pass for an
            // empty file.
            let is_filter = way != Way::Offer && matches!(job.target, Target::Stdin(_));
            unread_input |= is_filter && checked.fixing.is_none();
            let masked = if options.show_secrets {
                None
            } else {
                mask::masked(&hider, &checked.text, &checked.secrets, &checked.findings)
            };
            let (text, findings) = match &masked {
                Some((text, findings)) => (text.as_str(), findings),
                None => (checked.text.as_str(), &checked.findings),
            };
            let ai_fixes = checked
                .fixing
                .as_ref()
                .map(|fixing| fixing.ai_fixes.as_slice())
                .unwrap_or_default();
            let rejection =
                checked.fixing.as_ref().and_then(|fixing| fixing.rejection.as_ref()).map(
                    |rejection| {
                        let reason = if options.show_secrets {
                            rejection.reason.clone()
                        } else {
                            hider.message(&rejection.reason)
                        };
                        Rejection { line: rejection.line, reason }
                    },
                );
            let report = FileReport {
                path: &checked.shown,
                text,
                findings,
                ai_fixes,
                ai_detections: &checked.ai_detections,
                invocations: &job.invocations(),
                rejection: rejection.as_ref(),
            };
            count::beside(|| output.file(&report))?;
        }
    }
    drop((ai, count));
    let rules_enabled = jobs.first().map_or(0, |job| job.rules.set.len());
    output.finish(jobs.len(), rules_enabled)?;
    streams::stdout().lock().flush()?;
    summary.say(way)?;
    let written = known.finish(options, way)?;
    Ok(match counted.exit() {
        _ if summary.failed_files > 0 || unread_input => Exit::Failure,
        _ if way == Way::Diff && summary.changed_files > 0 => Exit::Findings,
        exit => written.unwrap_or(exit),
    })
}

/// The same as a pool would give, for work that mostly waits; no job is begun once it is over.
fn in_threads<T: Send>(
    jobs: &[Job],
    most: usize,
    is_over: impl Fn() -> bool + Sync,
    work: impl Fn(&Job) -> T + Sync,
) -> Vec<T> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::with_capacity(jobs.len())));
    thread::scope(|threads| {
        for _ in 0..most.clamp(1, MOST_THREADS).min(jobs.len()) {
            threads.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(job) = jobs.get(index) else { return };
                    if is_over() {
                        return;
                    }
                    let result = work(job);
                    done.lock().unwrap_or_else(PoisonError::into_inner).push((index, result));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}

/// The findings that decide the exit code.
#[derive(Default)]
struct Counted {
    syntax: usize,
    other: usize,
}

impl Counted {
    fn add(&mut self, job: &Job, findings: &[Finding]) {
        let Some(least) = job.config.check.output.fail_level.severity() else { return };
        for finding in findings.iter().filter(|finding| finding.severity >= least) {
            if is_syntax_rule(&finding.rule) {
                self.syntax += 1;
            } else {
                self.other += 1;
            }
        }
    }

    fn exit(&self) -> Exit {
        match self {
            Self { syntax: 0, other: 0 } => Exit::Clean,
            Self { other: 0, .. } => Exit::SyntaxOnly,
            Self { .. } => Exit::Findings,
        }
    }
}
