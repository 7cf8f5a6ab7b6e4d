//! Ruby: RSpec where the project has specs, minitest otherwise.

mod minitest;
mod rspec;

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    time::Duration,
};

use probity_scope::HeldDirectory;

use self::{minitest::Minitest, rspec::Rspec};
use super::{
    Built, Existing, Groups, Placed, Runner, Suite, Trial, Trouble, Unavailable, context::Site,
    files::Files,
};
use crate::{Claim, Refusal, claim::FlaggedLines, workshop::Preparation};

/// Files that make a directory the root of a project.
const PROJECT: &[&str] = &["Gemfile", "Rakefile", ".rspec", "spec", "test", "lib"];

/// Both of them; each claim belongs to one.
#[derive(Debug)]
struct Ruby {
    rspec: Option<Files<Rspec>>,
    minitest: Files<Minitest>,
}

pub(super) fn prepare(preparation: &mut Preparation<'_>) -> Result<Box<dyn Runner>, Unavailable> {
    let context = preparation.site.context;
    let ruby = context.tool("ruby").ok_or(Unavailable::NotInstalled("Ruby"))?;
    minitest::add_reporter(context)?;
    let rspec = context.tool("rspec").map(|program| Files(Rspec { ruby: ruby.clone(), program }));
    Ok(Box::new(Ruby { rspec, minitest: Files(Minitest { ruby }) }))
}

impl Ruby {
    /// By the file of a test, or by what is in the project.
    fn of_file(&self, repo: &HeldDirectory, file: &str) -> Result<&dyn Runner, Trouble> {
        let directory = Path::new(file).parent().unwrap_or(Path::new(""));
        let has =
            |name: &str| directory.ancestors().any(|above| repo.kind(above.join(name)).is_some());
        let is_spec = file.ends_with("_spec.rb")
            || !file.ends_with("_test.rb") && (has("spec") || has(".rspec"));
        if !is_spec {
            return Ok(&self.minitest);
        }
        match &self.rspec {
            Some(rspec) => Ok(rspec),
            None => Err(Trouble::PackageMissing {
                package: "rspec".to_owned(),
                install: "bundle install".to_owned(),
            }),
        }
    }
}

impl Runner for Ruby {
    fn name(&self) -> &'static str {
        "ruby"
    }

    fn place(
        &self,
        repo: &HeldDirectory,
        claim: &Claim,
        flagged: &FlaggedLines,
    ) -> Result<Placed, Refusal> {
        let file = claim.test_file.as_deref().filter(|file| !file.is_empty());
        let runner = self.of_file(repo, file.unwrap_or(&flagged.file));
        runner
            .map_err(|_| Refusal::Unavailable(Unavailable::NotInstalled("RSpec")))?
            .place(repo, claim, flagged)
    }

    fn build(&self, site: &Site<'_>, placed: &Placed) -> Result<Built, Box<Trial>> {
        self.of_file(site.repo(), &placed.path)?.build(site, placed)
    }

    fn run(&self, site: &Site<'_>, placed: &Placed, built: &Built) -> Result<Trial, Trouble> {
        self.of_file(site.repo(), &placed.path)?.run(site, placed, built)
    }

    fn empty_test(&self, repo: &HeldDirectory, placed: &Placed) -> Option<Placed> {
        self.of_file(repo, &placed.path).ok()?.empty_test(repo, placed)
    }

    /// The tests of both, as a project may be on its way from one to the other.
    fn groups(&self, site: &Site<'_>, wanted: Existing<'_>) -> Result<Groups, Trouble> {
        let mut groups = self.minitest.groups(site, wanted)?;
        if let Some(rspec) = &self.rspec {
            let specs = rspec.groups(site, wanted)?;
            groups.gaps.extend(specs.gaps);
            groups.lacks_nearest |= specs.lacks_nearest;
            for (project, files) in specs.tests {
                groups.tests.entry(project).or_default().extend(files);
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
        let is_spec = |file: &&String| file.ends_with("_spec.rb");
        let (specs, tests): (BTreeSet<String>, BTreeSet<String>) =
            files.iter().cloned().partition(|file| is_spec(&file));
        let mut suite = Suite::default();
        if let (Some(rspec), false) = (&self.rspec, specs.is_empty()) {
            suite = rspec.run_group(site, project, &specs, limit)?;
        }
        if !tests.is_empty() {
            let told = self.minitest.run_group(site, project, &tests, limit)?;
            suite.join(told, true);
        }
        Ok(suite)
    }
}

/// Directories whose code is required by name.
fn load_path(site: &Site<'_>, project: &Path, names: &[&str]) -> Vec<String> {
    let root: PathBuf = site.seen_repo.join(project);
    names.iter().map(|name| format!("-I{}", root.join(name).display())).collect()
}
