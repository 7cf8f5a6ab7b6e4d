//! Rust: `cargo test --no-run`, and then the test's program itself.
//!
//! Each copy has a target directory of its own: with a shared one cargo takes the program of
//! another copy for this one's. What is copied into it from a warm one are the dependencies.

mod package;
mod seed;
mod source;
mod store;
mod suite;

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use probity_scope::HeldDirectory;

use self::{
    package::Package,
    source::Program,
    store::{Skeleton, Warm},
};
use super::{
    Built, Existing, Groups, Missing, Placed, Runner, Suite, Trial, Trouble, Unavailable,
    asked::Asked,
    capture::Ran,
    context::{Access, Site, Task},
    failed_build, placement, succeeded,
};
use crate::{
    Claim, Outcome, Refusal, RunDetail,
    claim::FlaggedLines,
    host::{self, HostTools},
    mounts,
    places::read_text,
    text::clean,
    workshop::Preparation,
};

/// The target directory of one version of the code, below what was built of it.
const TARGET: &str = "target";

/// What the program gets on top of the test's time to start.
const GRACE: Duration = Duration::from_secs(5);

/// Workspaces of one repository that are looked at.
const MOST_WORKSPACES: usize = 20;

#[derive(Debug)]
pub(super) struct Rust {
    sysroot: PathBuf,
    /// What the compiler says of itself.
    version: String,
    /// The user's own home of cargo, of which tests see nothing.
    home: PathBuf,
    packages: Vec<Package>,
    /// What was fetched and compiled ahead, by workspace.
    warm: Vec<Warm>,
    /// Lock files that cargo has made, since the repository has none: without them it would make them
    /// in every copy, of which none could serve again.
    locks: Vec<(PathBuf, String)>,
    /// By file and name of a claim's test: the target that it is in, and its whole name there.
    tests: Mutex<BTreeMap<(String, String), (String, String)>>,
}

/// Which features of a package its tests are compiled with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Features {
    Usual,
    All,
}

/// The tool chain that the repository asks rustup for. Only a name counts: a path in that file would be
/// a compiler of the repository's own, on the host.
fn channel(files: &HeldDirectory) -> Option<String> {
    let read = |name: &str| read_text(files, name).ok();
    let text = read("rust-toolchain.toml").or_else(|| read("rust-toolchain"))?;
    let line = |text: &str| {
        let (key, value) = text.split_once('=')?;
        (key.trim() == "channel").then(|| value.trim().trim_matches(['"', '\'']).to_owned())
    };
    let is_name = |name: &String| {
        name.chars().all(|letter| letter.is_ascii_alphanumeric() || "-._".contains(letter))
    };
    let only = || (text.lines().count() == 1).then(|| text.trim().to_owned());
    text.lines().find_map(line).or_else(only).filter(is_name)
}

/// Asks the compiler of the machine where it is.
pub(super) fn sysroot(host: &HostTools<'_>, files: &HeldDirectory) -> Result<PathBuf, Unavailable> {
    let rustc = host.context.tool("rustc").ok_or(Unavailable::NotInstalled("Rust"))?;
    let channel = channel(files);
    let variables: Vec<(&str, &str)> =
        channel.iter().map(|channel| ("RUSTUP_TOOLCHAIN", channel.as_str())).collect();
    let ran = host.ask(&rustc, &["--print", "sysroot"], &variables)?;
    let sysroot = PathBuf::from(String::from_utf8_lossy(&ran.stdout).trim());
    if !host::is_file(&sysroot.join("bin/cargo")) {
        return Err(Unavailable::NotInstalled("cargo"));
    }
    Ok(sysroot)
}

