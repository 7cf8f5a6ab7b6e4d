//! What the nearest packages say about their tests: the framework, how it is started, and where.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use probity_scope::HeldDirectory;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{
    framework::{Framework, PACKAGES},
    script::{self, Invocation, Program},
};
use crate::places::read_text;

/// What npm writes into a new package.
const NO_TESTS: &str = "no test specified";

/// How the tests of a directory are started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Setup {
    pub(super) framework: Framework,
    /// The package that says so, where its commands run.
    pub(super) directory: PathBuf,
    pub(super) invocation: Invocation,
    /// The test script, if nobody here understands what it starts.
    pub(super) unclear_script: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Package {
    dependencies: Map<String, Value>,
    #[serde(rename = "devDependencies")]
    for_development: Map<String, Value>,
    scripts: Map<String, Value>,
    #[serde(rename = "type")]
    kind: Option<String>,
    /// The settings of tools, by their names.
    #[serde(flatten)]
    pub(super) others: Map<String, Value>,
}

impl Package {
    pub(super) fn of(repo: &HeldDirectory, directory: &Path) -> Self {
        let text = read_text(repo, directory.join("package.json")).unwrap_or_default();
        serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap_or_default()
    }

    pub(super) fn lists(&self, package: &str) -> bool {
        self.dependencies.contains_key(package) || self.for_development.contains_key(package)
    }

    /// Whether its files are modules unless their names say otherwise.
    pub(super) fn is_module(&self) -> bool {
        self.kind.as_deref() == Some("module")
    }

    fn scripts(&self) -> BTreeMap<String, String> {
        let text =
            |(name, text): (&String, &Value)| Some((name.clone(), text.as_str()?.to_owned()));
        self.scripts.iter().filter_map(text).collect()
    }
}

impl Setup {
    /// The setup of the tests in a directory.
    pub(super) fn of(repo: &HeldDirectory, directory: &Path) -> Self {
        let mut unclear_script = None;
        for above in directory.ancestors() {
            let package = Package::of(repo, above);
            let scripts = scripts(repo, above, &package);
            let found = of_scripts(&scripts, &package)
                .or_else(|| of_dependencies(&package))
                .or_else(|| of_files(repo, above));
            let test = scripts.get("test").filter(|text| !text.contains(NO_TESTS));
            if let Some(mut invocation) = found {
                let Program::Runner(framework) = invocation.program else { continue };
                invocation.node.extend(required_by_nyc(repo, above, &package, &scripts));
                let is_read = !script::invocations(&scripts, "test").is_empty();
                let unread = test.filter(|_| !is_read).cloned();
                return Self {
                    framework,
                    directory: above.to_owned(),
                    invocation,
                    unclear_script: unclear_script.or(unread),
                };
            }
            unclear_script = unclear_script.or_else(|| test.cloned());
        }
        Self {
            framework: Framework::Node,
            directory: package_of(repo, directory),
            invocation: Invocation::default(),
            unclear_script,
        }
    }
}

/// The package that a directory belongs to.
pub(super) fn package_of(repo: &HeldDirectory, directory: &Path) -> PathBuf {
    let has_package = |above: &&Path| repo.is_file(above.join("package.json"));
    directory.ancestors().find(has_package).unwrap_or(Path::new("")).to_owned()
}

/// The scripts of a package, and the tasks of Deno.
fn scripts(repo: &HeldDirectory, directory: &Path, package: &Package) -> BTreeMap<String, String> {
    let mut scripts = package.scripts();
    for name in DENO_FILES {
        let text = read_text(repo, directory.join(name)).unwrap_or_default();
        let Ok(Value::Object(settings)) = serde_json::from_str(&text) else { continue };
        let tasks = settings.get("tasks").and_then(Value::as_object);
        for (name, task) in tasks.into_iter().flatten() {
            let text = task.as_str().or_else(|| task.get("command")?.as_str());
            if let Some(text) = text {
                scripts.entry(name.clone()).or_insert_with(|| text.to_owned());
            }
        }
    }
    scripts
}

const DENO_FILES: [&str; 2] = ["deno.json", "deno.jsonc"];

