//! Rust: `cargo test --no-run`, and then the test's program itself.
//!
//! Each copy has a target directory of its own: with a shared one cargo takes the program of
//! another copy for this one's. What is copied into it from a warm one are the dependencies.
//! What code was run is shown by marks that are put into the functions of the flagged file, since
//! tools that read the compiler's own coverage are rarely installed.

mod constants;
mod control;
mod declarations;
mod marks;
mod own;
mod package;
mod plan;
mod reach;
mod seed;
mod source;
mod switch;

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use probity_sandbox::{Exit, Mount};

use self::{package::Package, plan::Channel, source::Event};
use super::{
    Claim, Control, Outcome, Reach,
    capture::Ran,
    constant, placement,
    runner::{Built, Flagged, Placed, Refusal, Runner, Trial},
    site::{Bench, Site, Task},
    tree::Tree,
};

/// The target directory in which the dependencies are compiled ahead.
const WARM: &str = "rust-target";

/// What the program gets on top of the test's time to start.
const GRACE: Duration = Duration::from_secs(5);

/// In a target directory whose package is compiled with all its features.
const ALL_FEATURES: &str = "all-features";

/// Workspaces of one repository that are looked at.
const MOST_WORKSPACES: usize = 20;

#[derive(Debug)]
pub(super) struct Rust {
    sysroot: PathBuf,
    home: PathBuf,
    packages: Vec<Package>,
    channel: Channel,
}

/// A test that has failed every time.
struct Case<'a> {
    bench: &'a Bench,
    site: &'a Site,
    placed: &'a Placed,
    built: &'a Built,
    last: &'a Trial,
}

impl Rust {
    /// Finds the tool chain, fetches what the workspaces need and compiles everything once. None
    /// for a repository without Rust.
    pub(super) fn prepare(
        bench: &Bench,
        site: &Site,
        tree: &Tree,
        progress: &(dyn Fn(&str) + Sync),
        notes: &mut Vec<String>,
    ) -> Option<Result<Self, String>> {
        let is_manifest = |file: &&PathBuf| file.ends_with("Cargo.toml");
        let manifests: Vec<&PathBuf> = tree.files().iter().filter(is_manifest).collect();
        if manifests.is_empty() {
            return None;
        }
        Some(Self::found(bench, site).map(|mut rust| {
            for manifest in manifests.into_iter().take(MOST_WORKSPACES) {
                let directory = manifest.parent().unwrap_or(Path::new(""));
                if rust.packages.iter().any(|package| package.directory == directory) {
                    continue;
                }
                progress("fetching and compiling what the Rust packages need");
                notes.extend(rust.warm(bench, site, directory));
            }
            rust
        }))
    }

    fn found(bench: &Bench, site: &Site) -> Result<Self, String> {
        let rustc = bench.tool("rustc").ok_or("rustc is not installed")?;
        let mut ask = Task::new([rustc], "", bench.build_timeout);
        ask.argv.extend(["--print", "sysroot"].map(Into::into));
        let ran = bench.fetch(site, &ask)?;
        let sysroot = PathBuf::from(String::from_utf8_lossy(&ran.stdout).trim());
        if !sysroot.join("bin/cargo").is_file() {
            return Err(format!("{} holds no cargo", sysroot.display()));
        }
        let home = bench
            .variable("CARGO_HOME")
            .map(PathBuf::from)
            .or_else(|| bench.variable("HOME").map(|home| Path::new(home).join(".cargo")));
        Ok(Self {
            sysroot,
            home: home.unwrap_or_default(),
            packages: Vec::new(),
            channel: Channel::new(),
        })
    }

    fn warm(&mut self, bench: &Bench, site: &Site, directory: &Path) -> Option<String> {
        let mut fetch = Task::new([self.sysroot.join("bin/cargo")], directory, bench.build_timeout);
        fetch.argv.push("fetch".into());
        let fetched = bench.fetch(site, &fetch);
        let warm = || (bench.caches.join(WARM), bench.own(site, "target").1);
        let mut ask = self.task(bench, directory, warm());
        ask.argv.extend(["metadata", "--no-deps", "--format-version=1"].map(Into::into));
        let told = bench.run(site, &ask);
        let told = told.and_then(|ran| {
            package::listed(&ran.stdout, &site.seen_repo).ok_or_else(|| first_line(&ran.stderr))
        });
        match told {
            Ok(packages) => self.packages.extend(packages),
            Err(why) => return Some(format!("cargo metadata failed: {why}")),
        }
        let mut compile = self.task(bench, directory, warm());
        compile.argv.extend(["test", "--no-run", "--workspace", "--quiet"].map(Into::into));
        match bench.run(site, &compile) {
            Ok(ran) if ran.exit == Exit::Code(0) => None,
            Ok(ran) => {
                let fetched = fetched.err().unwrap_or_default();
                Some(format!("compiling ahead failed: {} {fetched}", first_line(&ran.stderr)))
            }
            Err(why) => Some(format!("compiling ahead failed: {why}")),
        }
    }

