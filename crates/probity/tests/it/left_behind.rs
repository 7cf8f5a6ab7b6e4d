//! What a session leaves behind: files that tools run, lines on standard error, homes and groups.

use std::{fs, path::PathBuf, process::Stdio, time::Duration};

use serde_json::json;

use crate::{
    acp::{Place, driver::Driver},
    binary::{Output, named, probity, stable},
    exec::Stage,
};

const CHANGES: &str = "echo 'export X=1' > .envrc; echo 'all: evil' > Makefile; echo x > notes.txt; \
                       mkdir -p .github/workflows; echo 'on: push' > .github/workflows/ci.yml";

fn stage() -> Stage {
    Stage::new(&[("Makefile", "all:\n"), ("src/main.c", "")])
}

fn session(stage: &Stage, flags: &[&str]) -> Output {
    let run = stage.place(probity()).args(["exec", "--sandbox", "bwrap"]).args(flags);
    run.args(["--", "sh", "-c", CHANGES]).run().code(0)
}

#[test]
fn files_that_tools_run_by_themselves_are_named_once_and_stay() {
    let stage = stage();
    let output = session(&stage, &[]);
    let lines: Vec<&str> = output.stderr.lines().collect();
    assert_eq!(lines.len(), 1, "{}", output.stderr);
    insta::assert_snapshot!(lines[0], @"warning: the session changed files that tools run by themselves: .envrc (direnv), .github/workflows/ci.yml (CI), Makefile (make); read them before you use these tools, or run with --quarantine");
    assert!(!lines[0].contains("notes.txt"), "{}", lines[0]);
    let again = session(&stage, &[]);
    assert_eq!(again.stderr, "", "nothing has changed since");
    assert!(stage.repository.path().join(".envrc").exists());
}