impl Rust {
    /// Lists the packages, fetches what the workspaces need and compiles it once.
    pub(super) fn prepare(
        preparation: &mut Preparation<'_>,
    ) -> Result<Box<dyn Runner>, Unavailable> {
        let sysroot = preparation.asked.rust.clone().unwrap_or_else(|| Err(Asked::not_asked()))?;
        let site = preparation.site;
        let context = site.context;
        let home = context.variable("CARGO_HOME").map(PathBuf::from);
        let usual = || context.variable("HOME").map(|home| Path::new(home).join(".cargo"));
        let home = home.or_else(usual).unwrap_or_default();
        let (packages, warm, locks) = (Vec::new(), Vec::new(), Vec::new());
        let (version, tests) = (String::new(), Mutex::default());
        let mut rust = Self { sysroot, version, home, packages, warm, locks, tests };
        rust.version = rust.ask_version(site)?;
        for directory in
            preparation.directories_with("Cargo.toml").into_iter().take(MOST_WORKSPACES)
        {
            if !rust.packages.iter().any(|package| package.directory == directory) {
                (preparation.progress)("fetching and compiling what the Rust packages need");
                let warm = rust.prepare_workspace(preparation, directory);
                preparation.check_warm("Rust", warm);
            }
        }
        Ok(Box::new(rust))
    }

    fn ask_version(&self, site: &Site<'_>) -> Result<String, Trouble> {
        let limit = site.context.build_timeout;
        let mut ask = Task::new([self.sysroot.join("bin/rustc")], "", Access::Runs, limit);
        self.surround(site, &mut ask);
        ask.arguments(["-vV"]);
        let told = succeeded(site.run(&ask))?;
        Ok(String::from_utf8_lossy(&told.stdout).into_owned())
    }

    fn prepare_workspace(
        &mut self,
        preparation: &Preparation<'_>,
        directory: &Path,
    ) -> Result<(), Trouble> {
        let site = preparation.site;
        let mut ask = self.task(site, directory);
        ask.arguments(["metadata", "--no-deps", "--format-version=1"]);
        let told = succeeded(site.run(&ask))?;
        let listed = package::listed(&told.stdout, &site.seen_repo).unwrap_or_default();
        let (packages, targets) = listed;
        let workspace = packages.first().map(|package| package.workspace.clone());
        let workspace = workspace.unwrap_or_else(|| directory.to_owned());
        self.packages.extend(packages);
        let skeleton = Skeleton::of(preparation, &workspace, &targets)?;
        let manifests = preparation.directories_with("Cargo.toml").into_iter();
        let manifests =
            manifests.map(|at| preparation.files.read_text(at.join("Cargo.toml"), 1 << 20));
        let locked = read_text(preparation.files, workspace.join("Cargo.lock"));
        let texts: Vec<String> = manifests.chain([locked]).filter_map(Result::ok).collect();
        if let Some(source) = store::local_source(&texts) {
            let why = format!("{source} is a source on this machine, which is not fetched");
            return Err(Trouble::Machine(why));
        }
        if skeleton.has_settings && self.is_vendored(site, &workspace) {
            let target = self.warm_alone(site, &workspace).ok();
            self.warm.push(Warm { directory: workspace, home: None, target });
            return Ok(());
        }
        let has_lock = preparation.files.is_file(workspace.join("Cargo.lock"));
        let lock = self.lock(site, &skeleton)?;
        if !has_lock {
            self.locks.push((workspace.join("Cargo.lock"), lock.clone()));
        }
        let fetched = match self.warm(site, &skeleton, &lock) {
            Err(trouble) if has_lock => {
                // Manifests may have changed since the lock file was written, as in a test by hand.
                let renewed = self.lock_again(site, &skeleton, &lock).ok_or(trouble)?;
                let fetched = self.warm(site, &skeleton, &renewed)?;
                self.locks.push((workspace.join("Cargo.lock"), renewed));
                fetched
            }
            fetched => fetched?,
        };
        self.warm.push(fetched);
        let is_compiled = self.warm.last().is_some_and(|warm| warm.target.is_some());
        if !is_compiled {
            let target = self.warm_alone(site, &workspace)?;
            if let Some(warm) = self.warm.last_mut() {
                warm.target = Some(target);
            }
        }
        Ok(())
    }

