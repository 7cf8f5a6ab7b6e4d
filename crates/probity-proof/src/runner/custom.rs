//! A test command of the configuration: any tool that can run one test by its name and writes JUnit's
//! XML or TAP.
//!
//! The name is one argument, never a part of a script. Reports that were there before the run do not
//! count, so that no run is judged by what an earlier one wrote.

mod written;

use std::{
    collections::BTreeSet,
    ffi::OsString,
    path::{Path, PathBuf},
    time::Duration,
};

use globset::{GlobBuilder, GlobMatcher};
use probity_scope::HeldDirectory;

use self::written::Written;
use super::{
    Built, Existing, Groups, Placed, Runner, Suite, Trial, Trouble,
    capture::Ran,
    context::{Access, RunnerContext, Site, Task},
    failed_build, placement,
    report::{Report, ReportFault, State, junit::is_named},
};
use crate::{Claim, Refusal, RunDetail, claim::FlaggedLines, host};

/// Bytes of a name that a command is given.
const MOST_NAME: usize = 1000;

/// What a command gets on top of the test's time to start.
const GRACE: Duration = Duration::from_secs(15);

/// Standard output, as the name of a report.
const STDOUT: &str = "-";

/// A command that runs tests, for the files that match.
#[derive(Debug, Clone)]
pub struct CustomRunner {
    files: GlobMatcher,
    command: Vec<String>,
    report: Option<GlobMatcher>,
    /// Compiles; what it leaves in `{build}` is there in every run.
    pub build: Vec<String>,
    /// Runs all tests; without it nobody knows what a fix breaks.
    pub suite: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CustomRunnerError {
    #[error("`{glob}` is not a glob: {why}")]
    Glob { glob: String, why: String },
    #[error("`command` must contain `{{name}}` or `{{file}}`, the name or the file of the test")]
    NoTest,
    #[error("`command` must start with a program")]
    NoProgram,
    #[error("`suite` must not contain `{{name}}` or `{{file}}`: it runs all tests")]
    TestInSuite,
}

impl CustomRunner {
    /// The globs are relative to the repository; `-` as the report is standard output.
    pub fn new(files: &str, command: Vec<String>, report: &str) -> Result<Self, CustomRunnerError> {
        if command.first().is_none_or(|program| program.is_empty() || program.contains('{')) {
            return Err(CustomRunnerError::NoProgram);
        }
        if !command.iter().any(|word| names_test(word)) {
            return Err(CustomRunnerError::NoTest);
        }
        let report = if report == STDOUT { None } else { Some(matcher(report)?) };
        let (build, suite) = (Vec::new(), Vec::new());
        Ok(Self { files: matcher(files)?, command, report, build, suite })
    }

    /// The same with a command that runs all tests.
    pub fn with_suite(self, suite: Vec<String>) -> Result<Self, CustomRunnerError> {
        if suite.iter().any(|word| names_test(word)) {
            return Err(CustomRunnerError::TestInSuite);
        }
        Ok(Self { suite, ..self })
    }

    /// The glob of the files whose tests it runs.
    #[must_use]
    pub fn files(&self) -> &str {
        self.files.glob().glob()
    }

    pub(crate) fn is_for(&self, file: &str) -> bool {
        self.files.is_match(file)
    }
}

fn names_test(word: &str) -> bool {
    word.contains("{name}") || word.contains("{file}")
}

fn matcher(glob: &str) -> Result<GlobMatcher, CustomRunnerError> {
    let built = GlobBuilder::new(glob).literal_separator(true).build();
    let wrong = |error: globset::Error| CustomRunnerError::Glob {
        glob: glob.to_owned(),
        why: error.kind().to_string(),
    };
    built.map(|glob| glob.compile_matcher()).map_err(wrong)
}

#[derive(Debug)]
pub(super) struct Custom {
    config: CustomRunner,
    /// Directories of the programs, which may be outside of the system's own.
    tools: Vec<PathBuf>,
}

impl Custom {
    pub(super) fn new(context: &RunnerContext, mut config: CustomRunner) -> Self {
        let mut tools = Vec::new();
        for command in [&mut config.command, &mut config.build, &mut config.suite] {
            let program = command.first_mut().filter(|program| !program.contains('/'));
            let Some(program) = program else { continue };
            let Some(found) = context.tool(program) else { continue };
            let real = host::real_path(&found).unwrap_or_else(|| found.clone());
            tools.extend(real.ancestors().nth(2).map(Path::to_owned));
            tools.extend(found.parent().map(Path::to_owned));
            if let Some(found) = found.to_str() {
                found.clone_into(program);
            }
        }
        Self { config, tools }
    }