#[test]
fn quarantine_puts_them_back_as_they_were_until_they_are_accepted() {
    let stage = stage();
    let at = |path: &str| stage.repository.path().join(path);
    let output = session(&stage, &["--quarantine"]);
    insta::assert_snapshot!(output.stderr, @"warning: the session changed files that tools run by themselves, and they were put back as they were: .envrc (direnv), .github/workflows/ci.yml (CI), Makefile (make); `cai accept --list` shows the changed ones, `cai accept` puts them in place");
    assert_eq!(output.stderr.lines().count(), 1, "one summary: {}", output.stderr);
    assert_eq!(fs::read_to_string(at("Makefile")).unwrap(), "all:\n");
    assert!(!at(".envrc").exists() && !at(".github/workflows/ci.yml").exists());
    assert!(at("notes.txt").exists(), "ordinary work stays");

    // What has changed meanwhile is not overwritten.
    fs::write(at(".envrc"), "mine").unwrap();
    let listed = stage.place(named("cai")).args(["accept", "--list"]).run().code(0);
    assert_eq!(listed.stdout.lines().count(), 3, "{}", listed.stdout);
    stage.place(named("cai")).args(["gc"]).run().code(0);
    let accepted = stage.place(named("cai")).args(["accept"]).run();
    assert_eq!(fs::read_to_string(at("Makefile")).unwrap(), "all: evil\n", "{}", accepted.stderr);
    assert_eq!(fs::read_to_string(at(".github/workflows/ci.yml")).unwrap(), "on: push\n");
    assert_eq!(fs::read_to_string(at(".envrc")).unwrap(), "mine");
    insta::assert_snapshot!(stable(&accepted.code(2).stderr), @"
    warning: [dir]/.envrc: another file is there now; it stays in [dir]/probity/quarantine/1/item
    error: 1 of 3 stayed in quarantine
      help: copy what you need, then `cai accept --drop ITEM` deletes the rest
    ");
}

#[test]
fn homes_of_workspaces_that_are_gone_are_collected_and_others_are_not() {
    let (kept, gone) = (stage(), stage());
    let state = tempfile::tempdir().unwrap();
    let cai = |stage: &Stage, args: &[&str]| {
        let run = stage.place(named("cai")).env("XDG_STATE_HOME", state.path().to_str().unwrap());
        run.args(args).run()
    };
    for stage in [&kept, &gone] {
        let script = "mkdir -p ~/.claude; echo login > ~/.claude/.credentials.json";
        cai(stage, &["exec", "--sandbox", "bwrap", "--", "sh", "-c", script]).code(0);
    }
    // Other tests are killed at the same time, and leave groups of their own.
    let gc = |flags: &[&str]| -> Vec<String> {
        let output = cai(&kept, &[&["gc"], flags].concat()).code(0).stdout;
        let is_here = |line: &&str| line.starts_with(state.path().to_str().unwrap());
        output.lines().filter(is_here).map(str::to_owned).collect()
    };
    let homes = || fs::read_dir(state.path().join("probity/homes")).unwrap().count();
    assert_eq!(homes(), 2);
    assert_eq!(gc(&[]), [""; 0], "both are in use");
    fs::remove_dir_all(gone.repository.path()).unwrap();
    let listed = gc(&["--dry-run"]);
    assert_eq!(listed.len(), 2, "a home and a note: {listed:?}");
    assert_eq!(homes(), 2, "a dry run removes nothing");
    let removed = gc(&[]);
    let would: Vec<String> =
        removed.iter().map(|line| line.replace("removed", "would be removed")).collect();
    assert_eq!(would, listed);
    assert_eq!(homes(), 1);
    assert_eq!(gc(&[]), [""; 0]);
}

/// `mine` is a program in a directory of its own, sandboxed by bubblewrap.
pub(crate) fn agent(place: &Place, script: &str) {
    let program = place.path("bin/mine");
    fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
    crate::agent::executable(&program);
    fs::create_dir_all(place.path("config/containai")).unwrap();
    let text = format!(
        "[container]\nruntime = 'bwrap'\n[agents.mine]\ncommand = ['{}']\n",
        program.display()
    );
    fs::write(place.path("config/containai/config.toml"), text).unwrap();
}

#[test]
fn an_agents_standard_error_is_ours_with_its_name_and_within_bounds() {
    let place = Place::new("");
    let player = format!(
        "echo 'loading \u{1b}[31mmodel' >&2\nexec {} agent replay \"$CAI_HOST_WORKSPACE/script.ndjson\"",
        env!("CARGO_BIN_EXE_probity")
    );
    agent(&place, &player);
    let mut driver = Driver::start(place.settle(probity()).args(["acp", "mine"]));
    driver.session(&place.path("one"));
    let output = driver.finish();
    let line = output.stderr.lines().find(|line| line.starts_with("mine: loading "));
    assert!(line.is_some_and(|line| !line.contains('\u{1b}')), "{}", output.stderr);

    // Quiet is quiet.
    let mut driver = Driver::start(place.settle(probity()).args(["acp", "mine", "-q"]));
    driver.session(&place.path("one"));
    assert_eq!(driver.finish().stderr, "");
}

#[test]
fn a_flood_on_standard_error_that_nobody_reads_stops_nobody() {
    let place = Place::new("");
    let player = format!(
        "yes 'a line of no use to anybody' | head -c 30000000 >&2\n\
         exec {} agent replay \"$CAI_HOST_WORKSPACE/script.ndjson\"",
        env!("CARGO_BIN_EXE_probity")
    );
    agent(&place, &player);
    let mut command = place.settle(probity()).args(["acp", "mine"]).into_command();
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let (mut input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let new = json!({
        "jsonrpc": "2.0", "id": 1, "method": "session/new",
        "params": {"cwd": place.path("one"), "mcpServers": []},
    });
    std::io::Write::write_all(&mut input, format!("{new}\n").as_bytes()).unwrap();
    let (sender, answered) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let lines = std::io::BufRead::lines(std::io::BufReader::new(output));
        for line in lines.map_while(Result::ok) {
            drop(sender.send(line));
        }
    });
    // Our standard error is full long before that, and its reader asleep.
    let answer = answered.recv_timeout(Duration::from_secs(60)).unwrap();
    assert!(answer.contains("sessionId"), "{answer}");
    drop(input);
    assert!(child.wait().unwrap().success());
}

/// Eight agents that neither read nor obey: their grace is one, and not eight.
#[test]
fn stalled_agents_delay_our_end_by_one_grace_only() {
    let place = Place::new(
        "{\"on\":\"session/new\"}\n{\"answer\":{\"sessionId\":\"s\"}}\n{\"ignore\":\"TERM\"}\n{\"hang\":\"deaf\"}\n",
    );
    let player = format!(
        "exec {} agent replay \"$CAI_HOST_WORKSPACE/script.ndjson\"",
        env!("CARGO_BIN_EXE_probity")
    );
    agent(&place, &player);
    let mut driver = Driver::start(place.settle(probity()).args(["acp", "mine"]));
    for _ in 0..8 {
        driver.session(&place.path("one"));
    }
    let began = std::time::Instant::now();
    let output = driver.finish();
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    // One grace is 5 s; eight of them, one after the other, would be 40.
    assert!(began.elapsed() < Duration::from_secs(35), "{:?}", began.elapsed());
    let left: Vec<PathBuf> =
        crate::acp::driver::left(place.directory.path()).into_iter().map(PathBuf::from).collect();
    assert_eq!(left, Vec::<PathBuf>::new());
}
