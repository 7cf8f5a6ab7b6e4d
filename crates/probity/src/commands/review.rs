//! `review`: an agent's findings, each proven or not, as files, reports, a history and an exit code.

mod files;
mod fix;
mod gate;
mod history;
mod progress;
mod publish;
mod runners;
mod seat;
mod serve;
mod settings;
mod shards;
mod trend;
mod verdict;

use std::{
    io::Write as _,
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
};

use anyhow::Context as _;
use probity_agent::Cancel;
use probity_proof::{CustomRunner, GitFacts, Watch, has_commit};
use probity_report::{Screen, review::ReviewFormat};
use probity_review::{
    AgentSeat, AskOptions, Checkout, Event, OpenAgent, Previous, ProveOptions, ReviewConfig,
    ReviewOutput, Reviewed, Standing, Status, TestPlace, apply_ignores, apply_verdicts, reconsider,
    review,
};
use probity_scope::{MOST_BYTES, read_text};
use probity_text::runner::Syntax;

use self::{files::OutputDirectory, progress::Progress, settings::Settings};
pub(crate) use self::{
    fix::{CommitTo, FixCommand, fix},
    gate::{run as gate, step as gate_step},
    history::{ChosenHistory, HistoryOptions, list as history, show},
    publish::{PublishCommand, publish},
    serve::serve,
    shards::{AskCommand, MergeCommand, ProveCommand, ask, merge, prove},
    trend::{TrendCommand, badge, trend},
    verdict::{VerdictCommand, verdict, verdicts},
};
use crate::{
    config::Layer,
    exit::Exit,
    failure::Failure,
    name::Name,
    output::OutputFile,
    screen, streams,
    test_place::{proof_caches, test_sandbox},
};

/// What one review is told besides its settings.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) repo: PathBuf,
    /// Files that get the review too.
    pub(crate) reports: Vec<(ReviewFormat, PathBuf)>,
    pub(crate) quiet: bool,
    /// Whether only what was added since the last review of this branch is reviewed.
    pub(crate) since_last: bool,
    pub(crate) flags: Layer,
}

/// Under the name `probity`.
pub(crate) fn run(options: Options) -> anyhow::Result<Exit> {
    let (output, repo) = (settings::flagged_output(&options.flags), options.repo.clone());
    conclude(&output, &repo, Settings::new(Name::Probity, options))
}

/// Under the name `ci-agent-review`.
pub(crate) fn step() -> anyhow::Result<Exit> {
    let repo: PathBuf = settings::text("REPO_DIR").unwrap_or_else(|| "repo".to_owned()).into();
    let options = Options {
        repo: repo.clone(),
        reports: Vec::new(),
        quiet: false,
        since_last: false,
        flags: Layer::default(),
    };
    conclude(&settings::output_directory(), &repo, Settings::new(Name::CiAgentReview, options))
}

/// What keeps a review from beginning is left behind as a review that failed, so that nobody takes
/// the file of an earlier one for the answer.
fn conclude(
    output: &Path,
    repo: &Path,
    settings: anyhow::Result<Settings>,
) -> anyhow::Result<Exit> {
    let settings = settings.inspect_err(|error| files::leave_failure(output, repo, None, error))?;
    let review = carry_out(&settings).inspect_err(|error| {
        files::leave_failure(&settings.output, &settings.repo, Some(&settings), error);
    })?;
    shown(&settings, &review)
}

/// Prints a review that is written, and judges it.
fn shown(settings: &Settings, review: &ReviewOutput) -> anyhow::Result<Exit> {
    files::step_summary(review, &settings.output)?;
    let is_for_people = settings.format == ReviewFormat::Text;
    if review.status == Status::Error && is_for_people {
        let report = files::rendered(screen::stderr(), settings.format, review, &settings.output)?;
        // The exit code says the same to whoever does not read it.
        drop(streams::stderr().write_all(report.as_bytes()));
    } else {
        let report = files::rendered(screen::stdout(), settings.format, review, &settings.output)?;
        print(settings.format.syntax(), &report)?;
    }
    // A report for a person has said why there was none.
    if let Some(error) = review.error.as_ref()
        && !is_for_people
    {
        tracing::error!("there was no review: {}; help: {}", error.message, error.help);
    }
    if review.status == Status::Error && settings.report_only {
        tracing::warn!(
            "the exit code is 0 because of --report-only (REVIEW_REPORT_ONLY); a gate exits with 2"
        );
    }
    Ok(judged(review, settings.report_only))
}

