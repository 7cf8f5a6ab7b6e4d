//! JavaScript and TypeScript: the test runner that a package has, started as its test script starts it.
//!
//! Reporters of ours write the same lines for node, vitest, jest and mocha. The others write TAP or
//! JUnit's XML.

mod command;
mod files;
mod framework;
mod modules;
mod native;
mod options;
mod script;
mod setup;
mod starts;
mod titles;
mod words;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    time::Duration,
};

use probity_sandbox::Exit;
use probity_scope::HeldDirectory;

use self::{
    command::{Format, Words},
    files::{directory_of, is_test_file, of_package, path_like},
    framework::Framework,
    modules::{Beside, Modules},
    setup::Setup,
    titles::filter,
};
use super::{
    Built, Existing, Groups, Placed, Runner, Suite, Trial, Trouble, Unavailable,
    capture::Ran,
    context::{Access, Site, Task},
    existing::is_mirror,
    placement,
    report::{Report, State},
};
use crate::{
    Claim, Gap, PrepareNote, Refusal, RunDetail, claim::FlaggedLines, host, workshop::Preparation,
};

pub(super) const ENDINGS: &[&str] = &["js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx"];

const KIT: [(&str, &str); 7] = [
    ("probity_start.mjs", include_str!("javascript/probity_start.mjs")),
    ("probity_node.mjs", include_str!("javascript/probity_node.mjs")),
    ("probity_vitest.mjs", include_str!("javascript/probity_vitest.mjs")),
    ("probity_jest.cjs", include_str!("javascript/probity_jest.cjs")),
    ("probity_mocha.cjs", include_str!("javascript/probity_mocha.cjs")),
    ("probity_jasmine.cjs", include_str!("javascript/probity_jasmine.cjs")),
    ("probity_each.cjs", include_str!("javascript/probity_each.cjs")),
];

/// Test files of one package that are run.
const MOST_FILES: usize = 300;

/// Packages whose test scripts are looked at before anything runs.
const MOST_PACKAGES: usize = 200;

/// What a framework gets on top of the test's time to start.
const GRACE: Duration = Duration::from_secs(15);

/// Between the parts of a test's name, of which the first is its file.
const SEPARATOR: &str = " > ";

/// Variables that a test script does not set here: they lead to programs and places of this machine.
const OURS: [&str; 3] = ["HOME", "PATH", "TMPDIR"];

#[derive(Debug)]
pub(super) struct JavaScript {
    node: Option<PathBuf>,
    bun: Option<PathBuf>,
    deno: Option<PathBuf>,
    modules: Modules,
}

/// Which tests a framework is to run.
#[derive(Debug)]
enum Asked<'a> {
    /// The one of a claim.
    Test(&'a Placed),
    /// Existing ones: of these files, or those that use one of these files.
    Files { files: &'a [String], related: bool, limit: Duration },
}

impl Asked<'_> {
    fn filter(&self) -> Option<String> {
        match self {
            Self::Test(placed) => filter(&placed.name, &placed.source),
            Self::Files { .. } => None,
        }
    }

    fn files(&self) -> &[String] {
        match self {
            Self::Test(placed) => std::slice::from_ref(&placed.path),
            Self::Files { files, .. } => files,
        }
    }
}

impl JavaScript {
    /// Finds node and the installed packages.
    pub(super) fn prepare(
        preparation: &mut Preparation<'_>,
    ) -> Result<Box<dyn Runner>, Unavailable> {
        let context = preparation.site.context;
        (preparation.progress)("looking for node and the installed packages");
        let real = |name: &str| context.tool(name).and_then(|path| host::real_path(&path));
        let (node, bun, deno) = (real("node"), real("bun"), real("deno"));
        if node.is_none() && bun.is_none() && deno.is_none() {
            return Err(Unavailable::NotInstalled("Node.js"));
        }
        for (name, text) in KIT {
            context.add_to_kit(name, text)?;
        }
        note_unclear_scripts(preparation);
        Ok(Box::new(Self { node, bun, deno, modules: Modules::find(preparation)? }))
    }

    fn program(&self, framework: Framework) -> Result<&PathBuf, Trouble> {
        let (name, program) = match framework {
            Framework::Bun => ("bun", &self.bun),
            Framework::Deno => ("Deno", &self.deno),
            _ => ("Node.js", &self.node),
        };
        program
            .as_ref()
            .ok_or_else(|| Trouble::Machine(Unavailable::NotInstalled(name).to_string()))
    }