    /// Cargo, offline, with the target directory of the site.
    fn task(&self, site: &Site<'_>, directory: &Path) -> Task {
        let cargo = self.sysroot.join("bin/cargo");
        let limit = site.context.build_timeout;
        let mut task = Task::new([cargo], directory, Access::Compiles, limit);
        self.surround(site, &mut task);
        self.compile_variables(&mut task, &site.seen_build.join(TARGET));
        task.variable("CARGO_NET_OFFLINE", "true");
        task
    }

    fn compile_variables(&self, task: &mut Task, target: &Path) {
        task.variable("CARGO_TARGET_DIR", target);
        task.variable("CARGO_INCREMENTAL", "0");
        task.variable("CARGO_TERM_COLOR", "never");
        // What a package denies is meant for its own code, not for tests and altered functions.
        // Where flags are set by the package they stay.
        task.variable("CARGO_BUILD_RUSTFLAGS", "--cap-lints=warn");
    }

    /// The compiler, and the home of the workspace in which a task works.
    fn surround(&self, site: &Site<'_>, task: &mut Task) {
        task.tools.push(self.sysroot.clone());
        let fitting = self.warm.iter().filter(|warm| task.directory.starts_with(&warm.directory));
        let warm = fitting.max_by_key(|warm| warm.directory.components().count());
        let mounted = warm.and_then(|warm| {
            let home = warm.home.as_ref()?;
            let seen = site.context.seen(store::HOME, home);
            Some((home.read_only(&mounts::CARGO_HOME, &seen).ok()?, seen))
        });
        if let Some((mount, seen)) = mounted {
            task.mounts.push(mount);
            task.variable("CARGO_HOME", seen);
        } else {
            task.variable("CARGO_HOME", site.seen_scratch.join(store::HOME));
        }
        task.variable("RUSTC", self.sysroot.join("bin/rustc"));
        task.variable("RUSTDOC", self.sysroot.join("bin/rustdoc"));
        let library = self.sysroot.join("lib");
        task.variable("LD_LIBRARY_PATH", library);
    }

    fn package(&self, file: impl AsRef<Path>) -> Option<&Package> {
        let of = |package: &&Package| file.as_ref().starts_with(&package.directory);
        self.packages.iter().filter(of).max_by_key(|package| package.directory.components().count())
    }

    /// Begins a version's target directory, once, with the compiled dependencies.
    fn seed(&self, site: &Site<'_>) -> Result<(), Trouble> {
        let failed = |error| Trouble::at(Path::new(TARGET), &error);
        if site.build.held.is_directory(TARGET) {
            return Ok(());
        }
        let members: Vec<&str> =
            self.packages.iter().map(|package| package.name.as_str()).collect();
        let own = site.build.held.ensure(TARGET).map_err(failed)?;
        for target in self.warm.iter().filter_map(|warm| warm.target.as_ref()) {
            seed::copy(&target.held, &own, &members).map_err(failed)?;
        }
        Ok(())
    }

    /// Compiles tests of a package, and gives the programs that came of it.
    fn compile<Word: Into<OsString>>(
        &self,
        site: &Site<'_>,
        package: &Package,
        features: Features,
        targets: impl IntoIterator<Item = Word>,
    ) -> Result<Vec<Program>, Box<Trial>> {
        let mut task = self.task(site, &package.workspace);
        task.arguments(["test", "--no-run", "--message-format=json", "--package", &package.name]);
        if features == Features::All {
            task.arguments(["--all-features"]);
        }
        task.arguments(targets);
        let of_workspace = |lock: &Path| lock.parent() == Some(&package.workspace);
        for (lock, text) in self.locks.iter().filter(|(lock, _)| of_workspace(lock)) {
            let written = site.copy.write(&placement::slashes(lock), text);
            written.map_err(|error| Trouble::at(lock, &error))?;
        }
        let ran = site.run(&task)?;
        match failed_build(ran.exit) {
            Some(detail) => {
                Err(Box::new(Trial::new(detail).of(site, &ran, &source::compiler(&ran))))
            }
            None => Ok(source::programs(&ran.stdout)),
        }
    }