/// The review, written.
fn carry_out(settings: &Settings) -> anyhow::Result<ReviewOutput> {
    let mut desk = Desk::prepare(settings)?;
    let runners = runners::find(settings, &mut desk.notes)?;
    let seat = Seat::find(settings, &runners, &mut desk)?;
    let open = |copy: &Path| seat.place.open(copy, settings);
    let progress = Progress::start(settings.quiet);
    let checkout = checkout(settings)?;
    let proving = proving(settings, runners, &seat.stop, progress.watch())?;
    let reviewed =
        review(&checkout, &seat.options(settings, &open), &proving, &|event: Event<'_>| {
            progress.tell(event);
        });
    progress.end();
    desk.write(settings, reviewed)
}

/// Where a review is written and kept.
struct Desk {
    directory: OutputDirectory,
    /// Files that get the review too.
    reports: Vec<(ReviewFormat, OutputFile)>,
    kept: history::ReviewHistory,
    notes: Vec<String>,
}

impl Desk {
    fn prepare(settings: &Settings) -> anyhow::Result<Self> {
        if !settings.repo.is_dir() {
            let what = format!("there is no repository in {}", settings.repo.display());
            return Err(Failure::new(what, "name its directory with --repo, or REPO_DIR").into());
        }
        let directory = OutputDirectory::prepare(&settings.output, &settings.repo)?;
        let reports = settings.reports.iter().map(|(format, path)| {
            files::named_file(path, &settings.repo).map(|file| (*format, file))
        });
        let reports = reports.collect::<anyhow::Result<_>>()?;
        let mut notes = Vec::new();
        let kept = history::ReviewHistory::open(settings, &mut notes);
        Ok(Self { directory, reports, kept, notes })
    }

    /// Keeps a review and writes its files.
    fn write(mut self, settings: &Settings, reviewed: Reviewed) -> anyhow::Result<ReviewOutput> {
        let Reviewed { mut output, tests } = reviewed;
        output.notes.extend(self.notes);
        if self.kept.is_open() && output.changes.is_none() {
            // Where nothing is known everything is new.
            output.proven_issues.iter_mut().for_each(|issue| issue.standing = Some(Standing::New));
        }
        apply_ignores(&settings.repo, &settings.base_ref, &mut output);
        let mut notes = Vec::new();
        let said = self.kept.verdicts(output.metadata.identity(), &mut notes);
        apply_verdicts(&mut output, &said);
        output.notes.extend(notes);
        self.kept.save(&mut output);
        output.trend = self.kept.trend(&output);
        self.directory.write(&output, &tests)?;
        for (format, file) in &self.reports {
            file.write(&files::rendered(Screen::PLAIN, *format, &output, &settings.output)?)?;
        }
        Ok(output)
    }
}

/// Who is asked, about what, and how it is called off.
struct Seat {
    config: ReviewConfig,
    place: seat::ReviewSeat,
    previous: Option<Previous>,
    /// The commit of the last review of this branch, if what came after it is reviewed.
    since: Option<String>,
    cancel: Cancel,
    stop: Arc<AtomicBool>,
}

impl Seat {
    fn find(
        settings: &Settings,
        runners: &[CustomRunner],
        desk: &mut Desk,
    ) -> anyhow::Result<Self> {
        let matched = runners.iter().map(|runner| runner.files().to_owned()).collect();
        let mut config = config(settings)?.including(matched)?;
        tracing::info!("included: {}", config.include().join(", "));
        tracing::info!("excluded: {}", config.exclude().join(", "));
        if let Some(level) = settings.proof_level {
            config.proof.level = level;
        }
        let place = seat::ReviewSeat::find(settings)?;
        let previous = desk.kept.previous(settings, &mut desk.notes);
        let previous = previous.map(|mut review| {
            let said = desk.kept.verdicts(review.metadata.identity(), &mut desk.notes);
            reconsider(&mut review, &said);
            Previous { review }
        });
        let since = if settings.since_last {
            since_last(settings, previous.as_ref(), &mut desk.notes)
        } else {
            None
        };
        if settings.is_guess && since.is_none() {
            desk.notes.push(format!(
                "only the change since {} is reviewed; `--whole` reviews the repository",
                settings.base_ref
            ));
        }
        let (cancel, stop) = (Cancel::new(), Arc::new(AtomicBool::new(false)));
        listen(&cancel, &stop);
        Ok(Self { config, place, previous, since, cancel, stop })
    }

    fn options<'a>(&self, settings: &Settings, open: &'a OpenAgent<'a>) -> AskOptions<'a> {
        AskOptions {
            config: self.config.clone(),
            profile: settings.profile.clone(),
            bar: settings.bar,
            diff_base: self.since.clone().or_else(|| settings.diff_base.clone()),
            agent: AgentSeat {
                name: self.place.agent_name(),
                model: settings.model.clone().unwrap_or_default(),
                isolation: self.place.isolation().to_owned(),
                timeout: settings.timeout,
                budget: settings.budget,
                open,
            },
            max_findings: settings.max_findings,
            max_fix_rounds: settings.max_fix_rounds,
            suite_timeout: settings.suite_timeout,
            proof_timeout: settings.proof_timeout,
            previous: self.previous.clone(),
            prove_all_known: self.since.is_some(),
            cancel: self.cancel.clone(),
        }
    }
}

