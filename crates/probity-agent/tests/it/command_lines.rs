//! The command lines that we know, played by scripts of their name.

use std::fs;

use probity_agent::{
    Agent as _, AgentError, Answer, Cancel, Cause, CommandAgent, CommandLine, CommandOptions, Turn,
    Usage,
};

use crate::{ask::LIMITS, command::seat};

/// Asks a script in the place of the known program; returns its words, and the answer.
fn known(program: &str, line: CommandLine, stdout: &str) -> (String, Result<Answer, AgentError>) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    fs::write(path.join("stdout"), stdout).unwrap();
    let script = format!(
        "#!/bin/sh\necho \"$@\" > {0}/argv\ncat > {0}/stdin\ncat {0}/stdout\n",
        path.display()
    );
    fs::write(path.join(program), script).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(path.join(program), mode).unwrap();
    let options = CommandOptions {
        system: String::new(),
        model: Some("m/1".to_owned()),
        schema: Some(serde_json::json!({"type": "object"})),
        budget: Some(0.5),
    };
    let mut agent = CommandAgent::known(program, line, options, seat(path));
    let answer = agent.ask(&Turn::new("hello"), &LIMITS, &Cancel::new());
    assert_eq!(fs::read_to_string(path.join("stdin")).unwrap(), "hello");
    (fs::read_to_string(path.join("argv")).unwrap().trim().to_owned(), answer)
}

#[test]
fn known_command_lines_are_driven_by_their_own_words() {
    let usage = |cost| Usage { input_tokens: 12, output_tokens: 5, cached_input_tokens: 4, cost };
    for (program, line, argv, stdout, cost) in [
        (
            "claude",
            CommandLine::Claude,
            r#"-p --output-format json --no-session-persistence --strict-mcp-config --setting-sources user --model m/1 --json-schema {"type":"object"} --max-budget-usd 0.5"#,
            r#"a hook says hello
{"type":"result","subtype":"success","is_error":false,"result":"prose","structured_output":{"a":1},"total_cost_usd":0.25,"usage":{"input_tokens":6,"cache_creation_input_tokens":2,"cache_read_input_tokens":4,"output_tokens":5},"permission_denials":[{"tool_name":"Bash","tool_input":{"command":"rm -rf /"}}]}"#,
            Some(0.25),
        ),
        (
            "codex",
            CommandLine::Codex,
            "exec --json --skip-git-repo-check --ephemeral -s read-only -m m/1 -",
            r#"{"type":"thread.started","thread_id":"x"}
{"type":"error","message":"reconnecting 1/5"}
{"type":"item.completed","item":{"id":"0","type":"agent_message","text":"looking"}}
{"type":"item.completed","item":{"id":"1","type":"agent_message","text":"{\"a\":1}"}}
{"type":"turn.completed","usage":{"input_tokens":12,"cached_input_tokens":4,"output_tokens":5}}"#,
            None,
        ),
        (
            "gemini",
            CommandLine::Gemini,
            "-o json --approval-mode plan -m m/1",
            r#"Loaded cached credentials.
{
  "response": "{\"a\":1}",
  "stats": {"models": {"m": {"tokens": {"prompt": 12, "candidates": 3, "thoughts": 2, "cached": 4}}}}
}"#,
            None,
        ),
        (
            "opencode",
            CommandLine::Opencode,
            "run --format json -m m/1",
            r#"{"type":"step_start"}
{"type":"text","part":{"type":"text","text":"looking"}}
{"type":"step_finish","part":{"cost":0.125,"tokens":{"input":3,"output":1,"reasoning":0,"cache":{"read":2,"write":0}}}}
{"type":"step_start"}
{"type":"text","part":{"type":"text","text":"{\"a\":1}"}}
{"type":"step_finish","part":{"cost":0.125,"tokens":{"input":4,"output":3,"reasoning":1,"cache":{"read":2,"write":1}}}}"#,
            Some(0.25),
        ),
    ] {
        let (words, answer) = known(program, line, stdout);
        assert_eq!(words, argv);
        let answer = answer.unwrap();
        assert_eq!(answer.text, r#"{"a":1}"#, "{program}");
        assert_eq!(answer.usage, Some(usage(cost)), "{program}");
        let denied: &[&str] =
            if program == "claude" { &[r#"Bash {"command":"rm -rf /"}"#] } else { &[] };
        assert_eq!(answer.denied, denied);
    }
}

#[test]
fn errors_of_known_command_lines_are_read() {
    for (program, line, stdout, cause) in [
        (
            "codex",
            CommandLine::Codex,
            r#"{"type":"turn.failed","error":{"message":"stream ended"}}"#,
            Some(Cause::Reported("stream ended".to_owned())),
        ),
        (
            "codex",
            CommandLine::Codex,
            r#"{"type":"item.completed","item":{"type":"agent_message","text":"half"}}
{"type":"turn.failed"}"#,
            Some(Cause::Reported("the turn failed".to_owned())),
        ),
        (
            "opencode",
            CommandLine::Opencode,
            r#"{"type":"error","error":"boom"}"#,
            Some(Cause::Reported("boom".to_owned())),
        ),
        (
            "gemini",
            CommandLine::Gemini,
            r#"{"error":{"type":"Error","message":"Please set an API key","code":41}}"#,
            Some(Cause::NeedsLogin("Please set an API key".to_owned())),
        ),
        ("gemini", CommandLine::Gemini, r#"{"response":"","stats":{}}"#, None),
        (
            "opencode",
            CommandLine::Opencode,
            r#"{"type":"error","error":{"name":"UnknownError","data":{"message":"Model not found"}}}"#,
            Some(Cause::Reported("Model not found".to_owned())),
        ),
    ] {
        let what = "there is no answer in what the agent wrote".to_owned();
        let none = Cause::Unusable { what, said: stdout.to_owned() };
        let error = known(program, line, stdout).1.unwrap_err();
        assert_eq!(error.cause, cause.unwrap_or(none), "{program}");
    }
}

#[test]
fn an_answer_without_an_envelope_is_taken_as_it_is() {
    for (program, line) in [
        ("claude", CommandLine::Claude),
        ("codex", CommandLine::Codex),
        ("gemini", CommandLine::Gemini),
        ("opencode", CommandLine::Opencode),
    ] {
        for stdout in ["[]", "[{\"title\":\"t\"}]", "{\"findings\":[]}", "Nothing to say."] {
            let answer = known(program, line, stdout).1.unwrap();
            assert_eq!(answer.text.trim(), stdout, "{program}");
        }
    }
}