    fn session(
        &self,
        site: &Site<'_>,
        setup: &Setup,
        asked: &Asked<'_>,
    ) -> Result<(Ran, Report), Trouble> {
        let limit = match asked {
            Asked::Test(_) => site.context.test_timeout,
            Asked::Files { limit, .. } => *limit,
        };
        let framework = setup.framework;
        let program = self.program(framework)?;
        let mut task = Task::new([program], &setup.directory, Access::Runs, limit + GRACE);
        task.tools.extend(program.ancestors().nth(2).map(Path::to_owned));
        let beside = match framework {
            Framework::Vitest | Framework::Ava => Beside::Written,
            _ => Beside::Unwritten,
        };
        task.mounts = self.modules.install(site, beside)?;
        for (name, value) in &setup.invocation.variables {
            if !OURS.contains(&name.as_str()) && !name.starts_with("PROBITY_") {
                task.variable(name, value);
            }
        }
        let (ran, mut report) = match framework {
            Framework::Bun | Framework::Deno => {
                task.variable("DENO_DIR", site.seen_scratch.join("deno"));
                native::run(site, setup, asked, &task, limit)?
            }
            _ => self.run_with_node(site, setup, asked, task)?,
        };
        // What else is in the file may fail, or keep the process from ending.
        report.ignores_exit = true;
        let has_told = !report.tests.is_empty() || !report.unloaded.is_empty();
        let has_unended = report.tests.iter().any(|test| test.state == State::Began);
        if !report.has_ended && has_unended {
            report.without_end.get_or_insert(RunDetail::EndedEarly);
        } else if !report.tests.is_empty() || report.has_ended && report.unloaded.is_empty() {
            report.without_end.get_or_insert(RunDetail::NoSuchTest);
        } else if !report.has_ended && !has_told && !ran.crashed() {
            // Nothing but the runner's own beginning can have ended it.
            report.without_end.get_or_insert(RunDetail::NeverBegan);
        }
        Ok((ran, report))
    }

    fn run_with_node(
        &self,
        site: &Site<'_>,
        setup: &Setup,
        asked: &Asked<'_>,
        mut task: Task,
    ) -> Result<(Ran, Report), Trouble> {
        let Words { node, own, format } = self.words(site, setup, asked)?;
        let files: Vec<String> = asked
            .files()
            .iter()
            .map(|file| site.seen_repo.join(file).display().to_string())
            .collect();
        if setup.framework == Framework::Mocha {
            task.variable("PROBITY_FILES", serde_json::json!(files).to_string());
        }
        if let Format::TapOfEach(_) = format {
            let program = self.program(setup.framework)?.display().to_string();
            let command = [vec![program], node, own].concat();
            let each = site.context.seen_kit().join("probity_each.cjs").display().to_string();
            task.arguments([each, serde_json::json!(command).to_string()]);
        } else {
            task.arguments([node, own].concat());
        }
        task.arguments(files);
        let (ran, text) = site.run_told(task)?;
        let report = format.read(site, setup, &text);
        Ok((ran, report))
    }
}

