//! Aiken: `aiken check`, which writes JSON where its output is not a terminal.
//!
//! A validator is seen by no other module, so the tests of a claim about one are added to its own
//! file. The packages are those that the repository has in `build/packages`: nothing is fetched.

use std::{
    collections::BTreeSet,
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use probity_sandbox::Exit;
use probity_scope::HeldDirectory;
use serde::Deserialize;
use serde_json::Value;

use super::{
    Built, Existing, Groups, Placed, Runner, Suite, Trial, Trouble, Unavailable,
    capture::Ran,
    context::{Access, Site, Task},
    placement,
    report::{Report, State, TestReport},
};
use crate::{
    Claim, Refusal, RunDetail, claim::FlaggedLines, mounts, places::read_text,
    workshop::Preparation,
};

/// What makes a directory a project.
const PROJECT: &str = "aiken.toml";
const PACKAGES: &str = "build/packages";

/// What the compiler gets on top of the test's time, unless less is allowed for a build.
const GRACE: Duration = Duration::from_secs(60);

/// Between a module and its test.
const SEPARATOR: &str = ".";

#[derive(Debug)]
pub(super) struct Aiken {
    program: PathBuf,
    /// Relative to the repository, and where the packages of each are, if it has any.
    projects: Vec<(PathBuf, Option<PathBuf>)>,
}

/// What `aiken check` writes, as far as it is read.
#[derive(Deserialize)]
struct Checked {
    modules: Vec<Module>,
}

#[derive(Deserialize)]
struct Module {
    name: String,
    tests: Vec<Test>,
}

#[derive(Deserialize)]
struct Test {
    title: String,
    status: String,
    #[serde(default)]
    assertion: Option<String>,
    /// For a property test: the counterexample as text, or an object with the reason why it is missing.
    #[serde(default)]
    counterexample: Option<Value>,
    #[serde(default)]
    traces: Vec<String>,
}

impl Test {
    /// What a failure says of itself.
    fn message(&self) -> String {
        let counterexample =
            self.counterexample.as_ref().map(|example| format!("counterexample: {example}"));
        let parts = self.assertion.iter().cloned().chain(counterexample);
        parts.chain(self.traces.iter().cloned()).collect::<Vec<_>>().join("\n")
    }
}

impl Aiken {
    pub(super) fn prepare(
        preparation: &mut Preparation<'_>,
    ) -> Result<Box<dyn Runner>, Unavailable> {
        let context = preparation.site.context;
        let program = context.tool("aiken").ok_or(Unavailable::NotInstalled("aiken"))?;
        let projects = preparation.directories_with(PROJECT);
        if projects.is_empty() {
            return Err(Unavailable::NoBuildFile(PROJECT));
        }
        let mut with_packages =
            |project: &Path| (project.to_owned(), preparation.installed(&project.join(PACKAGES)));
        let projects = projects.into_iter().map(&mut with_packages).collect();
        Ok(Box::new(Self { program, projects }))
    }

    /// Runs the tests of a project, or only one of them.
    fn check(
        &self,
        site: &Site<'_>,
        project: &Path,
        only: Option<&str>,
        limit: Duration,
    ) -> Result<(Ran, Report), Trouble> {
        let compiling = site.context.build_timeout.min(GRACE);
        let mut task = Task::new([&self.program], project, Access::Runs, limit + compiling);
        task.tools.extend(self.program.parent().map(Path::to_owned));
        // The same cases of property tests in every run.
        task.arguments(["check", "--seed", "1"]);
        // Otherwise one test that hangs ends all others with it.
        if let Some((module, test)) = only.and_then(|name| name.rsplit_once(SEPARATOR)) {
            let pattern = format!("{module}.{{{test}}}");
            task.arguments(["--exact-match", "--match-tests", &pattern]);
        }
        let known = self.projects.iter().find(|(directory, _)| directory == project);
        if let Some((_, Some(real))) = known {
            let place = project.join(PACKAGES);
            let failed = |error: io::Error| Trouble::at(real, &error);
            if site.context.moves_paths() {
                site.copy.make_directory(&place).map_err(failed)?;
                task.mounts.push(mounts::PACKAGES.read_only(real, site.seen_repo.join(place)));
            } else {
                site.copy.make_directory(&project.join("build")).map_err(failed)?;
                site.copy.link(&place, real).map_err(failed)?;
                task.mounts.push(mounts::PACKAGES.read_only(real, real));
            }
        }
        let ran = site.run(&task)?;
        let report = report(&ran);
        Ok((ran, report))
    }
}

/// What the compiler said of each test; nothing if it did not come so far.
fn report(ran: &Ran) -> Report {
    let text = String::from_utf8_lossy(&ran.stdout);
    let start = text.find('{').unwrap_or(text.len());
    let mut values = serde_json::Deserializer::from_str(text.get(start..).unwrap_or_default())
        .into_iter::<Checked>();
    let Some(Ok(checked)) = values.next() else {
        // Other codes are those of a compiler that crashed or ran out of memory.
        let unbuilt = ran.exit == Exit::Code(1);
        let without_end = if unbuilt { Some(RunDetail::Unbuilt) } else { None };
        return Report { without_end, ..Report::default() };
    };
    let mut report = Report { ignores_exit: true, ..Report::default() };
    for module in checked.modules {
        for test in module.tests {
            let state = if test.status == "pass" { State::Passed } else { State::Failed };
            let name = format!("{}{SEPARATOR}{}", module.name, test.title);
            let message = test.message();
            report.tell(TestReport { message, ..TestReport::new(name, state) });
        }
    }
    report.without_end = Some(RunDetail::NoSuchTest);
    report
}

/// The name of a module, by its file below `lib` or `validators` of a project.
fn module(project: &Path, file: &str) -> Option<String> {
    let inner = Path::new(file).strip_prefix(project).ok()?;
    let inner = inner.strip_prefix("lib").or_else(|_| inner.strip_prefix("validators")).ok()?;
    Some(inner.with_extension("").to_string_lossy().into_owned())
}

fn project(repo: &HeldDirectory, file: &str) -> Option<PathBuf> {
    let above = Path::new(file).ancestors().skip(1);
    above.into_iter().find(|above| repo.is_file(above.join(PROJECT))).map(Path::to_owned)
}

/// A test's code without the imports that its file has already.
fn addition(file: &str, code: &str) -> String {
    let is_new = |line: &&str| !line.starts_with("use ") || !file.lines().any(|own| own == *line);
    let lines: Vec<&str> = code.lines().filter(is_new).collect();
    format!("\n{}\n", lines.join("\n"))
}

/// The wanted test, which has to be in the code.
fn test_name(claim: &Claim) -> Result<String, Refusal> {
    let names = claim.test_code.lines().filter_map(|line| {
        let rest = line.trim_start().strip_prefix("test ")?;
        Some(rest.split(['(', ' ']).next().unwrap_or_default().to_owned())
    });
    let wanted = claim.test_name.as_deref().filter(|name| !name.is_empty());
    let bare = wanted.map(|name| name.rsplit(['.', ':']).next().unwrap_or(name));
    let found = names.into_iter().find(|name| bare.is_none_or(|bare| name == bare));
    found.ok_or_else(|| Refusal::NoSuchTest(wanted.map(str::to_owned)))
}

impl Runner for Aiken {
    fn name(&self) -> &'static str {
        "aiken"
    }

    fn place(
        &self,
        repo: &HeldDirectory,
        claim: &Claim,
        flagged: &FlaggedLines,
    ) -> Result<Placed, Refusal> {
        let is_test = |name: &str| name.ends_with(".ak");
        placement::directory(repo, claim, flagged, is_test)?;
        let file = &flagged.file;
        let project = project(repo, file).ok_or_else(|| Refusal::NoPackage(file.clone()))?;
        let id = placement::plain(&claim.id).to_lowercase();
        let name_of = |number: &str| format!("zz_probity_{id}{number}.ak");
        let is_validator = Path::new(file).starts_with(project.join("validators"));
        // Beside `lib` and `validators` the compiler reads nothing.
        let directory = if is_validator { project.clone() } else { project.join("lib") };
        let path = placement::unused(repo, &directory, name_of);
        let test = test_name(claim)?;
        let added = if is_validator {
            let text = read_text(repo, file).unwrap_or_default();
            Some((file.clone(), addition(&text, &claim.test_code)))
        } else {
            None
        };
        let of_test = if is_validator { file } else { &path };
        let module = module(&project, of_test).ok_or_else(|| Refusal::NoPackage(file.clone()))?;
        Ok(Placed {
            name: format!("{module}{SEPARATOR}{test}"),
            source: claim.test_code.clone(),
            added,
            directory: project,
            flagged: flagged.clone(),
            path,
        })
    }

    fn run(&self, site: &Site<'_>, placed: &Placed, _: &Built) -> Result<Trial, Trouble> {
        let limit = site.context.test_timeout;
        let (ran, report) = self.check(site, &placed.directory, Some(&placed.name), limit)?;
        Ok(Trial::told(site, &ran, &report, |test| test.name == placed.name))
    }

    fn empty_test(&self, _: &HeldDirectory, placed: &Placed) -> Option<Placed> {
        const TEST: &str = "probity_starts";
        let code = format!("test {TEST}() {{\n  True\n}}\n");
        let (module, _) = placed.name.split_once(SEPARATOR)?;
        // A validator has its test in its own file.
        let added = placed.added.as_ref().map(|(file, _)| (file.clone(), format!("\n{code}")));
        let name = format!("{module}{SEPARATOR}{TEST}");
        Some(Placed { name, source: code, added, ..placed.clone() })
    }

    /// All tests of the projects: what touches a file is not known here.
    fn groups(&self, site: &Site<'_>, wanted: Existing<'_>) -> Result<Groups, Trouble> {
        let mut groups = Groups::default();
        let projects: BTreeSet<PathBuf> = match wanted {
            Existing::Touching(files) => {
                files.iter().filter_map(|file| project(site.repo(), file)).collect()
            }
            Existing::Named(_) => {
                self.projects.iter().map(|(project, _)| project.clone()).collect()
            }
        };
        groups.tests.extend(projects.into_iter().map(|project| (project, BTreeSet::new())));
        Ok(groups)
    }

    fn run_group(
        &self,
        site: &Site<'_>,
        project: &Path,
        _: &BTreeSet<String>,
        limit: Duration,
    ) -> Result<Suite, Box<Trial>> {
        let (ran, report) = self.check(site, project, None, limit)?;
        match &report.without_end {
            Some(detail @ RunDetail::Unbuilt) => Err(Box::new(Trial::new(detail.clone()))),
            _ => Ok(Suite::of("", project, &ran, &report, limit)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of `aiken check --seed 1`, version 1.1.24: tests of a validator and properties, of which some
    /// pass, fail, crash, and have to fail.
    const CHECKED: &str = include_str!("aiken/checked.json");

    fn ran(stdout: &str, code: i32) -> Ran {
        let (stdout, stderr) = (stdout.as_bytes().to_vec(), Vec::new());
        Ran { exit: Exit::Code(code), duration: Duration::ZERO, stdout, stderr }
    }

    #[test]
    fn every_test_of_every_module_is_read() {
        let report = report(&ran(CHECKED, 1));
        let line = |test: &TestReport| {
            let message = test.message.replace('\n', "; ");
            format!("{:?} {} {message}", test.state, test.name).trim_end().to_owned()
        };
        let lines: Vec<String> = report.tests.iter().map(line).collect();
        assert_eq!(
            lines,
            [
                "Failed swap.exploit price not checked",
                "Passed swap.control",
                "Failed swap.compares × expected; │ 2; × to equal; │ 3",
                "Failed swap.crashes × program failed; the validator crashed / exited prematurely; \
                 expect Some(paid) = None",
                "Passed swap.refuses the validator crashed / exited prematurely",
                "Failed swap.does_not_refuse",
                "Passed swap/price.rounds_up",
                "Failed swap/price.is_small counterexample: \"200\"",
                "Failed swap/price.never_crashes counterexample: \"200\"; expect paid < 200",
            ]
        );
        assert_eq!(report.without_end, Some(RunDetail::NoSuchTest));
    }

    #[test]
    fn a_run_without_tests_and_one_that_does_not_compile_are_told_apart() {
        let none = r#"{"seed":1,"summary":{"total":0,"passed":0,"failed":0,"kind":{"unit":0,"property":0}},"modules":[]}"#;
        for (stdout, code, without_end) in [
            (none, 0, Some(RunDetail::NoSuchTest)),
            // Errors of the compiler are on stderr, and nothing is on stdout.
            ("", 1, Some(RunDetail::Unbuilt)),
            ("", 0, None),
            // Aborted, and killed.
            ("", 134, None),
            ("", 137, None),
        ] {
            let report = report(&ran(stdout, code));
            assert!(report.tests.is_empty());
            assert_eq!(report.without_end, without_end, "{stdout:?} {code}");
        }
    }

    #[test]
    fn modules_imports_and_names_are_found() {
        let project = Path::new("contracts");
        for (file, expected) in [
            ("contracts/validators/swap.ak", Some("swap")),
            ("contracts/lib/swap/price.ak", Some("swap/price")),
            ("contracts/swap.ak", None),
        ] {
            assert_eq!(module(project, file).as_deref(), expected);
        }
        let code = "use a\nuse b\n\ntest exploit() {\n  True\n}\n";
        assert_eq!(addition("use a\n", code), "\nuse b\n\ntest exploit() {\n  True\n}\n");
        for (wanted, expected) in
            [(None, Some("exploit")), (Some("swap.exploit"), Some("exploit")), (Some("x"), None)]
        {
            let claim = Claim {
                test_code: code.to_owned(),
                test_name: wanted.map(str::to_owned),
                ..Claim::default()
            };
            assert_eq!(test_name(&claim).ok().as_deref(), expected);
        }
    }
}
