//! `review fix`: proven fixes in the working tree, each proven again, and a commit for each if
//! wanted.

use std::{
    fs::{self, OpenOptions},
    io::Write as _,
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
};

use anyhow::Context as _;
use probity_agent::Cancel;
use probity_proof::{CommitError, Commits, PlacedTest, check_clean};
use probity_review::{
    Checkout, FixError, FixedFile, ProveOptions, ProvenIssue, changes, check_fixed, fixable,
    missing_fix, prove_fix,
};
use probity_text::visible;

use super::{Options, checkout, files, listen, proving, runners, settings::Settings};
use crate::{
    commands::check::unified_diff,
    exit::Exit,
    failure::Failure,
    name::Name,
    screen::{
        Screen,
        count::{self, Count},
    },
    write,
};

/// What `fix` is told.
#[derive(Debug)]
pub(crate) struct FixCommand {
    pub(crate) options: Options,
    /// Without any, all issues that have a proven fix.
    pub(crate) issues: Vec<String>,
    /// Instead of `review.json` in the output directory.
    pub(crate) report: Option<PathBuf>,
    pub(crate) dry_run: bool,
    pub(crate) allow_dirty: bool,
    /// Whether each fix becomes a commit, and on which new branch.
    pub(crate) commit: Option<CommitTo>,
}

#[derive(Debug)]
pub(crate) enum CommitTo {
    Head,
    NewBranch(String),
}

const NO_REVIEW: &str =
    "run `probity review` first, or name the review.json that it wrote with `--report FILE`";

pub(crate) fn fix(command: FixCommand) -> anyhow::Result<Exit> {
    let FixCommand { options, issues, report, dry_run, allow_dirty, commit } = command;
    let settings = Settings::new(Name::Probity, options)?;
    let report = report.unwrap_or_else(|| settings.output.join("review.json"));
    let review = files::read_review(&report, NO_REVIEW)?;
    if let Some(error) = &review.error {
        let what = format!("{}: there was no review: {}", report.display(), error.message);
        return Err(Failure::new(what, "run the review again").into());
    }
    let chosen = fixable(&review, &issues).map_err(|error| {
        let what = format!("{}: {error}", report.display());
        Failure::new(what, error.help())
    })?;
    let checkout = checkout(&settings)?;
    if dry_run {
        return show(&checkout, &chosen);
    }
    let commits = match &commit {
        None if allow_dirty => None,
        None => {
            check_clean(&checkout.repo).map_err(|error| dirty(&error))?;
            None
        }
        Some(to) => {
            let branch = match to {
                CommitTo::Head => None,
                CommitTo::NewBranch(name) => Some(name.as_str()),
            };
            let begun = Commits::begin(&checkout.repo, branch);
            Some(begun.map_err(|error| uncommitted(&error))?)
        }
    };
    if issues.is_empty() {
        for issue in &review.proven_issues {
            if let Some(why) = missing_fix(issue) {
                say(&format!("{}: skipped: no proven fix: {why}", issue.id))?;
            }
        }
    }
    if chosen.is_empty() {
        say("no issue has a proven fix")?;
        return Ok(Exit::Clean);
    }
    let (cancel, stop) = (Cancel::new(), Arc::new(AtomicBool::new(false)));
    listen(&cancel, &stop);
    let mut notes = Vec::new();
    let proving = proving(&settings, runners::find(&settings, &mut notes)?, &stop)?;
    for note in notes {
        tracing::warn!("{note}");
    }
    let fits = |issue: &&&ProvenIssue| changes(&checkout.repo, issue).is_ok();
    let fitting = chosen.iter().filter(fits).map(|issue| issue.id.clone()).collect();
    let mut fixing = Fixing { checkout, proving, commits, fitting, applied: Vec::new() };
    let mut refused = 0;
    let count = Count::of(chosen.len(), "fixes");
    for issue in &chosen {
        count.say(&format!("proving the fix of {}", issue.id));
        let applied = fixing.apply(issue)?;
        count.add_one();
        let line = match applied {
            Ok(done) => done,
            Err(error) => {
                refused += 1;
                format!("not fixed: {error}; help: {}", error.help())
            }
        };
        count::beside(|| say(&format!("{}: {line}", issue.id)))?;
    }
    drop(count);
    let applied = fixing.applied.len();
    let noun = if chosen.len() == 1 { "fix" } else { "fixes" };
    say(&format!("{applied} of {} {noun} applied", chosen.len()))?;
    Ok(if refused > 0 { Exit::Findings } else { Exit::Clean })
}

/// A working tree and what was fixed in it so far.
struct Fixing<'a> {
    checkout: Checkout,
    proving: ProveOptions,
    commits: Option<Commits>,
    /// Issues whose fixes fit the tree as it was before the first of them.
    fitting: Vec<String>,
    applied: Vec<&'a ProvenIssue>,
}

