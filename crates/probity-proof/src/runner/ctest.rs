//! C and C++: a project of CMake whose tests are GoogleTest's or Catch2's.
//!
//! The test of a claim becomes a program of its own, linked with the libraries of the project, or with
//! the flagged file where there are none. Existing tests run in CTest.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    time::Duration,
};

use probity_scope::HeldDirectory;

use super::{
    Built, Existing, Groups, Placed, Runner, Suite, Trial, Trouble, Unavailable,
    capture::Ran,
    context::{Access, Site, Task},
    failed_build,
    files::{REPORT, only_title, tools_of, written},
    placement,
    report::{Report, junit::is_named},
};
use crate::{Claim, Refusal, RunDetail, claim::FlaggedLines, workshop::Preparation};

pub(super) const ENDINGS: &[&str] = &["c", "cc", "cpp", "cxx", "h", "hh", "hpp"];

const PROJECT: &str = "CMakeLists.txt";

/// What a program gets on top of the test's time to start.
const GRACE: Duration = Duration::from_secs(10);

/// Between a project and its test, in the names of existing tests.
const SEPARATOR: &str = ": ";

#[derive(Debug)]
pub(super) struct CTest {
    cmake: PathBuf,
    ctest: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Framework {
    GoogleTest,
    Catch2,
}

impl CTest {
    pub(super) fn prepare(
        preparation: &mut Preparation<'_>,
    ) -> Result<Box<dyn Runner>, Unavailable> {
        let context = preparation.site.context;
        if preparation.directories_with(PROJECT).is_empty() {
            return Err(Unavailable::NoBuildFile(PROJECT));
        }
        context.tool("c++").ok_or(Unavailable::NotInstalled("a C++ compiler"))?;
        let cmake = context.tool("cmake").ok_or(Unavailable::NotInstalled("CMake"))?;
        let ctest = context.tool("ctest").ok_or(Unavailable::NotInstalled("CTest"))?;
        Ok(Box::new(Self { cmake, ctest }))
    }

    /// Configures the project and builds one target, or all of them.
    fn make(&self, site: &Site<'_>, project: &Path, target: Option<&str>) -> Result<Ran, Trouble> {
        let task = |words: &[&str]| {
            let limit = site.context.build_timeout;
            let mut task = Task::new([&self.cmake], project, Access::Compiles, limit);
            task.tools = tools_of(&self.cmake, &[]);
            task.arguments(words);
            task
        };
        let build = site.seen_build.display().to_string();
        let configured = site.run(&task(&["-S", ".", "-B", &build, "-DBUILD_TESTING=ON"]))?;
        if failed_build(configured.exit).is_some() {
            return Ok(configured);
        }
        let mut compile = task(&["--build", &build, "--parallel", "2"]);
        compile.arguments(target.into_iter().flat_map(|target| ["--target", target]));
        site.run(&compile)
    }
}

impl Runner for CTest {
    fn name(&self) -> &'static str {
        "ctest"
    }

    fn place(
        &self,
        repo: &HeldDirectory,
        claim: &Claim,
        flagged: &FlaggedLines,
    ) -> Result<Placed, Refusal> {
        let is_test = |name: &str| {
            let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
            ["test", "tests", "Test", "spec"].iter().any(|word| stem.ends_with(word))
                || stem.starts_with("test")
        };
        let directory = placement::directory(repo, claim, flagged, is_test)?;
        let project =
            project(repo, &directory).ok_or_else(|| Refusal::NoPackage(claim.file.clone()))?;
        let code = &claim.test_code;
        let framework = framework(code).ok_or(Refusal::NoSuchTest(None))?;
        let wanted = claim.test_name.clone().filter(|name| !name.is_empty());
        let name = wanted.or_else(|| test_name(code, framework)).unwrap_or_default();
        let id = placement::plain(&claim.id);
        let file = |number: &str| format!("zz_probity_{id}{number}_test.cpp");
        let path = placement::unused(repo, &directory, file);
        let has_main = code.contains("int main(") || code.contains("CATCH_CONFIG_MAIN");
        let is_old_catch = code.contains("catch2/catch.hpp") || code.contains("\"catch.hpp\"");
        let source = match framework {
            // The second version is a header that makes `main` where it is told to.
            Framework::Catch2 if is_old_catch && !has_main => {
                format!("#define CATCH_CONFIG_MAIN\n{code}")
            }
            _ => code.clone(),
        };
        let libraries = match framework {
            Framework::GoogleTest if has_main => "GTest::gtest",
            Framework::GoogleTest => "GTest::gtest GTest::gtest_main",
            Framework::Catch2 if is_old_catch || has_main => "Catch2::Catch2",
            Framework::Catch2 => "Catch2::Catch2WithMain",
        };
        let package = if framework == Framework::Catch2 { "Catch2" } else { "GTest" };
        let below = |path: &str| {
            let path = Path::new(path);
            placement::slashes(path.strip_prefix(&project).unwrap_or(path))
        };
        let folder = Path::new(&flagged.file).parent().unwrap_or(Path::new(""));
        let added = include_str!("ctest/program.cmake")
            .replace("@PACKAGE@", package)
            .replace("@LIBRARIES@", libraries)
            .replace("@TEST@", &below(&path))
            .replace("@FLAGGED@", &below(&flagged.file))
            .replace("@FOLDER@", &below(&placement::slashes(folder)));
        let list = placement::slashes(&project.join(PROJECT));
        Ok(Placed {
            path,
            name,
            source,
            added: Some((list, added)),
            directory: project,
            flagged: flagged.clone(),
        })
    }

