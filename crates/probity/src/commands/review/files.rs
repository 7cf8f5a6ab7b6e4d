//! The output directory: `review.json`, `tests/`, and the reports beside them.

use std::{ffi::OsStr, fs::OpenOptions, io::Write as _, path::Path};

use anyhow::Context as _;
use probity_proof::NO_COMMIT;
use probity_report::{
    Screen,
    review::{ReviewFormat, render, render_for},
};
use probity_review::{
    Bar, FailureKind, Metadata, Redactor, ReviewFailure, ReviewOutput, SCHEMA_VERSION, Score,
    Status, TestFile, TestSummary, read,
};
use probity_scope::{HeldKind, Missing, read_text};

use super::settings::{self, Settings};
use crate::{
    failure::Failure,
    output::{OutputFile, OutputPlace},
};

const REVIEW: &str = "review.json";
/// What a review calls the directory of its tests, wherever it is.
const TESTS: &str = "review/tests/";
/// The same directory, in that of the output.
const TESTS_HERE: &str = "tests";
const REPORTS: &[(&str, ReviewFormat)] = &[
    ("review.md", ReviewFormat::Markdown),
    ("review.html", ReviewFormat::Html),
    ("review.sarif", ReviewFormat::Sarif),
    ("review.junit.xml", ReviewFormat::Junit),
    ("review.gitlab.json", ReviewFormat::Gitlab),
];
/// More than a review ever has; what is larger is something else.
const MOST_BYTES: u64 = 64 << 20;

/// What a person does about an output directory that cannot be used.
const NAME_DIRECTORY: &str = "name another directory with --output";

pub(super) struct OutputDirectory {
    place: OutputPlace,
}

impl OutputDirectory {
    /// Makes the directory, and takes away what an earlier review left in it: if this one fails,
    /// nobody shall mistake the old one for it.
    pub(super) fn prepare(path: &Path, repo: &Path) -> anyhow::Result<Self> {
        let place = OutputPlace::open(path, repo, Missing::Make, NAME_DIRECTORY)?;
        let shown = path.display();
        let root = repo.canonicalize().ok();
        if root.as_ref() == Some(&place.found.real) {
            let what = format!("{shown} is the repository itself, which is never written to");
            return Err(Failure::new(what, "name a directory for the output with --output").into());
        }
        let directory = Self { place };
        directory.refuse_foreign_files()?;
        let is_new = directory.place.found.is_new;
        if is_new && root.is_some_and(|root| directory.place.found.real.starts_with(root)) {
            // What a review leaves is nothing to commit; without the file it is only in the way.
            directory.ignore_it()?;
        }
        directory.clear().with_context(|| format!("cannot clear {shown} of an earlier review"))?;
        Ok(directory)
    }

    /// Before anybody is paid for an answer: a review that cannot be written is not begun.
    fn refuse_foreign_files(&self) -> Result<(), Failure> {
        let names = REPORTS.iter().map(|(name, _)| *name);
        names.chain([REVIEW]).try_for_each(|name| self.place.refuse_tracked(name))?;
        if self.place.held().kind(TESTS_HERE).is_some_and(|kind| kind != HeldKind::Directory) {
            let shown = self.place.called().join(TESTS_HERE);
            let what = format!("{} is not a directory", shown.display());
            return Err(Failure::new(what, NAME_DIRECTORY));
        }
        let tracked = self.place.tracked().iter();
        let mut tests =
            tracked.filter(|name| name.starts_with(TESTS_HERE) && is_named_as_test(name));
        tests.try_for_each(|name| self.place.refuse_tracked(name))
    }

    fn ignore_it(&self) -> anyhow::Result<()> {
        const NAME: &str = ".gitignore";
        if self.place.refuse_tracked(NAME).is_ok() { self.place.write(NAME, "*\n") } else { Ok(()) }
    }

