//! Go: `go test -c`, and then the test's program itself.
//!
//! Compiling and running are two steps, so that a program that does not compile is known by the
//! compiler's own end, the caches are out of reach of what an agent wrote, and runs after the
//! first cost nothing. The program writes the framing that `go tool test2json` reads.

mod arm;
mod control;
mod declared;
mod functions;
mod marks;
mod output;
mod source;
mod switch;

use std::{
    fs,
    hash::{BuildHasher as _, RandomState},
    path::{Path, PathBuf},
};

use probity_sandbox::Exit;
use serde::Deserialize;

use super::{
    Claim, Control, Outcome, Reach,
    capture::Ran,
    constant, placement, regard,
    runner::{Armed, Built, Flagged, Placed, Refusal, Runner, Trial},
    site::{Bench, Site, Task},
    tree::Tree,
    untrusted,
};
use output::{Blocks, Ended, Events, Frame};

const CACHE: &str = "go-build";

/// What the marks told in the last run.
const MARKS: &str = "marks";

/// The same by the tool chain, for a file that does not compile with marks.
const PROFILE: &str = "cover.out";

/// What the test's program gets on top of the test's time to say where it hangs.
const GRACE: std::time::Duration = std::time::Duration::from_secs(10);

#[derive(Debug)]
pub(super) struct Go {
    root: PathBuf,
    modules: PathBuf,
    /// Whether the compiler's errors come as JSON: from 1.24 on.
    json: bool,
    /// Of the environment, by which switches and marks are told what to do. Another in each review, so that
    /// no test can know it.
    variable: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "UPPERCASE")]
struct Environment {
    goroot: PathBuf,
    gomodcache: PathBuf,
    goversion: String,
}

impl Go {
    /// Finds the tool chain, fetches what the modules need and compiles everything once. None
    /// for a repository without Go.
    pub(super) fn prepare(
        bench: &Bench,
        site: &Site,
        tree: &Tree,
        progress: &(dyn Fn(&str) + Sync),
        notes: &mut Vec<String>,
    ) -> Option<Result<Self, String>> {
        let has = |end: &str| tree.files().iter().any(|file| file.to_string_lossy().ends_with(end));
        if !has(".go") {
            return None;
        }
        Some(Self::found(bench, site).inspect(|go| {
            let modules = tree.files().iter().filter(|file| file.ends_with("go.mod"));
            for module in modules.filter_map(|file| file.parent()) {
                progress("fetching and compiling what the Go modules need");
                notes.extend(go.warm(bench, site, module));
            }
        }))
    }

    fn found(bench: &Bench, site: &Site) -> Result<Self, String> {
        let program = bench.tool("go").ok_or("go is not installed")?;
        let mut ask = Task::new([program], "", bench.build_timeout);
        ask.argv.extend(["env", "-json", "GOROOT", "GOMODCACHE", "GOVERSION"].map(Into::into));
        let ran = bench.fetch(site, &ask)?;
        let told: Environment = serde_json::from_slice(&ran.stdout).map_err(|error| {
            format!("go env did not answer: {error} {}", String::from_utf8_lossy(&ran.stderr))
        })?;
        let (major, minor) = output::version(&told.goversion);
        if (major, minor) < (1, 20) {
            return Err(format!("{} is too old: 1.20 is the oldest that works", told.goversion));
        }
        let json = (major, minor) >= (1, 24);
        let variable = format!("SETTING_{:X}", RandomState::new().hash_one(0));
        Ok(Self { root: told.goroot, modules: told.gomodcache, json, variable })
    }