    /// Cargo, offline, with this target directory.
    fn task(&self, bench: &Bench, directory: &Path, target: (PathBuf, PathBuf)) -> Task {
        let mut task = Task::new([self.sysroot.join("bin/cargo")], directory, bench.build_timeout);
        self.surround(&mut task);
        let (host, seen) = target;
        // If it cannot be made, mounting it says why.
        fs::create_dir_all(&host).ok();
        task.mounts.push(Mount::read_write(host, &seen));
        task.variable("CARGO_TARGET_DIR", seen);
        task.variable("CARGO_INCREMENTAL", "0");
        task.variable("CARGO_NET_OFFLINE", "true");
        task.variable("CARGO_TERM_COLOR", "never");
        // What a package denies is meant for its own code, not for tests and marks. Where flags are
        // set by the package they stay.
        task.variable("CARGO_BUILD_RUSTFLAGS", "--cap-lints=warn");
        task
    }

    fn surround(&self, task: &mut Task) {
        task.tools.push(self.sysroot.clone());
        // Not all of the home, which holds the keys of registries.
        task.tools.extend(["registry", "git"].map(|name| self.home.join(name)));
        let settings = self.home.join("config.toml");
        if fs::read_to_string(&settings).is_ok_and(|text| !text.contains("token")) {
            task.tools.push(settings);
        }
        task.variable("CARGO_HOME", &self.home);
        task.variable("RUSTC", self.sysroot.join("bin/rustc"));
        task.variable("RUSTDOC", self.sysroot.join("bin/rustdoc"));
        let library = self.sysroot.join("lib");
        task.variable("LD_LIBRARY_PATH", library);
    }

    fn package(&self, file: impl AsRef<Path>) -> Option<&Package> {
        let of = |package: &&Package| file.as_ref().starts_with(&package.directory);
        self.packages.iter().filter(of).max_by_key(|package| package.directory.components().count())
    }

    /// Compiles, and gives the programs that came of it.
    fn compile(
        &self,
        bench: &Bench,
        site: &Site,
        placed: &Placed,
    ) -> Result<(Ran, Vec<PathBuf>), String> {
        let package = self.package(&placed.path).ok_or("the file belongs to no package")?;
        let target = bench.own(site, "target");
        let all_features = target.0.join(ALL_FEATURES).is_file();
        let mut task = self.task(bench, &package.workspace, target);
        let words = ["test", "--no-run", "--message-format=json", "--package"];
        task.argv.extend(words.map(Into::into));
        task.argv.push((&package.name).into());
        task.argv.extend(all_features.then(|| "--all-features".into()));
        if placed.added.is_some() {
            task.argv.extend(package.has_library.then(|| "--lib".into()));
            task.argv.extend(package.has_programs.then(|| "--bins".into()));
        } else {
            let stem = Path::new(&placed.path).file_stem().unwrap_or_default();
            task.argv.extend(["--test".into(), stem.to_owned()]);
        }
        let ran = bench.run(site, &task)?;
        let programs = source::programs(&ran.stdout);
        Ok((ran, programs))
    }

    /// Compiles, and finds the program with the test.
    fn build_once(&self, bench: &Bench, site: &Site, placed: &Placed) -> Result<Built, Box<Trial>> {
        let (ran, programs) = self.compile(bench, site, placed).map_err(Trial::unbuilt)?;
        let text = source::compiler(&ran);
        let trial =
            |outcome, why: &str| Box::new(Trial::new(outcome, why).of(bench, site, &ran, &text));
        match ran.exit {
            Exit::Code(0) => {}
            Exit::Timeout => return Err(trial(Outcome::HarnessError, "compiling took too long")),
            Exit::Code(_) => return Err(trial(Outcome::BuildError, "the test could not compile")),
            _ => return Err(trial(Outcome::HarnessError, "the compiler was killed")),
        }
        let stem = Path::new(&placed.path).file_stem().unwrap_or_default().to_string_lossy();
        for program in programs {
            let listed =
                self.execute(bench, site, placed, &program, &["--list", "--format=terse"], None);
            let listed = listed.map_err(Trial::unbuilt)?;
            let module = placed.added.as_ref().map(|_| stem.as_ref());
            if let Some(test) = source::listed(&listed.stdout, module, &placed.name) {
                return Ok(Built { program, test, armed: false });
            }
        }
        Err(trial(Outcome::NotRun, "no test of that name was compiled"))
    }

