//! Agents that are processes or recordings, in the place of a chat API.

use serde_json::json;

use super::{SPEND, TRUE, about_findings, project, report, state, statuses, wait_for};
use crate::binary::{Run, directory, probity};

fn audit(dir: &tempfile::TempDir, args: &[&str]) -> Run {
    probity().dir(dir).args(["audit"]).args(args)
}

#[test]
fn a_recorded_agent_answers_without_a_process() {
    let dir = project();
    let script = format!(
        "{}\n{}\n{}\n",
        json!({"on": "session/prompt"}),
        json!({"say": TRUE}),
        json!({"answer": {"stopReason": "end_turn"}})
    );
    let files = directory(&[("turn.ndjson", &script)]);
    let file = files.path().join("turn.ndjson");
    // As other commands name it, too.
    for agent in [file.display().to_string(), format!("replay:{}", file.display())] {
        audit(&dir, &["--provider", "replay", "--agent", &agent]).run().code(0);
    }
    let state = state(dir.path());
    assert_eq!(statuses(&state), ["completed"; 3]);
    assert_eq!(state["provider"]["name"], "replay");
    insta::assert_snapshot!(about_findings(&report(dir.path())), @"
    - **Datum not checked** (`high`)
      - Summary: Any datum passes.
      - Recommendation: Compare it.
      - Location: validators/spend.ak:3
      - Evidence: `expect InlineDatum(_) = output.datum`
      - Found by: `strict-value-equality-001`, `missing-address-validation-002`, `unvalidated-datum-003`

    ## Coverage

    - `strict-value-equality-001`: 6 of 6 lines in 1 file
    - `missing-address-validation-002`: 6 of 6 lines in 1 file
    - `unvalidated-datum-003`: 6 of 6 lines in 1 file

    ## Executive summary

    The audit found 1 vulnerability: 0 exploited and fixed, 0 exploited, 1 quoted only.
    The highest severity is high.
    ");
}

/// The question contains an example of an answer.
#[test]
fn a_command_that_repeats_the_question_has_found_nothing_out() {
    let dir = project();
    let output = audit(&dir, &["--provider", "cmd:/bin/cat"]).run().code(3);
    assert_eq!(statuses(&state(dir.path())), ["failed"; 3]);
    insta::assert_snapshot!(output.stderr, @"
    error: skill 'strict-value-equality-001' failed: the agent repeated the question instead of answering it; check its command
    error: skill 'missing-address-validation-002' failed: the agent repeated the question instead of answering it; check its command
    error: skill 'unvalidated-datum-003' failed: the agent repeated the question instead of answering it; check its command
    ");
}

#[test]
fn an_acp_agent_is_contained_and_answers_in_actions() {
    let dir = project();
    let read = r#"{"action":"read_file","path":"validators/spend.ak"}"#;
    let script = format!(
        "{}\n{}\n{}\n{}\n{}\n{}\n",
        json!({"on": "session/prompt"}),
        json!({"say": read}),
        json!({"answer": {"stopReason": "end_turn"}}),
        json!({"on": "session/prompt"}),
        json!({"say": TRUE}),
        json!({"answer": {"stopReason": "end_turn"}})
    );
    let files = directory(&[("turn.ndjson", &script)]);
    let agent = format!(
        "{} agent replay {}",
        env!("CARGO_BIN_EXE_probity"),
        files.path().join("turn.ndjson").display()
    );
    audit(&dir, &["--provider", "acp", "--agent", &agent]).run().code(0);
    let state = state(dir.path());
    assert_eq!(statuses(&state), ["completed"; 3]);
    assert_eq!(state["iterations"][0]["usage"]["requests"], 2);
    assert_eq!(state["provider"]["notes"], "Agent: probity; sandbox: bubblewrap");
}

/// What the agent sees is written into the title of its finding.
const LOOKING: &str = r#"cat > /dev/null
seen=$(find . -type f | sort | tr '\n' ' ')
touch ./mark 2> /dev/null && seen="$seen WRITTEN"
ls /tmp/probity-audit-outside 2> /dev/null && seen="$seen OUTSIDE"
printf '{"action":"final","findings":[{"title":"%s","summary":"%s"}]}' "$seen" "$(pwd)"
"#;

#[test]
fn a_command_sees_only_the_read_scope_and_cannot_write() {
    let dir = directory(&[
        ("validators/spend.ak", SPEND),
        ("README.md", "read me"),
        (".env", "SECRET=1"),
        (".git/config", "x"),
        ("target/made", "x"),
    ]);
    let files = directory(&[("look.sh", LOOKING)]);
    let agent = format!("sh {}", files.path().join("look.sh").display());
    for (scope, seen) in
        [("workspace", "./README.md ./validators/spend.ak"), ("strict", "./validators/spend.ak")]
    {
        audit(&dir, &["--provider", "command", "--agent", &agent, "--read-scope", scope])
            .run()
            .code(0);
        let state = state(dir.path());
        let finding = &state["iterations"][0]["findings"][0];
        assert_eq!(finding["title"], seen, "{scope}");
        assert_eq!(finding["summary"], "/home/agent/workspace");
        assert_eq!(finding["verified"], false);
    }
}

#[test]
fn what_cannot_be_started_is_told_before_anything_is_written() {
    let mut refusals = Vec::new();
    for args in [
        &["--provider", "acp", "--agent", "no-such-program --acp"][..],
        &["--provider", "command", "--agent", "cmd:no-such-program x"],
        &["--provider", "acp", "--agent", "nobody"],
        &["--provider", "command"],
        &["--provider", "acp:sh -c x", "--model", "m"],
    ] {
        let dir = project();
        let output = audit(&dir, args).run().code(1);
        refusals.push(format!("{args:?}\n{}", output.stderr));
        assert!(!dir.path().join(".tx3").exists(), "{args:?}");
    }
    insta::assert_snapshot!(refusals.join("\n"), @r#"
    ["--provider", "acp", "--agent", "no-such-program --acp"]
    error: `no-such-program` is not a program in your PATH
      help: install it, or name another agent: `probity agent list` shows what works

    ["--provider", "command", "--agent", "cmd:no-such-program x"]
    error: `no-such-program` is not a program in your PATH
      help: install it, or name another agent: `probity agent list` shows what works

    ["--provider", "acp", "--agent", "nobody"]
    error: there is no agent `nobody`
      help: known agents: claude, codex, gemini, opencode, qwen, copilot, cline, auggie, goose, kimi, vibe, pi; name any other by its command, acp:COMMAND or cmd:COMMAND

    ["--provider", "command"]
    error: the provider 'command' needs an agent
      help: name it with --agent: a known agent, a command, or the file of a recording

    ["--provider", "acp:sh -c x", "--model", "m"]
    error: sh: preparing: the model `m` cannot be chosen over ACP
      help: choose the model in the agent's own settings or command
    "#);
}

#[test]
fn the_copy_for_an_agent_leaves_out_what_git_ignores() {
    let dir = directory(&[
        ("validators/spend.ak", SPEND),
        (".git/HEAD", "ref: refs/heads/main\n"),
        (".gitignore", "local.txt\n*.gen.ak\n"),
        ("local.txt", "mine"),
        ("todo.txt", "mine"),
        ("validators/mint.gen.ak", SPEND),
    ]);
    let files = directory(&[("look.sh", LOOKING)]);
    let agent = format!("sh {}", files.path().join("look.sh").display());
    // The user's own excludes, for all repositories.
    let user = directory(&[("git/ignore", "todo.txt\n")]);
    let own = "./.gitignore ./validators/spend.ak";
    let all = "./.gitignore ./local.txt ./todo.txt ./validators/mint.gen.ak ./validators/spend.ak";
    for (more, seen, sources) in [(&[][..], own, 1), (&["--allow-ignored"], all, 2)] {
        let run = audit(&dir, &["--provider", "command", "--agent", &agent]).args(more);
        run.env("XDG_CONFIG_HOME", user.path().to_str().unwrap()).run().code(0);
        let state = state(dir.path());
        assert_eq!(state["iterations"][0]["findings"][0]["title"], seen);
        assert_eq!(state["source_files"].as_array().unwrap().len(), sources);
        std::fs::remove_dir_all(dir.path().join(".tx3")).unwrap();
    }
}

const TOKEN: &str = "ghp_aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5";

/// Tells whether the token is in what it sees, in letters that nothing stars out.
const SEARCHING: &str = r#"cat > /dev/null
if grep -q ghp_aB3d notes.txt; then seen=PLAIN; else seen=$(cut -c 1-12 notes.txt); fi
printf '{"action":"final","findings":[{"title":"%s"}]}' "$seen"
"#;

#[test]
fn the_copy_for_an_agent_has_stars_in_the_place_of_secrets() {
    let dir =
        directory(&[("validators/spend.ak", SPEND), ("notes.txt", &format!("token {TOKEN}\n"))]);
    let files = directory(&[("look.sh", SEARCHING)]);
    let agent = format!("sh {}", files.path().join("look.sh").display());
    for (more, seen) in [(&[][..], "token ******"), (&["--allow-sensitive"], "PLAIN")] {
        audit(&dir, &["--provider", "command", "--agent", &agent]).args(more).run().code(0);
        assert_eq!(state(dir.path())["iterations"][0]["findings"][0]["title"], seen);
    }
}

/// The names in a directory of temporary files that begin as copies do.
fn copies(dir: &tempfile::TempDir) -> Vec<String> {
    let entries = std::fs::read_dir(dir).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.starts_with("probity-audit-")).collect()
}

#[test]
fn copies_of_dead_processes_are_swept_and_others_stay() {
    let (dir, temporary) = (project(), directory(&[]));
    let own = format!("probity-audit-{}-0", std::process::id());
    // No process has an id as large as the first one.
    for name in ["probity-audit-4294967295-0", &own, "probity-audit-outside"] {
        std::fs::create_dir(temporary.path().join(name)).unwrap();
        std::fs::write(temporary.path().join(name).join("copy"), "x").unwrap();
    }
    let files = directory(&[("look.sh", LOOKING)]);
    let agent = format!("sh {}", files.path().join("look.sh").display());
    let run = audit(&dir, &["--provider", "command", "--agent", &agent]);
    run.env("TMPDIR", temporary.path().to_str().unwrap()).run().code(0);
    let mut left = copies(&temporary);
    left.sort();
    assert_eq!(left, [own.as_str(), "probity-audit-outside"]);
}

#[test]
fn a_signal_removes_the_copy_and_keeps_the_state() {
    let (dir, temporary) = (project(), directory(&[]));
    let files = directory(&[("wait.sh", "cat > /dev/null\nsleep 60\n")]);
    let agent = format!("sh {}", files.path().join("wait.sh").display());
    let run = audit(&dir, &["--provider", "command", "--agent", &agent]);
    let mut command = run.env("TMPDIR", temporary.path().to_str().unwrap()).into_command();
    let child = command.stderr(std::process::Stdio::piped()).spawn().unwrap();
    let begun = dir.path().join(".tx3/audit/state.json");
    wait_for(|| begun.exists() && !copies(&temporary).is_empty());
    std::process::Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(143));
    assert_eq!(copies(&temporary), [""; 0]);
    insta::assert_snapshot!(String::from_utf8_lossy(&output.stderr), @"error: the audit was cancelled; .tx3/audit/state.json has the finished skills, and `--resume` continues");
}
