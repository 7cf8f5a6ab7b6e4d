//! JavaScript and TypeScript: `node --test`, vitest or jest, as the repository has it.
//!
//! Each is told to use a reporter of ours, and all three reporters write the same lines. What
//! code was run is what V8 itself has counted.

mod coverage;
mod modules;
mod switch;

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use probity_sandbox::Exit;
use serde::Deserialize;

use super::{
    Claim, Control, Outcome, Reach,
    alter::{self, Literals, Watch},
    capture::Ran,
    constant, placement,
    runner::{Built, Flagged, Placed, Refusal, Runner, Trial},
    site::{Bench, Site, Task},
    tree::Tree,
};
use coverage::Functions;
use modules::Modules;
use switch::Calls;

pub(super) const ENDINGS: &[&str] = &["js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx"];

const KIT: [(&str, &str); 4] = [
    ("probity_start.mjs", include_str!("javascript/probity_start.mjs")),
    ("probity_node.mjs", include_str!("javascript/probity_node.mjs")),
    ("probity_vitest.mjs", include_str!("javascript/probity_vitest.mjs")),
    ("probity_jest.cjs", include_str!("javascript/probity_jest.cjs")),
];

/// What a framework gets on top of the test's time to start.
const GRACE: Duration = Duration::from_secs(15);

/// Raised in the test's own lines, these are the test's own mistakes.
const OWN_MISTAKES: [&str; 3] = ["ReferenceError", "SyntaxError", "TypeError"];

/// What is tried with a framework that takes a second to start.
const RUNS_OF_SLOW: usize = 14;

/// A filter that matches no test.
const NOTHING: &str = "^probity: no test has this name$";

#[derive(Debug)]
pub(super) struct JavaScript {
    node: PathBuf,
    modules: Modules,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Framework {
    Node,
    Vitest,
    Jest,
}

impl JavaScript {
    /// Finds node and the installed packages. None for a repository without JavaScript.
    pub(super) fn prepare(
        bench: &Bench,
        repo: &Path,
        tree: &Tree,
        progress: &(dyn Fn(&str) + Sync),
    ) -> Option<Result<Self, String>> {
        let is_code = |file: &PathBuf| {
            file.extension().is_some_and(|ending| ENDINGS.iter().any(|known| ending == *known))
        };
        if !tree.files().iter().any(is_code) {
            return None;
        }
        progress("looking for node and the installed packages");
        Some(Self::found(bench, repo, tree))
    }

    fn found(bench: &Bench, repo: &Path, tree: &Tree) -> Result<Self, String> {
        let node = bench.tool("node").ok_or("node is not installed")?;
        let node = fs::canonicalize(node).map_err(|error| error.to_string())?;
        for (name, text) in KIT {
            fs::write(bench.kit.join(name), text).map_err(|error| format!("{name}: {error}"))?;
        }
        Ok(Self { node, modules: Modules::find(bench, repo, tree)? })
    }

