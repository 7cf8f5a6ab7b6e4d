//! What a file asks of the builder itself, tried on real engines: requests, caches, memory.

use std::{
    fs,
    net::TcpListener,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use probity_image::{
    AddSource, Engine, EngineKind, Experiment, Level, Obstacle, Origin, Recipe, Subject, Verdict,
    Workbench,
};
use tempfile::TempDir;

use crate::{
    buildah::Buildah,
    corpus::engine_of,
    server::{IMAGE, Server},
    trial::options,
};

/// A server that counts who asks it, and hands out an empty file.
struct Bait {
    address: String,
    requests: Arc<AtomicUsize>,
}

impl Bait {
    fn new() -> Self {
        use std::io::{Read as _, Write as _};
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}/file", listener.local_addr().unwrap());
        let requests = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&requests);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                count.fetch_add(1, Ordering::SeqCst);
                if stream.read(&mut [0; 4096]).is_ok_and(|read| read > 0) {
                    // A client that goes away needs no answer.
                    stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").ok();
                }
            }
        });
        Self { address, requests }
    }

    fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }
}

#[test]
fn docker_fetches_nothing_for_a_closed_network() {
    let server = Server::docker();
    fetches_nothing(&engine_of(&server), IMAGE);
    triggers_fetch_nothing(&server);
}

#[test]
fn the_legacy_builder_fetches_nothing_for_a_closed_network() {
    let server = Server::docker_with("env DOCKER_BUILDKIT=0 /usr/bin/docker");
    fetches_nothing(&engine_of(&server), IMAGE);
}

#[test]
fn podman_fetches_nothing_for_a_closed_network() {
    fetches_nothing(&engine_of(&Server::podman()), IMAGE);
}

#[test]
fn buildah_fetches_nothing_for_a_closed_network() {
    let buildah = Buildah::new();
    let context = tempfile::tempdir().unwrap();
    fs::write(context.path().join("Dockerfile"), "FROM scratch\nCOPY Dockerfile /\n").unwrap();
    buildah.says(&["build", "--quiet", "-t", "base:1", context.path().to_str().unwrap()]);
    fetches_nothing(&Engine::with_program(EngineKind::Buildah, buildah.client()), "base:1");
}

/// The original and a proposal; and the same with an open network, where the server is asked.
fn fetches_nothing(engine: &Engine, base: &str) {
    let bait = Bait::new();
    let plain = recipe(&format!("FROM {base}\nENV A=1\n"), base);
    let fetching = Recipe {
        sources: vec![AddSource { line: 2, text: bait.address.clone(), origin: Origin::Remote }],
        ..recipe(&format!("FROM {base}\nADD {} /fetched\n", bait.address), base)
    };
    let context = tempfile::tempdir().unwrap();
    let refused = Obstacle::RemoteSource { line: 2, source: bait.address.clone() };
    for (original, proposal) in [(&fetching, &plain), (&plain, &fetching)] {
        let verdict = proof(engine, context.path(), [original, proposal], |_| {});
        assert_eq!(verdict.obstacle, Some(refused.clone()), "{verdict}");
        assert_eq!(verdict.level, Level::Static);
    }
    assert_eq!(bait.requests(), 0, "{}", engine.kind.name());
    let open = |options: &mut probity_image::Options| options.build.network = true;
    let verdict = proof(engine, context.path(), [&fetching, &plain], open);
    assert_eq!(verdict.level, Level::Build, "{verdict}");
    assert!(bait.requests() > 0, "{}: the server is not asked at all", engine.kind.name());
}

/// Those that a base image brings along.
fn triggers_fetch_nothing(server: &Server) {
    let bait = Bait::new();
    let context = tempfile::tempdir().unwrap();
    let trigger = format!("ADD {} /fetched", bait.address);
    build_own(server, context.path(), &format!("FROM {IMAGE}\nONBUILD {trigger}\n"), "trap:1");
    let trapped = recipe("FROM trap:1\nENV A=1\n", "trap:1");
    let verdict = proof(&engine_of(server), context.path(), [&trapped, &trapped], |_| {});
    let refused = Obstacle::Trigger { image: "trap:1".to_owned(), trigger };
    assert_eq!(verdict.obstacle, Some(refused), "{verdict}");
    assert_eq!(bait.requests(), 0);
}

