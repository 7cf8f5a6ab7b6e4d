//! JavaScript and TypeScript: `node --test`, vitest or jest, as the repository has it.
//!
//! Each is told to use a reporter of ours, and all three reporters write the same lines. What
//! code was run is what V8 itself has counted.

mod bindings;
mod control;
mod coverage;
mod events;
mod failure;
mod modules;
mod switch;
mod titles;

use std::{
    fs,
    hash::{BuildHasher as _, RandomState},
    path::{Path, PathBuf},
    time::Duration,
};

use serde::Deserialize;

use super::{
    Claim, Control, Evidence, Outcome, Reach, alter,
    capture::Ran,
    constant, placement,
    runner::{Built, Flagged, Placed, Refusal, Runner, Trial},
    site::{Bench, Site, Task},
    tree::Tree,
    untrusted,
};
use coverage::Functions;
use events::{Error, Event, frames, is_own_mistake, judge, mark, own_exception};
use modules::Modules;
use titles::{filter, find};

pub(super) const ENDINGS: &[&str] = &["js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx"];

const KIT: [(&str, &str); 4] = [
    ("probity_start.mjs", include_str!("javascript/probity_start.mjs")),
    ("probity_node.mjs", include_str!("javascript/probity_node.mjs")),
    ("probity_vitest.mjs", include_str!("javascript/probity_vitest.mjs")),
    ("probity_jest.cjs", include_str!("javascript/probity_jest.cjs")),
];

/// What a framework gets on top of the test's time to start.
const GRACE: Duration = Duration::from_secs(15);

/// What the frameworks tell, and what V8 has counted.
const REPORT: &str = "report.jsonl";
const PROFILES: &str = "v8";

/// A filter that matches no test.
const NOTHING: &str = "^probity: no test has this name$";

