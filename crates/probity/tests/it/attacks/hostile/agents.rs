//! Agents that a repository has led astray: what they can read, and what they leave for the next session.

use super::table::{Command, Hostile, Want};

/// Files that hold secrets, of which the first lists knew none, and one that git ignores.
const SENSITIVE: [&str; 11] = [
    ".env-production",
    ".netrc.old",
    "terraform.tfstate.backup",
    ".codex/auth.json",
    ".claude.json",
    ".dockerconfigjson",
    "secrets.production.yaml",
    "keys.gpg",
    "key.pem~",
    ".npmrc.bak",
    "ignored-by-git",
];

/// Agents are asked to make two stages of it.
const GO: &str =
    "FROM golang:1.23\nWORKDIR /src\nCOPY . .\nRUN go build -o /app .\nCMD [\"/app\"]\n";

const AUDIT: &str = "audit --provider acp --agent claude";

pub(super) fn repositories() -> Vec<Hostile> {
    let mut all = vec![sensitive()];
    for words in [
        AUDIT,
        "review --agent claude --no-history --output @ROOT@/out",
        "check --fix --fix-ai --ai Dockerfile",
    ] {
        all.push(home(words));
    }
    all
}

/// The agent says what it does, and ends.
fn agent(hostile: Hostile, script: &str) -> Hostile {
    let script = format!("{script} >&2\nexit 3");
    hostile
        .file("Dockerfile", GO)
        .file("main.go", "package main\n")
        .file("validators/a.ak", "validator a {}\n")
        .variable("TALLY_AI_AGENT", "claude")
        .stand_in("claude", &script)
        .stand_in("claude-agent-acp", &script)
}

fn sensitive() -> Hostile {
    let mut hostile = agent(
        Hostile::new("sensitive files"),
        &format!("cat {} 2>/dev/null | tr '\\n' ' '", SENSITIVE.join(" ")),
    )
    .file(".gitignore", "ignored-by-git\n");
    for name in SENSITIVE {
        let word = name.replace('/', "-");
        let secret = format!("kumquat-{word}.\n");
        hostile = hostile.beside(&format!("repo/{name}"), secret).row(
            14,
            format!("an agent reads {name}"),
            Want::says(&word),
        );
    }
    // Most of them are tracked.
    hostile.commands.push(Command::Pull("git add ."));
    hostile.command(AUDIT)
}

/// What the agent leaves in its home is there in the next session.
fn home(words: &str) -> Hostile {
    let word = words.split(' ').next().unwrap();
    let script = "if [ -e ~/hook ]; then touch obeyed; else touch ~/hook; fi";
    let mut hostile = agent(Hostile::new("home of an agent"), script).command(words);
    hostile.commands.push(Command::Editor);
    let left = Want::leaves("../repo/obeyed");
    hostile.row(11, format!("{word}: a hook is left for the next session of an editor"), left)
}
