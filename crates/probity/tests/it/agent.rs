//! `probity agent`: asked, listed, recorded and replayed, with agents that behave and others.

pub(crate) mod misbehaving;
mod recording;
mod rows;

use std::{path::Path, time::Duration};

use tempfile::TempDir;

use crate::binary::{Run, directory, probity};

/// Says what it was asked.
const ECHO: &str = r#"{"on":"session/prompt"}
{"say":"you said: ${prompt}"}
{"answer":{"stopReason":"end_turn"}}
"#;

/// A command line on which the binary itself is the agent that plays this file.
fn replaying(file: &Path) -> String {
    format!("acp:{} agent replay {}", env!("CARGO_BIN_EXE_probity"), file.display())
}

fn script(text: &str) -> (TempDir, std::path::PathBuf) {
    let dir = directory(&[("script.ndjson", text)]);
    let file = dir.path().join("script.ndjson");
    (dir, file)
}

fn ask(agent: &str) -> Run {
    probity().args(["agent", "ask", agent, "hello"])
}

#[test]
fn a_recording_answers_and_starts_nothing() {
    let (dir, _) = script(ECHO);
    let output = ask("replay:script.ndjson").dir(&dir).run().code(0);
    assert_eq!(output.stdout, "you said: hello\n");
    assert!(output.stderr.contains("starts no process"), "{}", output.stderr);
}

#[test]
fn a_process_answers_contained_and_uncontained_and_says_which() {
    let (_dir, file) = script(ECHO);
    for (sandbox, says) in
        [("auto", "sandbox: bubblewrap"), ("bwrap", "bubblewrap"), ("none", "sandbox: none")]
    {
        let output = ask(&replaying(&file)).args(["--sandbox", sandbox]).run().code(0);
        assert_eq!(output.stdout, "you said: hello\n", "{sandbox}");
        assert!(output.stderr.contains(says), "{sandbox}: {}", output.stderr);
    }
    let output = ask(&replaying(&file)).args(["--quiet"]).run().code(0);
    assert_eq!(output.stderr, "");
}

#[test]
fn the_question_can_come_from_standard_input_and_the_answer_go_to_a_program() {
    let (_dir, file) = script(ECHO);
    let agent = replaying(&file);
    let output = probity()
        .args(["agent", "ask", &agent, "-", "--format", "json"])
        .input("from a pipe")
        .run()
        .code(0);
    let page: serde_json::Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(page["answer"], "you said: from a pipe");
    assert_eq!(page["stopReason"], "end_turn");
    assert_eq!(page["containedBy"], "bubblewrap");
    assert_eq!(page["agent"], "probity");
}

#[test]
fn a_contained_command_sees_its_own_files_and_named_variables_alone() {
    let dir = directory(&[
        ("agent.sh", "cat $0 | wc -l; ls; cat secret 2>&1; echo \"$MINE$OTHERS\"\n"),
        ("secret", "s3cret"),
    ]);
    let output = ask("cmd:sh ./agent.sh")
        .dir(&dir)
        .args(["--env", "MINE"])
        .env("MINE", "mine")
        .env("OTHERS", "others")
        .run()
        .code(0);
    assert!(output.stdout.starts_with("1\n"), "{}", output.stdout);
    assert!(output.stdout.ends_with("mine\n"), "{}", output.stdout);
    assert!(!output.stdout.contains("s3cret"), "{}", output.stdout);
}

#[test]
fn what_cannot_be_asked_says_why_and_what_to_do() {
    let dir = directory(&[("broken.ndjson", "{\"on\":")]);
    for (agent, says) in [
        ("gemni", &["there is no agent `gemni`", "did you mean `gemini`?", "acp:COMMAND"][..]),
        ("nobody-at-all", &["known agents: claude, codex, gemini"]),
        ("acp:", &["`acp:` needs a command"]),
        (
            "acp:no-such-program --acp",
            &["`no-such-program` is not a program in your PATH", "install"],
        ),
        ("replay:gone.ndjson", &["cannot play gone.ndjson", "No such file"]),
        ("replay:broken.ndjson", &["broken.ndjson", "line 1"]),
        ("acp:true", &["does not speak the Agent Client Protocol", "`cmd:`"]),
    ] {
        let output = ask(agent).dir(&dir).run().code(2);
        for word in says {
            assert!(output.stderr.contains(word), "{agent} lacks `{word}`: {}", output.stderr);
        }
        assert_eq!(output.stdout, "", "{agent}");
    }
    let output = ask("gemini").env("PATH", "").run().code(2);
    assert!(
        output.stderr.contains("gemini is not installed: `gemini` is not a program in your PATH"),
        "{}",
        output.stderr
    );
    let (_dir, file) = script(ECHO);
    let agent = replaying(&file);
    let output = ask(&agent).env("PATH", "/nowhere").run().code(2);
    for word in
        ["no sandbox is available for the agent", "bwrap is not installed", "--sandbox none"]
    {
        assert!(output.stderr.contains(word), "lacks `{word}`: {}", output.stderr);
    }
}

