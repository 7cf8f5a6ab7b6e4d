//! The parts of a prompt that come from the file, each with a hard cap.

use std::fmt;

use probity_dockerfile::{Runtime, Setting};
use probity_finding::{LineIndex, Signal};
use probity_text::beginning;
use serde::Serialize;
use serde_json::{Map, Value};

use super::bullets;
use crate::{
    batch::Batch,
    checks::{Issue, View},
};

const MOST_SIGNALS: usize = 20;
const MOST_PACKAGES: usize = 30;
const LONGEST_EVIDENCE: usize = 160;
const MOST_SETTINGS: usize = 60;
const LONGEST_SETTING: usize = 200;
const MOST_ISSUES: usize = 20;

/// What is wanted, with the evidence for it.
pub(crate) struct Objectives(Vec<ObjectivePart>);

struct ObjectivePart {
    rule: String,
    goal: &'static str,
    constraints: &'static [&'static str],
    evidence: Evidence,
}

#[derive(Serialize)]
struct Evidence {
    rule: String,
    file: String,
    score: u32,
    signals: Vec<SignalPart>,
    #[serde(flatten)]
    hints: Map<String, Value>,
}

#[derive(Serialize)]
struct SignalPart {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    manager: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    packages: Vec<String>,
    evidence: String,
    line: usize,
}

impl Objectives {
    pub(crate) fn of(batch: &Batch<'_>, view: &View<'_>, file_name: &str) -> Self {
        let lines = LineIndex::new(view.text);
        let parts = batch.groups.iter().map(|group| {
            let rule = group.members.first().map(|member| member.rule.clone()).unwrap_or_default();
            let objectives = || group.members.iter().map(|member| &member.objective);
            let signals = objectives().flat_map(|objective| &objective.signals);
            let evidence = Evidence {
                rule: rule.clone(),
                file: file_name.to_owned(),
                score: objectives().map(|objective| objective.score).max().unwrap_or_default(),
                signals: signals.take(MOST_SIGNALS).map(|it| signal(it, &lines)).collect(),
                hints: (group.kind.hints)(view),
            };
            let (goal, constraints) = (group.kind.goal, group.kind.constraints);
            ObjectivePart { rule, goal, constraints, evidence }
        });
        Self(parts.collect())
    }

    /// The goals alone.
    pub(crate) fn in_short(&self) -> String {
        self.0.iter().map(|part| format!("Objective ({}): {}\n", part.rule, part.goal)).collect()
    }
}

fn signal(signal: &Signal, lines: &LineIndex<'_>) -> SignalPart {
    let name = signal.tool.clone();
    let (manager, tool) =
        if signal.kind == "package_install" { (name, None) } else { (None, name) };
    SignalPart {
        kind: signal.kind,
        manager,
        tool,
        packages: signal.packages.iter().take(MOST_PACKAGES).cloned().collect(),
        evidence: beginning(&signal.evidence, LONGEST_EVIDENCE),
        line: lines.position(signal.span.start).line + 1,
    }
}

impl fmt::Display for Objectives {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, part) in (1..).zip(&self.0) {
            let json = serde_json::to_string_pretty(&part.evidence).map_err(|_| fmt::Error)?;
            writeln!(formatter, "Objective {number} ({}): {}", part.rule, part.goal)?;
            formatter.write_str(&bullets(part.constraints))?;
            writeln!(formatter, "What the file shows (JSON):\n{json}")?;
        }
        if self.0.len() > 1 {
            formatter.write_str("Meet all objectives that you can in one answer.\n")?;
        }
        Ok(())
    }
}

/// What a container starts with.
pub(crate) struct RuntimeSummary {
    settings: Vec<String>,
    may_change: Vec<&'static str>,
}

impl RuntimeSummary {
    pub(crate) fn of(runtime: &Runtime, may_change: &[Setting]) -> Self {
        let entries = runtime.entries().iter().take(MOST_SETTINGS);
        let settings =
            entries.map(|entry| beginning(&entry.entry.to_string(), LONGEST_SETTING)).collect();
        Self { settings, may_change: may_change.iter().map(|setting| setting.name()).collect() }
    }
}

impl fmt::Display for RuntimeSummary {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("What a container starts with, to be kept as it is")?;
        if !self.may_change.is_empty() {
            write!(formatter, " but for {}", self.may_change.join(", "))?;
        }
        formatter.write_str(":\n")?;
        match self.settings.as_slice() {
            [] => formatter.write_str("- nothing is set\n"),
            settings => {
                // One line each: a setting may hold a heredoc or a script.
                let lines =
                    settings.iter().map(|setting| format!("- {}\n", setting.replace('\n', " ")));
                formatter.write_str(&lines.collect::<String>())
            }
        }
    }
}

/// What has to be put right.
pub(super) struct Issues<'i>(&'i [Issue]);

impl<'i> Issues<'i> {
    pub(super) fn of(issues: &'i [Issue]) -> Self {
        Self(issues.get(..MOST_ISSUES).unwrap_or(issues))
    }
}

impl fmt::Display for Issues<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let json = serde_json::to_string_pretty(self.0).map_err(|_| fmt::Error)?;
        writeln!(formatter, "Blocking issues (JSON):\n{json}")
    }
}