    fn session(
        &self,
        bench: &Bench,
        site: &Site,
        placed: &Placed,
        filter: Option<&str>,
    ) -> Result<(Ran, Vec<Event>), String> {
        let (report, profiles) = (site.out.join("report.jsonl"), site.out.join("v8"));
        fs::write(&report, "").map_err(|error| error.to_string())?;
        fs::remove_dir_all(&profiles).ok();
        let mut task = Task::new([&self.node], &placed.directory, bench.test_timeout + GRACE);
        let home = self.node.parent().and_then(Path::parent);
        task.tools.extend(home.map(Path::to_owned));
        task.mounts = self.modules.mounts(site);
        let kit = bench.seen_kit();
        let milliseconds = bench.test_timeout.as_millis();
        let file = site.seen_repo.join(&placed.path);
        let framework = framework(&site.repo, &placed.directory);
        let mut say = |word: String| task.argv.push(word.into());
        match framework {
            Framework::Node => {
                say(format!("--import={}", kit.join("probity_start.mjs").display()));
                say(format!("--test-reporter={}", kit.join("probity_node.mjs").display()));
                say("--test-reporter-destination=stdout".to_owned());
                if let Some(filter) = filter {
                    say(format!("--test-name-pattern={filter}"));
                }
                if placed.path.ends_with("ts") || placed.path.ends_with("tsx") {
                    if self.modules.has(&placed.directory, "tsx") {
                        say("--import=tsx".to_owned());
                    } else {
                        say("--experimental-strip-types".to_owned());
                    }
                }
            }
            Framework::Vitest => {
                say(self.script(site, &placed.directory, "vitest", "vitest.mjs")?);
                say("run".to_owned());
                // Only of threads does V8 write the coverage before they are ended.
                say("--pool=threads".to_owned());
                say("--coverage.enabled=false".to_owned());
                say(format!("--testTimeout={milliseconds}"));
                say(format!("--reporter={}", kit.join("probity_vitest.mjs").display()));
                if let Some(filter) = filter {
                    say(format!("--testNamePattern={filter}"));
                }
            }
            Framework::Jest => {
                say(self.script(site, &placed.directory, "jest", "bin/jest.js")?);
                for word in ["--ci", "--runInBand", "--watchman=false", "--coverage=false"] {
                    say(word.to_owned());
                }
                say(format!("--cacheDirectory={}", site.seen_out.join("jest").display()));
                say(format!("--testTimeout={milliseconds}"));
                say(format!("--reporters={}", kit.join("probity_jest.cjs").display()));
                if let Some(filter) = filter {
                    say(format!("--testNamePattern={filter}"));
                }
                say("--runTestsByPath".to_owned());
            }
        }
        task.argv.push(file.into());
        task.variable("PROBITY_REPORT", site.seen_out.join("report.jsonl"));
        task.variable("NODE_V8_COVERAGE", site.seen_out.join("v8"));
        let ran = bench.run(site, &task)?;
        let text = fs::read_to_string(&report).unwrap_or_default();
        let events = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        Ok((ran, events))
    }

    /// One run of the test, and what it expected, as JSON.
    fn trial(&self, bench: &Bench, site: &Site, placed: &Placed) -> (Trial, Option<String>) {
        let filter = filter(&placed.name);
        let (ran, events) = match self.session(bench, site, placed, filter.as_deref()) {
            Ok(session) => session,
            Err(why) => return (Trial::harness(why), None),
        };
        let file = site.seen_repo.join(&placed.path).display().to_string();
        let (outcome, why) = judge(bench, &ran, &events, &placed.name, &file);
        let text = [&ran.stdout[..], &ran.stderr].concat();
        let mut trial = Trial::new(outcome, why).of(bench, site, &ran, &text);
        let mut expected = None;
        if let Some(test) = find(&events, &placed.name) {
            let Error { name, stack, .. } = &test.error;
            let frames = frames(stack);
            let own: Vec<u32> =
                frames.iter().filter(|(path, _)| *path == file).map(|(_, line)| *line).collect();
            trial.constant =
                own.first().and_then(|line| constant::statement(&placed.source, *line));
            let message = stack.split("\n    at ").next().unwrap_or_default();
            trial.mark = format!("{name} {message} {own:?}");
            let of_repo = |(path, _): &&(String, u32)| {
                Path::new(path).starts_with(&site.seen_repo) && !path.contains("/node_modules/")
            };
            let innermost = frames.iter().find(|(path, _)| !path.starts_with("node:"));
            trial.of_code = innermost.filter(of_repo).is_some_and(|(path, _)| *path != file);
            if outcome == Outcome::Failed && is_own_mistake(test, &file) {
                trial.doubt = Some(format!("the test has a mistake of its own ({name})"));
            }
            expected.clone_from(&test.error.expected);
        }
        (trial, expected)
    }

    fn script(
        &self,
        site: &Site,
        from: &Path,
        package: &str,
        file: &str,
    ) -> Result<String, String> {
        let directory = self
            .modules
            .directory(from, package)
            .ok_or_else(|| format!("{package} is not installed in the repository"))?;
        let path = site.seen_repo.join(directory).join("node_modules").join(package).join(file);
        Ok(path.display().to_string())
    }
}

#[derive(Debug, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
enum Event {
    /// Something was thrown that nobody caught, or a file could not be loaded.
    Uncaught,
    /// The process was ended by the test or the code.
    Left,
    Test(Test),
}

#[derive(Debug, Deserialize)]
struct Test {
    name: String,
    full: String,
    state: String,
    milliseconds: f64,
    /// Whether the framework itself says that it was not the test's body.
    harness: bool,
    error: Error,
}

#[derive(Debug, Deserialize)]
struct Error {
    name: String,
    code: String,
    stack: String,
    /// What an assertion waited for, as JSON.
    #[serde(default)]
    expected: Option<String>,
}

impl Runner for JavaScript {
    fn name(&self) -> &'static str {
        "javascript"
    }