    fn task(
        &self,
        site: &Site<'_>,
        words: &[String],
        test: Option<&Placed>,
        wall: Duration,
    ) -> Task {
        let build = site.seen_build.display().to_string();
        let (name, file) = test.map_or(("", ""), |placed| (&*placed.name, &*placed.path));
        let file = if file.starts_with('-') { format!("./{file}") } else { file.to_owned() };
        let places = [("{name}", name), ("{file}", &*file), ("{build}", &*build)];
        let words = words.iter().map(|word| OsString::from(filled(word, &places)));
        let mut task = Task::new(words, "", Access::Runs, wall);
        task.tools.clone_from(&self.tools);
        task
    }

    /// Runs a command, and reads the reports that it wrote.
    fn observe(&self, site: &Site<'_>, task: &Task) -> Result<(Ran, Report), Trouble> {
        let Some(glob) = &self.config.report else {
            let ran = site.run(task)?;
            let text = String::from_utf8_lossy(&ran.stdout).into_owned();
            let unread = |why| Report::without(ReportFault::Malformed { path: STDOUT.into(), why });
            let report = Report::of_text(&text).unwrap_or_else(unread);
            return Ok((ran, report));
        };
        let before = Written::find(site.repo(), glob);
        let ran = site.run(task)?;
        let report = Written::find(site.repo(), glob).read_since(&before, site.repo(), glob);
        Ok((ran, report.unwrap_or_else(Report::without)))
    }
}

impl Runner for Custom {
    fn name(&self) -> &'static str {
        "custom"
    }

    fn place(
        &self,
        repo: &HeldDirectory,
        claim: &Claim,
        flagged: &FlaggedLines,
    ) -> Result<Placed, Refusal> {
        let name = claim.test_name.clone().filter(|name| !name.is_empty());
        let name = name.ok_or(Refusal::NoSuchTest(None))?;
        let is_odd = name.starts_with('-') || name.chars().any(char::is_control);
        if is_odd || name.len() > MOST_NAME {
            return Err(Refusal::UnusableTestName(name));
        }
        let directory = placement::directory(repo, claim, flagged, |name| !name.is_empty())?;
        // Some languages have the names of files in their code, so that an agent's own is kept.
        let wanted = claim.test_file.as_deref().and_then(placement::relative);
        let path = match wanted {
            Some(wanted) => placement::slashes(&wanted),
            None => {
                let ending = flagged.file.rsplit_once('.').map_or("txt", |(_, ending)| ending);
                let id = placement::plain(&claim.id);
                let name = |number: &str| format!("zz_probity_{id}{number}_test.{ending}");
                placement::unused(repo, &directory, name)
            }
        };
        Ok(Placed {
            path,
            name,
            source: claim.test_code.clone(),
            added: None,
            directory: PathBuf::new(),
            flagged: flagged.clone(),
        })
    }

    fn build(&self, site: &Site<'_>, placed: &Placed) -> Result<Built, Box<Trial>> {
        if self.config.build.is_empty() {
            return Ok(Built::default());
        }
        let limit = site.context.build_timeout;
        let mut task = self.task(site, &self.config.build, Some(placed), limit);
        task.access = Access::Compiles;
        let ran = site.run(&task)?;
        match failed_build(ran.exit) {
            None => Ok(Built::default()),
            Some(detail) => {
                let text = [&ran.stdout[..], &ran.stderr].concat();
                Err(Box::new(Trial::new(detail).of(site, &ran, &text)))
            }
        }
    }

