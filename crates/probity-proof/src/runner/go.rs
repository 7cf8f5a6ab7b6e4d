//! Go: `go test -c`, and then the test's program itself.
//!
//! Compiling and running are two steps, so that a program that does not compile is known by the
//! compiler's own end, the caches are out of reach of what an agent wrote, and runs after the
//! first cost nothing. The program writes the framing that `go tool test2json` reads.

mod output;
mod source;
mod suite;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use probity_sandbox::Exit;
use serde::Deserialize;

use self::suite::Listed;
use super::{
    BUILD, Built, Existing, Groups, Once, Placed, Runner, Suite, Trial, Trouble, Unavailable,
    capture::Ran,
    context::{Access, Site, Task},
    failed_build, placement, succeeded,
};
use crate::{
    Claim, Outcome, Refusal, RunDetail, claim::FlaggedLines, repository::confined,
    workshop::Preparation,
};

const CACHE: &str = "go-build";
const PROGRAM: &str = "proof.test";

/// What a program gets on top of the test's time to say where it hangs.
const GRACE: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(super) struct Go {
    root: PathBuf,
    modules: PathBuf,
    /// What the packages of each module use, on the code as it is.
    listings: Once<PathBuf, Arc<Vec<Listed>>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "UPPERCASE")]
struct Environment {
    goroot: PathBuf,
    gomodcache: PathBuf,
}

impl Go {
    /// Finds the tool chain, fetches what the modules need and compiles everything once.
    pub(super) fn prepare(
        preparation: &mut Preparation<'_>,
    ) -> Result<Box<dyn Runner>, Unavailable> {
        let site = preparation.site;
        let program = site.context.tool("go").ok_or(Unavailable::NotInstalled("Go"))?;
        let mut ask = Task::new([program], "", Access::Compiles, site.context.build_timeout);
        ask.arguments(["env", "-json", "GOROOT", "GOMODCACHE"]);
        let ran = site.fetch(&ask)?;
        let told: Environment = serde_json::from_slice(&ran.stdout)
            .map_err(|error| Trouble::Machine(format!("go env did not answer: {error}")))?;
        let go = Self { root: told.goroot, modules: told.gomodcache, listings: Once::default() };
        for module in preparation.directories_with("go.mod") {
            (preparation.progress)("fetching and compiling what the Go modules need");
            preparation.check_warm("Go", go.warm(site, module));
        }
        Ok(Box::new(go))
    }

    /// Downloading runs nothing of the repository. Listing with `-export` compiles all packages
    /// and their tests and links none of them.
    fn warm(&self, site: &Site<'_>, module: &Path) -> Result<(), Trouble> {
        if site.copy.repo.join(module).join("go.sum").is_file() {
            let program = self.root.join("bin/go");
            let limit = site.context.build_timeout;
            let mut fetch = Task::new([program], module, Access::Compiles, limit);
            fetch.arguments(["mod", "download"]);
            succeeded(site.fetch(&fetch))?;
        }
        let mut list = self.task(site, module);
        list.arguments(["list", "-e", "-export", "-test", "-deps", "-f", "", "./...", "testing"]);
        succeeded(site.run(&list)).map(drop)
    }

    /// The go command, with caches and without network.
    fn task(&self, site: &Site<'_>, directory: &Path) -> Task {
        let limit = site.context.build_timeout;
        let mut task = Task::new([self.root.join("bin/go")], directory, Access::Compiles, limit);
        task.tools.extend([self.root.clone(), self.modules.clone()]);
        task.caches.push(CACHE);
        task.variable("GOROOT", &self.root);
        task.variable("GOCACHE", site.context.seen_cache(CACHE));
        task.variable("GOMODCACHE", &self.modules);
        task.variable("GOTOOLCHAIN", "local");
        task.variable("GOPROXY", "off");
        task.variable("GOTELEMETRY", "off");
        task
    }

    /// Compiles the tests of a package into a program of this name.
    fn compile(
        &self,
        site: &Site<'_>,
        package: &Path,
        program: &str,
        tags: &[String],
    ) -> Result<Ran, Trouble> {
        let module = module(&site.copy.repo, package);
        let root = module.clone().unwrap_or_else(|| package.to_owned());
        let mut task = self.task(site, &root);
        if module.is_none() {
            task.variable("GO111MODULE", "off");
        }
        task.arguments(["test", "-c", "-vet=off"]);
        task.arguments(["-o".into(), site.seen_build.join(program)]);
        // As `go test` itself does with a program that it does not keep: what debuggers read takes a
        // third of the time, and traces do without it.
        let has_flags = site.context.variable("GOFLAGS");
        if !has_flags.is_some_and(|flags| flags.to_string_lossy().contains("ldflags")) {
            task.arguments(["-ldflags=-s -w"]);
        }
        if !tags.is_empty() {
            task.arguments([format!("-tags={}", tags.join(","))]);
        }
        task.arguments([pattern(package, &root)]);
        site.run(&task)
    }

