//! Agents in a sandbox: where they think they are, and what they cannot see.

use std::{
    fs,
    path::Path,
    sync::{Arc, Mutex},
};

use probity_agent::{AcpAgent, Agent as _, Cancel, CommandAgent, CommandOptions, Seat, Side, Turn};
use probity_sandbox::{Backend, Mount};

use crate::{
    acp::{played_here, scripted_command},
    ask::LIMITS,
    command::seat,
};

const INSIDE: &str = "/home/agent/workspace";

/// The same mounts with and without something that enforces them.
fn seats(workspace: &Path) -> Vec<Seat> {
    let path = std::env::var_os("PATH").unwrap();
    let program = std::env::split_paths(&path)
        .map(|directory| directory.join("bwrap"))
        .find(|program| program.exists());
    assert!(program.is_some(), "bwrap is not installed");
    let backends = [Backend::None, Backend::Bubblewrap { program: program.unwrap() }];
    let seat = |backend| {
        let mut seat = seat(Path::new(INSIDE));
        seat.backend = backend;
        seat.spec.mounts.push(Mount::read_write(workspace, INSIDE));
        seat
    };
    backends.map(seat).into()
}

#[test]
fn a_command_sees_its_workspace_and_no_more() {
    let workspace = tempfile::tempdir().unwrap();
    let secret = tempfile::NamedTempFile::new().unwrap();
    fs::write(workspace.path().join("file"), "").unwrap();
    let script = format!("ls; test -e {} && echo seen; pwd", secret.path().display());
    let argv = ["sh".to_owned(), "-c".to_owned(), script];
    let root = workspace.path().to_str().unwrap();
    for seat in seats(workspace.path()) {
        let expected = match seat.backend {
            Backend::None => format!("file\nseen\n{root}\n"),
            _ => format!("file\n{INSIDE}\n"),
        };
        let options = CommandOptions::default();
        let mut agent = CommandAgent::any("sh", &argv, options, seat).unwrap();
        let answer = agent.ask(&Turn::new("hello"), &LIMITS, &Cancel::new()).unwrap();
        assert_eq!(answer.text, expected);
    }
}

#[test]
fn a_session_is_opened_where_the_agent_is() {
    if played_here() {
        return;
    }
    let workspace = tempfile::tempdir().unwrap();
    let exe = std::env::current_exe().unwrap();
    let directory = exe.parent().unwrap();
    let root = workspace.path().to_str().unwrap();
    for mut seat in seats(workspace.path()) {
        let cwd = if seat.backend == Backend::None { root } else { INSIDE };
        seat.spec.mounts.push(Mount::read_only(directory, directory));
        let script = r#"{"on":"session/prompt"}
{"say":"hi"}
{"answer":{"stopReason":"end_turn"}}"#;
        let test = "contained::a_session_is_opened_where_the_agent_is";
        let argv = scripted_command(test, script, &mut seat);
        let heard = Arc::new(Mutex::new(String::new()));
        let ear = Arc::clone(&heard);
        let tap = Arc::new(move |side, frame: &str| {
            if side == Side::Client {
                ear.lock().unwrap().push_str(frame);
            }
        });
        let mut agent = AcpAgent::command("scripted", &argv, seat, "", Some(tap));
        let answer = agent.ask(&Turn::new("hello"), &LIMITS, &Cancel::new()).unwrap();
        assert_eq!(answer.text, "hi");
        let heard = heard.lock().unwrap();
        assert!(heard.contains(&format!(r#""cwd":"{cwd}""#)), "{heard}");
    }
}