/// The first runner that the test script starts, or another script for tests if there is none of that
/// name.
fn of_scripts(scripts: &BTreeMap<String, String>, package: &Package) -> Option<Invocation> {
    let is_for_tests = |name: &&String| name.starts_with("test") || name.starts_with("unit");
    let others = scripts.keys().filter(is_for_tests).filter(|name| *name != "test");
    let names = scripts.keys().filter(|name| *name == "test").chain(others);
    let mut files = None;
    for name in names {
        for invocation in script::invocations(scripts, name) {
            match invocation.program {
                Program::Runner(_) => return Some(invocation),
                Program::File => {
                    files.get_or_insert(invocation);
                }
            }
        }
    }
    // Files of these frameworks run without a runner.
    let framework = [("tape", Framework::Tape), ("tap", Framework::Tap)];
    let framework = framework.into_iter().find(|(name, _)| package.lists(name));
    let (_, framework) = framework?;
    Some(Invocation { program: Program::Runner(framework), ..files? })
}

fn of_dependencies(package: &Package) -> Option<Invocation> {
    let (_, framework) = PACKAGES.into_iter().find(|(name, _)| package.lists(name))?;
    Some(Invocation { program: Program::Runner(framework), ..Invocation::default() })
}

/// The framework whose settings are in a directory.
fn of_files(repo: &HeldDirectory, directory: &Path) -> Option<Invocation> {
    let starts = [
        ("vitest.config.", Framework::Vitest),
        ("jest.config.", Framework::Jest),
        (".mocharc.", Framework::Mocha),
        ("ava.config.", Framework::Ava),
        ("bunfig.toml", Framework::Bun),
        ("deno.json", Framework::Deno),
    ];
    let entries = repo.entries(directory).ok()?;
    let has =
        |start: &str| entries.iter().any(|entry| entry.name.to_string_lossy().starts_with(start));
    let (_, framework) = starts.into_iter().find(|(start, _)| has(start))?;
    Some(Invocation { program: Program::Runner(framework), ..Invocation::default() })
}

/// The modules that the wrapper nyc loads before the tests, by its own settings.
fn required_by_nyc(
    repo: &HeldDirectory,
    directory: &Path,
    package: &Package,
    scripts: &BTreeMap<String, String>,
) -> Vec<String> {
    let runs_nyc = |text: &String| text.split_whitespace().any(|word| word == "nyc");
    if !scripts.values().any(runs_nyc) {
        return Vec::new();
    }
    let own = [".nycrc", ".nycrc.json"].into_iter().find_map(|name| {
        let text = read_text(repo, directory.join(name)).ok()?;
        serde_json::from_str::<Value>(&text).ok()
    });
    let settings = own.as_ref().or_else(|| package.others.get("nyc"));
    let required = settings.and_then(|settings| settings.get("require")).cloned();
    let names = match required {
        Some(Value::Array(names)) => names,
        Some(name) => vec![name],
        None => Vec::new(),
    };
    let option = |name: &Value| Some(format!("--require={}", name.as_str()?));
    names.iter().filter_map(option).collect()
}

/// The command that installs a package which the tests need.
pub(super) fn install_command(repo: &HeldDirectory, directory: &Path, package: &str) -> String {
    let is_listed = directory.ancestors().any(|above| Package::of(repo, above).lists(package));
    for above in directory.ancestors() {
        let has = |name: &str| repo.is_file(above.join(name));
        let of_yarn = || read_text(repo, above.join("yarn.lock")).unwrap_or_default();
        let (install, add) =
            if has(".pnp.cjs") || has(".yarnrc.yml") || of_yarn().contains("__metadata:") {
                // Plug'n'Play keeps packages in archives that only Yarn's own loader reads.
                ("YARN_NODE_LINKER=node-modules yarn install", "yarn add --dev")
            } else if has("yarn.lock") {
                ("yarn install", "yarn add --dev")
            } else if has("pnpm-lock.yaml") {
                ("pnpm install", "pnpm add --save-dev")
            } else if has("bun.lock") || has("bun.lockb") {
                ("bun install", "bun add --dev")
            } else if has("package-lock.json") || has("npm-shrinkwrap.json") {
                ("npm ci", "npm install --save-dev")
            } else {
                continue;
            };
        return if is_listed { install.to_owned() } else { format!("{add} {package}") };
    }
    if is_listed { "npm install".to_owned() } else { format!("npm install --save-dev {package}") }
}
