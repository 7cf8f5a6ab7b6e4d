//! A model behind a chat API proposes the fix: all it takes is a key.

use std::fs;

use super::{GO, MULTI_STAGE, TWO_STAGES, outcome, patch};
use crate::{
    binary::{Run, directory, probity, stable},
    model_server::ModelServer,
};

const KEY: &str = "PROVIDER_TEST_KEY";

fn fix(dir: &std::path::Path) -> Run {
    probity()
        .dir(dir)
        .args(["check", "--fix", "--fix-ai", "--select", MULTI_STAGE, "--format", "json"])
        .args(["--fail-level", "none", "--prove", "static", "Dockerfile"])
}

#[test]
fn each_provider_is_asked_with_a_key_and_nothing_else() {
    let server = ModelServer::start();
    for (provider, path, needs_key) in [
        ("openai", "/v1/chat/completions", true),
        ("anthropic", "/v1/messages", true),
        ("ollama", "/v1/chat/completions", false),
    ] {
        let dir = directory(&[("Dockerfile", GO)]);
        let url = server.url(path);
        let mut run = fix(dir.path()).args(["--ai", "--ai-provider", provider]);
        run = run.args(["--ai-endpoint", &url, "--ai-model", "tiny"]);
        if needs_key {
            run = run.args(["--ai-api-key-env", KEY]).env(KEY, "k-1");
        }
        let output = run.run().code(0);
        let fix = outcome(&output);
        assert_eq!(fix["outcome"], "applied", "{provider}: {fix} {}", output.stderr);
        assert_eq!(fix["session"]["agent"], format!("{provider} tiny"));
        assert_eq!(fs::read_to_string(dir.path().join("Dockerfile")).unwrap(), TWO_STAGES);
        let asked = server.requests();
        assert_eq!(asked.last().unwrap().body["model"], "tiny", "{provider}");
        assert!(!output.stdout.contains("k-1") && !output.stderr.contains("k-1"), "{provider}");
    }
}

#[test]
fn the_configuration_names_the_provider_and_the_switch_stays_necessary() {
    let server = ModelServer::start();
    let url = server.url("/v1/chat/completions");
    for (enabled, key, reason) in [
        ("enabled = true\n", Some("k"), None),
        ("", Some("k"), Some("ai-disabled")),
        ("enabled = true\n", None, Some("not-configured")),
    ] {
        let config = format!("[ai]\n{enabled}provider = 'openai'\n");
        let dir = directory(&[("Dockerfile", GO), (".tally.toml", &config)]);
        let before = server.requests().len();
        let mut run = fix(dir.path()).env("PROBITY_AI__ENDPOINT", &url);
        run = run.env("PROBITY_AI__API_KEY_ENV", KEY);
        if let Some(key) = key {
            run = run.env(KEY, key);
        }
        let output = run.run().code(0);
        let fix = outcome(&output);
        assert_eq!(fix["reason"].as_str(), reason, "{config}: {fix} {}", output.stderr);
        assert_eq!(server.requests().len() > before, reason.is_none(), "{config}");
        if key.is_none() {
            let detail = fix["detail"].as_str().unwrap();
            insta::assert_snapshot!(detail, @"the environment variable PROVIDER_TEST_KEY is not set; run `export PROVIDER_TEST_KEY=KEY`, or name another variable with `ai.api-key-env`");
        }
    }
}

