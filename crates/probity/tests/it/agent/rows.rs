//! Every row of the agent table: it starts sandboxed by its own command, with its own keys and the
//! variables that tell it where it is, and the guide says the same of it as the program.

use std::fs;

use serde_json::Value;

use super::executable;
use crate::binary::{directory, probity};

/// An agent that says of itself how it was called and what it was given.
const AGENT: &str = r#"#!/bin/sh
given=$(env | sed -n 's/^\([A-Z_]*\)=mine$/\1/p' | sort | tr '\n' ' ')
told="$IS_SANDBOX$COPILOT_AUTO_UPDATE$AUGMENT_DISABLE_AUTO_UPDATE$GOOSE_DISABLE_KEYRING$KIMI_CODE_NO_AUTO_UPDATE"
case ${0##*/} in pi-acp) started=$(pi) ;; esac
says="${0##*/} $* | $given| $told$started"
while read -r line; do
  id=$(printf %s "$line" | sed 's/.*"id":\("[^"]*"\|[0-9]*\).*/\1/')
  case $line in
    *\"initialize\"*) result="{\"protocolVersion\":1,\"agentInfo\":{\"name\":\"$says\",\"version\":\"\"}}" ;;
    *) result='{"sessionId":"one"}' ;;
  esac
  printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done
"#;

/// What the rows tell an agent of its sandbox, and what the program says that it starts itself.
const TOLD: [(&str, &str); 6] = [
    ("claude", "1"),
    ("copilot", "false"),
    ("auggie", "1"),
    ("goose", "1"),
    ("kimi", "1"),
    ("pi", "pi is here"),
];

fn listed(run: crate::binary::Run) -> Vec<Value> {
    let output = run.args(["agent", "list", "--format", "json"]).run().code(0);
    let page: Value = serde_json::from_str(&output.stdout).unwrap();
    page["agents"].as_array().unwrap().clone()
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

#[test]
fn every_row_starts_by_its_command_and_gets_its_own_keys() {
    let rows = listed(probity().env("PATH", ""));
    assert_eq!(rows.len(), 12);
    let elsewhere = ("elsewhere/bin/pi", "#!/bin/sh\necho pi is here\n");
    let place = directory(&[("home/keep", ""), ("bin/keep", ""), elsewhere]);
    let at = |path: &str| place.path().join(path).to_str().unwrap().to_owned();
    let mut variables: Vec<String> = rows.iter().flat_map(|row| texts(&row["variables"])).collect();
    for row in &rows {
        let program = at(&format!("bin/{}", row["command"][0].as_str().unwrap()));
        fs::write(&program, AGENT).unwrap();
        executable(program.as_ref());
    }
    executable(at("elsewhere/bin/pi").as_ref());
    variables.sort();
    variables.dedup();
    fs::create_dir_all(at("config/probity")).unwrap();
    let settings = format!("[containment]\nenv = {variables:?}\n");
    fs::write(at("config/probity/probity.toml"), settings).unwrap();
    let mut run = probity()
        .env("PATH", &format!("{}:{}:/usr/bin:/bin", at("bin"), at("elsewhere/bin")))
        .env("HOME", &at("home"))
        .env("XDG_CONFIG_HOME", &at("config"))
        .env("XDG_STATE_HOME", &at("state"));
    for variable in &variables {
        run = run.env(variable, "mine");
    }
    for row in listed(run) {
        let name = row["name"].as_str().unwrap();
        let told = TOLD.iter().find(|(agent, _)| *agent == name).map_or("", |(_, value)| value);
        let (command, keys) = (texts(&row["command"]), texts(&row["variables"]));
        let (program, flags) = command.split_first().unwrap();
        let expected = format!("{program} {} | {} | {told}", flags.join(" "), keys.join(" "));
        let expected = expected.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(row["says"].as_str(), Some(expected.as_str()), "{row:#}");
    }
}

#[test]
fn the_guide_has_the_same_table() {
    let guide = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/agents.md");
    let text = fs::read_to_string(guide).unwrap();
    let quoted = |words: Vec<String>| {
        let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
        if words.is_empty() { "none".to_owned() } else { words.join(", ") }
    };
    for row in listed(probity().env("PATH", "")) {
        let [name, install, log_in] =
            ["name", "install", "logIn"].map(|key| row[key].as_str().unwrap());
        let variables = quoted(texts(&row["variables"]));
        // Login files are below the user's home.
        let logins = texts(&row["logins"]).iter().map(|path| format!("~/{path}")).collect();
        let logins = quoted(logins);
        for line in [
            format!("| {name} | `{install}` | `{log_in}` |"),
            format!("| {name} | {variables} | {logins} |"),
        ] {
            assert!(text.lines().any(|found| found == line), "docs/agents.md lacks:\n{line}");
        }
    }
}
