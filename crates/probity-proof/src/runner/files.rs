//! What the runners share whose tools run files of tests, one test by its name or several files whole,
//! and leave one report.

use std::{
    collections::BTreeSet,
    fmt,
    path::{Path, PathBuf},
    time::Duration,
};

use probity_sandbox::Exit;
use probity_scope::{HeldDirectory, HeldKind};

use super::{
    Built, Existing, Groups, Placed, Runner, Suite, Trial, Trouble,
    capture::Ran,
    context::{Access, Site, Task},
    placement,
    report::{Report, ReportFault, TestReport, junit::is_named},
};
use crate::{Claim, Refusal, RunDetail, claim::FlaggedLines, host, places::read_text};

/// Test files of one project that are run.
const MOST_FILES: usize = 300;

/// What a tool gets on top of the test's time to start.
const GRACE: Duration = Duration::from_secs(15);

/// Between a project and its test, in the names of existing tests.
const SEPARATOR: &str = ": ";

/// The file of a report, among what a run writes.
pub(super) const REPORT: &str = "probity-report";

/// A tool that runs files of tests.
pub(super) trait Tool: fmt::Debug + Send + Sync {
    fn name(&self) -> &'static str;

    /// Whether a file is one of tests, by its name.
    fn is_test(&self, name: &str) -> bool;

    /// Files that make a directory the root of a project.
    fn project_files(&self) -> &'static [&'static str];

    /// Directories of tests in a project, of which the first that exists takes a new one.
    fn test_directories(&self) -> &'static [&'static str];

    /// The name of a new file; a number is in the way of one that exists.
    fn file_name(&self, claim: &Claim, number: &str) -> String;

    /// The name of a claim's test, as far as it has one; empty for all of its file.
    fn test_name(&self, claim: &Claim) -> Option<String>;

    /// A command that says whether the file can be parsed.
    fn parse_command(&self) -> Option<Vec<String>> {
        None
    }

    fn is_wanted(&self, test: &TestReport, name: &str) -> bool {
        name.is_empty() || is_named(&test.name, name)
    }

    /// A test that does nothing, for a file of this name without its ending: its name and its code.
    fn empty_test(&self, stem: &str) -> (&'static str, String);

    /// Runs a test, or all of these files.
    fn session(
        &self,
        site: &Site<'_>,
        task: Task,
        asked: &Asked<'_>,
    ) -> Result<(Ran, Report), Trouble>;
}

/// What a tool is to run.
#[derive(Debug)]
pub(super) enum Asked<'a> {
    Test(&'a Placed),
    Files(&'a BTreeSet<String>),
}

impl Asked<'_> {
    /// The test's name, if one is wanted.
    pub(super) fn test(&self) -> Option<&str> {
        match self {
            Self::Test(placed) if !placed.name.is_empty() => Some(&placed.name),
            _ => None,
        }
    }

    /// As the commands see them.
    pub(super) fn files(&self, site: &Site<'_>) -> Vec<PathBuf> {
        let seen = |path: &String| site.seen_repo.join(path);
        match self {
            Self::Test(placed) => vec![seen(&placed.path)],
            Self::Files(files) => files.iter().map(seen).collect(),
        }
    }
}

/// A runner made of a tool.
#[derive(Debug)]
pub(super) struct Files<T>(pub(super) T);

impl<T: Tool> Files<T> {
    fn project(&self, repo: &HeldDirectory, directory: &Path) -> PathBuf {
        let is_project = |above: &&Path| {
            self.0.project_files().iter().any(|name| repo.kind(above.join(name)).is_some())
        };
        directory.ancestors().find(is_project).unwrap_or(Path::new("")).to_owned()
    }

    fn run_asked(
        &self,
        site: &Site<'_>,
        project: &Path,
        asked: &Asked<'_>,
        limit: Duration,
    ) -> Result<(Ran, Report), Trouble> {
        let nothing: [&str; 0] = [];
        let task = Task::new(nothing, project, Access::Runs, limit + GRACE);
        self.0.session(site, task, asked)
    }
}

