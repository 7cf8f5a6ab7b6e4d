//! Sources without a build tool: all of them compiled together, and JUnit's console.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use super::Java;
use crate::{
    host,
    runner::{
        Trouble,
        capture::Ran,
        context::{Access, Site, Task},
        files::found,
    },
};

/// Where Debian has the libraries.
const LIBRARIES: &str = "/usr/share/java";

/// What JUnit 5 and its console consist of; the last ones are not in every version.
const NAMES: [&str; 13] = [
    "junit-platform-console",
    "junit-platform-launcher",
    "junit-platform-engine",
    "junit-platform-commons",
    "junit-platform-reporting",
    "junit-jupiter-api",
    "junit-jupiter-engine",
    "junit-jupiter-params",
    "opentest4j",
    "apiguardian-api",
    "picocli",
    "opentest4j-reporting-events",
    "open-test-reporting-events",
];

/// Names that are there in every version.
const NEEDED: usize = 11;

const CLASSES: &str = "classes";

/// Where reports go, among what a run writes.
pub(super) const REPORTS: &str = "junit";

#[derive(Debug)]
pub(super) struct Plain {
    libraries: Vec<PathBuf>,
}

impl Plain {
    /// None where JUnit is not installed.
    pub(super) fn find() -> Option<Self> {
        let library = |name: &str| Path::new(LIBRARIES).join(format!("{name}.jar"));
        let all = NAMES.iter().map(|name| library(name));
        let libraries: Vec<PathBuf> = all.filter(|path| host::is_file(path)).collect();
        let is_complete = NAMES.iter().take(NEEDED).all(|name| host::is_file(&library(name)));
        is_complete.then_some(Self { libraries })
    }

    fn class_path(&self, site: &Site<'_>) -> String {
        let own = site.seen_build.join(CLASSES);
        let all = self.libraries.iter().chain([&own]);
        all.map(|path| path.display().to_string()).collect::<Vec<_>>().join(":")
    }

    pub(super) fn compile(
        &self,
        java: &Java,
        site: &Site<'_>,
        project: &Path,
    ) -> Result<Ran, Trouble> {
        let limit = site.context.build_timeout;
        let mut task = Task::new([java.home.join("bin/javac")], project, Access::Compiles, limit);
        java.equip(&mut task);
        task.arguments(["-proc:none", "-nowarn", "-encoding", "UTF-8", "-g", "-cp"]);
        task.arguments([self.class_path(site)]);
        task.arguments(["-d".into(), site.seen_build.join(CLASSES)]);
        let sources = found(site.repo(), project, |name| name.ends_with(".java"));
        task.arguments(sources.iter().map(|source| site.seen_repo.join(source)));
        site.run(&task)
    }

    pub(super) fn run(
        &self,
        java: &Java,
        site: &Site<'_>,
        project: &Path,
        class: Option<&str>,
        wall: Duration,
    ) -> Result<Ran, Trouble> {
        let mut task = Task::new([java.home.join("bin/java")], project, Access::Runs, wall);
        java.equip(&mut task);
        task.arguments(["-cp".to_owned(), self.class_path(site)]);
        task.arguments(["org.junit.platform.console.ConsoleLauncher", "--disable-banner"]);
        task.arguments(["--disable-ansi-colors", "--details=tree", "--reports-dir"]);
        task.arguments([site.seen_scratch.join(REPORTS)]);
        match class {
            Some(class) => task.arguments(["--select-class", class]),
            None => task.arguments(["--scan-class-path".into(), site.seen_build.join(CLASSES)]),
        }
        site.run(&task)
    }
}