/// Says which test scripts are not started as they are written.
fn note_unclear_scripts(preparation: &mut Preparation<'_>) {
    let directories = preparation.directories_with("package.json");
    for directory in directories.into_iter().take(MOST_PACKAGES) {
        let setup = Setup::of(preparation.files, directory);
        let runs = setup.framework.words();
        let package = setup.directory.join("package.json");
        let words = &setup.invocation.left_out;
        let unclear = setup.unclear_script.or((!words.is_empty()).then(|| words.join(" ")));
        let Some(words) = unclear else { continue };
        let note = PrepareNote::UnclearScript { package, words, runs };
        if !preparation.notes.contains(&note) {
            preparation.notes.push(note);
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
        let is_script = |name: &str| ending(name).is_some();
        let directory = placement::directory(repo, claim, flagged, is_script)?;
        let setup = Setup::of(repo, &directory);
        let wanted = claim.test_file.as_deref().filter(|file| !file.is_empty());
        let tests = of_package(repo, &setup, std::slice::from_ref(&flagged.file));
        let bare = format!("zz_probity_{}", placement::plain(&claim.id));
        let ending = ending(wanted.unwrap_or(&flagged.file)).unwrap_or("js");
        let wanted_name = claim.test_name.clone().filter(|name| !name.is_empty());
        Ok(Placed {
            path: path_like(repo, &tests, &directory, wanted, &bare, ending),
            name: wanted_name.or_else(|| titles::only(&claim.test_code)).unwrap_or_default(),
            source: claim.test_code.clone(),
            added: None,
            directory: setup.directory,
            flagged: flagged.clone(),
        })
    }

    fn run(&self, site: &Site<'_>, placed: &Placed, _: &Built) -> Result<Trial, Trouble> {
        let setup = Setup::of(site.repo(), &directory_of(&placed.path));
        let (ran, report) = self.session(site, &setup, &Asked::Test(placed))?;
        Ok(Trial::told(site, &ran, &report, |test| {
            let (file, title) = test.name.split_once(SEPARATOR).unwrap_or_default();
            file == placed.path && titles::is_wanted(title, &placed.name)
        }))
    }

    /// The files of the tests; for vitest and jest the changed files, of which they know the tests.
    /// A file that mirrors a changed one has a group of its own, which comes first.
    fn groups(&self, site: &Site<'_>, wanted: Existing<'_>) -> Result<Groups, Trouble> {
        let repo = site.repo();
        let mut groups = Groups::default();
        let (names, touching) = match wanted {
            Existing::Touching(files) => (files, true),
            Existing::Named(names) => (names, false),
        };
        let mut packages: BTreeMap<PathBuf, (Setup, Vec<String>)> = BTreeMap::new();
        for name in names {
            let file = if touching { name } else { name.split(SEPARATOR).next().unwrap_or(name) };
            let setup = Setup::of(repo, &directory_of(file));
            let package = packages.entry(setup.directory.clone());
            package.or_insert_with(|| (setup, Vec::new())).1.push(file.to_owned());
        }
        for (directory, (setup, files)) in packages {
            if !touching || setup.framework.finds_related() {
                groups.tests.entry(directory).or_default().extend(files);
                continue;
            }
            let mut tests = of_package(repo, &setup, &files);
            tests.retain(|test| !files.contains(test));
            let tests = groups.nearest_files(tests, wanted, MOST_FILES);
            let mirrors = |test: &String| files.iter().any(|file| is_mirror(test, file));
            let (nearest, others): (BTreeSet<_>, BTreeSet<_>) =
                tests.into_iter().partition(mirrors);
            for file in nearest {
                groups.nearest.insert(PathBuf::from(&file));
                groups.tests.insert(PathBuf::from(&file), [file].into());
            }
            groups.tests.entry(directory).or_default().extend(others);
        }
        groups.tests.retain(|_, files| !files.is_empty());
        Ok(groups)
    }

    fn run_group(
        &self,
        site: &Site<'_>,
        place: &Path,
        files: &BTreeSet<String>,
        limit: Duration,
    ) -> Result<Suite, Box<Trial>> {
        let files: Vec<String> = files.iter().cloned().collect();
        // The place of a file that is nearest is that file.
        let is_file = files.iter().any(|file| Path::new(file) == place);
        let directory = if is_file { place.parent().unwrap_or(Path::new("")) } else { place };
        let setup = Setup::of(site.repo(), directory);
        let finds_related = setup.framework.finds_related();
        let is_test = |file: &String| is_test_file(setup.framework, Path::new(file));
        let related = finds_related && !files.iter().all(is_test);
        let asked = Asked::Files { files: &files, related, limit };
        let (ran, mut report) = self.session(site, &setup, &asked)?;
        if !report.left.is_empty() {
            // They are named below.
            report.without_end = None;
        }
        // Some reporters get no event if no test uses the changed files.
        let is_silent = report.tests.is_empty() && report.selected.is_none();
        let has_none = related && is_silent && ran.exit == Exit::Code(0);
        if has_none {
            report.without_end = None;
        }
        // Node tells of a file that has no test as if it were one.
        report.tests.retain(|test| {
            let (file, title) = test.name.split_once(SEPARATOR).unwrap_or_default();
            !(report.left.contains(file) && title.ends_with(file))
        });
        let mut suite = Suite::of("", place, &ran, &report, limit);
        for file in &report.left {
            let gap = Gap::NotRun { place: file.clone(), detail: RunDetail::EndedEarly };
            suite.lack(gap, is_file || files.len() == 1);
        }
        if !suite.is_cut && !report.has_ended && !has_none {
            let detail = report.without_end.filter(|detail| *detail != RunDetail::NoSuchTest);
            suite.stop(place, detail.unwrap_or(RunDetail::EndedEarly));
        }
        Ok(suite)
    }

    /// The name up to the first word with a digit, which may be another one in each run.
    fn function<'a>(&self, test: &'a str) -> &'a str {
        let titles = test.find(SEPARATOR).map_or(0, |at| at + SEPARATOR.len());
        let title = test.get(titles..).unwrap_or_default();
        let Some(digit) = title.find(|letter: char| letter.is_ascii_digit()) else { return test };
        let word = title.get(..digit).and_then(|before| before.rfind(' ')).map_or(0, |at| at + 1);
        test.get(..titles + word).unwrap_or(test)
    }

    fn empty_test(&self, repo: &HeldDirectory, placed: &Placed) -> Option<Placed> {
        let setup = Setup::of(repo, &directory_of(&placed.path));
        let (name, source) = ("starts".to_owned(), starts::source(repo, &setup, &placed.path));
        Some(Placed { name, source, ..placed.clone() })
    }
}

/// The ending of a file of code.
fn ending(path: &str) -> Option<&str> {
    path.rsplit_once('.').map(|(_, ending)| ending).filter(|ending| ENDINGS.contains(ending))
}

/// Whether the test's name is written in its source as it is.
fn is_whole(placed: &Placed) -> bool {
    let last = placed.name.rsplit(SEPARATOR).next().unwrap_or_default();
    placed.source.contains(last)
}
