//! Good and harmful changes of Dockerfiles, tried on real engines: one test an engine, since its
//! start is what takes the time.
//!
//! A case is one file below `tests/it/corpus`: `# harmful CHECK` or `# good` first, then parts that
//! begin with `=== NAME`: `before`, `after`, and the files of the context. `NAME +x` is executable,
//! and `NAME c`, `NAME c-static`, `NAME go` and `NAME java` are compiled for the test.
//!
//! The cases below `corpus/blind` and `corpus/blind-second` were written without knowledge of the
//! checks, and name none.
//!
//! By default docker tries a harmful case of each check and five good ones, and podman and buildah those
//! that `HANDFUL` names. `script/nightly` tries all cases on every engine and counts each part apart.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use probity_image::{Engine, EngineKind, Experiment, Level, Recipe, Subject, Verdict, Workbench};
use probity_sandbox::BackendKind;

use crate::{bases, buildah::Buildah, server::Server, trial::options, whole_corpus::is_whole};

#[test]
fn docker_accepts_the_good_and_refuses_the_harmful() {
    judge_all(&engine_of(&Server::docker()), Sample::EachCheck);
}

#[test]
fn the_legacy_builder_accepts_the_good_and_refuses_the_harmful() {
    let server = Server::docker_with("env DOCKER_BUILDKIT=0 /usr/bin/docker");
    judge_all(&engine_of(&server), Sample::Handful);
}

#[test]
fn podman_accepts_the_good_and_refuses_the_harmful() {
    judge_all(&engine_of(&Server::podman()), Sample::Handful);
}

/// Without starts: a case that only they refuse is not in this sample.
#[test]
fn buildah_accepts_the_good_and_refuses_the_harmful() {
    let buildah = Buildah::new();
    judge_all(&Engine::with_program(EngineKind::Buildah, buildah.client()), Sample::Handful);
    assert_eq!(buildah.containers(), "");
    // Those of the bases alone are left: no layer either.
    let images = buildah.images();
    assert!(!images.is_empty() && images.iter().all(|tag| tag.contains("base/")), "{images:?}");
}

/// The cases that an engine tries by default.
#[derive(Clone, Copy)]
enum Sample {
    EachCheck,
    Handful,
}

/// What differs between engines: builds that fail, links and rights in layers, health checks, starts.
/// They need two bases, each of which has to be imported first.
const HANDFUL: [&str; 4] =
    ["bad-build-fails", "bad-c-library-lost", "good-entry-script", "good-health"];

struct Case {
    name: String,
    expected: Expected,
    part: &'static str,
    parts: BTreeMap<String, String>,
}

/// The directories below `tests/it/corpus`, and the cases that are in none of them.
const PARTS: [&str; 3] = [OWN, "blind", "blind-second"];
const OWN: &str = "own";

enum Expected {
    Accepted,
    Refused,
    RefusedBy(String),
}

/// A few at a time, since the containers mostly wait. Podman and buildah have no daemon that would
/// order the removals of one proof and the look-ups of another.
fn at_once(engine: &Engine) -> usize {
    if engine.kind == EngineKind::Docker { 3 } else { 1 }
}

/// `PROBITY_IMAGE_CASE=NAME` tries only cases whose name contains that.
#[expect(clippy::print_stdout, reason = "script/nightly shows the counts")]
fn judge_all(engine: &Engine, sample: Sample) {
    let mut cases: Vec<Case> = cases();
    cases.retain(|case| engine.kind.highest_level() == Level::Run || !case.needs_start());
    let named = std::env::var("PROBITY_IMAGE_CASE").ok();
    cases.retain(|case| match &named {
        Some(part) => case.name.contains(part),
        None => is_whole() || case.is_in(sample),
    });
    let bases: BTreeSet<String> = cases
        .iter()
        .flat_map(|case| {
            recipe(&case.parts["before"])
                .images
                .into_iter()
                .chain(recipe(&case.parts["after"]).images)
        })
        .collect();
    bases::import(engine.kind, &engine.program, &bases);
    let faults: Vec<String> = std::thread::scope(|threads| {
        let share = |number: usize| {
            let cases = &cases;
            threads.spawn(move || {
                let own = cases.iter().skip(number).step_by(at_once(engine));
                own.filter_map(|case| fault(case, engine)).collect::<Vec<_>>()
            })
        };
        let shares: Vec<_> = (0..at_once(engine)).map(share).collect();
        shares.into_iter().flat_map(|share| share.join().unwrap()).collect()
    });
    for part in PARTS {
        let of_part = |is_good: bool| {
            cases.iter().filter(move |case| case.part == part && case.is_good() == is_good)
        };
        let wrong = |is_good: bool| {
            let is_fault = |case: &&Case| {
                faults.iter().any(|fault| fault.starts_with(&format!("{}: ", case.name)))
            };
            of_part(is_good).filter(is_fault).count()
        };
        println!(
            "{part}: {} good, {} not accepted; {} harmful, {} not refused as expected",
            of_part(true).count(),
            wrong(true),
            of_part(false).count(),
            wrong(false),
        );
    }
    let good = cases.iter().filter(|case| case.is_good()).count();
    // A file that nothing names may be for those who start the image with its path: one good case in
    // twenty may be refused. No harmful one may pass, and the sample has no exceptions.
    let (refused, others): (Vec<_>, Vec<_>) =
        faults.into_iter().partition(|fault| fault.contains("blind") && fault.contains("-good-"));
    assert!(others.is_empty(), "{}", others.join("\n"));
    println!("{}", refused.join("\n"));
    let most_refused = if is_whole() { good / 20 } else { 0 };
    assert!(refused.len() <= most_refused, "{}", refused.join("\n"));
    let least = match sample {
        _ if named.is_some() => 0,
        // One harmful case is refused by its start alone, which buildah cannot try.
        Sample::Handful if !is_whole() => 2,
        _ if !is_whole() => 5,
        _ => 10,
    };
    assert!(good >= least && cases.len() - good >= least, "the corpus is smaller than promised");
    // Nothing with a label is left. A layer that two proofs share at once may stay in the cache of a
    // builder without BuildKit: each of them takes it for the other's.
    let labelled = ["images", "-aq", "--filter", "label=probity.proof"];
    let lists: &[&[&str]] = match engine.kind {
        EngineKind::Buildah => &[&labelled],
        _ => &[&["ps", "-aq"], &labelled, &["volume", "ls", "-q"]],
    };
    for list in lists {
        let listed = Command::new(&engine.program).args(*list).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&listed.stdout).trim(), "", "{list:?}");
    }
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
    let is_right = match &case.expected {
        Expected::RefusedBy(check) => refused.contains(&check.as_str()),
        Expected::Refused => !refused.is_empty(),
        Expected::Accepted => refused.is_empty() && verdict.level == engine.kind.highest_level(),
    };
    (!is_right).then(|| format!("{}: {verdict}: {:?}", case.name, verdict.differences))
}

