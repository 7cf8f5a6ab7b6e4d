//! The second step: an agent's patch is taken, and another one, which does harm, is not.

use serde_json::Value;

use super::{
    check::starts_alike,
    is_swapped,
    stage::{Sandboxed, Stage},
};

const GOOD: &str = include_str!("fixtures/orders-agent.ndjson");
const HARMFUL: &str = include_str!("fixtures/orders-harmful.ndjson");

pub(super) fn show(stage: &mut Stage<'_>) -> anyhow::Result<()> {
    stage.heading("Let an agent split a build into two stages, and reject a harmful patch")?;
    if !stage.has_sandbox(Sandboxed::Agents)? {
        return Ok(());
    }
    stage.write("orders/agent.ndjson", GOOD)?;
    let harmful = if is_swapped("harmful") { GOOD } else { HARMFUL };
    stage.write("orders/harmful.ndjson", harmful)?;
    stage.make_directory("orders/agent")?;
    stage.make_directory("orders/harmful")?;

    let converted = stage.command(&line("agent"))?;
    let fix = outcome(stage, "agent");
    stage.show(&told(&fix))?;
    let after = stage.read("orders/agent/Dockerfile");
    let stages = after.lines().filter(|line| line.starts_with("FROM ")).count();
    stage.proof(
        fix["outcome"] == "applied"
            && stages == 2
            && starts_alike(&after)
            && converted.code == Some(0),
        &format!(
            "the file has {stages} stages now, USER, ENTRYPOINT and CMD are unchanged, and a \
             new check finds nothing ({})",
            converted.exit()
        ),
        &format!("a good patch was not applied ({})", converted.exit()),
    )?;

    let refused = stage.command(&line("harmful"))?;
    let fix = outcome(stage, "harmful");
    stage.show(&told(&fix))?;
    for reason in
        fix["detail"].as_str().unwrap_or_default().split("; ").filter(|part| part.contains(": "))
    {
        stage.show(&format!("- {reason}"))?;
    }
    let is_untouched = stage.read("orders/harmful/Dockerfile") == stage.read("orders/Dockerfile");
    stage.proof(
        is_untouched && fix["reason"] == "validation-failed" && refused.code == Some(1),
        &format!(
            "the file is unchanged, byte for byte, and probity still reports the finding ({})",
            refused.exit()
        ),
        "the harmful patch was not rejected as harmful; the file may have changed",
    )
}

fn line(agent: &str) -> String {
    format!(
        "cp orders/Dockerfile orders/{agent}/ && probity check --fix --fix-ai \\\n\
         --acp-command 'probity agent replay orders/{agent}.ndjson' \\\n\
         --fail-level info --format json -o orders/{agent}.json orders/{agent}/Dockerfile"
    )
}

fn outcome(stage: &Stage<'_>, agent: &str) -> Value {
    stage.json(&format!("orders/{agent}.json"))["ai_fixes"][0].clone()
}

fn told(fix: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or("nothing").to_owned();
    let reason = fix["reason"].as_str().map(|reason| format!(" ({reason})")).unwrap_or_default();
    let by = text(&fix["session"]["containedBy"]);
    format!("the patch: {}{reason}; the agent's sandbox: {by}", text(&fix["outcome"]))
}
