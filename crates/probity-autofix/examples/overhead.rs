//! What a fix costs beside the agent: prompt, reading, applying, every check, and minimal edits.
//!
//! `cargo run --release -p probity-autofix --example overhead`; the aim is under 20 ms a fix.
//! `overhead FAMILY STEPS` does one fix, for those who count what it does, and prints the lines of both files.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a measurement, not a program"
)]

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
    let detector = Detector::new(&Options::default()).unwrap();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [family, steps] = arguments.as_slice() {
        let [text, new] = conversion(family, steps.parse().unwrap());
        measured([&text, &new], 1, &detector);
        println!("{}", text.lines().count() + new.lines().count());
        return;
    }
    for steps in [0, 20, 200] {
        let [text, new] = conversion("commands", steps);
        let time = measured([&text, &new], FIXES, &detector);
        println!("{:>4} lines: {time:?} a fix", text.lines().count());
    }
}

/// A file with so many steps of a kind, and what makes two stages of it.
fn conversion(family: &str, steps: usize) -> [String; 2] {
    let step = |n: usize| match family {
        "commands" => format!("RUN go vet ./package{n} && echo {n}\n"),
        "copies" => format!("COPY package{n}/ ./package{n}/\n"),
        "moves" => {
            format!("RUN go build -o /tmp/tool{n} ./tool{n} && mv /tmp/tool{n} /src/tool{n}\n")
        }
        "variables" => {
            format!("ARG VALUE_{n}={n}\nRUN go generate ./package{n} && echo $VALUE_{n}\n")
        }
        _ => panic!("no family `{family}`"),
    };
    let more: String = (0..steps).map(step).collect();
    let text = format!(
        "FROM golang:1.22\nWORKDIR /src\nCOPY . .\n{more}RUN go build -o /app ./cmd/app\nEXPOSE 80\nENTRYPOINT [\"/app\"]\n"
    );
    let new = text.replace("golang:1.22\n", "golang:1.22 AS build\n").replace(
        "EXPOSE",
        "FROM debian:12-slim\nWORKDIR /src\nCOPY --from=build /app /app\nEXPOSE",
    );
    [text, new]
}

fn measured([text, new]: [&str; 2], fixes: u32, detector: &Detector) -> Duration {
    let patch = diffy::create_patch(text, new).to_string();
    let hunks = patch.split_once("@@").unwrap().1;
    let answer = format!("```diff\n--- a/Dockerfile\n+++ b/Dockerfile\n@@{hunks}```\n");
    let (rules, modes) = (RuleSet::default(), BTreeMap::new());
    let directives = DirectiveOptions {
        enabled: true,
        validate_rules: false,
        warn_unused: false,
        require_reason: false,
    };
    let lint = LintOptions {
        rules: &rules,
        uses: None,
        directives,
        dockerignore: None,
        context_files: None,
        base_images: None,
        detections: &[],
        secrets: Some(detector),
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
        max_rounds: 1,
    };
    let request =
        Request { path: "Dockerfile", text, members: &members, fix, settings, context: None };
    let began = Instant::now();
    for _ in 0..fixes {
        let mut open = || Ok(Box::new(Instantly(answer.clone())) as Box<dyn Agent>);
        let resolution = resolve(&request, &mut open, &Cancel::new(), &|_| {}, &mut |_, _| {
            probity_autofix::Proof::Accepted
        });
        assert!(!resolution.edits.is_empty(), "{:?}", resolution.outcomes);
    }
    began.elapsed() / fixes
}
