//! The output directory: `review.json`, `tests/`, and the reports beside them.

use std::{
    fs::{self, File, OpenOptions},
    io::{Read as _, Write as _},
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use atomic_write_file::AtomicWriteFile;
use probity_proof::NO_COMMIT;
use probity_review::{
    Bar, FailureKind, MAX_SCORE, Metadata, Redactor, ReviewFailure, ReviewOutput, SCHEMA_VERSION,
    Score, Status, TestFile, TestSummary, read,
};

use super::settings::{self, Settings};
use crate::{
    failure::Failure,
    report::review::{ReviewFormat, render, render_for},
    screen::Screen,
};

const REVIEW: &str = "review.json";
/// What a review calls the directory of its tests, wherever it is.
const TESTS: &str = "review/tests/";
const REPORTS: &[(&str, ReviewFormat)] = &[
    ("review.md", ReviewFormat::Markdown),
    ("review.html", ReviewFormat::Html),
    ("review.sarif", ReviewFormat::Sarif),
    ("review.junit.xml", ReviewFormat::Junit),
    ("review.gitlab.json", ReviewFormat::Gitlab),
];
/// More than a review ever has; what is larger is something else.
const MOST_BYTES: u64 = 64 << 20;

pub(super) struct OutputDirectory {
    path: PathBuf,
    /// As the user calls it.
    called: PathBuf,
}

impl OutputDirectory {
    /// Makes the directory, and takes away what an earlier review left in it: if this one fails,
    /// nobody shall mistake the old one for it.
    pub(super) fn prepare(path: &Path, repo: &Path) -> anyhow::Result<Self> {
        let shown = path.display();
        let is_link = path.symlink_metadata().is_ok_and(|found| found.is_symlink());
        let around = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let around = around.unwrap_or(Path::new(".")).canonicalize();
        if is_link
            && around
                .is_ok_and(|around| repo.canonicalize().is_ok_and(|repo| around.starts_with(repo)))
        {
            let what = format!("{shown} is a link of the repository, which may lead anywhere");
            return Err(Failure::new(what, "name another directory with --output").into());
        }
        let is_new = !path.exists();
        fs::create_dir_all(path).with_context(|| {
            Failure::new(format!("cannot make {shown}"), "name another directory with --output")
        })?;
        let (real, root) = (path.canonicalize()?, repo.canonicalize()?);
        if real == root {
            let what = format!("{shown} is the repository itself, which is never written to");
            return Err(Failure::new(what, "name a directory for the output with --output").into());
        }
        if is_new && real.starts_with(&root) {
            // What a review leaves is nothing to commit; without the file it is only in the way.
            write_whole(&real.join(".gitignore"), "*\n")?;
        }
        let directory = Self { path: real, called: path.to_owned() };
        directory.clear().with_context(|| format!("cannot clear {shown} of an earlier review"))?;
        Ok(directory)
    }

    /// Only what a review names, and nothing else that may lie there.
    fn clear(&self) -> anyhow::Result<()> {
        let file = self.path.join(REVIEW);
        let Ok(text) = read_bounded(&file) else { return Ok(()) };
        if let Ok(earlier) = read(&text) {
            let proven = earlier.proven_issues.iter().map(|issue| &issue.test_file);
            let observed = earlier.observations.iter().map(|observation| &observation.test_file);
            let discarded = earlier.discarded.iter().map(|discarded| &discarded.test_file);
            let dismissed = earlier.dismissed.iter().map(|dismissed| &dismissed.issue.test_file);
            for test in proven.chain(observed).chain(discarded).chain(dismissed) {
                let Some(name) = test.strip_prefix(TESTS) else { continue };
                if !name.is_empty() && !name.contains('/') && name != ".." {
                    remove(&self.path.join("tests").join(name))?;
                }
            }
        }
        for (name, _) in REPORTS {
            remove(&self.path.join(name))?;
        }
        remove(&file)
    }

    /// The tests first: whoever finds `review.json` finds what it names.
    pub(super) fn write(&self, output: &ReviewOutput, tests: &[TestFile]) -> anyhow::Result<()> {
        output.validate().context("the review contradicts itself, which is an error of ours")?;
        let directory = self.path.join("tests");
        fs::create_dir_all(&directory)
            .with_context(|| format!("cannot make {}", directory.display()))?;
        for test in tests {
            write_whole(&directory.join(&test.name), &test.text)?;
        }
        for (name, format) in REPORTS {
            write_whole(
                &self.path.join(name),
                &rendered(Screen::PLAIN, *format, output, &self.called)?,
            )?;
        }
        write_whole(&self.path.join(REVIEW), &render(ReviewFormat::Json, output)?)
    }
}

/// Leaves a review that says why there is none, or at least not the one that was there before.
pub(super) fn leave_failure(output: &Path, settings: Option<&Settings>, error: &anyhow::Error) {
    let file = output.join(REVIEW);
    let usual = || settings::text("REPO_DIR").unwrap_or_else(|| "repo".to_owned()).into();
    let repo = settings.map_or_else(usual, |settings| settings.repo.clone());
    // The repository is never written to, whoever asks for it.
    if output.canonicalize().ok() == repo.canonicalize().ok() && output.exists() {
        return;
    }
    let left = write_failure(output, settings, error);
    if let Err(unwritten) = left.or_else(|_| remove(&file)) {
        tracing::warn!("cannot remove an earlier review: {unwritten:#}");
    }
}

fn write_failure(
    output: &Path,
    settings: Option<&Settings>,
    error: &anyhow::Error,
) -> anyhow::Result<()> {
    // Only where a review of ours may be: a mistaken path must not get one.
    let directory = match settings {
        Some(settings) => OutputDirectory::prepare(output, &settings.repo)?,
        None => {
            fs::create_dir_all(output)?;
            OutputDirectory { path: output.canonicalize()?, called: output.to_owned() }
        }
    };
    directory.clear()?;
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
        metadata: Metadata {
            repo: settings.map_or_else(|| ".".into(), |it| it.repo.display().to_string()),
            commit: NO_COMMIT.to_owned(),
            timestamp: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            agent_cli: settings.map_or("none", |settings| settings.agent.as_str()).to_owned(),
            ..Metadata::default()
        },
        score: Score {
            value: 0.0,
            max: MAX_SCORE,
            pass: false,
            threshold: bar.threshold,
            fail_on_critical: bar.fail_on_critical,
            deductions: Vec::new(),
        },
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
        return render(format, output);
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
    render_for(screen, format, &output)
}

/// Writes a review again that a person has judged, and the reports that lie beside it.
pub(super) fn rewrite(path: &Path, review: &ReviewOutput) -> anyhow::Result<()> {
    let directory = path.parent().unwrap_or(Path::new(""));
    for (name, format) in REPORTS {
        let report = directory.join(name);
        if report.is_file() {
            write_whole(&report, &rendered(Screen::PLAIN, *format, review, directory)?)?;
        }
    }
    write_whole(path, &render(ReviewFormat::Json, review)?)
}

/// A file that is there whole or not at all.
pub(super) fn write_whole(path: &Path, text: &str) -> anyhow::Result<()> {
    let write = || -> std::io::Result<()> {
        let mut file = AtomicWriteFile::open(path)?;
        file.write_all(text.as_bytes())?;
        file.commit()
    };
    write().with_context(|| {
        Failure::new(format!("cannot write {}", path.display()), "check the space and the rights")
    })
}

/// What to do if a review that was named is not there.
pub(super) const NAME_REVIEW: &str =
    "run `probity review` first, or pass the review.json that it wrote";

/// Reads a review that is written already; `help` says what to do if it is not there.
pub(super) fn read_review(path: &Path, help: &'static str) -> anyhow::Result<ReviewOutput> {
    let shown = path.display();
    let text =
        read_bounded(path).with_context(|| Failure::new(format!("cannot read {shown}"), help))?;
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

fn read_bounded(path: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(MOST_BYTES).read_to_string(&mut text)?;
    Ok(text)
}

pub(super) fn remove(path: &Path) -> anyhow::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", path.display()))
        }
        _ => Ok(()),
    }
}