fn verdict(case: &Case, engine: &Engine) -> Verdict {
    let context = context(case);
    let mut options = options(context.path(), engine.kind.highest_level());
    options.start.watched = Duration::from_secs(2);
    let bench = Workbench::new(engine.clone()).unwrap();
    let before = Subject::Dockerfile(recipe(&case.parts["before"]));
    let after = Subject::Dockerfile(recipe(&case.parts["after"]));
    let mut experiment = Experiment::prepare(bench, &before, options, &|| false).unwrap();
    let verdict = experiment.try_proposal(&after, &[], &|| false).unwrap();
    experiment.finish().unwrap();
    verdict
}

pub(crate) fn engine_of(server: &Server) -> Engine {
    let kind = match server.kind {
        BackendKind::Docker => EngineKind::Docker,
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
    Recipe { text: text.to_owned(), images, base, ..Recipe::default() }
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
            "go" => compile_go(&path, text),
            "java" => compile_java(&path, text),
            "c-library" => compile(&path, text, &["-shared", "-fPIC", "-Wl,-soname,libgreet.so"]),
            _ => fs::write(&path, text).unwrap(),
        }
        let is_program = flag == "+x" || flag == "go" || flag.starts_with('c');
        let mode = if is_program { 0o755 } else { 0o644 };
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

fn compile_go(path: &Path, text: &str) {
    let tools = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools");
    let source = path.with_extension("source.go");
    fs::write(&source, text).unwrap();
    let go = tools.join("python/bin/go").canonicalize().unwrap();
    let built = Command::new(go)
        .args(["build", "-o"])
        .args([path, &source])
        .envs([("CGO_ENABLED", "0"), ("GO111MODULE", "off"), ("GOFLAGS", "")])
        .env("GOCACHE", tools.canonicalize().unwrap().join("go-cache"))
        .status();
    assert!(built.unwrap().success());
    fs::remove_file(source).unwrap();
}

/// Leaves the classes beside the source, which is removed.
fn compile_java(path: &Path, text: &str) {
    let source = path.with_extension("java");
    fs::write(&source, text).unwrap();
    let above = path.parent().unwrap();
    let built = Command::new("javac").arg("-d").args([above, &source]).status();
    assert!(built.unwrap().success());
    fs::remove_file(source).unwrap();
}

fn cases() -> Vec<Case> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/corpus");
    let files =
        |directory: &Path| fs::read_dir(directory).unwrap().map(|file| file.unwrap().path());
    let mut cases = Vec::new();
    for part in PARTS {
        let below = if part == OWN { directory.clone() } else { directory.join(part) };
        let mut paths: Vec<PathBuf> = files(&below).collect();
        paths.retain(|path| path.extension().is_some_and(|ending| ending == "case"));
        paths.sort();
        cases.extend(paths.iter().map(|path| Case::read(path, part)));
    }
    cases
}

impl Case {
    fn read(path: &Path, part: &'static str) -> Self {
        let text = fs::read_to_string(path).unwrap();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let mut parts = text.split("\n=== ");
        let head = parts.next().unwrap().trim();
        let first = head.lines().next().unwrap_or_default();
        let expected = match first.split_whitespace().collect::<Vec<_>>()[..] {
            ["#", "good", ..] => Expected::Accepted,
            ["#", "harmful", check] => Expected::RefusedBy(check.to_owned()),
            ["#", "harmful"] => Expected::Refused,
            _ => panic!("{name} does not say what it is: {head}"),
        };
        let name = if part == OWN { name } else { format!("{part}-{name}") };
        let parts = parts.map(|part| {
            let (name, text) = part.split_once('\n').unwrap_or((part, ""));
            let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
            (name.to_owned(), format!("{text}{end}"))
        });
        Self { name, expected, part, parts: parts.collect() }
    }

    fn is_good(&self) -> bool {
        matches!(self.expected, Expected::Accepted)
    }

    fn needs_start(&self) -> bool {
        matches!(&self.expected, Expected::RefusedBy(check) if check == "image/start")
    }

    /// The others are tried by `script/nightly`.
    fn is_in(&self, sample: Sample) -> bool {
        match sample {
            Sample::EachCheck => self.part == OWN && !self.name.starts_with("nightly-"),
            Sample::Handful => HANDFUL.contains(&self.name.as_str()),
        }
    }
}