    /// Downloading runs nothing of the repository. Listing with `-export` compiles all packages
    /// and their tests and links none of them.
    fn warm(&self, bench: &Bench, site: &Site, module: &Path) -> Option<String> {
        let program = self.root.join("bin/go");
        if site.repo.join(module).join("go.sum").is_file() {
            let mut fetch = Task::new([&program], module, bench.build_timeout);
            fetch.argv.extend(["mod".into(), "download".into()]);
            if let Some(why) = trouble(bench.fetch(site, &fetch)) {
                return Some(format!("go mod download failed: {why}"));
            }
        }
        let mut list = self.task(bench, module, bench.build_timeout);
        let words = ["list", "-e", "-export", "-test", "-deps", "-f", "", "./...", "testing"];
        list.argv.extend(words.map(Into::into));
        trouble(bench.run(site, &list)).map(|why| format!("compiling ahead failed: {why}"))
    }

    /// The go command, with caches and without network.
    fn task(&self, bench: &Bench, directory: &Path, wall: std::time::Duration) -> Task {
        let mut task = Task::new([self.root.join("bin/go")], directory, wall);
        task.tools.extend([self.root.clone(), self.modules.clone()]);
        task.caches.push(CACHE);
        task.variable("GOROOT", &self.root);
        task.variable("GOCACHE", bench.seen_cache(CACHE));
        task.variable("GOMODCACHE", &self.modules);
        task.variable("GOTOOLCHAIN", "local");
        task.variable("GOPROXY", "off");
        task.variable("GOTELEMETRY", "off");
        task
    }

    /// The nearest directory with a module, up from where the test is.
    fn module(site: &Site, directory: &Path) -> Option<PathBuf> {
        let with_module = |above: &&Path| site.repo.join(above).join("go.mod").is_file();
        directory.ancestors().find(with_module).map(Path::to_owned)
    }

    /// The package to cover: the flagged file's, if it is Go, no test, and in the same module.
    fn covered(site: &Site, placed: &Placed) -> Option<String> {
        let flagged = &placed.flagged.file;
        let directory = Path::new(flagged).parent()?;
        let is_code = flagged.ends_with(".go") && !flagged.ends_with("_test.go");
        let module = Self::module(site, &placed.directory);
        let root = module.as_deref().unwrap_or(&placed.directory);
        let same = Self::module(site, directory) == module && directory.starts_with(root);
        (is_code && same).then(|| pattern(directory, root))
    }

    /// Whether nothing of the flagged package can run before the test, so that nobody has to look.
    fn is_idle(site: &Site, placed: &Placed) -> bool {
        let home = Path::new(&placed.flagged.file).parent();
        let module = Self::module(site, &placed.directory).unwrap_or_default();
        let text = untrusted::read(&site.repo, module.join("go.mod")).unwrap_or_default();
        let name = text.lines().find_map(|line| line.strip_prefix("module ")).map(str::trim);
        home == Some(&placed.directory)
            && name.is_some_and(|name| !source::begins_by_itself(site, &placed.directory, name))
    }

    /// Whether the tool chain has to measure: a test is measured once it is armed.
    fn is_covered(site: &Site, placed: &Placed, marked: bool) -> Option<String> {
        Self::covered(site, placed).filter(|_| placed.armed.is_some() && !marked)
    }

    fn compile(
        &self,
        bench: &Bench,
        site: &Site,
        placed: &Placed,
        marked: bool,
    ) -> Result<Ran, String> {
        let module = Self::module(site, &placed.directory);
        let root = module.clone().unwrap_or_else(|| placed.directory.clone());
        let mut task = self.task(bench, &root, bench.build_timeout);
        if module.is_none() {
            task.variable("GO111MODULE", "off");
        }
        task.argv.extend(["test", "-c", "-vet=off"].map(Into::into));
        if self.json {
            task.argv.push("-json".into());
        }
        task.argv.extend(["-o".into(), site.seen_out.join("proof.test").into()]);
        // As `go test` itself does with a program that it does not keep: what debuggers read takes a
        // third of the time, and traces do without it.
        if !bench.variable("GOFLAGS").is_some_and(|it| it.to_string_lossy().contains("ldflags")) {
            task.argv.push("-ldflags=-s -w".into());
        }
        let flagged = untrusted::read(&site.repo, &placed.flagged.file).unwrap_or_default();
        let tags = [source::tags(&placed.source), source::tags(&flagged)].concat();
        if !tags.is_empty() {
            task.argv.push(format!("-tags={}", tags.join(",")).into());
        }
        if let Some(package) = Self::is_covered(site, placed, marked) {
            task.argv.extend(["-covermode=atomic".into(), format!("-coverpkg={package}").into()]);
        }
        task.argv.push(pattern(&placed.directory, &root).into());
        bench.run(site, &task)
    }

