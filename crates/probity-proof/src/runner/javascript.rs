//! JavaScript and TypeScript: `node --test`, vitest, jest, mocha or bun, as the repository has it.
//!
//! Each but bun, which takes none, is told to use a reporter of ours, and these write the same lines.

mod bun;
mod modules;
mod titles;

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    time::Duration,
};

use probity_sandbox::Exit;
use probity_scope::{HeldDirectory, HeldKind};
use serde::Deserialize;

use self::{
    modules::{Beside, Modules},
    titles::filter,
};
use super::{
    Built, Existing, Groups, Placed, Runner, Suite, Trial, Trouble, Unavailable,
    capture::Ran,
    context::{Access, Site, Task},
    failed_build, placement,
    report::{Report, State},
};
use crate::{
    Claim, Refusal, RunDetail, claim::FlaggedLines, host, places::read_text, workshop::Preparation,
};

pub(super) const ENDINGS: &[&str] = &["js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx"];

const KIT: [(&str, &str); 5] = [
    ("probity_start.mjs", include_str!("javascript/probity_start.mjs")),
    ("probity_node.mjs", include_str!("javascript/probity_node.mjs")),
    ("probity_vitest.mjs", include_str!("javascript/probity_vitest.mjs")),
    ("probity_jest.cjs", include_str!("javascript/probity_jest.cjs")),
    ("probity_mocha.cjs", include_str!("javascript/probity_mocha.cjs")),
];

/// Test files of one package that are run.
const MOST_FILES: usize = 300;

/// What a framework gets on top of the test's time to start.
const GRACE: Duration = Duration::from_secs(15);

