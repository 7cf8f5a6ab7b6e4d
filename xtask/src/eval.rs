//! `cargo xtask eval`: scores an agent on Dockerfiles with known good answers.
//!
//! Each directory of `eval/` holds a `Dockerfile` and a `case.toml`: the rule whose objective the
//! agent is asked to meet, and what must hold of any answer that is taken. An accepted answer for
//! which that does not hold did harm, and the run is not clean.

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use serde::Deserialize;

use crate::{Report, built};

/// What must hold of an accepted file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Case {
    rule: String,
    /// Lines that must be there.
    lines: Vec<String>,
    /// Texts that must not be there behind the last FROM.
    not_in_final_stage: Vec<String>,
    /// Whether the file shows too little, so that only NO_CHANGE is right.
    no_change: bool,
}

#[derive(Default)]
struct Score {
    accepted: usize,
    refused: usize,
    no_change: usize,
    failed: usize,
    harm: usize,
}

pub(crate) fn run(root: &Path, agent: &str, binary: Option<PathBuf>) -> Result<Report, String> {
    let binary = built(root, binary)?;
    let mut text = String::new();
    let mut score = Score::default();
    for directory in cases(&root.join("eval"))? {
        let name = directory.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let said = judge(&directory, agent, &binary, &mut score)?;
        writeln!(text, "{name:<28} {said}").map_err(|error| error.to_string())?;
    }
    let Score { accepted, refused, no_change, failed, harm } = score;
    text.push_str(&format!(
        "\naccepted {accepted}, refused {refused}, no change {no_change}, failed {failed}, harm {harm}\n"
    ));
    Ok(Report { text, clean: harm == 0 && failed == 0 })
}

fn cases(directory: &Path) -> Result<Vec<PathBuf>, String> {
    let entries =
        fs::read_dir(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    let mut cases: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    cases.sort();
    Ok(cases)
}

/// Asks once, on a copy, and says in a line what came of it.
fn judge(
    directory: &Path,
    agent: &str,
    binary: &Path,
    score: &mut Score,
) -> Result<String, String> {
    let read = |name: &str| {
        let path = directory.join(name);
        fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
    };
    let case: Case =
        toml::from_str(&read("case.toml")?).map_err(|error| format!("{directory:?}: {error}"))?;
    let copy = tempfile::tempdir().map_err(|error| error.to_string())?;
    let file = copy.path().join("Dockerfile");
    fs::write(&file, read("Dockerfile")?).map_err(|error| error.to_string())?;
    // A recording is found from here, and there may be one for each case.
    let agent = agent.replace("{case}", &directory.to_string_lossy());
    let asked = std::process::Command::new(binary)
        .args(["check", "--no-config", "--fix", "--fix-ai", "--ai", "--format", "json"])
        .args(["--select", &case.rule, "--fix-rule", &case.rule, "Dockerfile"])
        .current_dir(copy.path())
        .env("TALLY_AI_AGENT", agent)
        .output()
        .map_err(|error| format!("{}: {error}", binary.display()))?;
    let report: serde_json::Value = serde_json::from_slice(&asked.stdout)
        .map_err(|_| String::from_utf8_lossy(&asked.stderr).into_owned())?;
    let fix = &report["ai_fixes"][0];
    let reason = fix["reason"].as_str().unwrap_or_default();
    match (fix["outcome"].as_str().unwrap_or_default(), reason) {
        ("applied", _) => {
            score.accepted += 1;
            let text = fs::read_to_string(&file).map_err(|error| error.to_string())?;
            let harm = harm(&case, &text);
            score.harm += usize::from(harm.is_some());
            Ok(harm.map_or_else(|| "accepted".to_owned(), |what| format!("accepted, HARM: {what}")))
        }
        ("no-change", _) => {
            score.no_change += 1;
            Ok("no change".to_owned())
        }
        (_, "patch-rejected" | "validation-failed" | "malformed-output") => {
            score.refused += 1;
            Ok(format!("refused ({reason}): {}", fix["detail"].as_str().unwrap_or_default()))
        }
        _ => {
            score.failed += 1;
            Ok(format!("failed ({reason}): {}", fix["detail"].as_str().unwrap_or_default()))
        }
    }
}

fn harm(case: &Case, text: &str) -> Option<String> {
    if case.no_change {
        return Some("the file shows too little for any change".to_owned());
    }
    let missing = case.lines.iter().find(|line| !text.lines().any(|other| other.trim() == **line));
    if let Some(line) = missing {
        return Some(format!("`{line}` is missing"));
    }
    let last = text.rfind("\nFROM ").map_or(text, |start| text.get(start..).unwrap_or_default());
    let left = case.not_in_final_stage.iter().find(|part| last.contains(part.as_str()));
    left.map(|part| format!("`{part}` is in the final stage"))
}
