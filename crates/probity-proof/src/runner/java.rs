//! Java: JUnit 5, by Maven or Gradle where a project has one of them, by the compiler and JUnit's own
//! console otherwise.

mod maven;
mod plain;

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    time::Duration,
};

use probity_scope::HeldDirectory;

use self::{maven::BuildTool, plain::Plain};
use super::{
    Built, Existing, Groups, Placed, Runner, Suite, Trial, Trouble, Unavailable,
    capture::Ran,
    context::{Site, Task},
    failed_build,
    files::{found, tools_of, word_after},
    placement,
    report::{Report, ReportFault, junit::is_named},
};
use crate::{
    Claim, Refusal, RunDetail, claim::FlaggedLines, host, places::read_text, workshop::Preparation,
};

/// What a virtual machine gets on top of the test's time to start.
const GRACE: Duration = Duration::from_secs(60);

/// Between a project and its test, in the names of existing tests.
const SEPARATOR: &str = ": ";

/// The system's settings for Java, which its programs do not start without.
const SETTINGS: [&str; 4] =
    ["/etc/java-11-openjdk", "/etc/java-17-openjdk", "/etc/java-21-openjdk", "/etc/maven"];

#[derive(Debug)]
pub(super) struct Java {
    /// Where the tool chain is.
    home: PathBuf,
    plain: Option<Plain>,
    maven: Option<PathBuf>,
    gradle: Option<PathBuf>,
}

