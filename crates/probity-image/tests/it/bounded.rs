//! Proofs leave the disk as it was: they have added nothing to the engine's cache and layers.

use std::{
    collections::BTreeSet, fs, os::unix::fs::PermissionsExt as _, path::Path, process::Command,
};

use probity_image::{Engine, EngineKind, Experiment, Level, Recipe, Subject, Workbench};

use crate::{
    corpus::engine_of,
    server::{IMAGE, Server},
    trial::options,
    whole_corpus::is_whole,
};

/// What one proof leaves shows at once, and what two leave together after the second;
/// `script/nightly` tries ten.
fn proof_count() -> usize {
    if is_whole() { 10 } else { 2 }
}

#[test]
fn docker_proofs_leave_no_cache() {
    let server = Server::docker();
    bounded(&server, &server.place.path().join("data/overlay2"));
}

#[test]
fn podman_proofs_leave_no_layer() {
    let server = Server::podman();
    bounded(&server, &server.place.path().join("root/overlay"));
}

fn bounded(server: &Server, layers: &Path) {
    let engine = engine_of(server);
    let context = tempfile::tempdir().unwrap();
    fs::write(context.path().join("file"), "x").unwrap();
    // The user's own cache: a proof uses it, and it stays.
    let own = build_own(server, context.path());
    let before = kept(server, layers);
    let mut most = 0;
    for number in 0..proof_count() {
        let proposal = format!("{own}RUN touch /proposal-{number}\nCOPY file /also-{number}\n");
        let original = format!("{own}RUN touch /original-{number}\n");
        let during =
            proof(&engine, context.path(), &original, &proposal, || kept(server, layers).len());
        most = most.max(during);
    }
    assert!(most > before.len(), "a proof does build something");
    let after = kept(server, layers);
    assert!(before.is_subset(&after), "the user's is gone: {:?}", before.difference(&after));
    assert_eq!(after, before);
}

/// Without the list from before a build, everything in the list from after it would look like ours.
#[test]
fn a_cache_that_cannot_be_listed_is_left_alone() {
    let server = Server::docker();
    let context = tempfile::tempdir().unwrap();
    fs::write(context.path().join("file"), "x").unwrap();
    let own = build_own(&server, context.path());
    // Nothing but the cache has it now.
    assert!(server.says(&["rmi", "user:1"]).0);
    let layers = server.place.path().join("data/overlay2");
    let before = kept(&server, &layers);
    let place = tempfile::tempdir().unwrap();
    let client = place.path().join("docker");
    let script = format!(
        "#!/bin/sh\nif [ \"$1\" = system ] && mkdir '{}/refused' 2>/dev/null; then exit 1; fi\n\
         exec {} \"$@\"\n",
        place.path().display(),
        server.client.display()
    );
    fs::write(&client, script).unwrap();
    fs::set_permissions(&client, fs::Permissions::from_mode(0o755)).unwrap();
    let engine = Engine::with_program(EngineKind::Docker, client);
    proof(&engine, context.path(), &own, &format!("{own}RUN touch /new\n"), || 0);
    assert!(place.path().join("refused").exists(), "the list was asked for");
    let after = kept(&server, &layers);
    assert!(before.is_subset(&after), "the user's is gone: {:?}", before.difference(&after));
}

fn build_own(server: &Server, context: &Path) -> String {
    let own = format!("FROM {IMAGE}\nCOPY file /own\nRUN touch /mine\n");
    fs::write(context.join("Dockerfile"), &own).unwrap();
    let built = Command::new(&server.client)
        .args(["build", "--network=none", "-t", "user:1", context.to_str().unwrap()])
        .env("DOCKER_BUILDKIT", "1")
        .output()
        .unwrap();
    assert!(built.status.success(), "{built:?}");
    own
}

/// Returns what `look` sees before everything is removed.
fn proof(
    engine: &Engine,
    context: &Path,
    original: &str,
    proposal: &str,
    look: impl Fn() -> usize,
) -> usize {
    let subject = |text: &str| {
        let images = vec![IMAGE.to_owned()];
        let base = Some(IMAGE.to_owned());
        Subject::Dockerfile(Recipe { text: text.to_owned(), images, base, ..Recipe::default() })
    };
    let options = options(context, Level::Build);
    let bench = Workbench::new(engine.clone()).unwrap();
    let mut experiment =
        Experiment::prepare(bench, &subject(original), options, &|| false).unwrap();
    let verdict = experiment.try_proposal(&subject(proposal), &[], &|| false).unwrap();
    assert_eq!(verdict.level, Level::Build, "{verdict}");
    let seen = look();
    experiment.finish().unwrap();
    seen
}

/// Images and layers by id, entries of the builder's cache, and directories with files of layers.
fn kept(server: &Server, layers: &Path) -> BTreeSet<String> {
    let mut all: BTreeSet<String> = BTreeSet::new();
    let cache = ["system", "df", "-v", "--format", "{{range .BuildCache}}{{.ID}} {{end}}"];
    let listed = if server.client.ends_with("docker") {
        server.says(&cache).1
    } else {
        server.says(&["ps", "-aq", "--external"]).1
    };
    all.extend(listed.split_whitespace().map(|id| format!("cache {id}")));
    let images = server.says(&["images", "-aq", "--no-trunc"]).1;
    all.extend(images.lines().map(|id| format!("image {id}")));
    let directories = fs::read_dir(layers).unwrap().map(|entry| entry.unwrap().file_name());
    all.extend(directories.map(|name| format!("layer {}", name.display())));
    all
}
