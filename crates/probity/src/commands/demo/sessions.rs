//! The last step: two agents behind one proxy, and answers that arrive where they belong.

use serde_json::Value;

use super::stage::{Sandboxed, Stage};
use crate::config::word::Word as _;

const AGENT: &str = include_str!("fixtures/sessions-agent.ndjson");

pub(super) fn show(stage: &mut Stage<'_>) -> anyhow::Result<()> {
    stage.heading("Connect one editor to two agents, and keep their sessions apart")?;
    if !stage.has_sandbox(Sandboxed::Agents)? {
        return Ok(());
    }
    for repository in ["north", "south"] {
        stage.write(&format!("sessions/{repository}/.git/HEAD"), "ref: refs/heads/main\n")?;
        stage.write(&format!("sessions/{repository}/agent.ndjson"), AGENT)?;
    }
    stage.write(
        "home/config/containai/config.toml",
        "[agents.recorded]\n\
         command = ['probity', 'agent', 'replay', 'agent.ndjson']\n",
    )?;
    let sandbox = stage.sandboxes.chosen().word();
    let line = format!("probity demo --as-editor sessions --sandbox {sandbox}");
    stage.show("Editors run `probity acp recorded`; this command plays the editor:")?;
    let ran = stage.command(&line)?;
    let told: Vec<Value> =
        ran.stdout.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    for line in ran.stdout.lines().filter(|line| !line.starts_with('{')) {
        stage.show(line)?;
    }
    let is_at = |event: &str| -> Vec<&str> {
        let of = |told: &&Value| told["event"] == event;
        told.iter().filter(of).filter_map(|told| told["session"].as_str()).collect()
    };
    for event in &told {
        let text = |key: &str| event[key].as_str().unwrap_or_default();
        stage.show(&format!("{} {}: {}", text("session"), text("event"), text("text")))?;
    }
    let mut asked = is_at("asks");
    asked.sort_unstable();
    // Both questions were open before either was answered.
    let first: Vec<&Value> = told.iter().map(|told| &told["event"]).take(2).collect();
    let is_right = first == ["asks", "asks"]
        && asked == ["north", "south"]
        && is_at("goes on") == ["south", "north"]
        && ran.code == Some(0);
    stage.proof(
        is_right,
        &format!(
            "both questions were open; the editor answered south first, and only south continued ({})",
            ran.exit()
        ),
        &format!(
            "an answer arrived at the wrong session, or not at all ({}): {}",
            ran.exit(),
            ran.stderr.lines().last().unwrap_or_default()
        ),
    )
}