    /// Compiles, and finds the program with the test.
    fn build_once(
        &self,
        site: &Site<'_>,
        placed: &Placed,
        features: Features,
    ) -> Result<Built, Box<Trial>> {
        let none = || Trouble::Machine(format!("{} belongs to no package", placed.path));
        let package = self.package(&placed.path).ok_or_else(none)?;
        let stem = Path::new(&placed.path).file_stem().unwrap_or_default().to_string_lossy();
        let targets = match placed.added {
            Some(_) => {
                let kinds = [(package.has_library, "--lib"), (package.has_programs, "--bins")];
                kinds.into_iter().filter(|(has, _)| *has).map(|(_, word)| word).collect()
            }
            None => vec!["--test", &*stem],
        };
        let programs = self.compile(site, package, features, targets)?;
        let module = if placed.added.is_some() { Some(stem.as_ref()) } else { None };
        // Every version of the code has the test in the same place, so one of them is asked.
        let tests = || self.tests.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (placed.path.clone(), placed.name.clone());
        let known = tests().get(&key).cloned();
        if let Some((target, test)) = known {
            // A library and a program may have the same name.
            let mut fitting = programs.iter().filter(|program| program.target == target);
            if let (Some(program), None) = (fitting.next(), fitting.next()) {
                return Ok(Built { program: program.path.clone(), test });
            }
        }
        for program in programs {
            let list = ["--list", "--format=terse"].map(str::to_owned);
            let directory = &placed.directory;
            let limit = site.context.test_timeout;
            let listed = self.execute(site, directory, &program.path, &list, limit)?;
            if let Some(test) = source::listed(&listed.stdout, module, &placed.name) {
                tests().insert(key, (program.target, test.clone()));
                return Ok(Built { program: program.path, test });
            }
        }
        Err(Box::new(Trial::new(RunDetail::NoSuchTest)))
    }

    /// Runs one of the programs, which can no longer write what was compiled.
    fn execute(
        &self,
        site: &Site<'_>,
        directory: &Path,
        program: &Path,
        arguments: &[String],
        limit: Duration,
    ) -> Result<Ran, Trouble> {
        let mut task = Task::new([program], directory, Access::Runs, limit + GRACE);
        task.arguments(arguments);
        self.surround(site, &mut task);
        task.variable("CARGO_MANIFEST_DIR", site.seen_repo.join(directory));
        task.variable("RUST_BACKTRACE", "0");
        // Opens the format for machines on stable tool chains.
        task.variable("RUSTC_BOOTSTRAP", "1");
        site.run(&task)
    }
}