impl<'a> Fixing<'a> {
    /// Applies one fix; the inner error is about this fix alone, and leaves the tree as it was.
    fn apply(&mut self, issue: &'a ProvenIssue) -> anyhow::Result<Result<String, FixError>> {
        let fixed = match changes(&self.checkout.repo, issue) {
            Ok(fixed) => fixed,
            Err(error) => return Ok(Err(self.overlap(issue).unwrap_or(error))),
        };
        let test = match prove_fix(&self.checkout, &self.proving, issue) {
            Ok(test) => test,
            Err(error) => return Ok(Err(error)),
        };
        if let Some(commits) = &self.commits {
            let files = fixed.iter().map(|file| &file.path).chain([&test.path]);
            commits.check_filters(files).map_err(|error| uncommitted(&error))?;
        }
        let written = Written::write(&self.checkout.repo, fixed)?;
        let all: Vec<&ProvenIssue> = self.applied.iter().copied().chain([issue]).collect();
        if let Err(error) = check_fixed(&self.checkout, &self.proving, &all) {
            written.revert(&self.checkout.repo)?;
            return Ok(Err(error));
        }
        let mut done = format!("fixed {}, and its test passes", written.names().join(", "));
        if let Some(commits) = &mut self.commits {
            let files = place(&self.checkout.repo, &written, &test)?;
            let commit = commits.commit(&files, &message(issue, &test));
            let commit = commit.map_err(|error| uncommitted(&error))?;
            let short: String = commit.chars().take(10).collect();
            done = format!("{done}; commit {short} on {} with {}", commits.branch(), test.path);
        }
        self.applied.push(issue);
        Ok(Ok(done))
    }

    /// What keeps a fix from fitting that did fit before others were applied.
    fn overlap(&self, issue: &ProvenIssue) -> Option<FixError> {
        let last = self.applied.last()?;
        self.fitting.contains(&issue.id).then(|| FixError::Overlaps(last.id.clone()))
    }
}

/// Files that a fix has changed.
struct Written(Vec<FixedFile>);

impl Written {
    fn write(repo: &Path, fixed: Vec<FixedFile>) -> anyhow::Result<Self> {
        let mut written = Self(Vec::new());
        for file in fixed {
            if let Err(error) = write::replace(&repo.join(&file.path), &file.before, &file.after) {
                written.revert(repo)?;
                let what = format!("cannot write {}", file.path);
                return Err(error).context(Failure::new(what, "check the rights of the file"));
            }
            written.0.push(file);
        }
        Ok(written)
    }

    fn revert(&self, repo: &Path) -> anyhow::Result<()> {
        for file in &self.0 {
            let path = repo.join(&file.path);
            write::replace(&path, &file.after, &file.before).with_context(|| {
                let what = format!("{} has a fix that does not hold", file.path);
                Failure::new(what, format!("run `git checkout -- {}`", file.path))
            })?;
        }
        Ok(())
    }

    fn names(&self) -> Vec<&str> {
        self.0.iter().map(|file| file.path.as_str()).collect()
    }
}

/// Writes a test where its runner wants it; gives all files of the commit.
fn place(repo: &Path, written: &Written, test: &PlacedTest) -> anyhow::Result<Vec<String>> {
    let path = repo.join(&test.path);
    let create = || -> std::io::Result<()> {
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&path)?
            .write_all(test.source.as_bytes())
    };
    create().with_context(|| {
        Failure::new(format!("cannot write {}", test.path), "check the rights of its directory")
    })?;
    let mut files: Vec<String> = written.names().into_iter().map(str::to_owned).collect();
    files.push(test.path.clone());
    if let Some((file, text)) = &test.added {
        let target = repo.join(file);
        let before = fs::read_to_string(&target).with_context(|| format!("cannot read {file}"))?;
        let after = format!("{before}{text}");
        write::replace(&target, &before, &after).with_context(|| format!("cannot write {file}"))?;
        if !files.contains(file) {
            files.push(file.clone());
        }
    }
    Ok(files)
}

fn message(issue: &ProvenIssue, test: &PlacedTest) -> String {
    let reason = issue.proof.as_ref().map_or("", |proof| proof.reason.as_str());
    let title = visible::line(&issue.title);
    format!(
        "fix: {title}\n\n{}:{}: {}\n\n{reason}\nTest: {} in {}\n",
        issue.file, issue.line, issue.description, issue.test_name, test.path
    )
}

/// Prints what would change, and changes nothing.
fn show(checkout: &Checkout, chosen: &[&ProvenIssue]) -> anyhow::Result<Exit> {
    let mut refused = false;
    let screen = Screen::stdout();
    let mut out = std::io::stdout().lock();
    for issue in chosen {
        match changes(&checkout.repo, issue) {
            Ok(fixed) => {
                for file in fixed {
                    let diff = unified_diff(&file.path, &file.before, &file.after);
                    out.write_all(screen.painted_diff(&diff).as_bytes())?;
                }
            }
            Err(error) => {
                refused = true;
                tracing::warn!("{}: not fixed: {error}; help: {}", issue.id, error.help());
            }
        }
    }
    Ok(if refused { Exit::Findings } else { Exit::Clean })
}

fn dirty(error: &CommitError) -> Failure {
    let help = match error {
        CommitError::Dirty(_) => format!("{}, or use --allow-dirty", error.help()),
        _ => error.help(),
    };
    Failure::new(format!("no fix was applied: {error}"), help)
}

fn uncommitted(error: &CommitError) -> Failure {
    Failure::new(format!("no commit can be made: {error}"), error.help())
}

fn say(line: &str) -> anyhow::Result<()> {
    let line = visible::line(line);
    writeln!(std::io::stdout().lock(), "{line}").context("cannot write the result")
}