    /// Runs the test's program with this filter. Whether anything is altered does not show but by
    /// the numbers of the plan.
    fn execute(
        &self,
        bench: &Bench,
        site: &Site,
        placed: &Placed,
        built: &Built,
        filter: &str,
        plan: Option<&str>,
    ) -> Result<Ran, String> {
        for left in [MARKS, PROFILE] {
            fs::remove_file(site.out.join(left)).ok();
        }
        let wall = bench.test_timeout + GRACE;
        let program = site.seen_out.join("proof.test");
        let mut task = Task::new([program], &placed.directory, wall);
        task.tools.extend([self.root.clone(), self.modules.clone()]);
        task.variable("GOROOT", &self.root);
        let seconds = bench.test_timeout.as_secs_f64();
        task.argv.extend(["-test.v=test2json".into(), "-test.paniconexit0".into()]);
        task.argv.extend([format!("-test.run={filter}").into(), "-test.count=1".into()]);
        task.argv.push(format!("-test.timeout={seconds}s").into());
        if built.armed {
            let marks = site.seen_out.join(MARKS);
            let plan = plan.unwrap_or("0\u{1f}0\u{1f}");
            task.variable(&self.variable, format!("{}\u{1f}{plan}", marks.display()));
        }
        if Self::is_covered(site, placed, is_marked(placed, built)).is_some() {
            // Silences the warning of a program that ends itself.
            task.variable("GOCOVERDIR", site.seen_out.join("tmp"));
            let mut argument = std::ffi::OsString::from("-test.coverprofile=");
            argument.push(site.seen_out.join(PROFILE));
            task.argv.push(argument);
        }
        bench.run(site, &task)
    }

    /// One run of the test, with or without something altered.
    fn trial(
        &self,
        bench: &Bench,
        site: &Site,
        placed: &Placed,
        built: &Built,
        plan: Option<&str>,
    ) -> Trial {
        let filter = format!("^{}$", placed.name);
        let ran = match self.execute(bench, site, placed, built, &filter, plan) {
            Ok(ran) => ran,
            Err(why) => return Trial::harness(why),
        };
        let events = Events::parse(&ran.stdout, &placed.name);
        let text = [&ran.stdout[..], &ran.stderr].concat();
        // A test can write what looks like a stack; a program that ends as tests do has not crashed.
        let crashed = ran.exit == Exit::Code(2) || ran.crashed();
        let frames = if crashed { output::frames(&ran.stderr) } else { Vec::new() };
        let (outcome, why) = judge(bench, &ran, &events, &frames);
        let mut trial = Trial::new(outcome, why).of(bench, site, &ran, &text);
        trial.constant = output::failed_at(&ran.stdout, &placed.path)
            .and_then(|line| constant::statement(&placed.source, line, Some(&placed.name)));
        trial.mark = output::mark(&ran, &placed.path, &placed.source);
        let own = |frame: &&Frame| Path::new(&frame.file).starts_with(&site.seen_repo);
        trial.of_code = frames.iter().find(own).is_some_and(|it| !it.file.ends_with("_test.go"));
        let test = site.seen_repo.join(&placed.path);
        trial.own = output::own_panic(&frames, &site.seen_repo, &test, &placed.source);
        let file = site.seen_repo.join(&placed.flagged.file);
        trial.reach = output::on_stack(&frames, &file, &placed.flagged);
        trial.crashed = !frames.is_empty();
        trial
    }
}

