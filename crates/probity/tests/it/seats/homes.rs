//! What a contained agent keeps from run to run, and what it is given of the user's.

use std::{fs, path::Path};

use crate::agent::executable;
use crate::binary::{directory, probity};

/// An agent that shows what it was given before it says anything, and remembers that it ran.
const AGENT: &str = r#"#!/bin/sh
echo "key $GEMINI_API_KEY, foreign $OPENAI_API_KEY, unlisted $GEMINI_MODEL" >&2
echo "login $(cat ~/.gemini/oauth_creds.json 2>/dev/null), settings $(cat ~/.gemini/settings.json 2>/dev/null)" >&2
echo ran >> ~/runs; echo "runs $(wc -l < ~/runs)" >&2
exit 3
"#;

#[test]
fn a_home_belongs_to_one_agent_in_one_workspace_and_gets_what_the_user_lists() {
    let place = directory(&[
        ("bin/gemini", AGENT),
        ("bin/qwen", AGENT),
        ("one/.git/HEAD", "ref: refs/heads/main\n"),
        ("two/.git/HEAD", "ref: refs/heads/main\n"),
        // A repository's own lists give nothing.
        (
            "two/.containai/config.toml",
            "[env]\nimport = ['GEMINI_MODEL']\n[import]\nadditional_paths = ['~/.gemini/settings.json']\n",
        ),
        ("home/.gemini/oauth_creds.json", "mine"),
        ("home/.gemini/settings.json", "not listed"),
        (
            "home/.config/containai/config.toml",
            "[env]\nimport = ['GEMINI_API_KEY', 'OPENAI_API_KEY']\n[import]\nadditional_paths = ['~/.gemini/oauth_creds.json']\n",
        ),
    ]);
    let at = |path: &str| place.path().join(path).to_str().unwrap().to_owned();
    for name in ["gemini", "qwen"] {
        executable(Path::new(&at(&format!("bin/{name}"))));
    }
    let ask = |agent: &str, workspace: &str| {
        let output = probity()
            .args(["agent", "ask", agent, "hello"])
            .dir(at(workspace))
            .env("PATH", &format!("{}:/usr/bin:/bin", at("bin")))
            .env("HOME", &at("home"))
            .env("XDG_STATE_HOME", &at("state"))
            .env("GEMINI_API_KEY", "k1")
            .env("GEMINI_MODEL", "m1")
            .env("OPENAI_API_KEY", "k2")
            .run()
            .code(2);
        let lines = output.stderr.lines().map(str::trim_start);
        let words = ["key ", "login ", "runs "];
        lines
            .filter(|line| words.iter().any(|word| line.starts_with(word)))
            .collect::<Vec<_>>()
            .join("\n")
    };
    let gemini =
        |runs: u32| format!("key k1, foreign , unlisted \nlogin mine, settings \nruns {runs}");
    assert_eq!(ask("gemini", "one"), gemini(1));
    assert_eq!(ask("gemini", "one"), gemini(2), "its home stays");
    assert_eq!(ask("gemini", "two"), gemini(1), "another workspace is another home");
    let qwen = "key , foreign k2, unlisted \nlogin , settings \nruns 1";
    assert_eq!(ask("qwen", "one"), qwen, "another agent is another home");
    // A login that the agent renewed is not taken back.
    let homes = fs::read_dir(at("state/probity/homes")).unwrap();
    let logins: Vec<_> = homes
        .map(|home| home.unwrap().path().join(".gemini/oauth_creds.json"))
        .filter(|path| path.exists())
        .collect();
    assert_eq!(logins.len(), 2, "{logins:?}");
    for login in &logins {
        fs::write(login, "renewed").unwrap();
    }
    assert_eq!(ask("gemini", "one"), gemini(3).replace("mine", "renewed"));
}
