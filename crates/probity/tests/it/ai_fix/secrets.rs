//! Secrets stay: nothing is started where they are denied, and no output ever holds one.

use std::fs;

use super::{GO, MULTI_STAGE, Stage, TWO_STAGES, outcome, patch, turn};

/// Put together here, so that nobody takes this file for a leak.
fn secret() -> String {
    ["ghp_", "wWPw5k4aXcaT4fNP0UcnZwJUVFk6", "LO0pINUx"].concat()
}

fn with_secret(text: &str) -> String {
    text.replace("EXPOSE", &format!("ENV GITHUB_TOKEN={}\n\nEXPOSE", secret()))
}

/// Every file of the directory but the Dockerfile, and both streams.
#[track_caller]
fn betrays_nothing(stage: &Stage, output: &crate::binary::Output) {
    let mut seen = vec![output.stdout.clone(), output.stderr.clone()];
    for entry in fs::read_dir(stage.path()).unwrap() {
        let path = entry.unwrap().path();
        if !path.ends_with("Dockerfile") {
            seen.push(String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned());
        }
    }
    for text in seen {
        assert!(!text.contains(&secret()), "{text}");
    }
}

#[test]
fn denied_secrets_start_no_agent() {
    let old = with_secret(GO);
    let stage = Stage::new(&old, "");
    let command = format!("touch {}", stage.path().join("started").display());
    let run = stage.fix(MULTI_STAGE).args(["--acp-command", &command, "--ai-sandbox", "none"]);
    let output = run.args(["--ai-trace", "trace"]).run().code(1);
    let outcome = outcome(&output);
    assert_eq!(outcome["reason"], "secrets-found");
    assert_eq!(outcome["detail"], "line 11 contains a secret (github-personal-token)");
    assert!(!stage.path().join("started").exists());
    assert_eq!(stage.text(), old);
    betrays_nothing(&stage, &output);
}

/// A wrong checksum or typed characters do not make a token harmless.
#[test]
fn a_token_with_typed_characters_starts_no_agent() {
    let typed = ["ghp_", "0123456789abcdef0123456789abcdef0123"].concat();
    let old = with_secret(GO).replace(&secret(), &typed);
    let stage = Stage::new(&old, "");
    let command = format!("touch {}", stage.path().join("started").display());
    let run = stage.fix(MULTI_STAGE).args(["--acp-command", &command, "--ai-sandbox", "none"]);
    assert_eq!(outcome(&run.run().code(1))["reason"], "secrets-found");
    assert!(!stage.path().join("started").exists());
}

/// What a repository calls harmless is not found in its files, and is not sent either.
#[test]
fn a_repository_does_not_decide_which_secrets_an_agent_sees() {
    for (file, text) in [
        (".tally.toml", "[rules.tally.secrets-in-code]\nallowed-patterns = ['ghp_.+']\n"),
        ("probity.toml", "[check.rules.tally.secrets-in-code]\nallowed-patterns = ['ghp_.+']\n"),
        ("probity.toml", "[ai]\nredact-secrets = false\n"),
        ("probity.toml", "[ai]\nsecrets-policy = 'allow'\n"),
    ] {
        let old = with_secret(GO);
        let stage = Stage::new(&old, "");
        fs::write(stage.path().join(file), text).unwrap();
        let command = format!("touch {}", stage.path().join("started").display());
        let run = stage.fix(MULTI_STAGE).args(["--acp-command", &command, "--ai-sandbox", "none"]);
        let output = run.run().code(1);
        assert_eq!(outcome(&output)["reason"], "secrets-found", "{text}: {}", output.stderr);
        assert!(!stage.path().join("started").exists(), "{text}");
        assert_eq!(stage.text(), old, "{text}");
    }
}

