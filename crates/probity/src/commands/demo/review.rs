//! The fourth step: of three claims about a repository the one whose test fails counts.

use std::process::{Command, Stdio};

use super::{
    is_swapped,
    stage::{Sandboxed, Stage},
};

/// A small repository in one language, with a program that can run its tests.
struct Language {
    name: &'static str,
    /// Succeeds where the tests can be run.
    probe: &'static [&'static str],
    files: &'static [(&'static str, &'static str)],
    claims: &'static str,
    /// What the test of the unfounded claim says, and what would make it fail.
    unfounded: (&'static str, &'static str),
}

const LANGUAGES: &[Language] = &[
    Language {
        name: "Python, with pytest",
        probe: &["python3", "-c", "import pytest"],
        files: &[("shop.py", include_str!("fixtures/numbers.py"))],
        claims: include_str!("fixtures/claims-py.ndjson"),
        unfounded: ("clamp(5, 0, 3) == 3", "clamp(5, 0, 3) == 4"),
    },
    Language {
        name: "JavaScript, with node --test",
        probe: &["node", "--test", "--version"],
        files: &[
            ("package.json", "{ \"type\": \"module\" }\n"),
            ("src/numbers.js", include_str!("fixtures/numbers.js")),
        ],
        claims: include_str!("fixtures/claims-js.ndjson"),
        unfounded: ("clamp(5, 0, 3), 3", "clamp(5, 0, 3), 4"),
    },
    Language {
        name: "Rust, with cargo test",
        probe: &["cargo", "--version"],
        files: &[
            ("Cargo.toml", "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
            ("Cargo.lock", "version = 3\n\n[[package]]\nname = \"shop\"\nversion = \"0.1.0\"\n"),
            ("src/lib.rs", include_str!("fixtures/shop-lib.rs.txt")),
        ],
        claims: include_str!("fixtures/claims-rs.ndjson"),
        unfounded: ("clamp(5, 0, 3), 3", "clamp(5, 0, 3), 4"),
    },
];

pub(super) fn show(stage: &mut Stage<'_>) -> anyhow::Result<()> {
    stage.heading("Review a repository: one claim is true, two are not")?;
    if !stage.has_sandbox(Sandboxed::AgentsAndTests)? {
        return Ok(());
    }
    if !succeeds(&["git", "--version"]) {
        return stage.not_shown("a review needs git, and this machine has none");
    }
    let Some(language) = LANGUAGES.iter().find(|language| succeeds(language.probe)) else {
        return stage.not_shown("pytest, node and cargo are not installed, so no test can run");
    };
    for (name, text) in language.files {
        stage.write(&format!("shop/{name}"), text)?;
    }
    let (unfounded, failing) = language.unfounded;
    let claims = if is_swapped("claim") {
        language.claims.replace(unfounded, failing)
    } else {
        language.claims.to_owned()
    };
    stage.write("claims.ndjson", &claims)?;
    stage.show(&format!("The tests are in {}, which is here.", language.name))?;
    let commit = "git init -q -b main shop && git -C shop add -A && \
                  git -C shop commit -q --allow-empty -m shop";
    stage.command(commit)?;
    let line = "probity review --repo shop --agent 'acp:probity agent replay claims.ndjson' \\\n\
                --output review --threshold 9 --no-history";
    let ran = stage.command(line)?;
    let review = stage.json("review/review.json");
    let list = |key: &str| review[key].as_array().cloned().unwrap_or_default();
    let (proven, observed, discarded) =
        (list("proven_issues"), list("observations"), list("discarded"));
    for (verdict, claims) in
        [("PROVEN", &proven), ("not proven", &observed), ("discarded", &discarded)]
    {
        for claim in claims {
            let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
            let reason = match claim["reason"].as_str() {
                Some(reason) => reason.to_owned(),
                None => text(&claim["proof"]["reason"]),
            };
            stage.show(&format!("{verdict}: {}: {reason}", text(&claim["title"])))?;
        }
    }
    if let Some(score) = ran.line_with("Score ") {
        stage.show(score)?;
    }
    let is_right = proven.len() == 1
        && proven
            .iter()
            .all(|claim| claim["title"].as_str().is_some_and(|title| title.contains("average")))
        && observed.len() == 1
        && discarded.len() == 1;
    let test = proven.first().and_then(|issue| issue["test_file"].as_str()).unwrap_or("nowhere");
    stage.proof(
        is_right && stage.path(test).is_file() && ran.code == Some(1),
        &format!(
            "the failing test is in {test}, ready to copy into the repository; \
             only this issue costs points ({})",
            ran.exit()
        ),
        &format!(
            "{} proven, {} not proven and {} discarded, but one of each is expected ({})",
            proven.len(),
            observed.len(),
            discarded.len(),
            ran.exit()
        ),
    )
}

fn succeeds(command: &[&str]) -> bool {
    let Some((program, arguments)) = command.split_first() else { return false };
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