impl Runner for Go {
    fn name(&self) -> &'static str {
        "go"
    }

    fn place(&self, site: &Site, claim: &Claim, flagged: &Flagged) -> Result<Placed, Refusal> {
        let is_test = |name: &str| name.ends_with("_test.go");
        let directory = placement::directory(site, claim, flagged, is_test)?;
        let id = placement::plain(&claim.id);
        // A name that ends in an operating system's name would be left out on the others.
        let name = |number: &str| format!("zz_probity_{id}{number}p_test.go");
        let path = placement::unused(site, &directory, name);
        let existing = source::Package::read(&site.repo.join(&directory));
        let wanted = claim.test_name.as_deref();
        let test =
            source::prepare(&claim.test_code, wanted, &existing, &id).map_err(Refusal::not_run)?;
        Ok(Placed {
            path,
            name: test.name,
            source: test.source,
            added: None,
            directory,
            flagged: flagged.clone(),
            armed: None,
        })
    }

    fn arm(&self, site: &Site, placed: &Placed) -> Option<Armed> {
        Some(arm::arm(site, placed, &self.variable))
    }

    fn build(&self, bench: &Bench, site: &Site, placed: &Placed) -> Result<Built, Box<Trial>> {
        let mut built = Built { armed: placed.armed.is_some(), ..Built::default() };
        let marked = is_marked(placed, &built);
        let mut ran = self.compile(bench, site, placed, marked).map_err(Trial::unbuilt)?;
        if let (Some(armed), Exit::Code(1..)) = (&placed.armed, ran.exit) {
            // It may be the switches or the marks that do not compile.
            built.armed = false;
            armed.disarm(site).map_err(Trial::unbuilt)?;
            ran = self.compile(bench, site, placed, false).map_err(Trial::unbuilt)?;
        }
        let text = output::compiler(&ran);
        let trial =
            |outcome, why: &str| Box::new(Trial::new(outcome, why).of(bench, site, &ran, &text));
        match ran.exit {
            Exit::Code(0) if site.out.join("proof.test").is_file() => Ok(built),
            Exit::Code(0) => Err(trial(Outcome::NotRun, "the test's file was not compiled")),
            Exit::Timeout => Err(trial(Outcome::HarnessError, "compiling took too long")),
            Exit::Code(_) => {
                // A control: is it the test at all?
                fs::remove_file(site.repo.join(&placed.path)).ok();
                let without = self.compile(bench, site, placed, true);
                let sound = without.is_ok_and(|ran| ran.exit == Exit::Code(0));
                Err(if sound {
                    trial(Outcome::BuildError, "the test could not compile")
                } else {
                    let why = "the test could not compile, and neither does the package without it";
                    trial(Outcome::BuildError, why)
                })
            }
            _ => Err(trial(Outcome::HarnessError, "the compiler was killed")),
        }
    }

    fn run(&self, bench: &Bench, site: &Site, placed: &Placed, built: &Built) -> Trial {
        self.trial(bench, site, placed, built, None)
    }

    fn control(
        &self,
        bench: &Bench,
        site: &Site,
        placed: &Placed,
        built: &Built,
        last: &Trial,
    ) -> Control {
        self.alter(bench, site, placed, built, last)
    }

    fn reach(
        &self,
        bench: &Bench,
        site: &Site,
        placed: &Placed,
        built: &Built,
        last: &Trial,
    ) -> Reach {
        let flagged = &placed.flagged;
        if let Some(reach) = &last.reach {
            return reach.clone();
        }
        if Self::covered(site, placed).is_none() {
            return Reach::Unmeasured("it is no Go file of the test's own module".to_owned());
        }
        let Some(blocks) = told(site, placed, built) else {
            let why = "a test that panics leaves no coverage behind";
            return Reach::Unmeasured(why.to_owned());
        };
        let mut reach = blocks.beyond(&Blocks::default(), flagged);
        // A control: what runs before any test says nothing about this one.
        if reach != Reach::NotReached && !Self::is_idle(site, placed) {
            let idle = self.execute(bench, site, placed, built, "^$", None);
            let idle = idle.ok().and_then(|_| told(site, placed, built));
            reach = blocks.beyond(&idle.unwrap_or_default(), flagged);
        }
        if reach == Reach::NotReached && looks_at_declared(site, placed, last) {
            return Reach::Unmeasured("nobody runs what is only declared".to_owned());
        }
        reach
    }
}