    /// Only what a review names, and nothing else that may lie there.
    fn clear(&self) -> anyhow::Result<()> {
        let Ok(text) = self.place.held().read_text(REVIEW, MOST_BYTES) else { return Ok(()) };
        if let Ok(earlier) = read(&text) {
            let proven = earlier.proven_issues.iter().map(|issue| &issue.test_file);
            let observed = earlier.observations.iter().map(|observation| &observation.test_file);
            let discarded = earlier.discarded.iter().map(|discarded| &discarded.test_file);
            let dismissed = earlier.dismissed.iter().map(|dismissed| &dismissed.issue.test_file);
            for test in proven.chain(observed).chain(discarded).chain(dismissed) {
                let Some(name) = test.strip_prefix(TESTS) else { continue };
                if !name.is_empty() && !name.contains('/') && name != ".." {
                    self.remove(&Path::new(TESTS_HERE).join(name))?;
                }
            }
        }
        for (name, _) in REPORTS {
            self.remove(Path::new(name))?;
        }
        self.remove(Path::new(REVIEW))
    }

    fn remove(&self, name: &Path) -> anyhow::Result<()> {
        self.place.refuse_tracked(name)?;
        self.place.remove(name)
    }

    /// The tests first: whoever finds `review.json` finds what it names.
    pub(super) fn write(&self, output: &ReviewOutput, tests: &[TestFile]) -> anyhow::Result<()> {
        output.validate().context("the review contradicts itself, which is an error of ours")?;
        self.place.held().ensure(TESTS_HERE).with_context(|| {
            format!("cannot make {}", self.place.called().join(TESTS_HERE).display())
        })?;
        for test in tests {
            let name = Path::new(TESTS_HERE).join(&test.name);
            self.place.refuse_tracked(&name)?;
            self.place.write(&name, &test.text)?;
        }
        for (name, format) in REPORTS {
            let called = self.place.called();
            self.place.write(name, &rendered(Screen::PLAIN, *format, output, called)?)?;
        }
        self.place.write(REVIEW, &render(ReviewFormat::Json, output)?)
    }
}

/// Whether a file of the directory `tests` has a name as the tests of a review have.
fn is_named_as_test(path: &Path) -> bool {
    let name = path.file_name().map(OsStr::to_string_lossy).unwrap_or_default();
    ["ISS-", "OBS-", "DIS-"].iter().any(|id| name.starts_with(id))
}

/// Leaves a review that says why there is none, or at least not the one that was there before.
pub(super) fn leave_failure(
    output: &Path,
    repo: &Path,
    settings: Option<&Settings>,
    error: &anyhow::Error,
) {
    // The repository is never written to, whoever asks for it.
    if output.canonicalize().ok() == repo.canonicalize().ok() && output.exists() {
        return;
    }
    if let Err(unwritten) = write_failure(output, repo, settings, error) {
        let unwritten = format!("{unwritten:#}");
        // Where the output itself is at fault, that is what the review fails for.
        if unwritten != format!("{error:#}") {
            tracing::warn!("the failed review was not written: {unwritten}");
        }
    }
}

fn write_failure(
    output: &Path,
    repo: &Path,
    settings: Option<&Settings>,
    error: &anyhow::Error,
) -> anyhow::Result<()> {
    let directory = OutputDirectory::prepare(output, repo)?;
    let hidden = settings.map(Settings::hidden).unwrap_or_default();
    let message = Redactor::new(&hidden)?.text(&format!("{error:#}"));
    let bar = settings.map_or(Bar::DEFAULT, |settings| settings.bar);
    let review = ReviewOutput {
        schema_version: SCHEMA_VERSION.to_owned(),
        status: Status::Error,
        summary: format!("There was no review: {message}."),
        error: Some(ReviewFailure {
            kind: FailureKind::Machine,
            message,
            help: String::new(),
            stderr: String::new(),
        }),
        unstarted: Vec::new(),
        metadata: Metadata {
            repo: settings.map_or_else(|| ".".into(), |it| it.repo.display().to_string()),
            commit: NO_COMMIT.to_owned(),
            timestamp: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            agent_cli: settings.map_or("none", |settings| settings.agent.as_str()).to_owned(),
            ..Metadata::default()
        },
        score: Score::failed(&bar),
        proven_issues: Vec::new(),
        observations: Vec::new(),
        discarded: Vec::new(),
        test_summary: TestSummary::default(),
        cost: None,
        isolation: None,
        changes: None,
        trend: Vec::new(),
        dismissed: Vec::new(),
        notes: Vec::new(),
    };
    directory.write(&review, &[])
}