    fn build(&self, site: &Site<'_>, placed: &Placed) -> Result<Built, Box<Trial>> {
        let ran = self.make(site, &placed.directory, Some(TARGET))?;
        match failed_build(ran.exit) {
            None => Ok(Built::default()),
            Some(detail) => {
                let text = [&ran.stdout[..], &ran.stderr].concat();
                Err(Box::new(Trial::new(detail).of(site, &ran, &text)))
            }
        }
    }

    /// The program holds nothing but the claim's file, of which the wanted test is looked for.
    fn run(&self, site: &Site<'_>, placed: &Placed, _: &Built) -> Result<Trial, Trouble> {
        let limit = site.context.test_timeout;
        let program = site.seen_build.join(TARGET);
        let mut task = Task::new([program], &placed.directory, Access::Runs, limit + GRACE);
        let report = site.seen_scratch.join(REPORT).display().to_string();
        match framework(&placed.source) {
            Some(Framework::Catch2) => task.arguments(["-r", "junit", "-o", &report]),
            _ => task.arguments([format!("--gtest_output=xml:{report}")]),
        }
        let ran = site.run(&task)?;
        let mut report = if ran.crashed() {
            Report::default()
        } else {
            written(site, |text| Report::of_junit(text.trim_start()).ok())
        };
        if !report.tests.is_empty() {
            report.without_end.get_or_insert(RunDetail::NoSuchTest);
            report.ignores_exit = true;
        }
        let is_wanted = |name: &str| placed.name.is_empty() || is_named(name, &placed.name);
        Ok(Trial::told(site, &ran, &report, |test| is_wanted(&test.name)))
    }

    /// With the lines of the claim's test that bring its framework.
    fn empty_test(&self, _: &HeldDirectory, placed: &Placed) -> Option<Placed> {
        // Its libraries bring no other.
        if placed.source.contains("int main(") {
            return None;
        }
        let is_of_framework = |line: &&str| {
            let is_macro = line.contains("CATCH_CONFIG");
            is_macro || line.contains("#include") && framework(line).is_some()
        };
        let head: Vec<&str> = placed.source.lines().filter(is_of_framework).collect();
        let (name, body) = match framework(&placed.source)? {
            Framework::GoogleTest => ("Probity.Starts", "TEST(Probity, Starts) {}"),
            Framework::Catch2 => ("starts", "TEST_CASE(\"starts\") {}"),
        };
        let source = format!("{}\n\n{body}\n", head.join("\n"));
        Some(Placed { name: name.to_owned(), source, ..placed.clone() })
    }

    /// All tests of the project: everything is built anyway.
    fn groups(&self, site: &Site<'_>, wanted: Existing<'_>) -> Result<Groups, Trouble> {
        let projects: BTreeSet<PathBuf> = match wanted {
            Existing::Touching(files) => {
                let directory = |file: &String| Path::new(file).parent().map(Path::to_owned);
                let directories = files.iter().filter_map(directory);
                directories.filter_map(|from| project(site.repo(), &from)).collect()
            }
            Existing::Named(names) => {
                names.iter().filter_map(|name| Some(name.split_once(SEPARATOR)?.0.into())).collect()
            }
        };
        let all = projects.into_iter().map(|project| (project, BTreeSet::new()));
        Ok(Groups { tests: all.collect(), ..Groups::default() })
    }

    fn run_group(
        &self,
        site: &Site<'_>,
        project: &Path,
        _: &BTreeSet<String>,
        limit: Duration,
    ) -> Result<Suite, Box<Trial>> {
        let built = self.make(site, project, None)?;
        if let Some(detail) = failed_build(built.exit) {
            return Err(Box::new(Trial::new(detail)));
        }
        let mut task = Task::new([&self.ctest], project, Access::Compiles, limit);
        task.tools = tools_of(&self.ctest, &[]);
        task.arguments(["--test-dir".into(), site.seen_build.clone()]);
        task.arguments(["--output-junit".into(), site.seen_scratch.join(REPORT)]);
        task.arguments(["--timeout".to_owned(), site.context.test_timeout.as_secs().to_string()]);
        let ran = site.run(&task)?;
        let report = written(site, |text| Report::of_junit(text.trim_start()).ok());
        Ok(Suite::of(&format!("{}{SEPARATOR}", project.display()), project, &ran, &report, limit))
    }
}

/// The program of a claim's test, and the target that makes it.
const TARGET: &str = "zz_probity_test";

/// The outermost project that a directory belongs to: the others are parts of it.
fn project(repo: &HeldDirectory, directory: &Path) -> Option<PathBuf> {
    let is_project = |above: &&Path| repo.is_file(above.join(PROJECT));
    directory.ancestors().filter(is_project).last().map(Path::to_owned)
}

fn framework(code: &str) -> Option<Framework> {
    if code.contains("gtest/gtest.h") || code.contains("gmock/gmock.h") {
        Some(Framework::GoogleTest)
    } else if code.contains("catch2/") || code.contains("catch.hpp") {
        Some(Framework::Catch2)
    } else {
        None
    }
}

/// The name of the first test, as its framework reports it.
fn test_name(code: &str, framework: Framework) -> Option<String> {
    if framework == Framework::Catch2 {
        return only_title(code, &["TEST_CASE("]).map(str::to_owned);
    }
    let (_, rest) = code.split_once("TEST")?;
    let (_, rest) = rest.split_once('(')?;
    let (suite, rest) = rest.split_once(',')?;
    let (name, _) = rest.split_once(')')?;
    Some(format!("{}.{}", suite.trim(), name.trim()))
}
