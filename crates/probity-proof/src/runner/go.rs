//! Go: `go test -c`, and then the test's program itself.
//!
//! Compiling and running are two steps, so that a program that does not compile is known by the
//! compiler's own end, the caches are out of reach of what an agent wrote, and runs after the
//! first cost nothing. The program writes the framing that `go tool test2json` reads.

mod modules;
mod output;
mod source;
mod suite;

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use probity_sandbox::Exit;
use probity_scope::HeldDirectory;
use serde::Deserialize;

use self::{modules::Skeleton, suite::Listed};
use super::{
    Built, Existing, Groups, Missing, Once, Placed, Runner, Suite, Trial, Trouble, Unavailable,
    asked::Asked,
    capture::Ran,
    context::{Access, Site, Task},
    failed_build, placement, succeeded,
};
use crate::{
    Claim, Gap, Refusal, RunDetail,
    claim::FlaggedLines,
    host::HostTools,
    mounts,
    places::{Leaf, read_text},
    workshop::Preparation,
};

/// The cache of builds, and the fetched modules.
const CACHE: &str = "go-build";
const MODULES: &str = "go-modules";

const PROGRAM: &str = "proof.test";

/// What a program gets on top of the test's time to say where it hangs.
const GRACE: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(super) struct Go {
    environment: Environment,
    /// Of this workshop: it begins with links to what was compiled ahead.
    cache: Leaf,
    /// What was compiled ahead, by the name under which it is shown.
    compiled: Vec<(&'static str, Leaf)>,
    /// None if they could not be fetched.
    modules: Option<Leaf>,
    /// What the packages of each module use, on the code as it is.
    listings: Once<PathBuf, Arc<Vec<Listed>>>,
}

/// What the tool chain says of itself.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(super) struct Environment {
    goroot: PathBuf,
    gomodcache: PathBuf,
    goversion: String,
}

/// Asks the tool chain of the machine.
pub(super) fn environment(host: &HostTools<'_>) -> Result<Environment, Unavailable> {
    let program = host.context.tool("go").ok_or(Unavailable::NotInstalled("Go"))?;
    let words = ["env", "-json", "GOROOT", "GOMODCACHE", "GOVERSION"];
    let ran = host.ask(&program, &words, &[("GOTOOLCHAIN", "local")])?;
    let told = serde_json::from_slice(&ran.stdout);
    let told = told.map_err(|error| Trouble::Machine(format!("go env did not answer: {error}")));
    Ok(told?)
}

impl Go {
    /// Fetches what the modules need and compiles everything once.
    pub(super) fn prepare(
        preparation: &mut Preparation<'_>,
    ) -> Result<Box<dyn Runner>, Unavailable> {
        let environment =
            preparation.asked.go.clone().unwrap_or_else(|| Err(Asked::not_asked()))?;
        let vault = &preparation.site.context.vault;
        let cache = vault.leaf(CACHE).map_err(|error| Trouble::at(vault.path(), &error))?;
        let (compiled, modules, listings) = (Vec::new(), None, Once::default());
        let mut go = Self { environment, cache, compiled, modules, listings };
        let skeleton = Skeleton::of(preparation)?;
        if !skeleton.directories.is_empty() {
            (preparation.progress)("fetching and compiling what the Go modules need");
            let warm = go.warm(preparation.site, &skeleton);
            preparation.check_warm("Go", warm);
        }
        Ok(Box::new(go))
    }

    /// Listing with `-export` compiles all packages and their tests and links none of them.
    fn warm(&mut self, site: &Site<'_>, skeleton: &Skeleton) -> Result<(), Trouble> {
        let fetched = self.fetch(site, skeleton);
        let compiled = self.compile_ahead(site, skeleton);
        for module in &skeleton.directories {
            let mut list = self.task(site, module)?;
            list.arguments([
                "list", "-e", "-export", "-test", "-deps", "-f", "", "./...", "testing",
            ]);
            succeeded(site.run(&list))?;
        }
        fetched.and(compiled)
    }

    /// The go command, with caches and without network.
    fn task(&self, site: &Site<'_>, directory: &Path) -> Result<Task, Trouble> {
        self.task_with(site, directory, &self.cache)
    }

    /// The same with another cache of builds.
    fn task_with(&self, site: &Site<'_>, directory: &Path, cache: &Leaf) -> Result<Task, Trouble> {
        let failed = |error| Trouble::at(Path::new(CACHE), &error);
        let mut task = self.command(site, directory);
        let seen = site.context.seen(CACHE, cache);
        task.mounts.push(cache.read_write(&mounts::GO_BUILD, &seen).map_err(failed)?);
        task.variable("GOCACHE", seen);
        for (name, store) in &self.compiled {
            let seen = site.context.seen(name, store);
            task.mounts.push(store.read_only(&mounts::GO_COMPILED, seen).map_err(failed)?);
        }
        if let Some(modules) = &self.modules {
            let seen = site.context.seen(MODULES, modules);
            task.mounts.push(modules.read_only(&mounts::GO_MODULES, &seen).map_err(failed)?);
            task.variable("GOMODCACHE", seen);
        }
        task.variable("GOPROXY", "off");
        Ok(task)
    }