#[derive(Debug)]
pub(super) struct JavaScript {
    node: PathBuf,
    modules: Modules,
    /// By which switches are told what to do. Another in each review, so that no test can know it.
    variable: String,
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
        let variable = format!("zz{:x}", RandomState::new().hash_one(0));
        Ok(Self { node, modules: Modules::find(bench, repo, tree)?, variable })
    }

    fn session(
        &self,
        bench: &Bench,
        site: &Site,
        placed: &Placed,
        files: &[String],
        filter: Option<&str>,
    ) -> Result<(Ran, Vec<Event>), String> {
        untrusted::write(&site.out, REPORT, "").map_err(|error| error.to_string())?;
        fs::remove_dir_all(site.out.join(PROFILES)).ok();
        let mut task = Task::new([&self.node], &placed.directory, bench.test_timeout + GRACE);
        let home = self.node.parent().and_then(Path::parent);
        task.tools.extend(home.map(Path::to_owned));
        let kit = bench.seen_kit();
        let milliseconds = bench.test_timeout.as_millis();
        let framework = framework(&site.repo, &placed.directory);
        task.mounts = self.modules.mounts(bench, site, framework == Framework::Vitest);
        let mut say = |word: String| task.argv.push(word.into());
        match framework {
            Framework::Node => {
                // A process for each copy. Errors look different there, so that copies are never
                // compared with the test itself.
                if files != [placed.path.as_str()] {
                    say("--test".to_owned());
                }
                say(format!("--import={}", kit.join("probity_start.mjs").display()));
                say(format!("--test-reporter={}", kit.join("probity_node.mjs").display()));
                say("--test-reporter-destination=stdout".to_owned());
                // A name that is put together out of several is no name to node; it is found among
                // those of all tests.
                if let Some(filter) = filter.filter(|it| *it == NOTHING || is_whole(placed)) {
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
        task.argv.extend(files.iter().map(|file| site.seen_repo.join(file).into()));
        task.variable("PROBITY_REPORT", site.seen_out.join(REPORT));
        task.variable("NODE_V8_COVERAGE", site.seen_out.join(PROFILES));
        let ran = bench.run(site, &task)?;
        let text = untrusted::read(&site.out, REPORT).unwrap_or_default();
        let events = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        Ok((ran, events))
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
            added: None,
            directory: root,
            flagged: flagged.clone(),
            armed: None,
        })
    }

    fn build(&self, bench: &Bench, site: &Site, placed: &Placed) -> Result<Built, Box<Trial>> {
        let written = framework(&site.repo, &placed.directory) == Framework::Vitest;
        self.modules.link(bench, site, written).map_err(Trial::unbuilt)?;
        Ok(Built::default())
    }

    fn run(&self, bench: &Bench, site: &Site, placed: &Placed, _: &Built) -> Trial {
        let filter = filter(&placed.name, &placed.source);
        let files = std::slice::from_ref(&placed.path);
        let (ran, events) = match self.session(bench, site, placed, files, filter.as_deref()) {
            Ok(session) => session,
            Err(why) => return Trial::harness(why),
        };
        let file = site.seen_repo.join(&placed.path).display().to_string();
        let (outcome, why) = judge(bench, &ran, &events, &placed.name, &file);
        let text = [&ran.stdout[..], &ran.stderr].concat();
        let mut trial = Trial::new(outcome, why).of(bench, site, &ran, &text);
        if let Some(test) = find(&events, &placed.name) {
            let Error { name, stack, .. } = &test.error;
            let frames = frames(stack);
            let own = frames.iter().find(|(path, _)| *path == file);
            trial.constant =
                own.and_then(|(_, line)| constant::statement(&placed.source, *line, None));
            trial.mark = mark(test, &file);
            let of_repo = |(path, _): &&(String, u32)| {
                Path::new(path).starts_with(&site.seen_repo) && !path.contains("/node_modules/")
            };
            let innermost = frames.iter().find(|(path, _)| !path.starts_with("node:"));
            trial.of_code = innermost.filter(of_repo).is_some_and(|(path, _)| *path != file);
            trial.own = own_exception(test, &file, &placed.source);
            // What `fetch` throws is of the same class as a mistake, and says in its cause what it is.
            let offline = stack.contains("fetch failed");
            if outcome == Outcome::Failed && is_own_mistake(test, &file) && !offline {
                trial.doubt = Some(format!("the test has a mistake of its own ({name})"));
            }
        }
        trial
    }

    fn reach(&self, bench: &Bench, site: &Site, placed: &Placed, _: &Built, _: &Trial) -> Reach {
        let url = site.seen_repo.join(&placed.flagged.file).display().to_string();
        let source = untrusted::read(&site.repo, &placed.flagged.file).unwrap_or_default();
        let ran = Functions::read(&site.out, PROFILES, &url, &source);
        // A control: what runs when the file is only loaded says nothing about the test.
        let idle = match self.session(
            bench,
            site,
            placed,
            std::slice::from_ref(&placed.path),
            Some(NOTHING),
        ) {
            Ok(_) => Functions::read(&site.out, PROFILES, &url, &source),
            Err(why) => return Reach::Unmeasured(why),
        };
        match ran.beyond(&idle, &placed.flagged, &source) {
            // What binds something is run by loading it; the control tells whether that matters.
            Reach::NotReached if ran.loaded && !bound(&source, placed).is_empty() => {
                Reach::Reached { by: Evidence::Coverage, lines: true }
            }
            reach => reach,
        }
    }

    fn control(
        &self,
        bench: &Bench,
        site: &Site,
        placed: &Placed,
        _: &Built,
        last: &Trial,
    ) -> Control {
        self.alter(bench, site, placed, last).unwrap_or_else(Control::Unavailable)
    }
}

/// What the flagged lines bind at the top of their module and the test names.
fn bound(source: &str, placed: &Placed) -> Vec<switch::Function> {
    let named = alter::words(&placed.source);
    bindings::bindings(source, &placed.flagged, &named, &switch::functions(source))
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

/// Whether the test's name is written in its source as it is.
fn is_whole(placed: &Placed) -> bool {
    let last = placed.name.rsplit(" > ").next().unwrap_or_default();
    placed.source.contains(last)
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
        let text = untrusted::read(repo, above.join("package.json")).unwrap_or_default();
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
    use super::is_test;

    #[test]
    fn tests_are_known_by_their_names() {
        for name in ["a.test.js", "a.spec.tsx", "a_test.ts", "test.js", "test-a.mjs"] {
            assert!(is_test(name), "{name}");
        }
        for name in ["a.js", "test.py", "latest.js", "a.test", "test"] {
            assert!(!is_test(name), "{name}");
        }
    }
}
