//! A build goes on if somebody else removes a layer that it took from the cache.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use probity_image::{Engine, EngineKind, Experiment, Level, Recipe, Subject, Workbench};

use crate::{
    server::{IMAGE, Server},
    trial::options,
};

/// Long enough to copy that the layer below is gone before the copy ends.
const BIG: u64 = 150_000_000;

#[test]
fn the_legacy_builder_builds_again() {
    let server = Server::docker_with("env DOCKER_BUILDKIT=0 /usr/bin/docker");
    let context = tempfile::tempdir().unwrap();
    fs::write(context.path().join("file"), "text").unwrap();
    fs::File::create(context.path().join("big")).unwrap().set_len(BIG).unwrap();
    // The layer of somebody else, without a tag.
    let cached = tempfile::tempdir().unwrap();
    let other = cached.path().join("Dockerfile");
    fs::write(&other, format!("FROM {IMAGE}\nCOPY file /file\n")).unwrap();
    let paths = [&*other, context.path()].map(|path| path.display().to_string());
    assert!(server.says(&["build", "--network=none", "-f", &paths[0], &paths[1]]).0);

    let client = thief(cached.path(), &server.client);
    let images = vec![IMAGE.to_owned()];
    let text = format!("FROM {IMAGE}\nCOPY file /file\nCOPY big /big\nCMD [\"true\"]\n");
    let recipe = Recipe { text, images, base: Some(IMAGE.to_owned()), ..Recipe::default() };
    let options = options(context.path(), Level::Build);
    let bench = Workbench::new(Engine::with_program(EngineKind::Docker, client)).unwrap();
    let subject = Subject::Dockerfile(recipe);
    let mut experiment = Experiment::prepare(bench, &subject, options, &|| false).unwrap();
    let verdict = experiment.try_proposal(&subject, &[], &|| false).unwrap();
    experiment.finish().unwrap();
    assert!(cached.path().join("removed").exists(), "no layer came from the cache");
    assert_eq!((verdict.level, verdict.differences.len()), (Level::Build, 0), "{verdict}");
}

/// A client that removes the first layer that a build takes from the cache, once.
fn thief(directory: &Path, client: &Path) -> PathBuf {
    let path = directory.join("docker");
    let script = format!(
        r#"#!/bin/bash
set -o pipefail
[ "$1" = build ] && [ ! -e {removed} ] || exec {client} "$@"
{client} "$@" | while IFS= read -r line; do
    printf '%s\n' "$line"
    case $line in
    *'Using cache') read -r arrow id; printf ' %s %s\n' "$arrow" "$id"
        {client} rmi -f "$id" && touch {removed} ;;
    esac
done
"#,
        client = client.display(),
        removed = directory.join("removed").display(),
    );
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}