    fn place(&self, site: &Site, claim: &Claim, flagged: &Flagged) -> Result<Placed, Refusal> {
        let directory = placement::directory(site, claim, flagged, is_test)?;
        let id = placement::plain(&claim.id);
        let wanted = claim.test_file.as_deref().filter(|file| !file.is_empty());
        let like = wanted.unwrap_or(&flagged.file);
        let ending = like.rsplit('.').next().filter(|ending| ENDINGS.contains(ending));
        let kind = if like.contains(".spec.") { "spec" } else { "test" };
        let ending = ending.unwrap_or("js");
        let name = |number: &str| format!("zz_probity_{id}{number}.{kind}.{ending}");
        let path = placement::unused(site, &directory, name);
        let has_package = |above: &&Path| site.repo.join(above).join("package.json").is_file();
        let root = directory.ancestors().find(has_package).unwrap_or(Path::new("")).to_owned();
        Ok(Placed {
            path,
            name: claim.test_name.clone().unwrap_or_default(),
            source: claim.test_code.clone(),
            beside: Vec::new(),
            added: None,
            directory: root,
            flagged: flagged.clone(),
            armed: None,
        })
    }

    fn build(&self, bench: &Bench, site: &Site, _: &Placed) -> Result<Built, Trial> {
        self.modules.link(bench, site).map_err(Trial::harness)?;
        Ok(Built::default())
    }

    fn run(&self, bench: &Bench, site: &Site, placed: &Placed, _: &Built) -> Trial {
        self.trial(bench, site, placed).0
    }

    fn reach(&self, bench: &Bench, site: &Site, placed: &Placed, _: &Built, _: &Trial) -> Reach {
        let url = site.seen_repo.join(&placed.flagged.file).display().to_string();
        let source = fs::read_to_string(site.repo.join(&placed.flagged.file)).unwrap_or_default();
        let ran = Functions::read(&site.out.join("v8"), &url);
        // A control: what runs when the file is only loaded says nothing about the test.
        let idle = match self.session(bench, site, placed, Some(NOTHING)) {
            Ok(_) => Functions::read(&site.out.join("v8"), &url),
            Err(why) => return Reach::Unmeasured(why),
        };
        ran.beyond(&idle, &placed.flagged, &source)
    }

    fn control(
        &self,
        bench: &Bench,
        site: &Site,
        placed: &Placed,
        _: &Built,
        last: &Trial,
    ) -> Control {
        let none = "the code cannot be made to return other values";
        let path = &placed.flagged.file;
        let Ok(source) = fs::read_to_string(site.repo.join(path)) else {
            return Control::Unavailable(none.to_owned());
        };
        let mut watch = Watch::of(last);
        if framework(&site.repo, &placed.directory) != Framework::Node {
            watch = watch.at_most(RUNS_OF_SLOW);
        }
        let mut called = Vec::new();
        let mut expected = None;
        for function in switch::wanted(&source, &placed.flagged, &alter::words(&placed.source)) {
            fs::remove_file(site.out.join("calls")).ok();
            let told = site.seen_out.join("calls").display().to_string();
            if site.write(path, &function.telling(&source, &told)).is_err() {
                break;
            }
            let (trial, wanted) = self.trial(bench, site, placed);
            watch.saw_same(&trial);
            expected = wanted;
            let calls = fs::read_to_string(site.out.join("calls")).unwrap_or_default();
            let Some(last) = calls.lines().last().map(str::to_owned) else { continue };
            let different = calls.lines().any(|call| call != last) && function.has_arguments();
            called.push((function, different.then_some(last)));
        }
        let values = switch::values(&Literals::of(&placed.source, &last.mark), expected.as_deref());
        // All calls first; then those that are like the last, since a test with several cases waits
        // for another value in each.
        for like_last in [false, true] {
            for (function, last) in &called {
                let calls = match (like_last, last) {
                    (false, _) => Calls::All,
                    (true, Some(last)) => Calls::Like(last),
                    (true, None) => continue,
                };
                for value in &values {
                    let altered = function.returning(&source, value, calls);
                    if site.write(path, &altered).is_err() || watch.is_over() {
                        return watch.end(none);
                    }
                    watch.saw(&function.name, value, &self.trial(bench, site, placed).0);
                }
            }
        }
        watch.end(none)
    }
}

