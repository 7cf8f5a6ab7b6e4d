//! `probity demo`: what it shows is what its commands do, and it fails when a verifier does.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

use crate::{
    acp::driver::left_named,
    binary::{Output, Run, directory, probity},
};

/// A run whose temporary directory is this one, so that all it leaves can be seen.
fn demo(temporary: &Path) -> Run {
    probity().args(["demo"]).env("TMPDIR", temporary.to_str().unwrap())
}

/// The commands that were printed, each as one line.
fn commands(output: &Output) -> Vec<String> {
    let text = output.stdout.replace("\\\n      ", "");
    text.lines().filter_map(|line| line.strip_prefix("  $ ")).map(str::to_owned).collect()
}

fn count(output: &Output, part: &str) -> usize {
    output.stdout.lines().filter(|line| line.trim_start().starts_with(part)).count()
}

#[test]
fn every_step_holds_and_its_command_gives_the_same_by_hand() {
    let temporary = directory(&[]);
    let output = demo(temporary.path()).args(["--keep"]).run().code(0);
    for proof in [
        "19 findings in 1 of 1 file",
        "Fixed 18 issues in 1 file",
        "the file has 2 stages now",
        "runtime: USER of the final stage must stay as it was",
        "the file is byte for byte as it was",
        "UNVERIFIED: A back door for the administrator (critical)",
        "PROVEN: the average of two numbers is wrong",
        "not proven: clamp loses numbers",
        "discarded: clamp mixes up its bounds",
        "south's was answered first, and south alone went on",
    ] {
        assert!(output.stdout.contains(proof), "{proof}\n{}", output.stdout);
    }
    assert_eq!((count(&output, "proof: "), count(&output, "WRONG")), (6, 0), "{}", output.stdout);
    assert!(output.stdout.lines().count() <= 70, "{}", output.stdout);
    assert!(!output.stdout.contains('\u{1b}'), "colour without a terminal");
    assert_eq!(output.stderr, "");

    let way = output.stdout.lines().find_map(|line| line.trim_start().strip_prefix("cd ")).unwrap();
    let (kept, _) = way.split_once(" && ").unwrap();
    let shown = commands(&output);
    assert_eq!(shown.len(), 8, "{shown:?}");
    for line in shown {
        let report = |name: &str| fs::read_to_string(Path::new(kept).join(name)).unwrap();
        let verdict = || {
            let state: serde_json::Value =
                serde_json::from_str(&report("escrow/.tx3/audit/state.json")).unwrap();
            (report("orders/Dockerfile"), report("orders/agent/Dockerfile"), state)
        };
        let before = verdict();
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("cd {way} && {line}")]).env_clear();
        shell.env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", "/nowhere");
        let by_hand = shell.output().unwrap();
        let said = String::from_utf8_lossy(&by_hand.stdout);
        // A number that was shown beside the proof is the code that the command ends with.
        let code = by_hand.status.code().unwrap();
        let expected = i32::from(
            line.contains("check --hide-source")
                || line.contains("--fix --hide-source")
                || line.contains("harmful")
                || line.contains("probity review"),
        );
        assert_eq!(code, expected, "{line}: {said}{}", String::from_utf8_lossy(&by_hand.stderr));
        assert_eq!(verdict(), before, "{line}");
        // All that a review or a check says is in what was shown.
        for shown in
            said.lines().filter(|line| line.contains("Score ") || line.contains("findings"))
        {
            assert!(output.stdout.contains(shown), "{line}: {shown}");
        }
    }
    assert_eq!(left_named(kept), Vec::<String>::new());
}

#[test]
fn a_verifier_that_lets_something_through_fails_the_demo() {
    let temporary = directory(&[]);
    let swapped = "harmful,invented,claim,answer";
    let output = demo(temporary.path()).env("PROBITY_DEMO_SWAP", swapped).run().code(1);
    for wrong in [
        "WRONG: the harmful answer was not refused",
        "WRONG: an invented quote was verified",
        "WRONG: 2 claims count as proven, and one is true",
        "WRONG: an answer arrived at the wrong session",
    ] {
        assert!(output.stdout.contains(wrong), "{wrong}\n{}", output.stdout);
    }
    assert_eq!((count(&output, "proof: "), count(&output, "WRONG")), (2, 4), "{}", output.stdout);
    assert!(output.stdout.contains("NOT AS IT SHOULD BE: 4"), "{}", output.stdout);
    let left: Vec<_> = fs::read_dir(temporary.path()).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
    assert_eq!(left_named(temporary.path().to_str().unwrap()), Vec::<String>::new());
}

#[test]
fn an_interrupted_demo_leaves_nothing() {
    let temporary = directory(&[]);
    let mut command = demo(temporary.path()).into_command();
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let started = Instant::now();
    let has_begun = || {
        fs::read_dir(temporary.path())
            .unwrap()
            .any(|entry| entry.unwrap().path().join("claims.ndjson").exists())
    };
    while !has_begun() && started.elapsed() < Duration::from_secs(30) {
        thread::sleep(Duration::from_millis(5));
    }
    let id = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(id, Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let left: Vec<_> = fs::read_dir(temporary.path()).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
    assert_eq!(left_named(temporary.path().to_str().unwrap()), Vec::<String>::new());
}