impl Runner for Rust {
    fn name(&self) -> &'static str {
        "rust"
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
        let is_test = |name: &str| name.ends_with(".rs") && name != "build.rs";
        // Cargo knows two places for tests, and no others.
        let wanted = placement::directory(repo, claim, flagged, is_test)?;
        let package =
            self.package(&flagged.file).ok_or_else(|| Refusal::NoPackage(flagged.file.clone()))?;
        let name = source::test_name(&claim.test_code, claim.test_name.as_deref())?;
        let id = placement::plain(&claim.id).to_lowercase();
        let name_of = |number: &str| format!("zz_probity_{id}{number}.rs");
        let own = Path::new(&flagged.file).strip_prefix(&package.directory).ok();
        let first = own.and_then(|path| path.iter().next()).unwrap_or_default();
        let of_sources =
            !["tests", "examples", "benches", "build.rs"].iter().any(|other| first == *other);
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
        let other = if inside { None } else { self.package(&wanted).filter(of_tests) };
        let package = other.unwrap_or(package);
        let mut source = claim.test_code.clone();
        let (path, added) = if inside {
            let beside = Path::new(&flagged.file).parent().unwrap_or(Path::new(""));
            // Every file there is a program of its own.
            let (directory, up) = if beside.ends_with("src/bin") {
                (beside.parent().unwrap_or(beside), "../")
            } else {
                (beside, "")
            };
            let path = placement::unused(repo, directory, name_of);
            let file = Path::new(&path).file_name().unwrap_or_default().to_string_lossy();
            let module = file.trim_end_matches(".rs");
            let line = format!("\n#[cfg(test)]\n#[path = \"{up}{file}\"]\nmod {module};\n");
            // For tests in a module of their own, which look for the code one level up.
            source.push_str("\n#[allow(unused_imports)]\nuse super::*;\n");
            (path, Some((flagged.file.clone(), line)))
        } else {
            (placement::unused(repo, &package.directory.join("tests"), name_of), None)
        };
        Ok(Placed {
            path,
            name,
            source,
            added,
            directory: package.directory.clone(),
            flagged: flagged.clone(),
        })
    }

    fn build(&self, site: &Site<'_>, placed: &Placed) -> Result<Built, Box<Trial>> {
        self.seed(site)?;
        let tried = self.build_once(site, placed, Features::Usual);
        let Err(trial) = tried else { return tried };
        let wants = matches!(trial.outcome, Outcome::BuildError | Outcome::NotRun);
        if !wants || !self.package(&placed.path).is_some_and(|package| package.has_features) {
            return Err(trial);
        }
        // What the test needs may be behind a feature.
        self.build_once(site, placed, Features::All).map_err(|_| trial)
    }

    fn run(&self, site: &Site<'_>, placed: &Placed, built: &Built) -> Result<Trial, Trouble> {
        let arguments = arguments(std::slice::from_ref(&built.test));
        let limit = site.context.test_timeout;
        let ran = self.execute(site, &placed.directory, &built.program, &arguments, limit)?;
        let (report, told) = source::report(&ran);
        let mut trial = Trial::told(site, &ran, &report, |test| test.name == built.test);
        if !told.is_empty() {
            trial.output = site.relative(&clean(told.as_bytes(), site.context.output_cap));
        }
        Ok(trial)
    }

    fn groups(&self, _: &Site<'_>, wanted: Existing<'_>) -> Result<Groups, Trouble> {
        Ok(suite::groups(self, wanted))
    }

    fn run_group(
        &self,
        site: &Site<'_>,
        directory: &Path,
        tests: &BTreeSet<String>,
        limit: Duration,
    ) -> Result<Suite, Box<Trial>> {
        suite::run(self, site, directory, tests, limit)
    }

    fn missing(&self, output: &str) -> Option<Missing> {
        const SIGNS: [&str; 6] = [
            "no matching package named `",
            "failed to get `",
            "failed to download `",
            "failed to load source for dependency `",
            "failed to select a version for the requirement `",
            "unable to get packages from source",
        ];
        let (at, sign) = SIGNS.iter().find_map(|sign| Some((output.find(sign)?, sign)))?;
        let rest = output.get(at + sign.len()..)?;
        let named = rest.split(['`', ' ', '\n']).next().filter(|name| !name.is_empty());
        let package = named.map_or_else(String::new, |name| format!(" `{name}`"));
        Some(Missing {
            name: named.unwrap_or_default().to_owned(),
            what: format!("the Rust package{package} could not be fetched"),
            help: "run `cargo fetch`".to_owned(),
        })
    }

    fn empty_test(&self, _: &HeldDirectory, placed: &Placed) -> Option<Placed> {
        let name = "probity_starts".to_owned();
        let source = format!("#[test]\nfn {name}() {{}}\n");
        Some(Placed { name, source, ..placed.clone() })
    }
}

/// Runs these tests, or all if there are none.
fn arguments(tests: &[String]) -> Vec<String> {
    let exact = if tests.is_empty() { None } else { Some("--exact") };
    let words = ["--test-threads=1", "-Zunstable-options", "--format=json", "--report-time"];
    tests.iter().cloned().chain(exact.into_iter().chain(words).map(str::to_owned)).collect()
}