fn judge(bench: &Bench, ran: &Ran, events: &[Event], name: &str, file: &str) -> (Outcome, String) {
    let told = |wanted: fn(&Event) -> bool| events.iter().any(wanted);
    let Some(test) = find(events, name) else {
        return if ran.exit == Exit::Timeout {
            (Outcome::Timeout, format!("the test took more than {:?}", bench.test_timeout))
        } else if told(|event| matches!(event, Event::Left)) {
            (Outcome::HarnessError, "the test ended its own process".to_owned())
        } else if told(|event| matches!(event, Event::Uncaught)) {
            (Outcome::BuildError, "the test could not be loaded".to_owned())
        } else if ran.exit == Exit::Code(0) || told(|event| matches!(event, Event::Test(_))) {
            (Outcome::NotRun, "no test of that name ran".to_owned())
        } else {
            (Outcome::HarnessError, "the test's process ended before the test did".to_owned())
        };
    };
    if test.state == "passed" {
        return (Outcome::Passed, "the test passes, so the defect is not there".to_owned());
    }
    if test.state != "failed" {
        return (Outcome::Skipped, "the test skipped itself".to_owned());
    }
    let limit = bench.test_timeout.as_secs_f64() * 1000.0;
    if ran.exit == Exit::Timeout || test.milliseconds >= limit {
        return (Outcome::Timeout, format!("the test took more than {:?}", bench.test_timeout));
    }
    failure(test, file)
}

/// Whether a failure is the code's or the test's own.
fn failure(test: &Test, file: &str) -> (Outcome, String) {
    let Error { name, stack, .. } = &test.error;
    let kind = if name.is_empty() { "something thrown" } else { name };
    let frames = frames(stack);
    let innermost = frames.iter().find(|(path, _)| !path.starts_with("node:"));
    if test.harness {
        return (Outcome::HarnessError, "the test was not run to its end".to_owned());
    }
    // Nothing is what the code may have returned; the control tells.
    let of_nothing = ["undefined", "null"]
        .iter()
        .any(|it| stack.contains(&format!("TypeError: Cannot read properties of {it} (")));
    if is_own_mistake(test, file) && !of_nothing {
        return (Outcome::HarnessError, format!("the test has a mistake of its own ({kind})"));
    }
    // An error of the framework, of which an assertion has no frame.
    let of_framework = |path: &str| path.contains("/node_modules/");
    if innermost.is_some_and(|(path, _)| of_framework(path))
        && !frames
            .iter()
            .any(|(path, _)| path != file && !of_framework(path) && !path.starts_with("node:"))
        && !name.contains("Assertion")
    {
        return (Outcome::HarnessError, format!("the framework stopped the test ({kind})"));
    }
    (Outcome::Failed, format!("it ends with {kind}"))
}

/// Whether it was thrown in the test's own lines, and by what is a mistake there.
fn is_own_mistake(test: &Test, file: &str) -> bool {
    let Error { name, code, stack, .. } = &test.error;
    let frames = frames(stack);
    let innermost = frames.iter().find(|(path, _)| !path.starts_with("node:"));
    let mistaken = OWN_MISTAKES.contains(&name.as_str()) || code.ends_with("MODULE_NOT_FOUND");
    mistaken && innermost.is_none_or(|(path, _)| path == file)
}