impl<T: Tool> Runner for Files<T> {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn place(
        &self,
        repo: &HeldDirectory,
        claim: &Claim,
        flagged: &FlaggedLines,
    ) -> Result<Placed, Refusal> {
        let beside = placement::directory(repo, claim, flagged, |name| self.0.is_test(name))?;
        let project = self.project(repo, &beside);
        let is_chosen = claim.test_file.as_deref().is_some_and(|file| !file.is_empty());
        let usual = self.0.test_directories().iter().map(|name| project.join(name));
        let usual = usual.into_iter().find(|directory| repo.is_directory(directory));
        let directory = match usual {
            Some(usual) if !is_chosen => usual,
            _ => beside,
        };
        let name = |number: &str| self.0.file_name(claim, number);
        let wanted = claim.test_name.clone().filter(|name| !name.is_empty());
        Ok(Placed {
            path: placement::unused(repo, &directory, name),
            name: wanted.or_else(|| self.0.test_name(claim)).unwrap_or_default(),
            source: claim.test_code.clone(),
            added: None,
            directory: project,
            flagged: flagged.clone(),
        })
    }

    fn build(&self, site: &Site<'_>, placed: &Placed) -> Result<Built, Box<Trial>> {
        let Some(command) = self.0.parse_command() else { return Ok(Built::default()) };
        let limit = site.context.build_timeout;
        let mut task = Task::new(command, &placed.directory, Access::Compiles, limit);
        task.tools.push("/etc/alternatives".into());
        task.arguments([site.seen_repo.join(&placed.path)]);
        let ran = site.run(&task)?;
        match super::failed_build(ran.exit) {
            None => Ok(Built::default()),
            Some(detail) => {
                let text = [&ran.stdout[..], &ran.stderr].concat();
                Err(Box::new(Trial::new(detail).of(site, &ran, &text)))
            }
        }
    }

    fn run(&self, site: &Site<'_>, placed: &Placed, _: &Built) -> Result<Trial, Trouble> {
        let asked = Asked::Test(placed);
        let limit = site.context.test_timeout;
        let (ran, mut report) = self.run_asked(site, &placed.directory, &asked, limit)?;
        if !report.tests.is_empty() {
            report.without_end.get_or_insert(RunDetail::NoSuchTest);
        }
        Ok(Trial::told(site, &ran, &report, |test| self.0.is_wanted(test, &placed.name)))
    }

    fn empty_test(&self, _: &HeldDirectory, placed: &Placed) -> Option<Placed> {
        let stem = Path::new(&placed.path).file_stem()?.to_str()?;
        let (name, source) = self.0.empty_test(stem);
        Some(Placed { name: name.to_owned(), source, ..placed.clone() })
    }

    /// All tests of a project: which of them touch a file is not known.
    fn groups(&self, site: &Site<'_>, wanted: Existing<'_>) -> Result<Groups, Trouble> {
        let repo = site.repo();
        let mut groups = Groups::default();
        let projects: BTreeSet<PathBuf> = match wanted {
            Existing::Touching(files) => {
                let directory = |file: &String| Path::new(file).parent().map(Path::to_owned);
                let directories = files.iter().filter_map(directory);
                directories.map(|directory| self.project(repo, &directory)).collect()
            }
            Existing::Named(names) => {
                names.iter().filter_map(|name| Some(name.split_once(SEPARATOR)?.0.into())).collect()
            }
        };
        for project in projects {
            let files = found(repo, &project, |name| self.0.is_test(name));
            let files = groups.nearest_files(files, wanted, MOST_FILES);
            if !files.is_empty() {
                groups.tests.insert(project, files);
            }
        }
        Ok(groups)
    }

