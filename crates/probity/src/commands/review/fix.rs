//! `review fix`: proven fixes in the working tree, each proven again, and a commit for each if
//! wanted.

use std::{
    io::Write as _,
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
};

use anyhow::Context as _;
use probity_agent::Cancel;
use probity_check::unified_diff;
use probity_proof::{CommitError, Commits, PlacedTest, Watch, check_clean};
use probity_review::{
    Checkout, FixError, FixedFile, ProveOptions, ProvenIssue, changes, check_fixed, fixable,
    missing_fix, prove_fix,
};
use probity_scope::HeldDirectory;
use probity_text::visible;

use super::{Options, checkout, files, listen, proving, runners, settings::Settings};
use crate::{
    exit::Exit,
    failure::Failure,
    name::Name,
    screen::{
        self,
        count::{self, Count},
    },
    streams,
};

/// A longer file is not the configuration of a test runner.
const MOST_BYTES: u64 = 8 << 20;

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
    // Before anything of the repository runs, and the only way by which it is written.
    let tree = HeldDirectory::open(&checkout.repo).context("cannot open the repository")?;
    if dry_run {
        return show(&checkout, &tree, &chosen);
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
    let runners = runners::find(&settings, &mut notes)?;
    let proving = proving(&settings, runners, &stop, Watch::default())?;
    for note in notes {
        tracing::warn!("{note}");
    }
    let fits = |issue: &&&ProvenIssue| placeable(&checkout, &tree, issue).is_ok();
    let fitting = chosen.iter().filter(fits).map(|issue| issue.id.clone()).collect();
    let mut fixing = Fixing { checkout, tree, proving, commits, fitting, applied: Vec::new() };
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
    tree: HeldDirectory,
    proving: ProveOptions,
    commits: Option<Commits>,
    /// Issues whose fixes fit the tree as it was before the first of them.
    fitting: Vec<String>,
    applied: Vec<&'a ProvenIssue>,
}

