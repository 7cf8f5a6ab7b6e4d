//! Logins on a terminal, with an agent that is installed where only its user has programs.

use std::{
    fs,
    io::{Read as _, Write as _},
    os::unix::fs::PermissionsExt as _,
    process::{Command, Stdio},
};

use serde_json::json;

use super::{Driver, Place};
use crate::binary::probity;

/// Asks for a code where it is started with `login`, and refuses sessions with the code in the
/// message where it is started as an agent.
const AGENT: &str = r#"#!/bin/sh
if [ "$1" = login ]; then
    [ -t 0 ] && [ -t 1 ] && [ -t 2 ] || exit 3
    printf 'size %s, code? ' "$(stty size)"
    read -r code || exit 4
    mkdir -p ~/.mine
    echo "$code" > ~/.mine/token
    exit 0
fi
while read -r line; do
    id=$(echo "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
    case "$line" in
        *initialize*) echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":ANSWER}" ;;
        *session/new*)
            told=$(cat ~/.mine/token 2>/dev/null)
            echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"error\":{\"code\":1,\"message\":\"token:$told\"}}" ;;
    esac
done
"#;

/// `mine` in a directory that is in no `PATH`, whose login is kept for all workspaces.
fn install(place: &Place) {
    let program = place.path("home/tools/mine/bin/mine");
    let first = json!({"id": "first", "name": "First", "type": "terminal", "args": ["login"]});
    let older = json!({"command": program, "args": ["login"]});
    let older = json!({"id": "older", "name": "Older", "_meta": {"terminal-auth": older}});
    let answer = json!({"protocolVersion": 1, "authMethods": [first, older]}).to_string();
    fs::create_dir_all(program.parent().unwrap()).unwrap();
    fs::write(&program, AGENT.replace("ANSWER", &answer.replace('"', "\\\""))).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let text = format!(
        "[containment]\nruntime = 'bwrap'\n[containment.agents.mine]\ncommand = [{program:?}]\n\
         logins = ['.mine/token']\n"
    );
    fs::create_dir_all(place.path("config/probity")).unwrap();
    fs::write(place.path("config/probity/probity.toml"), text).unwrap();
}

/// What a terminal of 31 rows and 97 columns shows of a login, and how it ends.
fn on_a_terminal(place: &Place, more: &str, typed: &str) -> (Option<i32>, String) {
    let home = place.path("home");
    let run = place.settle(probity()).env("HOME", home.to_str().unwrap());
    let settled = run.into_command();
    let program = settled.get_program().to_str().unwrap();
    let line = format!("stty rows 31 cols 97; exec {program} acp mine --login {more}");
    let mut command = Command::new("script");
    command.args(["-qec", &line, "/dev/null"]).current_dir(place.path("one")).env_clear();
    for (name, value) in settled.get_envs() {
        command.env(name, value.unwrap());
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut keyboard = child.stdin.take().unwrap();
    let mut screen = child.stdout.take().unwrap();
    let (mut shown, mut typed) = (Vec::new(), Some(typed));
    let mut chunk = [0; 4096];
    while let Ok(count @ 1..) = screen.read(&mut chunk) {
        shown.extend_from_slice(&chunk[..count]);
        // Keys before that would be the shell's.
        if shown.ends_with(b"code? ")
            && let Some(typed) = typed.take()
        {
            keyboard.write_all(typed.as_bytes()).unwrap();
        }
    }
    (child.wait().unwrap().code(), String::from_utf8_lossy(&shown).into_owned())
}

fn token_in(place: &Place, repository: &str) -> String {
    let home = place.path("home");
    let run = place.settle(probity()).env("HOME", home.to_str().unwrap());
    let mut driver = Driver::start(run.args(["acp", "mine"]));
    let new = json!({"cwd": place.path(repository), "mcpServers": []});
    let refused = driver.call("session/new", &new);
    driver.finish();
    refused["error"]["message"].as_str().unwrap().to_owned()
}

#[test]
fn a_login_on_a_terminal_is_one_for_every_workspace() {
    let place = Place::new("");
    install(&place);
    assert_eq!(token_in(&place, "two"), "token:");
    for (id, code) in [("", "s3cret"), ("older", "0ther")] {
        let (exit, shown) = on_a_terminal(&place, id, &format!("{code}\n"));
        assert_eq!(exit, Some(0), "{id}: {shown}");
        assert!(shown.contains("size 31 97, code? "), "{id}: {shown}");
        assert_eq!(shown.contains("the agent also has `older`"), id.is_empty(), "{shown}");
        for repository in ["one", "two"] {
            assert_eq!(token_in(&place, repository), format!("token:{code}"), "{id}");
        }
    }
}

#[test]
fn a_key_can_end_a_login_and_a_login_that_is_not_offered_names_those_that_are() {
    let place = Place::new("");
    install(&place);
    let (exit, shown) = on_a_terminal(&place, "", "\u{3}");
    assert_eq!(exit, Some(130), "{shown}");
    assert_eq!(token_in(&place, "one"), "token:");
    let (exit, shown) = on_a_terminal(&place, "web", "");
    assert_eq!(exit, Some(2), "{shown}");
    insta::assert_snapshot!(shown, @"
    \u{1b}[1m\u{1b}[31merror\u{1b}[0m: the agent has no terminal login `web`
      \u{1b}[1mhelp\u{1b}[0m: its terminal logins are `first`, `older`
    ");
}