#[test]
fn tokens_go_out_and_the_secret_comes_back_byte_for_byte() {
    // The agent copies the token from what it is shown.
    let script = format!(
        "{}\n{}\n{}\n",
        serde_json::json!({"on": "session/prompt", "capture": {"token": ["\n\nENV GITHUB_TOKEN=", "\n\nEXPOSE"]}}),
        serde_json::json!({"say": patch(&with_secret(GO), &with_secret(TWO_STAGES)).replace(&secret(), "${token}")}),
        serde_json::json!({"answer": {"stopReason": "end_turn"}}),
    );
    let stage = Stage::new(&with_secret(GO), &script);
    let run = stage.fix(MULTI_STAGE).env("TALLY_AI_SECRETS_POLICY", "tokenize");
    let output = run.args(["--ai-trace", "trace", "-v"]).run().code(0);
    assert_eq!(outcome(&output)["session"]["secrets"], 1);
    assert_eq!(stage.text(), with_secret(TWO_STAGES));
    betrays_nothing(&stage, &output);
    let trace = fs::read_to_string(stage.path().join("trace")).unwrap();
    assert!(trace.contains("_SECRET_0001_"), "{trace}");
}

#[test]
fn allowed_secrets_are_sent_and_masked_wherever_they_are_told() {
    let old = with_secret(GO);
    // The agent echoes what it got, loses the variable, and is quoted.
    let say = serde_json::json!({"say": patch(&old, TWO_STAGES)})
        .to_string()
        .replace(&secret(), "${token}");
    let on = serde_json::json!({"on": "session/prompt", "capture": {"token": ["\n\nENV GITHUB_TOKEN=", "\n\nEXPOSE"]}});
    let end = serde_json::json!({"answer": {"stopReason": "end_turn"}});
    let stage = Stage::new(&old, &format!("{on}\n{say}\n{end}\n{}", turn("NO_CHANGE")));
    let run = stage.fix(MULTI_STAGE).env("TALLY_AI_SECRETS_POLICY", "allow");
    let output = run.args(["--ai-trace", "trace", "-v"]).run().code(1);
    let outcome = outcome(&output);
    assert_eq!(outcome["reason"], "validation-failed", "{outcome}");
    insta::assert_snapshot!(outcome["detail"].as_str().unwrap(), @"runtime-invariants: ENV of the final stage must stay as it was: it was `ENV GITHUB_TOKEN=****************************************`, and now is not set");
    assert_eq!(stage.text(), old);
    betrays_nothing(&stage, &output);
}

#[test]
fn a_patch_against_a_text_without_the_secret_does_not_apply() {
    let old = with_secret(GO);
    let redacted = old.replace(&secret(), "********");
    let answer = turn(&patch(&redacted, TWO_STAGES));
    let stage = Stage::new(&old, &(answer.clone() + &answer));
    let run = stage.fix(MULTI_STAGE).env("TALLY_AI_SECRETS_POLICY", "allow");
    let output = run.run().code(1);
    let outcome = outcome(&output);
    assert_eq!(outcome["reason"], "patch-rejected", "{outcome}");
    assert_eq!(stage.text(), old);
}

#[test]
fn the_deprecated_key_still_decides() {
    let mut warnings = Vec::new();
    for (value, reason) in [("true", "secrets-found"), ("false", "agent-failed")] {
        let stage = Stage::new(&with_secret(GO), "{\"on\":\"session/prompt\"}\n{\"exit\":1}\n");
        let run = stage.fix(MULTI_STAGE).args([format!("--ai-redact-secrets={value}")]);
        let output = run.run().code(1);
        assert_eq!(outcome(&output)["reason"], reason);
        warnings.push(format!("{value}\n{}", output.stderr));
    }
    insta::assert_snapshot!(warnings.join("\n"), @r#"
    true
    warning: --ai-redact-secrets: `ai.redact-secrets` is deprecated; use `ai.secrets-policy = "deny"`
    Skipped 1 fix (1 resolve-error)
    note: skipped fix tally/prefer-multi-stage-build (Dockerfile:9): resolve-error: secrets-found: line 11 contains a secret (github-personal-token)

    false
    warning: --ai-redact-secrets: `ai.redact-secrets` is deprecated; use `ai.secrets-policy = "allow"`
    Skipped 1 fix (1 resolve-error)
    note: AI fix tally/prefer-multi-stage-build (Dockerfile:9): skipped (agent-failed); asked probity, sandbox: bubblewrap: probity: asking: the agent ended with exit code 1
    "#);
}