impl<'a> Fixing<'a> {
    /// Applies one fix; the inner error is about this fix alone, and leaves the tree as it was.
    fn apply(&mut self, issue: &'a ProvenIssue) -> anyhow::Result<Result<String, FixError>> {
        let fixed = match placeable(&self.checkout, &self.tree, issue) {
            Ok(fixed) => fixed,
            Err(error) => return Ok(Err(self.overlap(issue).unwrap_or(error))),
        };
        let test = match prove_fix(&self.checkout, &self.proving, issue) {
            Ok(test) => test,
            Err(error) => return Ok(Err(error)),
        };
        if let Some(commits) = &self.commits {
            let added = test.added.iter().map(|(file, _)| file);
            let placed = added.chain([&test.path]);
            if let Some(error) = placed.clone().find_map(|path| fault_of(&self.tree, path)) {
                return Ok(Err(error));
            }
            let files = fixed.iter().map(|file| &file.path).chain(placed);
            commits.check_filters(files).map_err(|error| uncommitted(&error))?;
        }
        let written = Written::write(&self.tree, fixed)?;
        let all: Vec<&ProvenIssue> = self.applied.iter().copied().chain([issue]).collect();
        if let Err(error) = check_fixed(&self.checkout, &self.proving, &all) {
            written.revert(&self.tree)?;
            return Ok(Err(error));
        }
        let mut done = format!("fixed {}, and its test passes", written.names().join(", "));
        if let Some(commits) = &mut self.commits {
            let files = place(&self.tree, &written, &test)?;
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

/// What a fix changes, if no link is on the way to it.
fn placeable(
    checkout: &Checkout,
    tree: &HeldDirectory,
    issue: &ProvenIssue,
) -> Result<Vec<FixedFile>, FixError> {
    let fixed = changes(&checkout.repo, issue)?;
    match fixed.iter().find_map(|file| fault_of(tree, &file.path)) {
        Some(error) => Err(error),
        None => Ok(fixed),
    }
}

/// Why a file is not written in a repository, whatever is to be written.
fn fault_of(tree: &HeldDirectory, path: &str) -> Option<FixError> {
    let mut parts = Path::new(path).components().map(|part| part.as_os_str());
    if parts.any(|part| part.eq_ignore_ascii_case(".git")) {
        return Some(FixError::GitDirectory(path.to_owned()));
    }
    tree.is_linked(path).then(|| FixError::Linked(path.to_owned()))
}

/// Files that a fix has changed.
struct Written(Vec<FixedFile>);

impl Written {
    fn write(tree: &HeldDirectory, fixed: Vec<FixedFile>) -> anyhow::Result<Self> {
        let mut written = Self(Vec::new());
        for file in fixed {
            let (before, after) = (file.before.as_bytes(), file.after.as_bytes());
            if let Err(error) = tree.replace(&file.path, before, after) {
                written.revert(tree)?;
                let what = format!("cannot write {}", file.path);
                return Err(error).context(Failure::new(what, "check the rights of the file"));
            }
            written.0.push(file);
        }
        Ok(written)
    }

    fn revert(&self, tree: &HeldDirectory) -> anyhow::Result<()> {
        for file in &self.0 {
            let (before, after) = (file.before.as_bytes(), file.after.as_bytes());
            tree.replace(&file.path, after, before).with_context(|| {
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
fn place(
    tree: &HeldDirectory,
    written: &Written,
    test: &PlacedTest,
) -> anyhow::Result<Vec<String>> {
    let create = || tree.create_file(&test.path, 0o666)?.write_all(test.source.as_bytes());
    create().with_context(|| {
        Failure::new(format!("cannot write {}", test.path), "check the rights of its directory")
    })?;
    let mut files: Vec<String> = written.names().into_iter().map(str::to_owned).collect();
    files.push(test.path.clone());
    if let Some((file, text)) = &test.added {
        let before = tree.read_text(file, MOST_BYTES);
        let before = before.with_context(|| format!("cannot read {file}"))?;
        let after = format!("{before}{text}");
        let replaced = tree.replace(file, before.as_bytes(), after.as_bytes());
        replaced.with_context(|| format!("cannot write {file}"))?;
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
fn show(
    checkout: &Checkout,
    tree: &HeldDirectory,
    chosen: &[&ProvenIssue],
) -> anyhow::Result<Exit> {
    let mut refused = false;
    let screen = screen::stdout();
    let mut out = streams::stdout().for_programs().lock();
    for issue in chosen {
        match placeable(checkout, tree, issue) {
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
    writeln!(streams::stdout().lock(), "{line}").context("cannot write the result")
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use super::*;

    #[test]
    fn a_test_is_placed_below_the_repository_and_through_no_link() {
        let directory = tempfile::tempdir().unwrap();
        let at = |path: &str| directory.path().join(path);
        for made in ["repo/src", "repo/.git", "outside"] {
            fs::create_dir_all(at(made)).unwrap();
        }
        fs::write(at("outside/lib.rs"), "theirs").unwrap();
        symlink("../outside", at("repo/away")).unwrap();
        symlink("../../outside/lib.rs", at("repo/src/lib.rs")).unwrap();
        let tree = HeldDirectory::open(&at("repo")).unwrap();
        let none = Written(Vec::new());
        let test = |path: &str, added: Option<&str>| PlacedTest {
            path: path.to_owned(),
            source: "test".to_owned(),
            added: added.map(|file| (file.to_owned(), "mod test;".to_owned())),
        };
        for path in ["away/test.rs", "away/deeper/test.rs", "../outside/test.rs", "src/lib.rs"] {
            assert!(place(&tree, &none, &test(path, None)).is_err(), "{path}");
        }
        for added in ["src/lib.rs", "away/lib.rs"] {
            let name = format!("src/test-{}.rs", added.len());
            assert!(place(&tree, &none, &test(&name, Some(added))).is_err(), "{added}");
        }
        assert_eq!(fs::read_to_string(at("outside/lib.rs")).unwrap(), "theirs");
        assert_eq!(fs::read_dir(at("outside")).unwrap().count(), 1);
        assert_eq!(place(&tree, &none, &test("src/test.rs", None)).unwrap(), ["src/test.rs"]);
        let faults = ["away/x", "src/lib.rs", ".git/config", "src/.GIT/hooks/x", "src/new.rs"];
        let faults = faults.map(|path| match fault_of(&tree, path) {
            Some(FixError::Linked(_)) => "linked",
            Some(_) => "git",
            None => "none",
        });
        assert_eq!(faults, ["linked", "linked", "git", "git", "none"]);
    }
}
