//! Agents that are processes or recordings, in the place of a chat API.

use serde_json::json;

use super::{SPEND, TRUE, project, report, state, statuses};
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
    audit(&dir, &["--provider", "replay", "--agent", file.to_str().unwrap()]).run().code(0);
    let state = state(dir.path());
    assert_eq!(statuses(&state), ["completed"; 3]);
    assert_eq!(state["provider"]["name"], "replay");
    assert!(
        report(dir.path()).contains(
            "`strict-value-equality-001`, `missing-address-validation-002`, `unvalidated-datum-003`"
        ),
        "one finding of three skills"
    );
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
    assert_eq!(state["provider"]["notes"], "Agent: probity; contained by bubblewrap");
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
    for (args, says) in [
        (
            &["--provider", "acp", "--agent", "no-such-program --acp"][..],
            "`no-such-program` is not a program in your PATH",
        ),
        (&["--provider", "acp", "--agent", "nobody"], "no agent of this name is known"),
        (&["--provider", "command"], "needs an agent"),
        (&["--provider", "acp:sh -c x", "--model", "m"], "cannot be chosen over ACP"),
    ] {
        let dir = project();
        let output = audit(&dir, args).run().code(1);
        assert!(output.stderr.contains(says), "{args:?}: {}", output.stderr);
        assert!(!dir.path().join(".tx3").exists(), "{args:?}");
    }
}
