//! Maven and Gradle, without network: what they need has to be on the machine.
//!
//! A project is compiled once; what that made is put into the copy of every run.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use super::Java;
use crate::{
    repository::confined::through_link,
    runner::{
        Trouble,
        capture::Ran,
        context::{Access, Site, Task},
        files::tools_of,
    },
};

/// Where Debian has the packages.
const SYSTEM_REPOSITORY: &str = "/usr/share/maven-repo";

#[derive(Debug, Clone, Copy)]
pub(super) enum BuildTool<'a> {
    Maven(&'a Path),
    Gradle(&'a Path),
}

impl BuildTool<'_> {
    /// Where reports go, relative to the project.
    pub(super) fn reports(self) -> &'static str {
        match self {
            Self::Maven(_) => "target/surefire-reports",
            Self::Gradle(_) => "build/test-results/test",
        }
    }

    fn output(self) -> &'static str {
        match self {
            Self::Maven(_) => "target",
            Self::Gradle(_) => "build",
        }
    }

    fn task(self, java: &Java, site: &Site<'_>, project: &Path, wall: Duration) -> Task {
        let (Self::Maven(program) | Self::Gradle(program)) = self;
        let mut task = Task::new([program], project, Access::Runs, wall);
        java.equip(&mut task);
        task.tools.extend(tools_of(program, &[]));
        match self {
            Self::Maven(_) => {
                let home = site.context.variable("HOME").map(PathBuf::from).unwrap_or_default();
                let own = home.join(".m2/repository");
                let own = if own.is_dir() { own } else { SYSTEM_REPOSITORY.into() };
                task.arguments(["-o", "-q", "-B"]);
                task.arguments([format!("-Dmaven.repo.local={}", own.display())]);
                task.tools.push(own);
            }
            Self::Gradle(_) => {
                let caches = site.seen_scratch.join("gradle").display().to_string();
                task.arguments(["--offline", "--no-daemon", "--console=plain", "--quiet"]);
                task.arguments([format!("--project-cache-dir={caches}")]);
                task.variable("GRADLE_USER_HOME", caches);
            }
        }
        task
    }

    pub(super) fn compile(
        self,
        java: &Java,
        site: &Site<'_>,
        project: &Path,
    ) -> Result<Ran, Trouble> {
        let mut task = self.task(java, site, project, site.context.build_timeout);
        task.access = Access::Compiles;
        task.arguments(match self {
            Self::Maven(_) => ["-DskipTests", "test-compile"],
            Self::Gradle(_) => ["--continue", "testClasses"],
        });
        let ran = site.run(&task)?;
        let made = site.copy.repo.join(project).join(self.output());
        let kept = site.build.join(self.output());
        if !through_link(&site.copy.repo, &project.join(self.output())) && made.is_dir() {
            copy(&made, &kept).map_err(|error| Trouble::at(&made, &error))?;
        }
        Ok(ran)
    }

    pub(super) fn run(
        self,
        java: &Java,
        site: &Site<'_>,
        project: &Path,
        class: Option<&str>,
        wall: Duration,
    ) -> Result<Ran, Trouble> {
        let (kept, place) = (site.build.join(self.output()), project.join(self.output()));
        let made = site.copy.repo.join(&place);
        if kept.is_dir() && !made.exists() {
            copy(&kept, &made).map_err(|error| Trouble::at(&made, &error))?;
        }
        let mut task = self.task(java, site, project, wall);
        match self {
            Self::Maven(_) => {
                task.arguments(class.map(|class| format!("-Dtest={class}")));
                task.arguments(["-DfailIfNoTests=false", "surefire:test"]);
            }
            Self::Gradle(_) => {
                task.arguments(["test"]);
                task.arguments(class.into_iter().flat_map(|class| ["--tests", class]));
            }
        }
        site.run(&task)
    }
}

/// Copies directories and files with their times, and nothing else.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (kind, target) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() {
            copy(&entry.path(), &target)?;
        } else if kind.is_file() {
            fs::copy(entry.path(), &target)?;
            let modified = entry.metadata()?.modified()?;
            fs::File::options().append(true).open(&target)?.set_modified(modified)?;
        }
    }
    Ok(())
}