    /// Compiles the tests of a package into a program of this name.
    fn compile(
        &self,
        site: &Site<'_>,
        package: &Path,
        program: &str,
        tags: &[String],
    ) -> Result<Ran, Trouble> {
        let module = module(site.repo(), package);
        let root = module.clone().unwrap_or_else(|| package.to_owned());
        let mut task = self.task(site, &root)?;
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

    /// Compiles the tests of a package with these tags, and runs some of them, or all.
    fn run_with_tags(
        &self,
        site: &Site<'_>,
        package: &Path,
        tests: &BTreeSet<String>,
        tags: &[String],
        limit: Duration,
    ) -> Result<Suite, Box<Trial>> {
        site.build.held.remove_file(PROGRAM).ok();
        let built = self.compile(site, package, PROGRAM, tags)?;
        if let Some(detail) = failed_build(built.exit) {
            return Err(Box::new(Trial::new(detail)));
        }
        let mut suite = Suite::default();
        // A package without tests has no program of them.
        if site.build.held.is_file(PROGRAM) {
            let names: Vec<&str> = tests.iter().map(String::as_str).collect();
            let filter =
                if names.is_empty() { ".".to_owned() } else { format!("^({})$", names.join("|")) };
            let ran = self.execute(site, package, PROGRAM, &filter, limit)?;
            let report = output::report(&ran);
            suite.add(&format!("{}{}", package.display(), suite::SEPARATOR), &report);
            if ran.duration >= limit {
                suite.cut(package);
            } else if !report.has_ended {
                suite.stop(package, report.without_end.unwrap_or(RunDetail::EndedEarly));
            }
        }
        Ok(suite)
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
        task.tools.push(self.environment.goroot.clone());
        task.variable("GOROOT", &self.environment.goroot);
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

    fn place(
        &self,
        repo: &HeldDirectory,
        claim: &Claim,
        flagged: &FlaggedLines,
    ) -> Result<Placed, Refusal> {
        let is_test = |name: &str| name.ends_with("_test.go");
        let directory = placement::directory(repo, claim, flagged, is_test)?;
        let id = placement::plain(&claim.id);
        // A name that ends in an operating system's name would be left out on the others.
        let name = |number: &str| format!("zz_probity_{id}{number}p_test.go");
        let path = placement::unused(repo, &directory, name);
        let existing = source::Package::read(repo, &directory);
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
        let flagged = read_text(site.repo(), &placed.flagged.file).unwrap_or_default();
        let tags = [source::tags(&placed.source), source::tags(&flagged)].concat();
        let compile = || self.compile(site, &placed.directory, PROGRAM, &tags);
        let ran = compile()?;
        let text = [&ran.stdout[..], &ran.stderr].concat();
        let mut detail = match failed_build(ran.exit) {
            Some(failed) => failed,
            None if site.build.held.is_file(PROGRAM) => return Ok(Built::default()),
            None => RunDetail::NoSuchTest,
        };
        if detail == RunDetail::Unbuilt {
            // Is it the test at all?
            site.repo().remove_file(&placed.path).ok();
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
        let until = Instant::now() + limit;
        let mut suite = self.run_with_tags(site, package, tests, &[], limit)?;
        for tags in suite::tags(site.repo(), package) {
            let left = until.saturating_duration_since(Instant::now());
            match self.run_with_tags(site, package, tests, &tags, left) {
                // The other files are there as well, and their tests have run.
                Ok(tagged) => {
                    for (name, outcome) in tagged.outcomes {
                        suite.outcomes.entry(name).or_insert(outcome);
                    }
                    suite.is_cut |= tagged.is_cut;
                    tagged.gaps.into_iter().for_each(|gap| suite.lack(gap, false));
                }
                Err(trial) => {
                    let place =
                        format!("{} (tags {})", placement::slashes(package), tags.join(","));
                    suite.lack(Gap::NotRun { place, detail: trial.detail }, false);
                }
            }
        }
        Ok(suite)
    }

    fn missing(&self, output: &str) -> Option<Missing> {
        const SIGNS: [&str; 5] = [
            "module lookup disabled by GOPROXY=off",
            "no required module provides package",
            "cannot find module providing package",
            "missing go.sum entry",
            "import lookup disabled by -mod=vendor",
        ];
        let is_sign = |line: &&str| SIGNS.iter().any(|sign| line.contains(sign));
        let line = output.lines().find(is_sign)?;
        // The first word with a dot before its first slash is the module, if it is not a place in a file.
        let module = line.split_whitespace().map(|word| word.trim_matches([':', ';', ',', '"']));
        let module = module.into_iter().find(|word| {
            word.split_once('/')
                .is_some_and(|(host, _)| host.contains('.') && !host.starts_with('.'))
                && !word.contains(".go:")
        })?;
        Some(Missing {
            name: module.split('@').next().unwrap_or(module).to_owned(),
            what: format!("the Go module of {module} could not be fetched"),
            help: "run `go mod download`".to_owned(),
        })
    }

    fn empty_test(&self, _: &HeldDirectory, placed: &Placed) -> Option<Placed> {
        let package = placed.source.lines().find(|line| line.starts_with("package "))?;
        let name = "TestProbityStarts".to_owned();
        let source = format!("{package}\n\nimport \"testing\"\n\nfunc {name}(*testing.T) {{}}\n");
        Some(Placed { name, source, ..placed.clone() })
    }
}

/// The nearest directory with a module, up from a package.
fn module(repo: &HeldDirectory, package: &Path) -> Option<PathBuf> {
    let with_module = |above: &&Path| repo.is_file(above.join("go.mod"));
    package.ancestors().find(with_module).map(Path::to_owned)
}

fn pattern(directory: &Path, module: &Path) -> String {
    match directory.strip_prefix(module) {
        Ok(rest) if !rest.as_os_str().is_empty() => format!("./{}", rest.display()),
        _ => ".".to_owned(),
    }
}
