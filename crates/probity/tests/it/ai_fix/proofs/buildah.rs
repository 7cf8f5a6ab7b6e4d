//! Proofs on a machine that has buildah, and neither docker nor podman.

use std::os::unix::fs::symlink;

use super::*;

#[path = "../../../../../probity-image/tests/it/buildah.rs"]
pub(super) mod client;

use client::Buildah;

/// An image with nothing but busybox, under the name that the other engines have it.
pub(super) fn import(buildah: &Buildah) {
    let place = directory(&[("Dockerfile", "FROM scratch\nCOPY bin /bin\nCOPY tmp /tmp\n")]);
    fs::create_dir(place.path().join("tmp")).unwrap();
    let bin = place.path().join("bin");
    fs::create_dir(&bin).unwrap();
    fs::copy("/usr/bin/busybox", bin.join("busybox")).unwrap();
    for name in ["sh", "cat", "mkdir", "sleep", "rm"] {
        symlink("busybox", bin.join(name)).unwrap();
    }
    buildah.says(&["build", "-q", "-t", IMAGE, place.path().to_str().unwrap()]);
}

fn left(buildah: &Buildah) -> (String, Vec<String>) {
    let mut images = buildah.images();
    images.sort_unstable();
    (buildah.containers(), images)
}

#[test]
fn buildah_alone_proves_ai_fixes_by_building() {
    let buildah = Buildah::new();
    import(&buildah);
    images(|words| !buildah.says(words).is_empty() || words[0] == "tag");
    let client = buildah.client();
    // Nothing else is on it: docker and podman are hidden.
    let path = client.parent().unwrap().to_str().unwrap();
    let before = left(&buildah);
    let (good, harmful) = (two_stages("debian:12-slim"), two_stages("debian:11-slim"));

    // `auto` is `build`: what the text cannot see goes back to the agent.
    let stage = self::stage(&[patch(ONE_STAGE, &harmful), patch(&harmful, &good)]);
    let output = with_path(path, stage.path(), stage.fix(MULTI_STAGE)).run().code(0);
    let found = outcome(&output);
    assert_eq!(found["outcome"], "applied", "{found} {}", output.stderr);
    assert_eq!(found["session"]["rounds"], 2, "{found}");
    assert_eq!(found["proof"]["level"], "build", "{found}");
    assert_eq!(found["proof"]["differences"], json!([]));
    assert!(!found.to_string().contains("cannot start"), "nobody asked for a start: {found}");
    assert_eq!(stage.text(), good);

    // A harmful proposal alone changes nothing.
    let stage = self::stage(&[patch(ONE_STAGE, &harmful), "NO_CHANGE".to_owned()]);
    let output = with_path(path, stage.path(), stage.fix(MULTI_STAGE)).run().code(1);
    assert!(output.stdout.contains("image/libraries"), "{}", output.stdout);
    assert_eq!(stage.text(), ONE_STAGE);

    // A start that was asked for is missing, and the report says why.
    for (required, is_applied) in [("build", true), ("run", false)] {
        let stage = self::stage(&[patch(ONE_STAGE, &good)]);
        let run = stage.fix(MULTI_STAGE).args(["--prove", "run"]);
        let run = with_path(path, stage.path(), run).env("PROBITY_AI__PROOF_REQUIRED", required);
        let found = outcome(&run.run());
        assert_eq!(found["outcome"] == "applied", is_applied, "{found}");
        assert!(found.to_string().contains("buildah cannot start images"), "{found}");
    }
    assert_eq!(left(&buildah), before, "no container, image or layer is left");
}