#[derive(Debug)]
pub(super) struct JavaScript {
    node: Option<PathBuf>,
    bun: Option<PathBuf>,
    modules: Modules,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Framework {
    Node,
    Vitest,
    Jest,
    Mocha,
    Bun,
}

impl Framework {
    /// Whether it finds the tests that use a file by itself.
    fn finds_related(self) -> bool {
        matches!(self, Self::Vitest | Self::Jest)
    }
}

/// Which tests a framework is to run.
#[derive(Debug)]
enum Asked<'a> {
    /// The one of a claim.
    Test(&'a Placed),
    /// Existing ones: of these files, or those that use one of these files.
    Files { files: &'a [String], related: bool, limit: Duration },
}

impl JavaScript {
    /// Finds node and the installed packages.
    pub(super) fn prepare(
        preparation: &mut Preparation<'_>,
    ) -> Result<Box<dyn Runner>, Unavailable> {
        let context = preparation.site.context;
        (preparation.progress)("looking for node and the installed packages");
        let real = |name: &str| context.tool(name).and_then(|path| host::real_path(&path));
        let (node, bun) = (real("node"), real("bun"));
        if node.is_none() && bun.is_none() {
            return Err(Unavailable::NotInstalled("Node.js"));
        }
        for (name, text) in KIT {
            context.add_to_kit(name, text)?;
        }
        Ok(Box::new(Self { node, bun, modules: Modules::find(preparation)? }))
    }

    fn session(
        &self,
        site: &Site<'_>,
        project: &Path,
        asked: &Asked<'_>,
    ) -> Result<(Ran, Report), Trouble> {
        let (limit, files) = match asked {
            Asked::Test(placed) => (site.context.test_timeout, std::slice::from_ref(&placed.path)),
            Asked::Files { limit, files, .. } => (*limit, *files),
        };
        let framework = framework(site.repo(), project);
        let (name, program) = match framework {
            Framework::Bun => ("bun", &self.bun),
            _ => ("Node.js", &self.node),
        };
        let missing = || Trouble::Machine(Unavailable::NotInstalled(name).to_string());
        let program = program.as_ref().ok_or_else(missing)?;
        let mut task = Task::new([program], project, Access::Runs, limit + GRACE);
        task.tools.extend(program.ancestors().nth(2).map(Path::to_owned));
        let beside =
            if framework == Framework::Vitest { Beside::Written } else { Beside::Unwritten };
        task.mounts = self.modules.install(site, beside)?;
        match framework {
            Framework::Node => self.node_arguments(site, project, asked, &mut task),
            Framework::Mocha => task.arguments(self.mocha_arguments(site, project, asked)?),
            Framework::Bun => bun::add_arguments(&mut task, site, asked),
            framework => {
                task.arguments(self.framework_arguments(site, project, framework, asked)?);
            }
        }
        task.arguments(files.iter().map(|file| site.seen_repo.join(file)));
        let (ran, mut report) = match framework {
            Framework::Bun => {
                let ran = site.run(&task)?;
                let report = bun::report(site, project, &ran);
                (ran, report)
            }
            _ => site.run_reported(task)?,
        };
        // Bun writes its report at the end.
        report.has_ended |= framework == Framework::Bun && !report.tests.is_empty();
        // What else is in the file may fail, or keep the process from ending.
        report.ignores_exit = true;
        let has_unended = report.tests.iter().any(|test| test.state == State::Began);
        if framework == Framework::Mocha && report.tests.is_empty() {
            // It tells nothing of files that do not load, nor of tests that it leaves out.
            report.without_end = failed_build(ran.exit).or(Some(RunDetail::NoSuchTest));
        } else if framework == Framework::Mocha && has_unended {
            report.without_end.get_or_insert(RunDetail::EndedEarly);
        } else if !report.tests.is_empty() {
            report.without_end.get_or_insert(RunDetail::NoSuchTest);
        }
        Ok((ran, report))
    }

    fn node_arguments(&self, site: &Site<'_>, project: &Path, asked: &Asked<'_>, task: &mut Task) {
        let kit = site.context.seen_kit();
        let is_typed = |file: &String| file.ends_with("ts") || file.ends_with("tsx");
        let typed = match asked {
            Asked::Test(placed) => is_typed(&placed.path),
            Asked::Files { files, .. } => files.iter().any(is_typed),
        };
        match asked {
            // A name that is put together out of several is no name to node; it is found among
            // those of all tests.
            Asked::Test(placed) if is_whole(placed) => {
                let filter = filter(&placed.name, &placed.source);
                task.arguments(filter.map(|filter| format!("--test-name-pattern={filter}")));
            }
            Asked::Test(_) => {}
            Asked::Files { .. } => task.arguments(["--test"]),
        }
        task.arguments([
            format!("--import={}", kit.join("probity_start.mjs").display()),
            format!("--test-reporter={}", kit.join("probity_node.mjs").display()),
            "--test-reporter-destination=stdout".to_owned(),
        ]);
        if typed {
            let with_tsx = self.modules.has(project, "tsx");
            task.arguments([if with_tsx { "--import=tsx" } else { "--experimental-strip-types" }]);
        }
    }

    /// Our own time limit ends a test, since mocha's would look like a failure.
    fn mocha_arguments(
        &self,
        site: &Site<'_>,
        project: &Path,
        asked: &Asked<'_>,
    ) -> Result<Vec<String>, Trouble> {
        let reporter = site.context.seen_kit().join("probity_mocha.cjs");
        let mut words = vec![
            self.script(site, project, "mocha", "bin/mocha.js")?,
            format!("--reporter={}", reporter.display()),
            "--timeout=0".to_owned(),
            "--no-parallel".to_owned(),
            "--exit".to_owned(),
        ];
        words.extend(asked.filter().map(|filter| format!("--grep={filter}")));
        Ok(words)
    }

    /// What vitest and jest are told, of which the words differ and the meaning does not.
    fn framework_arguments(
        &self,
        site: &Site<'_>,
        project: &Path,
        framework: Framework,
        asked: &Asked<'_>,
    ) -> Result<Vec<String>, Trouble> {
        let related = matches!(asked, Asked::Files { related: true, .. });
        let kit = site.context.seen_kit();
        let cache = format!("--cacheDirectory={}", site.seen_scratch.join("jest").display());
        let (script, first, reporter, last): (_, &[&str], _, &[&str]) = match framework {
            Framework::Jest => (
                self.script(site, project, "jest", "bin/jest.js")?,
                &["--ci", "--runInBand", "--watchman=false", "--coverage=false", &cache],
                format!("--reporters={}", kit.join("probity_jest.cjs").display()),
                if related {
                    &["--passWithNoTests", "--findRelatedTests"]
                } else {
                    &["--runTestsByPath"]
                },
            ),
            _ => (
                self.script(site, project, "vitest", "vitest.mjs")?,
                if related {
                    &["related", "--run", "--passWithNoTests", "--coverage.enabled=false"]
                } else {
                    &["run", "--coverage.enabled=false"]
                },
                format!("--reporter={}", kit.join("probity_vitest.mjs").display()),
                &[],
            ),
        };
        let timeout = format!("--testTimeout={}", site.context.test_timeout.as_millis());
        let filter = asked.filter().map(|filter| format!("--testNamePattern={filter}"));
        let own = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let middle = [timeout, reporter].into_iter().chain(filter).collect();
        Ok([vec![script], own(first), middle, own(last)].concat())
    }

    fn script(
        &self,
        site: &Site<'_>,
        from: &Path,
        package: &str,
        file: &str,
    ) -> Result<String, Trouble> {
        let missing = || Trouble::PackageMissing(package.to_owned());
        let directory = self.modules.directory(from, package).ok_or_else(missing)?;
        let path = site.seen_repo.join(directory).join("node_modules").join(package).join(file);
        Ok(path.display().to_string())
    }
}

impl Asked<'_> {
    fn filter(&self) -> Option<String> {
        match self {
            Self::Test(placed) => filter(&placed.name, &placed.source),
            Self::Files { .. } => None,
        }
    }
}

impl Runner for JavaScript {
    fn name(&self) -> &'static str {
        "javascript"
    }

