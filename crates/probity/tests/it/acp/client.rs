//! A real headless client from npm drives the proxy.

use std::process::Command;

use super::Place;
use crate::binary::{newer_node, tools};

const SCRIPT: &str = r#"{"on":"session/prompt"}
{"say":"you said: ${prompt}"}
{"answer":{"stopReason":"end_turn"}}
"#;

#[test]
fn acpx_has_a_whole_turn_through_the_proxy() {
    let place = Place::new(SCRIPT);
    let acpx = tools().join("acpx/node_modules/.bin/acpx");
    assert!(acpx.exists(), "run script/tools once");
    let agent = format!("{} acp player", env!("CARGO_BIN_EXE_probity"));
    let mut command = place.direct(crate::binary::probity()).into_command();
    let mut client = Command::new(newer_node());
    client
        .arg(acpx.canonicalize().unwrap())
        .args(["--agent", &agent, "--deny-all", "--format", "json", "exec", "hello"])
        .current_dir(place.path("one"))
        .env_clear();
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            client.env(name, value);
        }
    }
    client.env("HOME", place.path("state"));
    command.env_clear();
    let output = client.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{complained}");
    assert!(said.contains("you said: hello"), "{said}\n{complained}");
    assert!(said.contains("end_turn"), "{said}\n{complained}");
}
