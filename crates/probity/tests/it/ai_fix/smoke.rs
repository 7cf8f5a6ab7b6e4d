//! Real agents, where somebody has asked for them and they are there and logged in.

use super::{GO, MULTI_STAGE, Stage, outcome};

/// `ACP_ENABLE_GEMINI_TESTS=1`, with `ACP_GEMINI_BIN` and `ACP_GEMINI_TEST_ARGS` where they are set;
/// likewise for the others.
#[test]
fn an_agent_that_was_asked_for_answers_or_is_not_ready() {
    for (name, program, flags) in [
        ("GEMINI", "gemini", "--acp"),
        ("CLAUDE", "claude-agent-acp", ""),
        ("CODEX", "codex-acp", ""),
    ] {
        let variable = |what: &str| std::env::var(what).unwrap_or_default();
        let switch = format!("ACP_ENABLE_{name}_TESTS");
        if variable(&switch) != "1" {
            println!("skipped: {program} with its own model, since {switch} is not 1");
            continue;
        }
        let set = variable(&format!("ACP_{name}_BIN"));
        let program = if set.is_empty() { program.to_owned() } else { set };
        let more = variable(&format!("ACP_{name}_TEST_ARGS"));
        let stage = Stage::new(GO, "");
        let mut run =
            stage.fix(MULTI_STAGE).args(["--acp-command", &format!("{program} {flags} {more}")]);
        run = run.args(["--ai-sandbox", "none", "--ai-timeout", "180s"]);
        for key in
            ["HOME", "GEMINI_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "CODEX_API_KEY"]
        {
            run = run.env(key, &variable(key));
        }
        let output = run.run();
        let outcome = outcome(&output);
        // A program that is missing or not logged in is no fault of ours; anything it says is judged.
        let reason = outcome["reason"].as_str().unwrap_or_default();
        let is_fine = outcome["outcome"] != "skipped" || reason != "malformed-output";
        assert!(is_fine, "{name}: {outcome}\n{}", output.stderr);
    }
}
