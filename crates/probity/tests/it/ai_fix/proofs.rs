//! Proofs of AI fixes on engines of the tests' own: one test an engine, since its start takes the time.

mod buildah;
mod keys;
mod unfinished;

use std::{
    fs,
    path::Path,
    process::Stdio,
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::{MULTI_STAGE, Stage, outcome, patch, turn};
use crate::{
    binary::{Run, directory, named, probity},
    containers::server::{IMAGE, Server},
    whole_corpus::is_whole,
};

const ONE_STAGE: &str = "\
FROM golang:1.22

WORKDIR /src

COPY . .

RUN go build -o /usr/local/bin/app ./cmd/app

ENTRYPOINT [\"/usr/local/bin/app\"]
";

/// Two stages, the second one with this base.
fn two_stages(base: &str) -> String {
    let stage = ONE_STAGE.replace("golang:1.22", "golang:1.22 AS build");
    let (build, entry) = stage.split_once("ENTRYPOINT").unwrap();
    format!(
        "{build}FROM {base}\n\nWORKDIR /src\n\n\
         COPY --from=build /usr/local/bin/app /usr/local/bin/app\n\nENTRYPOINT{entry}"
    )
}

/// What a build does while it is interrupted: long, and found by its words.
fn slow() -> String {
    format!("sleep 9{:07}", std::process::id())
}

/// A builder whose compiler copies, a good base, and one in which no shell is.
fn images(says: impl Fn(&[&str]) -> bool) {
    let compiler = format!(
        "#!/bin/sh\n[ ! -e slow ] || /bin/busybox {}\nmkdir -p /usr/local/bin\n\
         cat app.sh > \"$3\"\n/bin/busybox chmod 755 \"$3\"\n",
        slow()
    );
    let files = [
        ("golang", format!("FROM {IMAGE}\nCOPY go /bin/go\nRUN /bin/busybox chmod 755 /bin/go\n")),
        ("bare", format!("FROM {IMAGE}\nRUN /bin/busybox rm /bin/sh\n")),
        ("go", compiler),
    ];
    let files: Vec<(&str, &str)> =
        files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    let place = directory(&files);
    let context = place.path().to_str().unwrap();
    for (file, tag) in [("golang", "golang:1.22"), ("bare", "debian:11-slim")] {
        let path = place.path().join(file);
        let words = ["build", "-q", "-t", tag, "-f", path.to_str().unwrap(), context];
        assert!(says(&words), "{tag}");
    }
    for tag in ["debian:12-slim", "ubuntu:22.04"] {
        assert!(says(&["tag", IMAGE, tag]));
    }
}

fn stage(answers: &[String]) -> Stage {
    stage_of(ONE_STAGE, answers)
}

fn stage_of(original: &str, answers: &[String]) -> Stage {
    let turns: String = answers.iter().map(|answer| turn(answer)).collect();
    let stage = Stage::new(original, &turns);
    fs::create_dir(stage.path().join("home")).unwrap();
    let files = [
        ("app.sh", "#!/bin/sh\necho up\nwhile :; do sleep 1; done\n"),
        (".dockerignore", "agent.ndjson\nDockerfile\nhome*\n"),
    ];
    for (name, text) in files {
        fs::write(stage.path().join(name), text).unwrap();
        let hour = std::time::SystemTime::now() - Duration::from_secs(3600);
        fs::File::open(stage.path().join(name)).unwrap().set_modified(hour).unwrap();
    }
    stage
}

fn on(server: &Server, stage: &Stage, run: Run) -> Run {
    let first = server.client.parent().unwrap().display();
    with_path(&format!("{first}:{}", std::env::var("PATH").unwrap()), stage.path(), run)
}

fn with_path(path: &str, stage: &Path, run: Run) -> Run {
    let home = stage.join("home");
    run.env("PATH", path).env("HOME", home.to_str().unwrap()).env("PROBITY_AI__PROOF_SECONDS", "1")
}

/// In an order of our own: images of the same second come in any.
fn images_of(server: &Server) -> Vec<String> {
    let listed = server.says(&["images", "-aq"]).1;
    let mut ids: Vec<String> = listed.lines().map(str::to_owned).collect();
    ids.sort_unstable();
    ids
}

fn labelled(server: &Server) -> String {
    let filter = "label=probity.proof";
    let containers = server.says(&["ps", "-aq", "--filter", filter]).1;
    containers + &server.says(&["images", "-q", "--filter", filter]).1
}

/// What differs between engines: images that are built, started, removed, and left by a kill.
fn proofs(server: &Server) {
    images(|words| server.says(words).0);
    let (good, harmful) = (two_stages("debian:12-slim"), two_stages("debian:11-slim"));
    let before = images_of(server);

    // The harmful proposal goes back to the agent with the reason, and the good one is taken.
    let stage = self::stage(&[patch(ONE_STAGE, &harmful), patch(&harmful, &good)]);
    let trace = stage.path().join("home-trace");
    let run = stage.fix(MULTI_STAGE).args(["--ai-trace", trace.to_str().unwrap()]);
    let output = on(server, &stage, run).run().code(0);
    let found = outcome(&output);
    assert_eq!(found["outcome"], "applied", "{found} {}", output.stderr);
    assert_eq!(found["proof"]["level"], "run", "{found}");
    assert_eq!(found["proof"]["differences"], json!([]));
    assert_eq!(found["session"]["rounds"], 2);
    assert_eq!(stage.text(), good);
    let told = fs::read_to_string(trace).unwrap();
    assert!(told.contains("image/libraries") && told.contains("needs /bin/sh"), "{told}");
    assert!(output.stderr.contains("built and started both images"), "{}", output.stderr);

    assert_eq!(labelled(server), "");
    assert_eq!(images_of(server), before, "no image is left");
    image_diff(server, &stage, &good, &harmful);
    assert_eq!(images_of(server), before, "no image is left");
    interrupted(server, &good);
    assert_eq!(images_of(server), before, "no image is left");
    // Layers of docker's old builder bear no label: after a kill they stay as its cache.
    killed(server, &good);
}

/// What probity decides, whichever engine has built the images.
fn decisions(server: &Server) {
    let harmful = two_stages("debian:11-slim");
    // A harmful proposal alone changes nothing, in every report.
    for format in ["json", "sarif", "markdown"] {
        let stage = self::stage(&[patch(ONE_STAGE, &harmful), "NO_CHANGE".to_owned()]);
        let run = stage.fix(MULTI_STAGE).args(["--format", format]);
        let output = on(server, &stage, run).run().code(1);
        assert_eq!(stage.text(), ONE_STAGE);
        let plain = output.stdout.replace('\\', "");
        assert!(plain.contains("/usr/local/bin/app needs /bin/sh"), "{}", output.stdout);
    }

    // What the text alone suspects is refused without the experiment, and advice with it.
    let other = two_stages("ubuntu:22.04");
    for (level, outcome_of, text) in [("static", "skipped", ONE_STAGE), ("run", "applied", &other)]
    {
        let stage = self::stage(&[patch(ONE_STAGE, &other), "NO_CHANGE".to_owned()]);
        let run = stage.fix(MULTI_STAGE).args(["--prove", level]);
        let found = outcome(&on(server, &stage, run).run());
        assert_eq!(found["outcome"], outcome_of, "{found}");
        assert!(found.to_string().contains("base-release: "), "{found}");
        assert_eq!(stage.text(), text);
    }

    // A level that is required and cannot be reached.
    let stage = self::stage(&[patch(ONE_STAGE, &two_stages("debian:13-slim"))]);
    let run = on(server, &stage, stage.fix(MULTI_STAGE)).env("PROBITY_AI__PROOF_REQUIRED", "build");
    let found = outcome(&run.run().code(1));
    assert_eq!(found["reason"], "unproven", "{found}");
    assert_eq!(found["proof"]["level"], "static", "{found}");
    assert_eq!(
        found["detail"],
        "`ai.proof-required = \"build\"`, but the proof got no further than `static`: checked the text \
         only; the image debian:13-slim is not on this machine; pull it or set `ai.proof-pull = true`"
    );
    assert_eq!(stage.text(), ONE_STAGE);
    assert_eq!(labelled(server), "");

    // A file with which the builder itself would ask a server.
    let fetching =
        |text: &str| text.replace("ENTRYPOINT", "ADD http://127.0.0.1:9/file /file\n\nENTRYPOINT");
    let (before, after) = (fetching(ONE_STAGE), fetching(&two_stages("debian:12-slim")));
    let stage = stage_of(&before, &[patch(&before, &after)]);
    let run = on(server, &stage, stage.fix(MULTI_STAGE)).env("PROBITY_AI__PROOF_REQUIRED", "build");
    let found = outcome(&run.run().code(1));
    assert_eq!(found["reason"], "unproven", "{found}");
    assert_eq!(
        found["proof"]["obstacle"],
        "cannot be built here: line 9 fetches http://127.0.0.1:9/file; set `ai.proof-network = true` \
         to allow it"
    );
    assert_eq!(stage.text(), before);
}

fn image_diff(server: &Server, stage: &Stage, good: &str, harmful: &str) {
    for (name, text) in [("good", good), ("harmful", harmful)] {
        fs::write(stage.path().join("home").join(name), text).unwrap();
    }
    let diff = |new: &str, more: &[&str]| {
        let run = probity().dir(stage.path()).args(["image", "diff", "Dockerfile", new]);
        on(server, stage, run.args(more)).run()
    };
    let output = diff("home/good", &["--run", "--seconds", "1"]).code(0);
    assert!(output.stdout.contains("built and started both images"), "{}", output.stdout);
    let output = diff("home/harmful", &["--format", "json"]).code(1);
    let report: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(report["level"], "build");
    assert_eq!(report["differences"][0]["check"], "image/libraries", "{report}");
    assert_eq!(report["differences"][0]["harmful"], true);
    let output = diff("absent:1", &[]).code(2);
    assert!(
        output.stderr.contains("the image absent:1 is not on this machine"),
        "{}",
        output.stderr
    );
    let fetching = format!("{good}ADD http://127.0.0.1:9/file /file\n");
    fs::write(stage.path().join("home/fetching"), fetching).unwrap();
    let output = diff("home/fetching", &[]).code(2);
    let reason = "line 16 fetches http://127.0.0.1:9/file";
    assert!(output.stderr.contains(reason), "{}", output.stderr);
    assert!(output.stderr.contains("add --network"), "{}", output.stderr);
    let between = probity().args(["image", "diff", "debian:12-slim", "debian:11-slim"]);
    let output = on(server, stage, between.args(["--format", "markdown"])).run();
    assert!(
        output.stdout.starts_with("### `debian:12-slim` → `debian:11-slim`"),
        "{}",
        output.stdout
    );
}

/// Arguments, a target and limits reach both builds.
fn variants(server: &Server) {
    let stage = self::stage(&[]);
    let original = "ARG BASE=absent:1\nFROM $BASE AS app\nARG WORD\nENV WORD=$WORD\n\
                    CMD [\"sh\", \"-c\", \"echo $WORD\"]\nFROM $BASE\nRUN false\n";
    let new = original.replace("ENV WORD", "RUN test \"$WORD\" = 'a, b'\nENV WORD");
    fs::write(stage.path().join("Dockerfile"), original).unwrap();
    fs::write(stage.path().join("home/new"), new).unwrap();
    let base = format!("BASE={IMAGE}");
    let chosen = ["--build-arg", &base, "--target", "app", "--run", "--seconds", "1"];
    let with = |more: &[&'static str]| [&chosen[..], more].concat();
    let diff = |more: &[&str]| {
        let run = probity().dir(stage.path()).args(["image", "diff", "Dockerfile", "home/new"]);
        on(server, &stage, run.args(more)).run()
    };
    let output = diff(&[]).code(2);
    assert_eq!(
        output.stderr,
        "error: the image absent:1 is not on this machine\n  help: pull it, or add --pull\n"
    );
    let output = diff(&chosen[..2]).code(2);
    let (begins, ends) = (
        "error: the original does not build: ",
        "\n  help: correct it, or add --network if `RUN` needs the network\n",
    );
    let is_whole = output.stderr.starts_with(begins) && output.stderr.ends_with(ends);
    assert!(is_whole, "{}", output.stderr);
    diff(&with(&["--build-arg", "WORD=a, b"])).code(0);
    let output = diff(&with(&["--build-arg", "WORD=other"])).code(1);
    assert!(output.stdout.contains("image/build"), "{}", output.stdout);
    let output = diff(&with(&["--build-arg", "WORD=a, b", "--disk", "1k"])).code(2);
    let size = output.stderr.split(' ').find(|word| word.parse::<u64>().is_ok()).unwrap();
    let limit = "bytes, more than 1024\n  help: set a larger --disk\n";
    assert_eq!(output.stderr, format!("error: the files of both images need {size} {limit}"));
    assert_eq!(labelled(server), "");
}

/// Ctrl-C in the middle of a build, and of a start.
fn interrupted(server: &Server, good: &str) {
    for (is_slow, more) in [(true, &[][..]), (false, &["--run", "--seconds", "100"])] {
        let stage = self::stage(&[]);
        fs::write(stage.path().join("home/good"), good).unwrap();
        if is_slow {
            fs::write(stage.path().join("slow"), "").unwrap();
        }
        let run = probity().dir(stage.path()).args(["image", "diff", "Dockerfile", "home/good"]);
        let mut command = on(server, &stage, run.args(more)).into_command();
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
        let running = || server.says(&["ps", "-q", "--filter", "label=probity.proof"]).1;
        let is_there = || if is_slow { is_building() } else { running().lines().count() == 2 };
        wait_for("the proof never began", is_there);
        kill_process(Pid::from_child(&child), Signal::INT).unwrap();
        let ended = child.wait().unwrap();
        assert!(!ended.success(), "{ended}");
        assert_eq!(labelled(server), "", "slow: {is_slow}");
        assert_eq!(server.says(&["volume", "ls", "-q"]).1, "");
        wait_for("the build runs on", || !is_building());
    }
}

fn is_building() -> bool {
    is_running(&slow().replace(' ', "\0"))
}

/// Whether the command line of a process contains this.
fn is_running(words: &str) -> bool {
    let processes = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let mut lines = processes.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    lines.any(|line| String::from_utf8_lossy(&line).contains(words))
}

fn wait_for(what: &str, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < deadline, "{what}");
        thread::sleep(Duration::from_millis(100));
    }
}

/// What a killed proof leaves is removed by `cai gc`, and nothing of a living one is.
fn killed(server: &Server, good: &str) {
    let stage = self::stage(&[patch(ONE_STAGE, good)]);
    let run = on(server, &stage, stage.fix(MULTI_STAGE)).env("PROBITY_AI__PROOF_SECONDS", "100");
    let mut command = run.into_command();
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    let running = || server.says(&["ps", "-q", "--filter", "label=probity.proof"]).1;
    wait_for("the original was never started", || running().lines().count() == 2);
    let gc = || on(server, &stage, named("cai").dir(stage.path()).args(["gc"])).run().code(0);
    gc();
    assert_eq!(running().lines().count(), 2, "a living proof is left alone");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_ne!(labelled(server), "", "the bait is there");
    let output = gc();
    assert!(output.stdout.contains("of a proof removed"), "{}", output.stdout);
    assert_eq!(labelled(server), "");
}

#[test]
fn docker_proves_ai_fixes() {
    let server = Server::docker();
    proofs(&server);
    decisions(&server);
    variants(&server);
}

/// `script/nightly` tries what podman has no part in as well.
#[test]
fn podman_proves_ai_fixes() {
    let server = Server::podman();
    proofs(&server);
    if is_whole() {
        decisions(&server);
        variants(&server);
    }
}