/// A report that names the tests where they are: beside the review, which `directory` holds. The
/// document itself has a name for them that is the same everywhere.
pub(super) fn rendered(
    screen: Screen,
    format: ReviewFormat,
    output: &ReviewOutput,
    directory: &Path,
) -> anyhow::Result<String> {
    if format == ReviewFormat::Json {
        return Ok(render(format, output)?);
    }
    let here = std::env::current_dir().unwrap_or_default();
    let directory = directory.strip_prefix(&here).unwrap_or(directory);
    let mut output = output.clone();
    let proven = output.proven_issues.iter_mut().map(|issue| &mut issue.test_file);
    let observed = output.observations.iter_mut().map(|observation| &mut observation.test_file);
    let discarded = output.discarded.iter_mut().map(|discarded| &mut discarded.test_file);
    let dismissed = output.dismissed.iter_mut().map(|dismissed| &mut dismissed.issue.test_file);
    for test in proven.chain(observed).chain(discarded).chain(dismissed) {
        if let Some(name) = test.strip_prefix(TESTS) {
            *test = directory.join("tests").join(name).to_string_lossy().into_owned();
        }
    }
    Ok(render_for(screen, format, &output)?)
}

/// Writes a review again that a person has judged, and the reports that lie beside it.
pub(super) fn rewrite(path: &Path, review: &ReviewOutput) -> anyhow::Result<()> {
    let here = Path::new(".");
    let file = OutputFile::open(path, here, Missing::Refuse, NAME_REVIEW)?;
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let place = OutputPlace::open(directory.unwrap_or(here), here, Missing::Refuse, NAME_REVIEW)?;
    let reports = REPORTS.iter().filter(|(name, _)| place.held().is_file(name));
    reports.clone().try_for_each(|(name, _)| place.refuse_tracked(name))?;
    for (name, format) in reports {
        let directory = directory.unwrap_or(Path::new(""));
        place.write(name, &rendered(Screen::PLAIN, *format, review, directory)?)?;
    }
    file.write(&render(ReviewFormat::Json, review)?)
}

/// A file that a person named for a report, of which the directory is there.
pub(super) fn named_file(path: &Path, repo: &Path) -> anyhow::Result<OutputFile> {
    OutputFile::open(path, repo, Missing::Refuse, "name another file, in a directory that exists")
}

/// What to do if a review that was named is not there.
pub(super) const NAME_REVIEW: &str =
    "run `probity review` first, or pass the review.json that it wrote";

/// Reads a review that is written already, and did not come with the repository; `help` says what to
/// do if it is not there.
pub(super) fn read_review(path: &Path, help: &'static str) -> anyhow::Result<ReviewOutput> {
    let shown = path.display();
    let text = read_text(path, MOST_BYTES)
        .with_context(|| Failure::new(format!("cannot read {shown}"), help))?;
    let file = OutputFile::open(path, Path::new("."), Missing::Refuse, NAME_REVIEW)?;
    file.refuse_committed("write another review with `--output`, and pass it")?;
    read(&text).with_context(|| {
        Failure::new(
            format!("{shown} cannot be used"),
            "run `probity review` again, which writes a new review.json",
        )
    })
}

/// Adds the review to the page of a GitHub job, where there is one.
pub(super) fn step_summary(output: &ReviewOutput, directory: &Path) -> anyhow::Result<()> {
    let Some(path) = settings::text("GITHUB_STEP_SUMMARY") else { return Ok(()) };
    let text = rendered(Screen::PLAIN, ReviewFormat::Markdown, output, directory)?;
    let append = || -> std::io::Result<()> {
        let mut file = OpenOptions::new().append(true).create(true).open(&path)?;
        file.write_all(text.as_bytes())
    };
    if let Err(error) = append() {
        // The review is written; its summary is a convenience.
        tracing::warn!("the step summary could not be written: {error}");
    }
    Ok(())
}