    fn run(&self, site: &Site<'_>, placed: &Placed, _: &Built) -> Result<Trial, Trouble> {
        let limit = site.context.test_timeout;
        let task = self.task(site, &self.config.command, Some(placed), limit + GRACE);
        let (ran, mut report) = self.observe(site, &task)?;
        let (wanted, others): (Vec<_>, Vec<_>) =
            report.tests.iter().partition(|test| is_named(&test.name, &placed.name));
        let count = wanted.len();
        // Whatever else the command runs may fail.
        let ignores_exit = others.iter().any(|test| test.state < State::Skipped);
        if count > 1 {
            let name = placed.name.clone();
            let fault = ReportFault::SeveralTests { name, count };
            let text = [&ran.stdout[..], &ran.stderr].concat();
            return Ok(Trial::new(RunDetail::NoReport(fault)).of(site, &ran, &text));
        }
        report.ignores_exit = ignores_exit;
        report.without_end.get_or_insert(RunDetail::NoSuchTest);
        Ok(Trial::told(site, &ran, &report, |test| is_named(&test.name, &placed.name)))
    }

    /// All of them: what touches a file is not known here.
    fn groups(&self, _: &Site<'_>, _: Existing<'_>) -> Result<Groups, Trouble> {
        if self.config.suite.is_empty() {
            return Err(Trouble::NoSuite);
        }
        Ok(Groups { tests: [(PathBuf::new(), BTreeSet::new())].into(), ..Groups::default() })
    }

    fn run_group(
        &self,
        site: &Site<'_>,
        _: &Path,
        _: &BTreeSet<String>,
        limit: Duration,
    ) -> Result<Suite, Box<Trial>> {
        if !self.config.build.is_empty() {
            let mut task = self.task(site, &self.config.build, None, limit);
            task.access = Access::Compiles;
            if let Some(detail) = failed_build(site.run(&task)?.exit) {
                return Err(Box::new(Trial::new(detail)));
            }
        }
        let task = self.task(site, &self.config.suite, None, limit);
        let (ran, report) = self.observe(site, &task)?;
        match &report.without_end {
            Some(detail) if report.tests.is_empty() && ran.duration < limit => {
                Err(Box::new(Trial::new(detail.clone())))
            }
            _ => {
                let mut suite = Suite::of("", Path::new(""), &ran, &report, limit);
                if report.tests.is_empty() && !suite.is_cut {
                    suite.stop(Path::new(""), RunDetail::NoSuchTest);
                }
                Ok(suite)
            }
        }
    }
}

/// A word with its places filled, once: what is put in is never looked at again.
fn filled(word: &str, places: &[(&str, &str)]) -> String {
    let mut text = String::new();
    let mut rest = word;
    while !rest.is_empty() {
        let place = places.iter().find(|(mark, _)| rest.starts_with(mark));
        let length = match place {
            Some((mark, value)) => {
                text.push_str(value);
                mark.len()
            }
            None => {
                let letter = rest.chars().next().unwrap_or_default();
                text.push(letter);
                letter.len_utf8()
            }
        };
        rest = rest.get(length..).unwrap_or_default();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{CustomRunner, CustomRunnerError, filled};

    #[test]
    fn places_are_filled_once() {
        let places = [("{name}", "a {file} `b`"), ("{file}", "x.kt"), ("{build}", "/b")];
        assert_eq!(
            filled("^{name}$ {file}{build}{other}", &places),
            "^a {file} `b`$ x.kt/b{other}"
        );
    }

    #[test]
    fn a_runner_needs_a_program_a_name_and_globs() {
        let words = |command: &str| command.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let new = |files: &str, command: &str, report: &str| {
            CustomRunner::new(files, words(command), report).map(drop)
        };
        assert_eq!(new("**/*.kt", "./run {name}", "out/**/*.xml"), Ok(()));
        assert_eq!(new("**/*.kt", "./run {name}", "-"), Ok(()));
        assert_eq!(new("*.kt", "./run all", "-"), Err(CustomRunnerError::NoTest));
        assert_eq!(new("*.kt", "{name}", "-"), Err(CustomRunnerError::NoProgram));
        assert!(matches!(new("[", "./run {name}", "-"), Err(CustomRunnerError::Glob { .. })));
        assert!(matches!(new("*", "./run {name}", "{a"), Err(CustomRunnerError::Glob { .. })));
    }
}