/// The commit of the last review of this branch. Without one everything is reviewed that otherwise is.
fn since_last(
    settings: &Settings,
    previous: Option<&Previous>,
    notes: &mut Vec<String>,
) -> Option<String> {
    let branch = GitFacts::of(&settings.repo).branch;
    let last = previous.map(|previous| &previous.review.metadata);
    let last = last.filter(|last| !branch.is_empty() && last.branch == branch);
    let commit = last.map(|last| last.commit.clone());
    let found = commit.filter(|commit| has_commit(&settings.repo, commit));
    if found.is_none() {
        notes.push(
            "this branch has no earlier review to start from, so --since last changes nothing"
                .to_owned(),
        );
    }
    found
}

fn checkout(settings: &Settings) -> anyhow::Result<Checkout> {
    Ok(Checkout {
        repo: settings.repo.canonicalize().context("cannot find the repository")?,
        output: Some(settings.output.clone()),
        hidden: settings.hidden(),
    })
}

fn proving(
    settings: &Settings,
    runners: Vec<CustomRunner>,
    stop: &Arc<AtomicBool>,
    watch: Watch,
) -> Result<ProveOptions, Failure> {
    Ok(ProveOptions {
        runners,
        jobs: settings.jobs,
        tests: TestPlace {
            sandbox: test_sandbox(settings.sandbox, "--sandbox")?,
            environment: std::env::vars_os().collect(),
            caches: proof_caches(),
            fetch: settings.fetch.clone(),
        },
        without_guard: settings.without_guard,
        stop: Arc::clone(stop),
        watch,
    })
}

fn config(settings: &Settings) -> anyhow::Result<ReviewConfig> {
    let way_out = "`probity review --help` lists the settings that a review.yml can have";
    let profile = ReviewConfig::profile(&settings.profile).map_err(|error| {
        Failure::new(
            error.to_string(),
            "choose one with --profile; `probity review --help` describes it",
        )
    })?;
    let config = match &settings.config {
        None => profile,
        Some(path) => {
            let shown = path.display();
            let text = read_text(path, MOST_BYTES).with_context(|| {
                Failure::new(format!("cannot read {shown}"), "name a review.yml that exists")
            })?;
            profile
                .over(&text)
                .with_context(|| Failure::new(format!("{shown} is not valid"), way_out))?
        }
    };
    let way_out = "paths are globs such as src/** or cmd/*.go";
    config
        .narrowed(&settings.paths)
        .with_context(|| Failure::new("the paths to review cannot be read", way_out))
}

/// Ctrl-C ends the agent and the tests, and the review says that it was called off.
fn listen(cancel: &Cancel, stop: &Arc<AtomicBool>) {
    use std::{io::Read as _, sync::atomic::Ordering};

    let Ok(mut signals) = super::exec::signals::catch() else { return };
    let (cancel, stop) = (cancel.clone(), Arc::clone(stop));
    let wait = move || {
        // Any signal that is caught means the same.
        if let Ok(1) = signals.read(&mut [0]) {
            cancel.cancel();
            stop.store(true, Ordering::SeqCst);
        }
    };
    if let Err(error) = std::thread::Builder::new().name("signals".to_owned()).spawn(wait) {
        tracing::warn!("a review cannot be cancelled cleanly: {error}");
    }
}

fn print(syntax: Syntax, report: &str) -> anyhow::Result<()> {
    let mut out = streams::stdout().as_syntax(syntax);
    out.write_all(report.as_bytes()).and_then(|()| out.flush()).context("cannot write the report")
}

fn judged(output: &ReviewOutput, report_only: bool) -> Exit {
    match (output.status, output.score.pass) {
        (Status::Error, _) if report_only => Exit::Clean,
        (Status::Error, _) => Exit::Failure,
        (Status::Ok, true) => Exit::Clean,
        (Status::Ok, false) if report_only => Exit::Clean,
        (Status::Ok, false) => Exit::Findings,
    }
}

/// Writes a review in another format.
pub(crate) fn report(
    review: &Path,
    format: ReviewFormat,
    to: Option<&Path>,
) -> anyhow::Result<Exit> {
    let output = files::read_review(review, files::NAME_REVIEW)?;
    let beside = review.parent().unwrap_or(Path::new(""));
    match to {
        None => {
            let report = files::rendered(screen::stdout(), format, &output, beside)?;
            print(format.syntax(), &report)?;
        }
        Some(path) => {
            let file = files::named_file(path, Path::new("."))?;
            file.write(&files::rendered(Screen::PLAIN, format, &output, beside)?)?;
        }
    }
    Ok(Exit::Clean)
}