fn judge(bench: &Bench, ran: &Ran, events: &Events, frames: &[Frame]) -> (Outcome, String) {
    let late = ran.exit == Exit::Timeout || ran.duration >= bench.test_timeout;
    let ended_itself = frames.iter().any(|frame| frame.function == "os.Exit");
    match (events.began, events.ended) {
        (_, Some(_)) if ended_itself => {
            (Outcome::HarnessError, "the test ended its own process".to_owned())
        }
        (_, Some(Ended::Failed)) => (Outcome::Failed, "the test reported a failure".to_owned()),
        (_, Some(Ended::Skipped)) => (Outcome::Skipped, "the test skipped itself".to_owned()),
        (_, Some(Ended::Passed)) if ran.exit == Exit::Code(0) => {
            (Outcome::Passed, "the test passes, so the defect is not there".to_owned())
        }
        (_, Some(Ended::Passed)) => {
            (Outcome::HarnessError, "the test passed, and its process failed".to_owned())
        }
        (_, None) if late => {
            (Outcome::Timeout, format!("the test took more than {:?}", bench.test_timeout))
        }
        (true, None) if !frames.is_empty() && !ended_itself => {
            (Outcome::Failed, "the process crashed while the test ran".to_owned())
        }
        (true, None) => {
            (Outcome::HarnessError, "the test's process ended before the test did".to_owned())
        }
        (false, None) if ran.exit == Exit::Code(0) => {
            (Outcome::NotRun, "no test of that name ran".to_owned())
        }
        (false, None) => {
            (Outcome::HarnessError, "the test's process failed before the test began".to_owned())
        }
    }
}

/// Whether the test fails by what the flagged lines declare outside of functions.
fn looks_at_declared(site: &Site, placed: &Placed, last: &Trial) -> bool {
    let file = &placed.flagged.file;
    let armed = placed.armed.as_ref().and_then(|armed| armed.original(file));
    let source = match armed {
        Some(source) => source.to_owned(),
        None => untrusted::read(&site.repo, file).unwrap_or_default(),
    };
    let bare = constant::without_text(&source);
    let names = declared::declared(&bare, &placed.flagged);
    let lines = last.mark.complaints.iter().flat_map(|(lines, _)| lines.iter().copied());
    !names.is_empty() && regard::looks_at(&placed.source, &lines.collect(), &names, false)
}

fn is_marked(placed: &Placed, built: &Built) -> bool {
    built.armed && placed.armed.as_ref().is_some_and(|armed| !armed.marks.is_empty())
}

/// What the last run has told of the code that it ran. A mark that nobody has reached tells nothing.
fn told(site: &Site, placed: &Placed, built: &Built) -> Option<Blocks> {
    match &placed.armed {
        Some(armed) if is_marked(placed, built) => {
            let told = untrusted::read(&site.out, MARKS).unwrap_or_default();
            Some(Blocks::marked(&placed.flagged.file, &armed.marks, &told))
        }
        _ => untrusted::read(&site.out, PROFILE).ok().map(|text| Blocks::parse(&text)),
    }
}

fn pattern(directory: &Path, module: &Path) -> String {
    match directory.strip_prefix(module) {
        Ok(rest) if !rest.as_os_str().is_empty() => format!("./{}", rest.display()),
        _ => ".".to_owned(),
    }
}

fn trouble(ran: Result<Ran, String>) -> Option<String> {
    match ran {
        Ok(ran) if ran.exit == Exit::Code(0) => None,
        Ok(ran) => {
            let told = String::from_utf8_lossy(&ran.stderr);
            Some(told.lines().next().unwrap_or("no reason given").to_owned())
        }
        Err(why) => Some(why),
    }
}
