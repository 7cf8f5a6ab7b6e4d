//! Maven and Gradle, without network: what they need has to be on the machine.
//!
//! A project is compiled once; what that made is put into the copy of every run.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use super::Java;
use probity_scope::CopiedLinks;

use crate::{
    host,
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
                let own = if host::is_directory(&own) { own } else { SYSTEM_REPOSITORY.into() };
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
        let failed = |error| Trouble::at(Path::new(self.output()), &error);
        // Where the build has left something else than a directory, nothing was made.
        if let Ok(made) = site.repo().open_below(project.join(self.output())) {
            let kept = site.build.held.ensure(self.output()).map_err(failed)?;
            kept.clear().map_err(failed)?;
            kept.copy_tree(&made, CopiedLinks::Dropped, &|_, _| true).map_err(failed)?;
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
        let failed = |error| Trouble::at(Path::new(self.output()), &error);
        let place = project.join(self.output());
        if let (Ok(kept), None) =
            (site.build.held.open_below(self.output()), site.repo().kind(&place))
        {
            let made = site.repo().ensure(&place).map_err(failed)?;
            made.copy_tree(&kept, CopiedLinks::Dropped, &|_, _| true).map_err(failed)?;
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
