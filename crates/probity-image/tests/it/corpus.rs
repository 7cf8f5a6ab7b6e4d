//! Good and harmful changes of Dockerfiles, tried on real engines: one test an engine, since its
//! start is what takes the time.
//!
//! A case is one file below `tests/it/corpus`: `# harmful CHECK` or `# good` first, then parts that
//! begin with `=== NAME`: `before`, `after`, and the files of the context. `NAME +x` is executable,
//! and `NAME c` or `NAME c-static` is C that is compiled for the test.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use probity_image::{
    BuildOptions, Engine, EngineKind, Experiment, Level, Options, Recipe, StartOptions, Subject,
    Verdict, Workbench,
};
use probity_sandbox::Kind;

use crate::{bases, server::Server};

#[test]
fn docker_accepts_the_good_and_refuses_the_harmful() {
    judge_all(&Server::docker());
}

#[test]
fn podman_accepts_the_good_and_refuses_the_harmful() {
    judge_all(&Server::podman());
}

struct Case {
    name: String,
    /// The check that has to refuse it, for a harmful one.
    harmful: Option<String>,
    parts: BTreeMap<String, String>,
}

/// A few at a time: the containers mostly wait.
const AT_ONCE: usize = 3;

fn judge_all(server: &Server) {
    let every = std::env::var_os("PROBITY_WHOLE_CORPUS").is_some();
    let cases: Vec<Case> = cases().into_iter().filter(|case| every || case.is_sampled()).collect();
    let bases: BTreeSet<String> = cases
        .iter()
        .flat_map(|case| {
            recipe(&case.parts["before"])
                .images
                .into_iter()
                .chain(recipe(&case.parts["after"]).images)
        })
        .collect();
    bases::import(server, &bases);
    let engine = engine_of(server);
    let faults: Vec<String> = std::thread::scope(|threads| {
        let share = |number: usize| {
            let (cases, engine) = (&cases, &engine);
            threads.spawn(move || {
                let own = cases.iter().skip(number).step_by(AT_ONCE);
                own.filter_map(|case| fault(case, engine)).collect::<Vec<_>>()
            })
        };
        let shares: Vec<_> = (0..AT_ONCE).map(share).collect();
        shares.into_iter().flat_map(|share| share.join().unwrap()).collect()
    });
    let harmful = cases.iter().filter(|case| case.harmful.is_some()).count();
    assert_eq!(faults, [] as [String; 0]);
    assert!(harmful >= 10 && cases.len() - harmful >= 10, "the corpus is smaller than promised");
    // Nothing with a label is left. A layer that two proofs share at once may stay in the cache of a
    // builder without BuildKit: each of them takes it for the other's.
    assert_eq!(server.says(&["ps", "-aq"]).1, "");
    assert_eq!(server.says(&["images", "-aq", "--filter", "label=probity.proof"]).1, "");
    assert_eq!(server.says(&["volume", "ls", "-q"]).1, "");
}

/// What is wrong with the verdict about a case.
fn fault(case: &Case, engine: &Engine) -> Option<String> {
    let verdict = verdict(case, engine);
    let refused: Vec<&str> = verdict
        .differences
        .iter()
        .filter(|difference| difference.is_harmful())
        .map(|difference| difference.check())
        .collect();
    let is_right = match &case.harmful {
        Some(check) => refused.contains(&check.as_str()),
        None => refused.is_empty() && verdict.level == Level::Run,
    };
    (!is_right).then(|| format!("{}: {verdict}: {:?}", case.name, verdict.differences))
}

fn verdict(case: &Case, engine: &Engine) -> Verdict {
    let context = context(case);
    let options = Options {
        level: Level::Run,
        build: BuildOptions {
            context: context.path().to_owned(),
            ignore_file: None,
            arguments: Vec::new(),
            target: None,
            network: false,
            pull: false,
            timeout: Duration::from_secs(120),
        },
        start: StartOptions { watched: Duration::from_secs(2), command: Vec::new() },
    };
    let bench = Workbench::new(engine.clone()).unwrap();
    let before = Subject::Dockerfile(recipe(&case.parts["before"]));
    let after = Subject::Dockerfile(recipe(&case.parts["after"]));
    let mut experiment = Experiment::prepare(bench, &before, options, &|| false).unwrap();
    let verdict = experiment.try_proposal(&after, &[], &|| false).unwrap();
    experiment.finish().unwrap();
    verdict
}