#[test]
fn a_missing_login_names_what_the_agent_offers() {
    let (_dir, file) = script(
        r#"{"on":"initialize"}
{"answer":{"protocolVersion":1,"authMethods":[{"id":"key","name":"Use an API key"}]}}
{"on":"session/new"}
{"fail":{"code":-32000,"message":"Authentication required"}}
"#,
    );
    let output = ask(&replaying(&file)).run().code(2);
    for word in ["needs a login", "Use an API key"] {
        assert!(output.stderr.contains(word), "lacks `{word}`: {}", output.stderr);
    }
}

#[test]
fn a_list_without_programs_says_what_is_missing() {
    let output = probity().args(["agent", "list"]).env("PATH", "").run().code(0);
    insta::assert_snapshot!(output.stdout, @r"
    claude    no     `claude-agent-acp` is not in your PATH; install it with `npm install -g @agentclientprotocol/claude-agent-acp`
    codex     no     `codex-acp` is not in your PATH; install it with `npm install -g @agentclientprotocol/codex-acp`
    gemini    no     `gemini` is not in your PATH; install it with `npm install -g @google/gemini-cli`
    opencode  no     `opencode` is not in your PATH; install it with `npm install -g opencode-ai`
    qwen      no     `qwen` is not in your PATH; install it with `npm install -g @qwen-code/qwen-code`
    copilot   no     `copilot` is not in your PATH; install it with `npm install -g @github/copilot`
    cline     no     `cline` is not in your PATH; install it with `npm install -g cline`
    auggie    no     `auggie` is not in your PATH; install it with `npm install -g @augmentcode/auggie`
    goose     no     `goose` is not in your PATH; install it with `npm install -g @aaif/goose-acp`
    kimi      no     `kimi` is not in your PATH; install it with `npm install -g @moonshot-ai/kimi-code`
    vibe      no     `vibe-acp` is not in your PATH; install it with `pip install mistral-vibe`
    pi        no     `pi-acp` is not in your PATH; install it with `npm install -g @earendil-works/pi-coding-agent pi-acp`
    ");
}

#[test]
fn a_list_starts_what_is_there_and_waits_no_longer_than_it_says() {
    let state = tempfile::tempdir().unwrap();
    let binary = env!("CARGO_BIN_EXE_probity");
    let (_dir, named) = script(
        r#"{"on":"initialize"}
{"answer":{"protocolVersion":1,"agentInfo":{"name":"gemini-cli","version":"9.9"}}}
"#,
    );
    let (_other, locked) = script(
        r#"{"on":"initialize"}
{"answer":{"protocolVersion":1,"agentInfo":{"name":"OpenCode","version":"1"},"authMethods":[{"id":"key","name":"Use an API key"}]}}
{"on":"session/new"}
{"fail":{"code":-32000,"message":"Authentication required"}}
"#,
    );
    let dead = "#!/bin/sh\necho loading >&2; echo no model here >&2; exit 3\n";
    let slow = "#!/bin/sh\nexec sleep 60\n";
    // Everything the agents need is copied beside them, as an installation would have it.
    let tools = directory(&[("bin/codex-acp", dead), ("bin/qwen", slow)]);
    let bin = tools.path().join("bin");
    std::fs::copy(binary, bin.join("probity")).unwrap();
    for (name, script) in [("gemini", named), ("opencode", locked)] {
        std::fs::copy(script, bin.join(format!("{name}.ndjson"))).unwrap();
        let play =
            format!("#!/bin/sh\nexec {0}/probity agent replay {0}/{name}.ndjson\n", bin.display());
        std::fs::write(bin.join(name), play).unwrap();
    }
    for name in ["codex-acp", "qwen", "gemini", "opencode"] {
        executable(&bin.join(name));
    }
    let began = std::time::Instant::now();
    let path = format!("{}:/usr/bin:/bin", bin.display());
    let output = probity()
        .args(["agent", "list", "--format", "json", "--timeout", "5s"])
        .env("PATH", &path)
        .env("XDG_STATE_HOME", state.path().to_str().unwrap())
        .run()
        .code(0);
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    let page: serde_json::Value = serde_json::from_str(&output.stdout).unwrap();
    let row = |name: &str| {
        let rows = page["agents"].as_array().unwrap();
        rows.iter().find(|row| row["name"] == name).unwrap().clone()
    };
    assert_eq!(row("gemini")["says"], "gemini-cli 9.9", "{page:#}");
    assert_eq!(row("gemini")["needsLogin"], serde_json::Value::Null, "{page:#}");
    let login = row("opencode")["needsLogin"].as_str().unwrap().to_owned();
    assert!(login.contains("needs a login: Authentication required"), "{login}");
    assert!(login.contains("it offers Use an API key"), "{login}");
    assert!(login.ends_with("; log in with `opencode auth login`"), "{login}");
    assert_eq!(row("codex")["starts"], false);
    assert!(row("codex")["why"].as_str().unwrap().contains("no model here"), "{page:#}");
    assert!(row("qwen")["why"].as_str().unwrap().contains("no answer within 5 s"), "{page:#}");
    assert!(row("claude")["why"].as_str().unwrap().contains("not in your PATH"), "{page:#}");
}

pub(crate) fn executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}
