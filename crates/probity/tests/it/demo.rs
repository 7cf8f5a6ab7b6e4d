//! `probity demo`: what it shows is what its commands do, and it fails when a verifier does.

use std::{
    fs,
    os::unix::fs::symlink,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::{
    acp::driver::left_named,
    binary::{Output, Run, directory, probity},
};

/// A run whose temporary directory is this one, so that all it leaves can be seen.
fn demo(temporary: &Path) -> Run {
    probity().args(["demo"]).env("TMPDIR", temporary.to_str().unwrap())
}

/// The commands that were printed, each with the exit code that was told of it.
fn commands(output: &Output) -> Vec<(String, Option<i32>)> {
    let text = output.stdout.replace("\\\n      ", "");
    let told = |block: &str| {
        let (_, after) = block.rsplit_once("exit ")?;
        after.chars().next()?.to_digit(10)?.try_into().ok()
    };
    let blocks = text.split("  $ ").skip(1);
    blocks.map(|block| (block.lines().next().unwrap().to_owned(), told(block))).collect()
}

/// What the commands decided, without what differs from run to run.
fn decided(kept: &Path) -> Value {
    let read = |name: &str| fs::read_to_string(kept.join(name)).unwrap();
    let json = |name: &str| serde_json::from_str::<Value>(&read(name)).unwrap();
    let fix = |name: &str| {
        let fix = &json(name)["ai_fixes"][0];
        json!([fix["outcome"], fix["reason"], fix["detail"], fix["session"]["containedBy"]])
    };
    let review = json("review/review.json");
    let claims = |list: &str| {
        let claims = review[list].as_array().unwrap().iter();
        claims.map(|claim| json!([claim["title"], claim["test_file"]])).collect::<Vec<_>>()
    };
    json!({
        "fixed": read("orders/Dockerfile"),
        "converted": read("orders/agent/Dockerfile"),
        "refused": read("orders/harmful/Dockerfile"),
        "fixes": [fix("orders/agent.json"), fix("orders/harmful.json")],
        "audit": json("escrow/.tx3/audit/state.json")["iterations"],
        "review": [claims("proven_issues"), claims("observations"), claims("discarded")],
        "score": review["score"],
    })
}

fn count(output: &Output, part: &str) -> usize {
    output.stdout.lines().filter(|line| line.trim_start().starts_with(part)).count()
}

#[test]
fn every_step_holds_and_its_command_gives_the_same_by_hand() {
    let temporary = directory(&[]);
    let output = demo(temporary.path()).args(["--keep"]).run().code(0);
    for proof in [
        "7 findings in 1 of 1 file",
        "Fixed 7 issues in 1 file",
        "the file has 2 stages now",
        "runtime-invariants: USER of the final stage must stay as it was",
        "the file is unchanged, byte for byte",
        "UNVERIFIED: A back door for the administrator (critical)",
        "PROVEN: the average of two numbers is wrong",
        "not proven: clamp loses numbers",
        "discarded: clamp mixes up its bounds",
        "the editor answered south first, and only south continued",
    ] {
        assert!(output.stdout.contains(proof), "{proof}\n{}", output.stdout);
    }
    assert_eq!((count(&output, "proof: "), count(&output, "WRONG")), (6, 0), "{}", output.stdout);
    assert!(output.stdout.lines().count() <= 70, "{}", output.stdout);
    assert!(!output.stdout.contains('\u{1b}'), "colour without a terminal");
    assert_eq!(output.stderr, "");

    let way = output.stdout.lines().find_map(|line| line.trim_start().strip_prefix("cd ")).unwrap();
    let (kept, _) = way.split_once(" && ").unwrap();
    let before = decided(Path::new(kept));
    for made in ["orders/Dockerfile", "orders/agent.json", "orders/harmful.json"] {
        fs::remove_file(Path::new(kept).join(made)).unwrap();
    }
    for made in ["review", "escrow/.tx3"] {
        fs::remove_dir_all(Path::new(kept).join(made)).unwrap();
    }
    let shown = commands(&output);
    let told: Vec<Option<i32>> = shown.iter().map(|(_, code)| *code).collect();
    let codes = [None, Some(0), Some(0), Some(1), Some(0), None, Some(1), Some(0)];
    assert_eq!(told, codes, "{}", output.stdout);
    for (line, code) in shown {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("cd {way} && {line}")]).env_clear();
        shell.env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", "/nowhere");
        let by_hand = shell.output().unwrap();
        let said = String::from_utf8_lossy(&by_hand.stdout);
        if code.is_some() {
            assert_eq!(by_hand.status.code(), code, "{line}: {said}");
        }
        let summaries = |line: &&str| line.contains("Score ") || line.contains("findings in ");
        for summary in said.lines().filter(summaries) {
            assert!(output.stdout.contains(summary), "{line}: {summary}");
        }
    }
    assert_eq!(decided(Path::new(kept)), before);
    assert_eq!(left_named(kept), Vec::<String>::new());
}