/// The test of this name, or the first if there is none.
fn find<'a>(events: &'a [Event], name: &str) -> Option<&'a Test> {
    let spaced = name.replace(" > ", " ");
    let mut tests = events.iter().filter_map(|event| match event {
        Event::Test(test) => Some(test),
        _ => None,
    });
    let matches = |test: &&Test| {
        name.is_empty()
            || test.name == name
            || test.full == name
            || test.full.replace(" > ", " ") == spaced
            || name.rsplit(" > ").next() == Some(test.name.as_str())
    };
    tests.find(matches)
}

/// The end of the full name, by which all frameworks can choose.
fn filter(name: &str) -> Option<String> {
    let last = name.rsplit(" > ").next().filter(|last| !last.is_empty())?;
    let mut pattern = String::new();
    for character in last.chars() {
        if !character.is_alphanumeric() && !character.is_whitespace() && character != '_' {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    Some(pattern + "$")
}

/// File and line of `at f (file:///a/b.js:1:2)` and its kin, innermost first.
fn frames(stack: &str) -> Vec<(String, u32)> {
    let frame = |line: &str| {
        let place = line.trim().strip_prefix("at ")?;
        let place = place.rsplit_once('(').map_or(place, |(_, inner)| inner.trim_end_matches(')'));
        let place = place.strip_prefix("async ").unwrap_or(place);
        let (place, _) = place.rsplit_once(':')?;
        let (file, line) = place.rsplit_once(':')?;
        let file = file.strip_prefix("file://").unwrap_or(file);
        Some((file.to_owned(), line.parse().ok()?))
    };
    stack.lines().filter_map(frame).collect()
}

fn is_test(name: &str) -> bool {
    let known = name.rsplit_once('.').filter(|(_, ending)| ENDINGS.contains(ending));
    known.is_some_and(|(stem, _)| {
        ["test", "spec"].iter().any(|kind| {
            stem == *kind
                || stem.ends_with(&format!(".{kind}"))
                || stem.ends_with(&format!("_{kind}"))
                || stem.ends_with(&format!("-{kind}"))
                || stem.starts_with(&format!("{kind}-"))
        })
    })
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Package {
    dependencies: serde_json::Map<String, serde_json::Value>,
    #[serde(rename = "devDependencies")]
    for_development: serde_json::Map<String, serde_json::Value>,
    scripts: serde_json::Map<String, serde_json::Value>,
}

/// What the nearest packages say they test with.
fn framework(repo: &Path, directory: &Path) -> Framework {
    for above in directory.ancestors() {
        let text = fs::read_to_string(repo.join(above).join("package.json")).unwrap_or_default();
        let package: Package = serde_json::from_str(&text).unwrap_or_default();
        let script = package.scripts.get("test").and_then(serde_json::Value::as_str).unwrap_or("");
        let mut words = script.split_whitespace();
        if words.clone().any(|word| word == "--test") {
            return Framework::Node;
        }
        for (name, framework) in [("vitest", Framework::Vitest), ("jest", Framework::Jest)] {
            let listed = package.dependencies.contains_key(name)
                || package.for_development.contains_key(name);
            if listed || words.any(|word| word == name) {
                return framework;
            }
        }
    }
    Framework::Node
}

#[cfg(test)]
mod tests {
    use super::{filter, frames, is_test};

    #[test]
    fn frames_of_every_shape_are_read() {
        let stack = "AssertionError: at noon\n    at f (file:///a/b.js:4:37)\n    at /a/c.js:2:1\n    \
            at async Test.run (node:internal/test:796:25)\n    at new Promise (<anonymous>)";
        let expected = [("/a/b.js", 4), ("/a/c.js", 2), ("node:internal/test", 796)];
        let expected = expected.map(|(file, line)| (file.to_owned(), line));
        assert_eq!(frames(stack), expected);
    }

    #[test]
    fn tests_are_known_by_their_names() {
        for name in ["a.test.js", "a.spec.tsx", "a_test.ts", "test.js", "test-a.mjs"] {
            assert!(is_test(name), "{name}");
        }
        for name in ["a.js", "test.py", "latest.js", "a.test", "test"] {
            assert!(!is_test(name), "{name}");
        }
    }

    #[test]
    fn names_become_patterns_that_match_themselves() {
        assert_eq!(filter("suite > a (b)").as_deref(), Some("a \\(b\\)$"));
        assert_eq!(filter(""), None);
    }
}