#[test]
fn triggers_of_docker_images_mount_nothing_of_the_machine() {
    triggers_mount_nothing(&Server::docker());
}

/// Podman does not tell the triggers of an image.
#[test]
fn triggers_of_podman_images_mount_nothing_of_the_machine() {
    triggers_mount_nothing(&Server::podman());
}

/// A base image brings a bind mount through a link of the context, which buildah follows anywhere.
fn triggers_mount_nothing(server: &Server) {
    let (context, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::os::unix::fs::symlink(outside.path(), context.path().join("link")).unwrap();
    let trigger = "RUN --mount=type=bind,source=link,target=/y,rw touch /y/written";
    build_own(server, context.path(), &format!("FROM {IMAGE}\nONBUILD {trigger}\n"), "trap:1");
    let trapped = recipe("FROM trap:1\nENV A=1\n", "trap:1");
    for network in [false, true] {
        let open = |options: &mut probity_image::Options| options.build.network = network;
        let verdict = proof(&engine_of(server), context.path(), [&trapped, &trapped], open);
        let (image, trigger) = ("trap:1".to_owned(), trigger.to_owned());
        let refused = Obstacle::TriggerFlags { image, trigger };
        assert_eq!(verdict.obstacle, Some(refused), "{verdict}");
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
    }
}

#[test]
fn docker_proofs_have_cache_mounts_of_their_own() {
    let server = Server::docker();
    let listed = || {
        let words = ["system", "df", "-v", "--format", "{{range .BuildCache}}{{.ID}} {{end}}"];
        let mut ids: Vec<String> =
            server.says(&words).1.split_whitespace().map(str::to_owned).collect();
        ids.sort();
        ids
    };
    own_caches(&server, listed);
}

#[test]
fn podman_proofs_have_cache_mounts_of_their_own() {
    // Proofs of other tests come and go meanwhile; their directories have no cache of our id.
    let left = || {
        let entries = fs::read_dir("/var/tmp").unwrap().map(|entry| entry.unwrap().path());
        let is_ours = |path: &PathBuf| {
            path.to_string_lossy().contains("/probity-proof-") && has_below(path, &cache_id(), 3)
        };
        entries.filter(is_ours).map(|path| path.display().to_string()).collect()
    };
    own_caches(&Server::podman(), left);
}

/// Whether a name is there, at most so many levels down.
fn has_below(directory: &Path, name: &str, levels: usize) -> bool {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.into_iter().any(|entry| {
        entry.file_name() == name || (levels > 1 && has_below(&entry.path(), name, levels - 1))
    })
}

fn cache_id() -> String {
    format!("probity-test-{}", std::process::id())
}

/// Each build fails if it sees what another one left in the cache of the same id. The user's builds
/// see the user's alone, before and after.
fn own_caches(server: &Server, listed: impl Fn() -> Vec<String>) {
    let id = cache_id();
    let text = |command: &str, step: &str| {
        format!("FROM {IMAGE}\nRUN --mount=type=cache,id={id},target=/c {command} && : {step}\n")
    };
    let context = tempfile::tempdir().unwrap();
    build_own(server, context.path(), &text("touch /c/user", "first"), "user:1");
    let before = listed();
    let empty = |step: &str| recipe(&text("[ -z \"$(ls /c)\" ] && touch /c/poison", step), IMAGE);
    let (original, proposal) = (empty("original"), empty("proposal"));
    let verdict = proof(&engine_of(server), context.path(), [&original, &proposal], |_| {});
    assert_eq!((verdict.level, verdict.is_harmless()), (Level::Build, true), "{verdict}");
    assert_eq!(listed(), before, "the proof leaves its caches, or takes those of the user");
    build_own(server, context.path(), &text("[ \"$(ls /c)\" = user ]", "second"), "user:2");
    if server.client.ends_with("podman") {
        // Shared by all on this machine: buildah has it in one directory.
        fs::remove_dir_all(Path::new("/var/tmp/buildah-cache").join(&id)).unwrap();
    }
}

/// Files in memory, which belong to no process, and memory of a process.
#[test]
fn docker_builds_end_at_their_memory_limit() {
    let server = Server::docker();
    let file = "RUN --mount=type=tmpfs,target=/m head -c 400000000 /dev/zero > /m/x && sleep 30";
    let shell = "RUN x=0123456789; while [ ${#x} -lt 300000000 ]; do x=$x$x; done; sleep 30";
    for step in [file, shell] {
        eats_memory(&engine_of(&server), step);
    }
}

#[test]
fn podman_builds_end_at_their_memory_limit() {
    let shell = "RUN x=0123456789; while [ ${#x} -lt 300000000 ]; do x=$x$x; done; sleep 30";
    eats_memory(&engine_of(&Server::podman()), shell);
}

fn eats_memory(engine: &Engine, step: &str) {
    const LIMIT: u64 = 100 << 20;
    let context = tempfile::tempdir().unwrap();
    let eating = recipe(&format!("FROM {IMAGE}\n{step}\n"), IMAGE);
    let started = Instant::now();
    let limit = |options: &mut probity_image::Options| options.build.memory = LIMIT;
    let verdict = proof(engine, context.path(), [&eating, &eating], limit);
    let is_ended = match &verdict.obstacle {
        Some(Obstacle::MemoryLimit { limit }) => *limit == LIMIT,
        // The kernel was there first, by the limit that this builder obeys.
        Some(Obstacle::OriginalFails { .. }) => engine.kind == EngineKind::Podman,
        _ => false,
    };
    assert!(is_ended, "{verdict}");
    assert!(started.elapsed() < Duration::from_secs(30), "the step ended by itself");
}

/// A client with the plugin, whose user has chosen a builder that asks registries.
#[test]
fn buildx_builds_in_the_daemon_and_runs_no_git() {
    let place = tempfile::tempdir().unwrap();
    let engine = scripted(
        &place,
        "case \"$1 $2\" in\n'version --format') echo 28.2.2;;\n'buildx version') ;;\n\
         'context show') echo mine;;\n'image inspect') exit 1;;\nbuild*) env > \"$here/env\"; exit 1;;\n\
         *) exit 1;;\nesac\n",
    );
    let scratch = Recipe { text: "FROM scratch\n".to_owned(), ..Recipe::default() };
    let verdict = proof(&engine, place.path(), [&scratch, &scratch], |_| {});
    assert!(matches!(verdict.obstacle, Some(Obstacle::OriginalFails { .. })), "{verdict}");
    let seen = fs::read_to_string(place.path().join("env")).unwrap();
    let of = |name: &str| seen.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
    assert_eq!(of("BUILDX_BUILDER"), Some("mine"), "{seen}");
    assert_eq!(of("BUILDX_GIT_INFO"), Some("false"), "{seen}");
}

fn scripted(place: &TempDir, script: &str) -> Engine {
    let client = place.path().join("docker");
    let here = place.path().display();
    fs::write(&client, format!("#!/bin/sh\nhere={here}\n{script}")).unwrap();
    fs::set_permissions(&client, fs::Permissions::from_mode(0o755)).unwrap();
    Engine::with_program(EngineKind::Docker, client)
}

fn recipe(text: &str, base: &str) -> Recipe {
    let images = vec![base.to_owned()];
    Recipe { text: text.to_owned(), images, base: Some(base.to_owned()), ..Recipe::default() }
}

fn build_own(server: &Server, context: &Path, text: &str, tag: &str) {
    fs::write(context.join("Dockerfile"), text).unwrap();
    let built = Command::new(&server.client)
        .args(["build", "--network=none", "-t", tag, context.to_str().unwrap()])
        .env("DOCKER_BUILDKIT", "1")
        // Podman's own format has no triggers.
        .env("BUILDAH_FORMAT", "docker")
        .output()
        .unwrap();
    assert!(built.status.success(), "{built:?}");
}

/// Of the second as a proposal for the first.
fn proof(
    engine: &Engine,
    context: &Path,
    [original, proposal]: [&Recipe; 2],
    change: impl FnOnce(&mut probity_image::Options),
) -> Verdict {
    let subject = |recipe: &Recipe| Subject::Dockerfile(recipe.clone());
    let mut options = options(context, Level::Build);
    change(&mut options);
    let bench = Workbench::new(engine.clone()).unwrap();
    let mut experiment =
        Experiment::prepare(bench, &subject(original), options, &|| false).unwrap();
    let verdict = experiment.try_proposal(&subject(proposal), &[], &|| false).unwrap();
    // A client that is a script has nothing to remove.
    experiment.finish().ok();
    verdict
}