/// How the tests of one project are built and run.
#[derive(Debug, Clone, Copy)]
enum How<'a> {
    Plain(&'a Plain),
    Tool(BuildTool<'a>),
}

impl Java {
    pub(super) fn prepare(
        preparation: &mut Preparation<'_>,
    ) -> Result<Box<dyn Runner>, Unavailable> {
        let context = preparation.site.context;
        let javac = context.tool("javac").ok_or(Unavailable::NotInstalled("a Java compiler"))?;
        let javac = host::real_path(&javac).unwrap_or(javac);
        let home = javac.ancestors().nth(2).unwrap_or(&javac).to_owned();
        let (maven, gradle) = (context.tool("mvn"), context.tool("gradle"));
        Ok(Box::new(Self { home, plain: Plain::find(), maven, gradle }))
    }

    /// What builds the project of a directory, and where that is.
    fn project(
        &self,
        repo: &HeldDirectory,
        directory: &Path,
    ) -> Result<(PathBuf, How<'_>), Unavailable> {
        for above in directory.ancestors() {
            let has = |name: &str| repo.is_file(above.join(name));
            if has("pom.xml") {
                let program = self.maven.as_deref().ok_or(Unavailable::NotInstalled("Maven"))?;
                return Ok((above.to_owned(), How::Tool(BuildTool::Maven(program))));
            }
            if has("build.gradle") || has("build.gradle.kts") {
                let program = self.gradle.as_deref().ok_or(Unavailable::NotInstalled("Gradle"))?;
                return Ok((above.to_owned(), How::Tool(BuildTool::Gradle(program))));
            }
        }
        let missing = Unavailable::NotInstalled("JUnit 5 with its console launcher");
        Ok((PathBuf::new(), How::Plain(self.plain.as_ref().ok_or(missing)?)))
    }

    fn how(&self, site: &Site<'_>, project: &Path) -> Result<How<'_>, Trouble> {
        let found = self.project(site.repo(), project);
        found.map(|(_, how)| how).map_err(|why| Trouble::Machine(why.to_string()))
    }

    fn equip(&self, task: &mut Task) {
        task.tools.extend(tools_of(&self.home.join("bin/javac"), &SETTINGS));
        task.variable("JAVA_HOME", &self.home);
        task.variable("JAVA_TOOL_OPTIONS", "-Xmx1g -XX:+UseSerialGC -XX:TieredStopAtLevel=1");
    }
}

impl Runner for Java {
    fn name(&self) -> &'static str {
        "junit"
    }

    fn place(
        &self,
        repo: &HeldDirectory,
        claim: &Claim,
        flagged: &FlaggedLines,
    ) -> Result<Placed, Refusal> {
        let is_test = |name: &str| {
            let stem = name.strip_suffix(".java").unwrap_or_default();
            stem.starts_with("Test")
                || ["Test", "Tests", "IT"].iter().any(|end| stem.ends_with(end))
        };
        let beside = placement::directory(repo, claim, flagged, is_test)?;
        let (project, how) = self.project(repo, &beside).map_err(Refusal::Unavailable)?;
        let is_chosen = claim.test_file.as_deref().is_some_and(|file| !file.is_empty());
        let directory = match how {
            How::Tool(_) if !is_chosen => {
                let package = package(&claim.test_code).replace('.', "/");
                project.join("src/test/java").join(package)
            }
            _ => beside,
        };
        let class = word_after(&claim.test_code, "class ").ok_or(Refusal::NoSuchTest(None))?;
        let path = placement::slashes(&directory.join(format!("{class}.java")));
        // A class has its name in its code, so that another file cannot have it.
        if repo.kind(&path).is_some() {
            return Err(Refusal::TestFileExists(path));
        }
        let wanted = claim.test_name.as_deref().filter(|name| !name.is_empty());
        let wanted = wanted.map(|name| name.rsplit(['#', '.', ':']).next().unwrap_or(name));
        let name = wanted.or_else(|| test_method(&claim.test_code)).unwrap_or_default();
        Ok(Placed {
            path,
            name: name.trim_end_matches("()").to_owned(),
            source: claim.test_code.clone(),
            added: None,
            directory: project,
            flagged: flagged.clone(),
        })
    }

    fn build(&self, site: &Site<'_>, placed: &Placed) -> Result<Built, Box<Trial>> {
        let ran = match self.how(site, &placed.directory)? {
            How::Plain(plain) => plain.compile(self, site, &placed.directory)?,
            How::Tool(tool) => tool.compile(self, site, &placed.directory)?,
        };
        match failed_build(ran.exit) {
            None => Ok(Built::default()),
            Some(detail) => {
                let text = [&ran.stdout[..], &ran.stderr].concat();
                Err(Box::new(Trial::new(detail).of(site, &ran, &text)))
            }
        }
    }

    /// All tests of the class run, of which the wanted one is looked for: one with parameters could not
    /// be named without their types.
    fn run(&self, site: &Site<'_>, placed: &Placed, _: &Built) -> Result<Trial, Trouble> {
        let stem = Path::new(&placed.path).file_stem().unwrap_or_default().to_string_lossy();
        let package = package(&placed.source);
        let gap = if package.is_empty() { "" } else { "." };
        let class = format!("{package}{gap}{stem}");
        let limit = site.context.test_timeout;
        let how = self.how(site, &placed.directory)?;
        let (ran, mut report) = self.observe(site, &placed.directory, how, Some(&class), limit)?;
        report.tests.retain(|test| test.name.starts_with(&format!("{class} > ")));
        if !report.tests.is_empty() {
            report.without_end.get_or_insert(RunDetail::NoSuchTest);
            report.ignores_exit = true;
        }
        let is_wanted = |name: &str| {
            let bare = name.split(['(', '{', '[']).next().unwrap_or(name).trim_end();
            placed.name.is_empty() || is_named(name, &placed.name) || is_named(bare, &placed.name)
        };
        Ok(Trial::told(site, &ran, &report, |test| is_wanted(&test.name)))
    }

    fn empty_test(&self, _: &HeldDirectory, placed: &Placed) -> Option<Placed> {
        let class = Path::new(&placed.path).file_stem()?.to_str()?;
        let package = match package(&placed.source) {
            "" => String::new(),
            package => format!("package {package};\n\n"),
        };
        let source = format!(
            "{package}class {class} {{\n    @org.junit.jupiter.api.Test\n    \
             void starts() {{}}\n}}\n"
        );
        Some(Placed { name: "starts".to_owned(), source, ..placed.clone() })
    }

    fn groups(&self, site: &Site<'_>, wanted: Existing<'_>) -> Result<Groups, Trouble> {
        let mut groups = Groups::default();
        match wanted {
            Existing::Touching(files) => {
                for file in files {
                    let directory = Path::new(file).parent().unwrap_or(Path::new(""));
                    let found = self.project(site.repo(), directory);
                    let (project, _) = found.map_err(|why| Trouble::Machine(why.to_string()))?;
                    groups.tests.entry(project).or_default();
                }
            }
            Existing::Named(names) => {
                for (project, _) in names.iter().filter_map(|name| name.split_once(SEPARATOR)) {
                    groups.tests.entry(project.into()).or_default();
                }
            }
        }
        Ok(groups)
    }

    fn run_group(
        &self,
        site: &Site<'_>,
        project: &Path,
        _: &BTreeSet<String>,
        limit: Duration,
    ) -> Result<Suite, Box<Trial>> {
        let how = self.how(site, project)?;
        let built = match how {
            How::Plain(plain) => plain.compile(self, site, project)?,
            How::Tool(tool) => tool.compile(self, site, project)?,
        };
        if let Some(detail) = failed_build(built.exit) {
            return Err(Box::new(Trial::new(detail)));
        }
        let (ran, report) = self.observe(site, project, how, None, limit)?;
        Ok(Suite::of(&format!("{}{SEPARATOR}", project.display()), project, &ran, &report, limit))
    }
}

impl Java {
    /// Runs one class, or all of them, and reads what was written.
    fn observe(
        &self,
        site: &Site<'_>,
        project: &Path,
        how: How<'_>,
        class: Option<&str>,
        limit: Duration,
    ) -> Result<(Ran, Report), Trouble> {
        let (ran, root, directory) = match how {
            How::Plain(plain) => {
                let ran = plain.run(self, site, project, class, limit + GRACE)?;
                (ran, &site.scratch.held, PathBuf::from(plain::REPORTS))
            }
            How::Tool(tool) => {
                let ran = tool.run(self, site, project, class, limit + GRACE)?;
                (ran, site.repo(), project.join(tool.reports()))
            }
        };
        let files =
            found(root, &directory, |name| name.starts_with("TEST-") && name.ends_with(".xml"));
        let mut report = Report::default();
        for file in &files {
            let text = read_text(root, file).unwrap_or_default();
            match Report::of_junit(text.trim_start()) {
                Ok(told) => report.tests.extend(told.tests),
                Err(why) => {
                    let path = file.clone();
                    report = Report::without(ReportFault::Malformed { path, why });
                    break;
                }
            }
        }
        if files.is_empty() {
            report = Report::without(ReportFault::Missing("TEST-*.xml".to_owned()));
        }
        Ok((ran, report))
    }
}

/// The package that a source is in; empty without one.
fn package(code: &str) -> &str {
    let line = code.lines().map(str::trim).find_map(|line| line.strip_prefix("package "));
    line.and_then(|line| line.split(';').next()).unwrap_or_default().trim()
}

/// The first method that is a test.
fn test_method(code: &str) -> Option<&str> {
    let (_, rest) = code.split_once("@Test").or_else(|| code.split_once("@ParameterizedTest"))?;
    let (before, _) = rest.split_once("void ").map(|(_, rest)| rest.split_once('('))??;
    Some(before.trim())
}
