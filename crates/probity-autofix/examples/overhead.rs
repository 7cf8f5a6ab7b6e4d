//! What a fix costs beside the agent: prompt, reading, applying, every check, and minimal edits.
//!
//! `cargo run --release -p probity-autofix --example overhead`; the aim is under 20 ms a fix.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a measurement, not a program")]

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use probity_agent::{Agent, AgentError, Answer, Cancel, Limits, StopReason, Turn};
use probity_autofix::{Expect, Member, Request, SecretsPolicy, Settings, resolve};
use probity_finding::Applicability;
use probity_lint::{DirectiveOptions, FixOptions, LintOptions, RuleSet, agent_fixes};
use probity_secrets::{Detector, Options};

const FIXES: u32 = 50;

/// Answers every prompt with the same patch, at once.
struct Instantly(String);

impl Agent for Instantly {
    fn name(&self) -> &str {
        "instantly"
    }

    fn ask(&mut self, _: &Turn, _: &Limits, _: &Cancel) -> Result<Answer, AgentError> {
        let (text, stop) = (self.0.clone(), StopReason::EndTurn);
        Ok(Answer { text, stop, usage: None, denied: Vec::new(), requests: 1 })
    }
}

fn main() {
    for steps in [0, 20, 200] {
        let more: String =
            (0..steps).map(|n| format!("RUN mkdir -p /data/{n} && echo {n}\n")).collect();
        let text = format!(
            "FROM golang:1.22\nWORKDIR /src\nCOPY . .\n{more}RUN go build -o /app ./cmd/app\nEXPOSE 80\nENTRYPOINT [\"/app\"]\n"
        );
        let new = text.replace("golang:1.22\n", "golang:1.22 AS build\n").replace(
            "EXPOSE",
            "FROM debian:12-slim\nWORKDIR /src\nCOPY --from=build /app /app\nEXPOSE",
        );
        let patch = diffy::create_patch(&text, &new).to_string();
        let hunks = patch.split_once("@@").unwrap().1;
        let answer = format!("```diff\n--- a/Dockerfile\n+++ b/Dockerfile\n@@{hunks}```\n");
        println!("{:>4} lines: {:?} a fix", text.lines().count(), measured(&text, &answer));
    }
}

fn measured(text: &str, answer: &str) -> Duration {
    let (rules, modes) = (RuleSet::default(), BTreeMap::new());
    let directives = DirectiveOptions {
        enabled: true,
        validate_rules: false,
        warn_unused: false,
        require_reason: false,
    };
    let detector = Detector::new(&Options::default()).unwrap();
    let lint = LintOptions {
        rules: &rules,
        uses: None,
        directives,
        dockerignore: None,
        context_files: None,
        base_images: None,
        detections: &[],
        secrets: Some(&detector),
    };
    let ceiling = Applicability::Unsafe;
    let fix = FixOptions { lint, ceiling, only: &[], modes: &modes, excluded: &[], known: None };
    let findings = probity_lint::lint(text, &lint);
    let members: Vec<Member> = agent_fixes(&findings, &fix, false)
        .into_iter()
        .map(|(finding, fix)| Member {
            rule: finding.rule.to_string(),
            priority: fix.priority,
            objective: fix.objective.clone().unwrap(),
        })
        .collect();
    let settings = Settings {
        expect: Expect::Patch,
        secrets: SecretsPolicy::Deny,
        timeout: Duration::from_secs(60),
        max_input_bytes: 262_144,
        max_rounds: 2,
    };
    let request =
        Request { path: "Dockerfile", text, members: &members, fix, settings, context: None };
    let began = Instant::now();
    for _ in 0..FIXES {
        let mut open = || Ok(Box::new(Instantly(answer.to_owned())) as Box<dyn Agent>);
        let resolution = resolve(&request, &mut open, &Cancel::new(), &|_| {}, &mut |_, _| {
            probity_autofix::Proof::Accepted
        });
        assert!(!resolution.edits.is_empty(), "{:?}", resolution.outcomes);
    }
    began.elapsed() / FIXES
}
