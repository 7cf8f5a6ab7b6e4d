//! What `agent record` passes on and writes down, and what `agent replay` makes of it.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    process::Stdio,
};

use super::{
    ECHO,
    misbehaving::{left, wait_until},
    script,
};
use crate::binary::{Run, directory, probity, stable};

const BINARY: &str = env!("CARGO_BIN_EXE_probity");

const ASKED: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}
{"jsonrpc":"2.0","id":"two","method":"session/new","params":{"cwd":"/","mcpServers":[]}}
{"jsonrpc": "2.0", "id": 3, "method": "session/prompt", "params": {"sessionId":"replay-1","prompt":[{"type":"text","text":"h\u00e9llo"}]}}
"#;

#[test]
fn a_recorded_turn_replays_byte_for_byte() {
    let text = format!("{{\"noise\":\"loading …\"}}\n{ECHO}");
    let (dir, file) = script(&text);
    let file = file.to_str().unwrap();
    let replayed = |file: &str, mode| converse(probity().args(["agent", "replay", file, mode])).1;
    let direct = replayed(file, "--lenient");
    let recorder = probity()
        .dir(&dir)
        .args(["agent", "record", "--output", "turn.ndjson", "--", BINARY, "agent", "replay"])
        .args([file]);
    assert_eq!(converse(recorder), (Some(0), direct.clone()));
    assert!(direct.contains("you said: h\u{e9}llo"), "{direct}");
    let turn = dir.path().join("turn.ndjson");
    let turn = turn.to_str().unwrap();
    assert_eq!(replayed(turn, "--lenient"), direct);
    assert_eq!(replayed(turn, "--strict"), direct);
    assert!(!dir.path().join("turn.ndjson.partial").exists());
    let recording = fs::read_to_string(turn).unwrap();
    let spoke: Vec<&str> = recording
        .lines()
        .filter_map(|line| Some(line.split_once("\"from\":\"")?.1.split_once('"')?.0))
        .collect();
    assert_eq!(spoke, ["client", "agent", "client", "agent", "client", "agent", "agent"]);
    // Played strictly, another question is an error that names both.
    let other = ASKED.replace("h\\u00e9llo", "goodbye");
    let output = probity().args(["agent", "replay", turn, "--strict"]).input(other).run().code(2);
    insta::assert_snapshot!(stable(&output.stderr), @r#"
    error: [dir]/turn.ndjson cannot go on
      cause: line 6 of the script expects session/prompt {"sessionId":"replay-1","prompt":[{"type":"text","text":"héllo"}]}, but the client sent session/prompt {"sessionId":"replay-1","prompt":[{"type":"text","text":"goodbye"}]}
      help: record the conversation again, or play it without --strict
    "#);
}

/// Asks one thing after the other as a client does; gives the exit code and all that was said.
fn converse(run: Run) -> (Option<i32>, String) {
    let mut command = run.into_command();
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut said = String::new();
    for line in ASKED.lines() {
        writeln!(input, "{line}").unwrap();
        let mut begin = said.len();
        while output.read_line(&mut said).unwrap() > 0 && !said[begin..].contains("\"id\":") {
            begin = said.len();
        }
    }
    drop(input);
    output.read_to_string(&mut said).unwrap();
    (child.wait().unwrap().code(), said)
}

#[test]
fn secrets_pass_through_and_are_not_written_down() {
    let token = ["ghp_", "16C7e42F292c6912E7710c838347Ae178B4a"].concat();
    let (dir, file) = script(ECHO);
    let asked = ASKED.replace("h\\u00e9llo", &format!("{token} and swordfish-9"));
    let output = probity()
        .dir(&dir)
        .env("MY_API_KEY", "swordfish-9")
        .args(["agent", "record", "--", BINARY, "agent", "replay", file.to_str().unwrap()])
        .input(asked)
        .run()
        .code(0);
    assert!(output.stdout.contains(&token) && output.stdout.contains("swordfish-9"));
    let recording = fs::read_to_string(dir.path().join("recording.ndjson")).unwrap();
    assert!(!recording.contains(&token) && !recording.contains("swordfish-9"), "{recording}");
    assert!(recording.contains("you said: ****"), "{recording}");
}

#[test]
fn a_recording_that_is_interrupted_is_kept_as_partial_and_the_agent_is_gone() {
    let (dir, file) = script(ECHO);
    let mut command = probity()
        .dir(&dir)
        .args(["agent", "record", "--output", "turn.ndjson", "--", BINARY, "agent", "replay"])
        .args([&file])
        .into_command();
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(ASKED.lines().next().unwrap().as_bytes()).unwrap();
    input.write_all(b"\n").unwrap();
    let mut answer = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut answer).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!dir.path().join("turn.ndjson").exists());
    let partial = fs::read_to_string(dir.path().join("turn.ndjson.partial")).unwrap();
    assert_eq!(partial.lines().count(), 2, "{partial}");
    wait_until(|| left(file.to_str().unwrap()).is_empty());
}

#[test]
fn the_end_of_the_agent_is_the_end_of_the_recorder() {
    let dir = directory(&[]);
    let record =
        |argv: &[&str]| probity().dir(&dir).args(["agent", "record", "--"]).args(argv).run();
    assert_eq!(record(&["sh", "-c", "echo noise; exit 5"]).code(5).stdout, "noise\n");
    let recording = fs::read_to_string(dir.path().join("recording.ndjson")).unwrap();
    assert!(recording.contains("\"noise\":\"noise\""), "{recording}");
    fs::remove_file(dir.path().join("recording.ndjson")).unwrap();
    let output = record(&["no-such-agent"]).code(2);
    insta::assert_snapshot!(output.stderr, @"
    error: cannot start the agent
      cause: no-such-agent: program not found
      help: check the command after `--`
    ");
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 0, "nothing is left of it");
}
