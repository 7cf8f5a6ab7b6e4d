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
    insta::assert_snapshot!(output.stderr, @"replay of script.ndjson: sandbox: none: a recording starts no process");
}

#[test]
fn a_process_answers_contained_and_uncontained_and_says_which() {
    let (_dir, file) = script(ECHO);
    let mut printed = Vec::new();
    for sandbox in ["auto", "bwrap", "none"] {
        let output = ask(&replaying(&file)).args(["--sandbox", sandbox]).run().code(0);
        assert_eq!(output.stdout, "you said: hello\n", "{sandbox}");
        printed.push(format!("{sandbox}: {}", output.stderr));
    }
    insta::assert_snapshot!(printed.concat(), @"
    auto: probity: sandbox: bubblewrap
    bwrap: probity: sandbox: bubblewrap
    none: probity: sandbox: none, as requested
    ");
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
    insta::assert_snapshot!(output.stdout, @"
    1
    cat: secret: No such file or directory
    mine
    ");
    assert!(!output.stdout.contains("s3cret"), "{}", output.stdout);
}

#[test]
fn what_cannot_be_asked_says_why_and_what_to_do() {
    let dir = directory(&[("broken.ndjson", "{\"on\":")]);
    let mut refusals = Vec::new();
    for agent in [
        "gemni",
        "nobody-at-all",
        "acp:",
        "acp:no-such-program --acp",
        "replay:gone.ndjson",
        "replay:broken.ndjson",
        "acp:true",
    ] {
        let output = ask(agent).dir(&dir).run().code(2);
        refusals.push(format!("{agent}\n{}", output.stderr));
        assert_eq!(output.stdout, "", "{agent}");
    }
    insta::assert_snapshot!(refusals.join("\n"), @"
    gemni
    error: there is no agent `gemni`
      help: did you mean `gemini`? known agents: claude, codex, gemini, opencode, qwen, copilot, cline, auggie, goose, kimi, vibe, pi; name any other by its command, acp:COMMAND or cmd:COMMAND

    nobody-at-all
    error: there is no agent `nobody-at-all`
      help: known agents: claude, codex, gemini, opencode, qwen, copilot, cline, auggie, goose, kimi, vibe, pi; name any other by its command, acp:COMMAND or cmd:COMMAND

    acp:
    error: there is no such agent
      cause: `acp:` needs a command after it
      help: `probity agent list` names the agents that are known

    acp:no-such-program --acp
    error: `no-such-program` is not a program in your PATH
      help: install it, or name another agent: `probity agent list` shows what works

    replay:gone.ndjson
    replay of gone.ndjson: sandbox: none: a recording starts no process
    error: replay of gone.ndjson: preparing: cannot play gone.ndjson: No such file or directory (os error 2)
      help: give a recording or a script

    replay:broken.ndjson
    replay of broken.ndjson: sandbox: none: a recording starts no process
    error: replay of broken.ndjson: preparing: cannot play broken.ndjson: line 1: EOF while parsing a value at line 1 column 6
      help: give a recording or a script

    acp:true
    true: sandbox: bubblewrap
    error: true: initializing: the agent ended with exit code 0
      help: this command does not speak the Agent Client Protocol; if it reads a prompt on standard input, write `cmd:` before it, for example `cmd:llm -m MODEL`
    ");
    let output = ask("gemini").env("PATH", "").run().code(2);
    insta::assert_snapshot!(output.stderr, @"
    error: gemini is not installed: `gemini` is not a program in your PATH
      help: install it with `npm install -g @google/gemini-cli`; `probity agent list` shows what works
    ");
    let (_dir, file) = script(ECHO);
    let agent = replaying(&file);
    let output = ask(&agent).without_sandbox().run().code(2);
    insta::assert_snapshot!(output.stderr, @"
    error: no sandbox is available for the agent
        bubblewrap: bwrap is not installed (the package is bubblewrap)
        docker: docker is not installed
        podman: podman is not installed
        landlock: the kernel has no Landlock, or a filter around this process forbids it
      help: install bubblewrap, or pull or build the image containai:latest for docker or podman, or allow what the reasons name; `--sandbox none` runs the agent without a sandbox, with all your rights
    ");
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
    insta::assert_snapshot!(output.stderr, @"
    probity: sandbox: bubblewrap
    error: probity: opening a session: the agent needs a login: Authentication required
      help: log in to probity once by hand, or pass its key; it offers Use an API key
    ");
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
    let slow = "#!/bin/sh\nexec sleep 600\n";
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
    assert!(began.elapsed() < Duration::from_secs(120), "{:?}", began.elapsed());
    let page: serde_json::Value = serde_json::from_str(&output.stdout).unwrap();
    let row = |name: &str| {
        let rows = page["agents"].as_array().unwrap();
        rows.iter().find(|row| row["name"] == name).unwrap().clone()
    };
    assert_eq!(row("gemini")["says"], "gemini-cli 9.9", "{page:#}");
    assert_eq!(row("gemini")["needsLogin"], serde_json::Value::Null, "{page:#}");
    let login = row("opencode")["needsLogin"].as_str().unwrap().to_owned();
    insta::assert_snapshot!(login, @"the agent needs a login: Authentication required; it offers Use an API key; log in with `opencode auth login`");
    assert_eq!(row("codex")["starts"], false);
    insta::assert_snapshot!(row("codex")["why"].as_str().unwrap(), @"starting the agent: the agent closed its standard output: no model here");
    insta::assert_snapshot!(row("qwen")["why"].as_str().unwrap(), @"starting the agent: no answer within 5 s");
    insta::assert_snapshot!(row("claude")["why"].as_str().unwrap(), @"`claude-agent-acp` is not in your PATH; install it with `npm install -g @agentclientprotocol/claude-agent-acp`");
}

pub(crate) fn executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}