    fn place(
        &self,
        repo: &HeldDirectory,
        claim: &Claim,
        flagged: &FlaggedLines,
    ) -> Result<Placed, Refusal> {
        let directory = placement::directory(repo, claim, flagged, is_test)?;
        let id = placement::plain(&claim.id);
        let wanted = claim.test_file.as_deref().filter(|file| !file.is_empty());
        let like = wanted.unwrap_or(&flagged.file);
        let ending = like.rsplit('.').next().filter(|ending| ENDINGS.contains(ending));
        let kind = if like.contains(".spec.") { "spec" } else { "test" };
        let ending = ending.unwrap_or("js");
        let name = |number: &str| format!("zz_probity_{id}{number}.{kind}.{ending}");
        let wanted_name = claim.test_name.clone().filter(|name| !name.is_empty());
        Ok(Placed {
            path: placement::unused(repo, &directory, name),
            name: wanted_name.or_else(|| titles::only(&claim.test_code)).unwrap_or_default(),
            source: claim.test_code.clone(),
            added: None,
            directory: project(repo, &directory),
            flagged: flagged.clone(),
        })
    }

    fn run(&self, site: &Site<'_>, placed: &Placed, _: &Built) -> Result<Trial, Trouble> {
        let asked = Asked::Test(placed);
        let (ran, report) = self.session(site, &placed.directory, &asked)?;
        Ok(Trial::told(site, &ran, &report, |test| {
            let (_, title) = test.name.split_once(" > ").unwrap_or_default();
            titles::is_wanted(title, &placed.name)
        }))
    }

    /// The files of the tests; for vitest and jest the changed files, of which they know the tests.
    fn groups(&self, site: &Site<'_>, wanted: Existing<'_>) -> Result<Groups, Trouble> {
        let repo = site.repo();
        let (names, touching) = match wanted {
            Existing::Touching(files) => (files, true),
            Existing::Named(names) => (names, false),
        };
        let mut groups = Groups::default();
        for name in names {
            let file = if touching { name } else { name.split(" > ").next().unwrap_or(name) };
            let directory = Path::new(file).parent().unwrap_or(Path::new(""));
            let project = project(repo, directory);
            let files = if touching && !framework(repo, &project).finds_related() {
                let files = tests(repo, &project).into_iter().collect();
                groups.nearest_files(files, wanted, MOST_FILES).into_iter().collect()
            } else {
                vec![file.to_owned()]
            };
            groups.tests.entry(project).or_default().extend(files);
        }
        groups.tests.retain(|_, files| !files.is_empty());
        Ok(groups)
    }