#[test]
fn a_repositorys_file_does_not_choose_which_key_goes_where() {
    let server = ModelServer::start();
    let url = server.url("/v1/chat/completions");
    let config = format!(
        "[ai]\nenabled = true\nprovider = 'openai'\nendpoint = '{url}'\napi-key-env = '{KEY}'\n"
    );
    let mut warnings = Vec::new();
    for name in [".tally.toml", "probity.toml"] {
        let dir = directory(&[("Dockerfile", GO), (name, &config)]);
        let output = fix(dir.path()).env(KEY, "stolen").run().code(0);
        assert_ne!(outcome(&output)["outcome"], "applied", "{name}: {}", output.stderr);
        assert!(server.requests().is_empty(), "{name}");
        warnings.push(output.stderr);
    }
    insta::assert_snapshot!(stable(&warnings.join("\n")), @r#"
    warning: .tally.toml:4:1: `ai.endpoint` is ignored in this file: a repository must not choose which API key goes to which server; set it with `--ai-endpoint`, PROBITY_AI__ENDPOINT or in your own probity.toml
    warning: .tally.toml:5:1: `ai.api-key-env` is ignored in this file: a repository must not choose which API key goes to which server; set it with `--ai-api-key-env`, PROBITY_AI__API_KEY_ENV or in your own probity.toml
    Skipped 1 fix (1 resolve-error)
    note: skipped fix tally/prefer-multi-stage-build (Dockerfile:9): resolve-error: not-configured: the environment variable OPENAI_API_KEY is not set; run `export OPENAI_API_KEY=KEY`, or name another variable with `ai.api-key-env`

    warning: probity.toml:2: `ai.enabled = true` is ignored: a repository's file may only tighten this key, which is false by default; set it with --ai, PROBITY_AI__ENABLED or in your own configuration file
    warning: probity.toml:3: `ai.provider = "openai"` is ignored: a repository's file may not set this key; set it with --ai-provider, PROBITY_AI__PROVIDER or in your own configuration file
    warning: probity.toml:4: `ai.endpoint = "http://127.0.0.1:[port]/v1/chat/completions"` is ignored: a repository's file may not set this key; set it with --ai-endpoint, PROBITY_AI__ENDPOINT or in your own configuration file
    warning: probity.toml:5: `ai.api-key-env = "PROVIDER_TEST_KEY"` is ignored: a repository's file may not set this key; set it with --ai-api-key-env, PROBITY_AI__API_KEY_ENV or in your own configuration file
    Skipped 1 fix (1 resolve-error)
    note: skipped fix tally/prefer-multi-stage-build (Dockerfile:9): resolve-error: ai-disabled: AI fixes are off; --ai or `ai.enabled = true` switches them on
    "#);
}

#[test]
fn a_command_that_does_not_speak_the_protocol_is_told_apart() {
    let dir = directory(&[("Dockerfile", GO)]);
    let output = fix(dir.path()).args(["--acp-command", "true", "--ai-sandbox", "none"]).run();
    let fix = outcome(&output);
    assert_eq!(fix["reason"], "agent-failed", "{fix}");
    let detail = fix["detail"].as_str().unwrap();
    insta::assert_snapshot!(detail, @"true: initializing: the agent ended with exit code 0; this command does not speak the Agent Client Protocol; if it reads a prompt on standard input, write `cmd:` before it, for example `cmd:llm -m MODEL`");
}

/// The flag, the variable and the file take what the message above advises.
#[test]
fn a_command_that_reads_a_prompt_proposes_the_fix() {
    for (name, command) in [
        ("the flag", "cmd:cat"),
        ("the flag with a space", "cmd: cat"),
        ("the variable", "cmd:cat"),
        ("the file", "cmd:cat"),
    ] {
        let dir = directory(&[("Dockerfile", GO), ("answer.txt", &patch(GO, TWO_STAGES))]);
        let answer = dir.path().join("answer.txt").display().to_string();
        let line = format!("{command} {answer}");
        let run = fix(dir.path()).args(["--ai-sandbox", "none"]);
        let run = match name {
            "the variable" => run.args(["--ai"]).env("TALLY_ACP_COMMAND", &line),
            "the file" => {
                let config = format!("[ai]\nenabled = true\ncommand = ['{command}', '{answer}']\n");
                fs::create_dir_all(dir.path().join("own/probity")).unwrap();
                fs::write(dir.path().join("own/probity/probity.toml"), config).unwrap();
                run.env("XDG_CONFIG_HOME", dir.path().join("own").to_str().unwrap())
            }
            _ => run.args(["--acp-command", &line]),
        };
        let output = run.run().code(0);
        assert_eq!(outcome(&output)["outcome"], "applied", "{name}: {}", output.stderr);
        assert_eq!(fs::read_to_string(dir.path().join("Dockerfile")).unwrap(), TWO_STAGES);
    }
}