    /// Runs a test program in its package, with this filter.
    fn execute(
        &self,
        site: &Site<'_>,
        package: &Path,
        program: &str,
        filter: &str,
        limit: Duration,
    ) -> Result<Ran, Trouble> {
        let program = site.seen_build.join(program);
        let mut task = Task::new([program], package, Access::Runs, limit + GRACE);
        task.tools.extend([self.root.clone(), self.modules.clone()]);
        task.variable("GOROOT", &self.root);
        task.arguments(["-test.v=test2json", "-test.paniconexit0", "-test.count=1"]);
        task.arguments([
            format!("-test.run={filter}"),
            format!("-test.timeout={}s", limit.as_secs_f64()),
        ]);
        site.run(&task)
    }
}

impl Runner for Go {
    fn name(&self) -> &'static str {
        "go"
    }

    fn is_compiled(&self) -> bool {
        true
    }

    fn place(&self, repo: &Path, claim: &Claim, flagged: &FlaggedLines) -> Result<Placed, Refusal> {
        let is_test = |name: &str| name.ends_with("_test.go");
        let directory = placement::directory(repo, claim, flagged, is_test)?;
        let id = placement::plain(&claim.id);
        // A name that ends in an operating system's name would be left out on the others.
        let name = |number: &str| format!("zz_probity_{id}{number}p_test.go");
        let path = placement::unused(repo, &directory, name);
        let existing = source::Package::read(&repo.join(&directory));
        let test = source::prepare(&claim.test_code, claim.test_name.as_deref(), &existing, &id)?;
        Ok(Placed {
            path,
            name: test.name,
            source: test.source,
            added: None,
            directory,
            flagged: flagged.clone(),
        })
    }

    fn build(&self, site: &Site<'_>, placed: &Placed) -> Result<Built, Box<Trial>> {
        let flagged = confined::read(&site.copy.repo, &placed.flagged.file).unwrap_or_default();
        let tags = [source::tags(&placed.source), source::tags(&flagged)].concat();
        let compile = || self.compile(site, &placed.directory, PROGRAM, &tags);
        let ran = compile()?;
        let text = [&ran.stdout[..], &ran.stderr].concat();
        let mut detail = match failed_build(ran.exit) {
            Some(failed) => failed,
            None if site.build.join(PROGRAM).is_file() => return Ok(Built::default()),
            None => RunDetail::NoSuchTest,
        };
        if detail == RunDetail::Unbuilt {
            // Is it the test at all?
            fs::remove_file(site.copy.repo.join(&placed.path)).ok();
            if !compile().is_ok_and(|ran| ran.exit == Exit::Code(0)) {
                detail = RunDetail::PackageUnbuilt;
            }
        }
        Err(Box::new(Trial::new(detail).of(site, &ran, &text)))
    }

    fn run(&self, site: &Site<'_>, placed: &Placed, _: &Built) -> Result<Trial, Trouble> {
        let filter = format!("^{}$", placed.name);
        let limit = site.context.test_timeout;
        let ran = self.execute(site, &placed.directory, PROGRAM, &filter, limit)?;
        Ok(Trial::told(site, &ran, &output::report(&ran), |test| test.name == placed.name))
    }

    fn groups(&self, site: &Site<'_>, wanted: Existing<'_>) -> Result<Groups, Trouble> {
        suite::groups(self, site, wanted)
    }

    fn run_group(
        &self,
        site: &Site<'_>,
        package: &Path,
        tests: &BTreeSet<String>,
        limit: Duration,
    ) -> Result<Suite, Box<Trial>> {
        let mut suite = Suite::default();
        fs::remove_file(site.build.join(PROGRAM)).ok();
        let built = self.compile(site, package, PROGRAM, &[])?;
        let is_built = built.exit == Exit::Code(0);
        let outcome = if is_built { Outcome::Passed } else { Outcome::BuildError };
        let prefix = format!("{}{}", package.display(), suite::SEPARATOR);
        suite.outcomes.insert(format!("{prefix}{BUILD}"), outcome);
        if is_built && site.build.join(PROGRAM).is_file() {
            let names: Vec<&str> = tests.iter().map(String::as_str).collect();
            let filter =
                if names.is_empty() { ".".to_owned() } else { format!("^({})$", names.join("|")) };
            let ran = self.execute(site, package, PROGRAM, &filter, limit)?;
            suite.add(&prefix, &ran, &output::report(&ran), limit);
        }
        Ok(suite)
    }
}

/// The nearest directory with a module, up from a package.
fn module(repo: &Path, package: &Path) -> Option<PathBuf> {
    let with_module = |above: &&Path| repo.join(above).join("go.mod").is_file();
    package.ancestors().find(with_module).map(Path::to_owned)
}

fn pattern(directory: &Path, module: &Path) -> String {
    match directory.strip_prefix(module) {
        Ok(rest) if !rest.as_os_str().is_empty() => format!("./{}", rest.display()),
        _ => ".".to_owned(),
    }
}
