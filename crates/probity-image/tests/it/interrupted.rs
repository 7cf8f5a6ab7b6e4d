//! A build that is cancelled or takes too long leaves nothing: no container of a stage, no image, no
//! layer, no process.

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use probity_image::{Experiment, ImageError, Level, Recipe, Subject, Workbench};

use crate::{
    corpus::engine_of,
    server::{IMAGE, Server},
    trial::options,
};

#[test]
fn a_cancelled_podman_build_leaves_nothing() {
    cancelled(&Server::podman(), "4711");
}

#[test]
fn a_cancelled_docker_build_leaves_nothing() {
    cancelled(&Server::docker(), "4712");
}

#[test]
fn a_podman_build_that_takes_too_long_leaves_nothing() {
    let server = Server::podman();
    let before = left(&server);
    let built = built(&server, "4713", Duration::from_secs(15), &|| false);
    assert!(built.is_ok(), "a time limit is a reason in the report: {built:?}");
    assert_eq!(left(&server), before);
    assert!(!is_running("4713"), "the command runs on");
}

fn cancelled(server: &Server, seconds: &str) {
    let before = left(server);
    let built = built(server, seconds, Duration::from_secs(120), &|| is_running(seconds));
    assert!(matches!(built, Err(ImageError::Cancelled)), "{built:?}");
    let deadline = Instant::now() + Duration::from_secs(20);
    while is_running(seconds) {
        assert!(Instant::now() < deadline, "the command runs on");
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(left(server), before);
}

/// The first step makes a layer, and the second waits to be interrupted.
fn built(
    server: &Server,
    seconds: &str,
    timeout: Duration,
    interrupt: &(dyn Fn() -> bool + Sync),
) -> Result<(), ImageError> {
    let context = tempfile::tempdir().unwrap();
    let text = format!(
        "FROM {IMAGE} AS build\nRUN touch /made-{seconds}\nFROM {IMAGE}\n\
         COPY --from=build /made-{seconds} /\nRUN sleep {seconds}\n"
    );
    let images = vec![IMAGE.to_owned()];
    let recipe = Recipe { text, images, base: Some(IMAGE.to_owned()), ..Recipe::default() };
    let mut options = options(context.path(), Level::Build);
    options.build.timeout = timeout;
    let bench = Workbench::new(engine_of(server)).unwrap();
    Experiment::prepare(bench, &Subject::Dockerfile(recipe), options, interrupt).map(drop)
}

/// Containers, those of unfinished builds too, images with all layers, and volumes.
fn left(server: &Server) -> Vec<String> {
    let external: &[&str] = if server.client.ends_with("podman") {
        &["ps", "-aq", "--external"]
    } else {
        &["ps", "-aq"]
    };
    let mut images: Vec<String> =
        server.says(&["images", "-aq"]).1.lines().map(str::to_owned).collect();
    images.sort_unstable();
    let volumes = server.says(&["volume", "ls", "-q"]).1;
    vec![server.says(external).1, images.join(" "), volumes]
}

fn is_running(seconds: &str) -> bool {
    let processes = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let wanted = format!("sleep\0{seconds}\0");
    let command = |path: &Path| fs::read(path.join("cmdline")).unwrap_or_default();
    processes
        .map(|entry| command(&entry.path()))
        .any(|line| String::from_utf8_lossy(&line) == wanted)
}