fn engine_of(server: &Server) -> Engine {
    let kind = match server.kind {
        Kind::Docker => EngineKind::Docker,
        _ => EngineKind::Podman,
    };
    Engine::with_program(kind, server.client.clone())
}

/// Enough of a Dockerfile for these cases.
fn recipe(text: &str) -> Recipe {
    let mut stages: Vec<(String, String)> = Vec::new();
    for line in text.lines().filter_map(|line| line.strip_prefix("FROM ")) {
        let words: Vec<&str> = line.split(' ').collect();
        stages.push((words[0].to_owned(), words.get(2).copied().unwrap_or_default().to_owned()));
    }
    let is_stage = |image: &String| stages.iter().any(|(_, name)| name == image);
    let images: Vec<String> = stages
        .iter()
        .map(|(image, _)| image.clone())
        .filter(|image| !is_stage(image) && image != "scratch")
        .collect();
    let base = stages.last().map(|(image, _)| image.clone()).filter(|image| images.contains(image));
    Recipe { text: text.to_owned(), images, base, frontend: None }
}

fn context(case: &Case) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let is_file = |name: &str| !["before", "after"].contains(&name);
    let mut files: Vec<_> = case.parts.iter().filter(|(name, _)| is_file(name)).collect();
    // What others are linked with comes first.
    files.sort_by_key(|(name, _)| !name.ends_with("c-library"));
    for (name, text) in files {
        let (name, flag) = name.split_once(' ').unwrap_or((name, ""));
        let path = directory.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        match flag {
            "c" => compile(&path, text, &[]),
            "c-static" => compile(&path, text, &["-static"]),
            "c-library" => compile(&path, text, &["-shared", "-fPIC", "-Wl,-soname,libgreet.so"]),
            _ => fs::write(&path, text).unwrap(),
        }
        let mode = if flag == "+x" || flag.starts_with('c') { 0o755 } else { 0o644 };
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        // Files of a context are older than what a build makes of them.
        let hour = std::time::SystemTime::now() - Duration::from_secs(3600);
        fs::File::open(&path).unwrap().set_modified(hour).unwrap();
    }
    directory
}

fn compile(path: &Path, text: &str, options: &[&str]) {
    let source: PathBuf = path.with_extension("source.c");
    fs::write(&source, text).unwrap();
    let above = path.parent().unwrap();
    let library = above.join("libgreet.so");
    let mut command = Command::new("gcc");
    command.arg("-o").arg(path).arg(&source).args(options);
    if library.exists() && options.is_empty() {
        command.arg(library);
    }
    assert!(command.status().unwrap().success());
    fs::remove_file(source).unwrap();
}

fn cases() -> Vec<Case> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/corpus");
    let mut paths: Vec<PathBuf> =
        fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| Case::read(path)).collect()
}

impl Case {
    fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).unwrap();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let mut parts = text.split("=== ");
        let head = parts.next().unwrap().trim();
        let harmful = match head.split_whitespace().collect::<Vec<_>>()[..] {
            ["#", "good", ..] => None,
            ["#", "harmful", check, ..] => Some(check.to_owned()),
            _ => panic!("{name} does not say what it is: {head}"),
        };
        let parts = parts.map(|part| {
            let (name, text) = part.split_once('\n').unwrap();
            (name.to_owned(), text.to_owned())
        });
        Self { name, harmful, parts: parts.collect() }
    }

    /// The others are tried by `script/nightly`.
    fn is_sampled(&self) -> bool {
        !self.name.starts_with("nightly-")
    }
}