    /// Runs one of the programs, which can no longer write what was compiled.
    fn execute(
        &self,
        bench: &Bench,
        site: &Site,
        placed: &Placed,
        program: &Path,
        arguments: &[&str],
        plan: Option<(usize, &str)>,
    ) -> Result<Ran, String> {
        let package = self.package(&placed.path).ok_or("the file belongs to no package")?;
        let wall = bench.test_timeout + GRACE;
        let mut task = Task::new([program], &package.directory, wall);
        task.argv.extend(arguments.iter().map(Into::into));
        self.surround(&mut task);
        let (host, seen) = bench.own(site, "target");
        task.mounts.push(Mount::read_only(host, seen));
        let manifest = site.seen_repo.join(&package.directory);
        task.variable("CARGO_MANIFEST_DIR", manifest);
        task.variable("RUST_BACKTRACE", "0");
        task.variable(&self.channel.variable, self.channel.encode(plan));
        // Opens the format for machines on stable tool chains.
        task.variable("RUSTC_BOOTSTRAP", "1");
        bench.run(site, &task)
    }

    /// One run of the test, with or without something altered, and how often a switch has said
    /// that it did something; more than twice is not told.
    fn trial(
        &self,
        bench: &Bench,
        site: &Site,
        placed: &Placed,
        built: &Built,
        plan: Option<(usize, &str)>,
    ) -> (Trial, usize) {
        let arguments = arguments(&built.test);
        let ran = match self.execute(bench, site, placed, &built.program, &arguments, plan) {
            Ok(ran) => ran,
            Err(why) => return (Trial::harness(why), 0),
        };
        let events = source::events(&ran.stdout, &built.test);
        let (outcome, why) = judge(bench, &ran, &events);
        let told = events.iter().filter_map(|event| event.stdout.as_deref()).collect::<String>();
        let text = if told.is_empty() {
            [&ran.stdout[..], &ran.stderr].concat()
        } else {
            told.clone().into_bytes()
        };
        let mut trial = Trial::new(outcome, why).of(bench, site, &ran, &text);
        trial.mark = source::mark(&told, &placed.path);
        let lines: Vec<u32> =
            trial.mark.complaints.iter().flat_map(|(lines, _)| lines).copied().collect();
        if let Some(line) = lines.first().copied() {
            trial.constant = constant::statement(&placed.source, line, Some(&placed.name));
            let own = own::panics_by_itself(&placed.source, line);
            trial.own = own.then(|| "the test panics in what it hands to the code".to_owned());
        }
        let altered = String::from_utf8_lossy(&ran.stderr).matches(&self.channel.trace).count();
        trial.crashed = outcome == Outcome::Failed && events.iter().all(|it| it.event == "started");
        if trial.crashed {
            trial.doubt = Some("the test's process ended before the test did".to_owned());
        }
        (trial, altered)
    }
}