    fn run_group(
        &self,
        site: &Site<'_>,
        project: &Path,
        files: &BTreeSet<String>,
        limit: Duration,
    ) -> Result<Suite, Box<Trial>> {
        let files: Vec<String> = files.iter().cloned().collect();
        let finds_related = framework(site.repo(), project).finds_related();
        let related = finds_related && !files.iter().all(|file| is_test_file(Path::new(file)));
        let asked = Asked::Files { files: &files, related, limit };
        let (ran, report) = self.session(site, project, &asked)?;
        let mut suite = Suite::of("", project, &ran, &report, limit);
        // Some reporters get no event if no test uses the changed files.
        let has_none = related && report.tests.is_empty() && ran.exit == Exit::Code(0);
        if !suite.is_cut && !report.has_ended && !has_none {
            let detail = report.without_end.filter(|detail| *detail != RunDetail::NoSuchTest);
            suite.stop(project, detail.unwrap_or(RunDetail::EndedEarly));
        }
        Ok(suite)
    }

    fn empty_test(&self, repo: &HeldDirectory, placed: &Placed) -> Option<Placed> {
        let source = match framework(repo, &placed.directory) {
            Framework::Vitest => "import { it } from 'vitest';\nit('starts', () => {});\n",
            Framework::Jest | Framework::Mocha => "it('starts', () => {});\n",
            // How node loads a module depends on more than its name; this is good for both ways.
            Framework::Node => "import('node:test').then(({ it }) => it('starts', () => {}));\n",
            Framework::Bun => "import { it } from 'bun:test';\nit('starts', () => {});\n",
        };
        let (name, source) = ("starts".to_owned(), source.to_owned());
        Some(Placed { name, source, ..placed.clone() })
    }
}

/// The test files of a package, without those of packages in it.
fn tests(repo: &HeldDirectory, project: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut pending = vec![project.to_owned()];
    while let Some(directory) = pending.pop() {
        for entry in repo.entries(&directory).into_iter().flatten() {
            let path = directory.join(&entry.name);
            let is_own = !repo.is_file(path.join("package.json"));
            if entry.kind == HeldKind::Directory && entry.name != "node_modules" && is_own {
                pending.push(path);
            } else if entry.kind == HeldKind::File && is_test_file(&path) {
                found.push(path.to_string_lossy().into_owned());
            }
        }
    }
    found
}

/// Node takes every file of code in a directory named `test` for a test.
fn is_test_file(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let in_tests = path.parent().is_some_and(|parent| parent.iter().any(|part| part == "test"));
    path.file_name().is_some_and(|name| is_test(&name.to_string_lossy()))
        || in_tests && ["js", "mjs", "cjs"].contains(&ending)
}

/// The package that a directory belongs to.
fn project(repo: &HeldDirectory, directory: &Path) -> PathBuf {
    let has_package = |above: &&Path| repo.is_file(above.join("package.json"));
    directory.ancestors().find(has_package).unwrap_or(Path::new("")).to_owned()
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
fn framework(repo: &HeldDirectory, directory: &Path) -> Framework {
    for above in directory.ancestors() {
        let text = read_text(repo, above.join("package.json")).unwrap_or_default();
        let package: Package = serde_json::from_str(&text).unwrap_or_default();
        let script = package.scripts.get("test").and_then(serde_json::Value::as_str).unwrap_or("");
        let words = script.split_whitespace();
        if words.clone().any(|word| word == "--test") {
            return Framework::Node;
        }
        let frameworks = [
            ("vitest", Framework::Vitest),
            ("jest", Framework::Jest),
            ("mocha", Framework::Mocha),
            ("bun", Framework::Bun),
            ("@types/bun", Framework::Bun),
        ];
        for (name, framework) in frameworks {
            let listed = package.dependencies.contains_key(name)
                || package.for_development.contains_key(name);
            if listed || words.clone().any(|word| word == name) {
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