    fn run_group(
        &self,
        site: &Site<'_>,
        project: &Path,
        files: &BTreeSet<String>,
        limit: Duration,
    ) -> Result<Suite, Box<Trial>> {
        let (ran, report) = self.run_asked(site, project, &Asked::Files(files), limit)?;
        match &report.without_end {
            Some(detail) if report.tests.is_empty() && ran.exit != Exit::Timeout => {
                Err(Box::new(Trial::new(detail.clone())))
            }
            _ => {
                let prefix = format!("{}{SEPARATOR}", project.display());
                let mut suite = Suite::of(&prefix, project, &ran, &report, limit);
                // There are files of tests.
                if report.tests.is_empty() && !suite.is_cut {
                    suite.stop(project, RunDetail::NoSuchTest);
                }
                Ok(suite)
            }
        }
    }
}

/// The report that a tool was told to write into the directory of its run.
pub(super) fn written(site: &Site<'_>, read: impl Fn(&str) -> Option<Report>) -> Report {
    let text = read_text(&site.scratch.held, REPORT);
    let missing = || Report::without(ReportFault::Missing(REPORT.to_owned()));
    text.ok().and_then(|text| read(&text)).unwrap_or_else(missing)
}

/// The directories that a program needs: its own, and those of the system's settings for it.
pub(super) fn tools_of(program: &Path, settings: &[&str]) -> Vec<PathBuf> {
    let real = host::real_path(program).unwrap_or_else(|| program.to_owned());
    let own = real.ancestors().nth(2).map(Path::to_owned);
    // Debian's names of programs are links that lead through there.
    let settings = settings.iter().chain(&["/etc/alternatives"]).map(PathBuf::from);
    own.into_iter().chain(settings).collect()
}

/// Files below a directory, by their names. Links are not followed.
pub(super) fn found(
    repo: &HeldDirectory,
    root: &Path,
    is_wanted: impl Fn(&str) -> bool,
) -> BTreeSet<String> {
    let mut files = BTreeSet::new();
    let mut pending = vec![root.to_owned()];
    while let Some(directory) = pending.pop() {
        for entry in repo.entries(&directory).into_iter().flatten() {
            let (name, path) = (&entry.name, directory.join(&entry.name));
            let is_foreign = ["vendor", "node_modules", ".git"].iter().any(|own| name == *own);
            if entry.kind == HeldKind::Directory && !is_foreign {
                pending.push(path);
            } else if entry.kind == HeldKind::File && is_wanted(&name.to_string_lossy()) {
                files.insert(placement::slashes(&path));
            }
        }
    }
    files
}

/// A name as a regular expression that matches nothing else.
pub(super) fn escaped(name: &str) -> String {
    let mut pattern = String::new();
    for letter in name.chars() {
        if letter.is_ascii_punctuation() && letter != '_' {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    pattern
}

/// The word after another one, where that begins a line or follows a space.
pub(super) fn word_after<'a>(code: &'a str, before: &str) -> Option<&'a str> {
    let starts = code.match_indices(before).map(|(at, _)| at);
    let mut starts = starts.filter(|at| {
        code.get(..*at).is_none_or(|text| text.is_empty() || text.ends_with([' ', '\n', '\t']))
    });
    starts.find_map(|at| {
        let rest = code.get(at + before.len()..)?;
        let end = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_');
        rest.get(..end.unwrap_or(rest.len())).filter(|word| !word.is_empty())
    })
}

/// The only quoted text after a word; none if there are several.
pub(super) fn only_title<'a>(code: &'a str, words: &[&str]) -> Option<&'a str> {
    let lines = code.lines().map(str::trim_start);
    let mut titles = lines.filter_map(|line| {
        let rest = words.iter().find_map(|word| line.strip_prefix(word))?;
        let rest = rest.trim_start_matches(['(', ' ']);
        let quote = rest.chars().next().filter(|first| "'\"".contains(*first))?;
        rest.get(1..)?.split_once(quote).map(|(title, _)| title)
    });
    let title = titles.next()?;
    titles.next().is_none().then_some(title)
}