impl Runner for Rust {
    fn name(&self) -> &'static str {
        "rust"
    }

    fn place(&self, site: &Site, claim: &Claim, flagged: &Flagged) -> Result<Placed, Refusal> {
        let is_test = |name: &str| name.ends_with(".rs") && name != "build.rs";
        // Cargo knows two places for tests, and no others.
        let wanted = placement::directory(site, claim, flagged, is_test)?;
        let package = self
            .package(&flagged.file)
            .ok_or_else(|| Refusal::not_run(format!("{} belongs to no package", flagged.file)))?;
        let name = source::test_name(&claim.test_code, claim.test_name.as_deref())
            .map_err(Refusal::not_run)?;
        let id = placement::plain(&claim.id).to_lowercase();
        let name_of = |number: &str| format!("zz_probity_{id}{number}.rs");
        let own = Path::new(&flagged.file).strip_prefix(&package.directory).ok();
        let first = own.and_then(|path| path.iter().next()).unwrap_or_default();
        let of_sources =
            !["tests", "examples", "benches", "build.rs"].iter().any(|it| first == *it);
        // Beside the sources a test sees what they see, if it does not name the crate itself.
        let crate_name = format!("{}::", package.name.replace('-', "_"));
        let beside = claim.test_file.as_deref().is_some_and(|file| !file.is_empty())
            && Some(wanted.as_path()) == Path::new(&flagged.file).parent()
            && !claim.test_code.contains(&crate_name);
        // Programs are seen by nobody else.
        let of_program = Path::new(&flagged.file).ends_with("src/main.rs")
            || Path::new(&flagged.file).starts_with(package.directory.join("src/bin"));
        let alone = beside || of_program && !claim.test_code.contains(&crate_name);
        // Cargo tells where a program is to tests of the package alone.
        let starts_program = claim.test_code.contains("CARGO_BIN_EXE_");
        let inside = of_sources
            && !starts_program
            && (source::is_inside(&claim.test_code) || !package.has_library || alone);
        // A package that depends on the flagged one may be where the test has to be.
        let of_tests = |package: &&Package| wanted.starts_with(package.directory.join("tests"));
        let package = self.package(&wanted).filter(of_tests).filter(|_| !inside).unwrap_or(package);
        let mut source = claim.test_code.clone();
        let (path, added) = if inside {
            let beside = Path::new(&flagged.file).parent().unwrap_or(Path::new(""));
            // Every file there is a program of its own.
            let (directory, up) = match beside.ends_with("src/bin") {
                true => (beside.parent().unwrap_or(beside), "../"),
                false => (beside, ""),
            };
            let path = placement::unused(site, directory, name_of);
            let file = Path::new(&path).file_name().unwrap_or_default().to_string_lossy();
            let module = file.trim_end_matches(".rs");
            let line = format!("\n#[cfg(test)]\n#[path = \"{up}{file}\"]\nmod {module};\n");
            // For tests in a module of their own, which look for the code one level up.
            source.push_str("\n#[allow(unused_imports)]\nuse super::*;\n");
            (path, Some((flagged.file.clone(), line)))
        } else {
            (placement::unused(site, &package.directory.join("tests"), name_of), None)
        };
        Ok(Placed {
            path,
            name,
            source,
            added,
            directory: package.directory.clone(),
            flagged: flagged.clone(),
            armed: None,
        })
    }

    fn build(&self, bench: &Bench, site: &Site, placed: &Placed) -> Result<Built, Box<Trial>> {
        let (own, _) = bench.own(site, "target");
        let members: Vec<&str> =
            self.packages.iter().map(|package| package.name.as_str()).collect();
        seed::copy(&bench.caches.join(WARM), &own, &members)
            .map_err(|error| Trial::unbuilt(format!("{}: {error}", own.display())))?;
        let tried = self.build_once(bench, site, placed);
        let Err(trial) = tried else { return tried };
        let wants = matches!(trial.outcome, Outcome::BuildError | Outcome::NotRun);
        if !wants || !self.package(&placed.path).is_some_and(|package| package.has_features) {
            return Err(trial);
        }
        // What the test needs may be behind a feature.
        fs::write(own.join(ALL_FEATURES), "").ok();
        self.build_once(bench, site, placed).map_err(|_| {
            fs::remove_file(own.join(ALL_FEATURES)).ok();
            trial
        })
    }

    fn run(&self, bench: &Bench, site: &Site, placed: &Placed, built: &Built) -> Trial {
        self.trial(bench, site, placed, built, None).0
    }

    fn reach(
        &self,
        bench: &Bench,
        site: &Site,
        placed: &Placed,
        built: &Built,
        last: &Trial,
    ) -> Reach {
        self.reached(&Case { bench, site, placed, built, last })
    }

    fn control(
        &self,
        bench: &Bench,
        site: &Site,
        placed: &Placed,
        built: &Built,
        last: &Trial,
    ) -> Control {
        self.controlled(&Case { bench, site, placed, built, last })
    }
}

fn arguments(test: &str) -> [&str; 5] {
    [test, "--exact", "--test-threads=1", "-Zunstable-options", "--format=json"]
}

fn judge(bench: &Bench, ran: &Ran, events: &[Event]) -> (Outcome, String) {
    let ended = events.iter().rev().find(|event| event.event != "started");
    match ended.map(|event| event.event.as_str()) {
        Some("ok") if ran.exit == Exit::Code(0) => {
            (Outcome::Passed, "the test passes, so the defect is not there".to_owned())
        }
        Some("ok") => (Outcome::HarnessError, "the test passed, and its process failed".to_owned()),
        Some("failed") => (Outcome::Failed, "the test panicked or returned an error".to_owned()),
        Some("ignored") => (Outcome::Skipped, "the test skipped itself".to_owned()),
        _ if ran.exit == Exit::Timeout => {
            (Outcome::Timeout, format!("the test took more than {:?}", bench.test_timeout))
        }
        // Whether it was in the code is told by the marks.
        _ if !events.is_empty() && ran.crashed() => {
            (Outcome::Failed, "the process crashed while the test ran".to_owned())
        }
        _ if !events.is_empty() && matches!(ran.exit, Exit::Code(0..=127)) => {
            (Outcome::Failed, "the process was ended while the test ran".to_owned())
        }
        _ if !events.is_empty() => {
            (Outcome::HarnessError, "the test's process ended before the test did".to_owned())
        }
        _ => (Outcome::NotRun, "no test of that name ran".to_owned()),
    }
}

fn first_line(stderr: &[u8]) -> String {
    String::from_utf8_lossy(stderr).lines().next().unwrap_or("no reason given").to_owned()
}