#[test]
fn a_verifier_that_lets_something_through_fails_the_demo() {
    let temporary = directory(&[]);
    let swapped = "harmful,invented,claim,answer";
    let output = demo(temporary.path()).env("PROBITY_DEMO_SWAP", swapped).run().code(1);
    for wrong in [
        "WRONG: the harmful patch was not rejected",
        "WRONG: an invented quote was verified",
        "WRONG: 1 proven, 2 not proven and 0 discarded, but one of each is expected",
        "WRONG: an answer arrived at the wrong session",
    ] {
        assert!(output.stdout.contains(wrong), "{wrong}\n{}", output.stdout);
    }
    assert_eq!((count(&output, "proof: "), count(&output, "WRONG")), (2, 4), "{}", output.stdout);
    assert!(output.stdout.contains("FAILED: 4"), "{}", output.stdout);
    let left: Vec<_> = fs::read_dir(temporary.path()).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
    assert_eq!(left_named(temporary.path().to_str().unwrap()), Vec::<String>::new());
}

/// A directory with these tools alone.
fn tools(names: &[&str]) -> tempfile::TempDir {
    let tools = directory(&[]);
    for tool in names {
        let path = std::env::var("PATH").unwrap();
        let mut found = path.split(':').map(|directory| Path::new(directory).join(tool));
        symlink(found.find(|file| file.exists()).unwrap(), tools.path().join(tool)).unwrap();
    }
    tools
}

#[test]
fn without_a_sandbox_the_demo_shows_the_rest_and_what_is_missing() {
    let temporary = directory(&[]);
    let tools = tools(&["sh", "cp", "git"]);
    let run = demo(temporary.path()).without_sandbox().env("PATH", tools.path().to_str().unwrap());
    let output = run.run().code(0);
    for said in [
        "NOT SHOWN: no sandbox works on this machine (bubblewrap: bwrap is not installed",
        "`probity demo --sandbox none` shows it without one",
        "Every job that ran is proven; 3 of 5 could not run",
    ] {
        assert!(output.stdout.contains(said), "{said}\n{}", output.stdout);
    }
    assert_eq!((count(&output, "proof: "), count(&output, "WRONG")), (2, 0), "{}", output.stdout);
    assert_eq!(count(&output, "NOT SHOWN"), 3, "{}", output.stdout);
}

#[test]
fn with_landlock_alone_or_with_none_by_wish_the_demo_shows_all_that_tools_allow() {
    for (kind, contained) in [("landlock", "landlock"), ("none", "none, as requested")] {
        let temporary = directory(&[]);
        let tools = tools(&["sh", "cp", "git"]);
        let run = demo(temporary.path()).args(["--sandbox", kind]);
        let output = run.env("PATH", tools.path().to_str().unwrap()).run().code(0);
        for said in [
            &format!("the agent's sandbox: {contained}"),
            "NOT SHOWN: pytest, node and cargo are not installed",
            "the editor answered south first, and only south continued",
            "Every job that ran is proven; 1 of 5 could not run",
        ] {
            assert!(output.stdout.contains(said), "{said}\n{}\n{}", output.stdout, output.stderr);
        }
        assert_eq!(
            (count(&output, "proof: "), count(&output, "WRONG")),
            (5, 0),
            "{}",
            output.stdout
        );
    }
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
