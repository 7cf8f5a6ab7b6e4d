//! Each objective through the binary: applied, left alone, refused, repaired.

use super::{GO, MULTI_STAGE, Stage, TWO_STAGES, outcome, patch, turn};
use crate::binary::stable;

struct Sample {
    rule: &'static str,
    old: &'static str,
    good: String,
    bad: String,
    check: &'static str,
}

fn samples() -> Vec<Sample> {
    let web = "FROM nginx:1.27\n\nEXPOSE 80\n";
    let tools = "FROM debian:12-slim\n\nRUN curl -fsSL https://example.com/a -o /a\n\
                 RUN wget -q https://example.com/b -O /b\n";
    let python = "FROM python:3.12\n\nCOPY app.py /app.py\n\nCMD [\"python\", \"/app.py\"]\n";
    let health = |path: &str| format!("{web}\nHEALTHCHECK CMD curl -f http://localhost{path}\n");
    let curl = |rest: &str| tools.replace("wget -q https://example.com/b -O /b", rest);
    vec![
        Sample {
            rule: MULTI_STAGE,
            old: GO,
            good: TWO_STAGES.to_owned(),
            bad: TWO_STAGES.replace("EXPOSE 8080\n\n", ""),
            check: "runtime-invariants: EXPOSE",
        },
        Sample {
            rule: "hadolint/DL3057",
            old: web,
            good: health("/"),
            bad: health("/healthz"),
            check: "healthcheck-endpoint: ",
        },
        Sample {
            rule: "hadolint/DL4001",
            old: tools,
            good: curl("curl -fsSL https://example.com/b -o /b"),
            bad: curl("curl -fsSLO"),
            check: "only-tool-calls-change: ",
        },
        Sample {
            rule: "tally/prefer-slim-base-image",
            old: python,
            good: python.replace("3.12\n", "3.12-slim\n"),
            bad: python.replace("python:3.12\n", "debian:12-slim\n"),
            check: "base-family: ",
        },
    ]
}

#[test]
fn a_good_patch_is_applied_by_a_contained_agent_and_the_finding_is_gone() {
    let mut printed = Vec::new();
    for sample in samples() {
        let stage = Stage::new(sample.old, &turn(&patch(sample.old, &sample.good)));
        let output = stage.fix(sample.rule).run().code(0);
        let outcome = outcome(&output);
        assert_eq!(outcome["outcome"], "applied", "{outcome}");
        assert_eq!(outcome["rule"], sample.rule);
        assert_eq!(outcome["session"]["containedBy"], "bubblewrap");
        assert_eq!(outcome["session"]["rounds"], 1);
        assert_eq!(stage.text(), sample.good);
        printed.push(output.stderr);
    }
    insta::assert_snapshot!(stable(&printed.join("\n")), @"
    Fixed 1 issue in 1 file
    note: AI fix tally/prefer-multi-stage-build (Dockerfile:9): applied; asked probity, sandbox: bubblewrap; proof: [proof]
    note:   before: 1 stage
    note:   └── stage 0 FROM golang:1.22
    note:   after: 2 stages
    note:   └── stage 1 FROM debian:12-slim
    note:       └── COPY build FROM golang:1.22
    note: AI fix of Dockerfile: new image: debian:12-slim

    Fixed 1 issue in 1 file
    note: AI fix hadolint/DL3057 (Dockerfile:1): applied; asked probity, sandbox: bubblewrap; proof: [proof]

    Fixed 1 issue in 1 file
    note: AI fix hadolint/DL4001 (Dockerfile:4): applied; asked probity, sandbox: bubblewrap; proof: [proof]

    Fixed 1 issue in 1 file
    note: AI fix tally/prefer-slim-base-image (Dockerfile:1): applied; asked probity, sandbox: bubblewrap; proof: [proof]
    note:   before: 1 stage
    note:   └── stage 0 FROM python:3.12
    note:   after: 1 stage
    note:   └── stage 0 FROM python:3.12-slim
    note: AI fix of Dockerfile: new image: python:3.12-slim
    ");
}

#[test]
fn a_file_with_a_byte_order_mark_keeps_it_and_gets_the_fix() {
    let stage = Stage::new(&format!("\u{feff}{GO}"), &turn(&patch(GO, TWO_STAGES)));
    let output = stage.fix(MULTI_STAGE).run().code(0);
    assert_eq!(outcome(&output)["outcome"], "applied");
    assert_eq!(stage.text(), format!("\u{feff}{TWO_STAGES}"));
}

#[test]
fn no_change_leaves_the_file_and_the_finding() {
    for sample in samples() {
        let stage = Stage::new(sample.old, &turn("NO_CHANGE\n"));
        let output = stage.fix(sample.rule).run().code(1);
        assert_eq!(outcome(&output)["outcome"], "no-change");
        assert_eq!(stage.text(), sample.old);
        assert!(output.stdout.contains(&format!("\"rule\":\"{}\",\"message\"", sample.rule)));
        assert!(output.stdout.contains("\"needsResolve\":true,\"resolverId\":\"ai-autofix\""));
    }
}

#[test]
fn a_refused_patch_changes_nothing_and_the_reason_is_told() {
    let mut printed = Vec::new();
    for sample in samples() {
        let bad = turn(&patch(sample.old, &sample.bad));
        let again = turn(&patch(&sample.bad, &format!("# again\n{}", sample.bad)));
        let stage = Stage::new(sample.old, &(bad + &again));
        let output = stage.fix(sample.rule).run().code(1);
        let outcome = outcome(&output);
        assert_eq!(
            (&outcome["outcome"], &outcome["reason"]),
            (&"skipped".into(), &"validation-failed".into())
        );
        assert!(outcome["detail"].as_str().unwrap().starts_with(sample.check), "{outcome}");
        printed.push(format!("{}\n{}", outcome["detail"].as_str().unwrap(), output.stderr));
        assert_eq!(outcome["session"]["rounds"], 2);
        assert_eq!(stage.text(), sample.old);
    }
    insta::assert_snapshot!(printed.join("\n"), @"
    runtime-invariants: EXPOSE of the final stage must stay as it was: it was `EXPOSE 8080/tcp`, and now is not set
    Skipped 1 fix (1 resolve-error)
    note: AI fix tally/prefer-multi-stage-build (Dockerfile:9): skipped (validation-failed); asked probity, sandbox: bubblewrap: runtime-invariants: EXPOSE of the final stage must stay as it was: it was `EXPOSE 8080/tcp`, and now is not set
    note:   round 1, validation-failed: runtime-invariants: EXPOSE of the final stage must stay as it was: it was `EXPOSE 8080/tcp`, and now is not set
    note:   round 2, validation-failed: runtime-invariants: EXPOSE of the final stage must stay as it was: it was `EXPOSE 8080/tcp`, and now is not set

    healthcheck-endpoint: nothing in the original shows that there is an endpoint `/healthz`; ask for `/`, or for a path that a comment or a variable names
    Skipped 1 fix (1 resolve-error)
    note: AI fix hadolint/DL3057 (Dockerfile:1): skipped (validation-failed); asked probity, sandbox: bubblewrap: healthcheck-endpoint: nothing in the original shows that there is an endpoint `/healthz`; ask for `/`, or for a path that a comment or a variable names
    note:   round 1, validation-failed: healthcheck-endpoint: nothing in the original shows that there is an endpoint `/healthz`; ask for `/`, or for a path that a comment or a variable names
    note:   round 2, validation-failed: healthcheck-endpoint: nothing in the original shows that there is an endpoint `/healthz`; ask for `/`, or for a path that a comment or a variable names

    only-tool-calls-change: more than the tool changes here: the other commands, the addresses, the files and what is joined or piped to what must stay, and no flag may weaken the transfer
    Skipped 1 fix (1 resolve-error)
    note: AI fix hadolint/DL4001 (Dockerfile:4): skipped (validation-failed); asked probity, sandbox: bubblewrap: only-tool-calls-change: more than the tool changes here: the other commands, the addresses, the files and what is joined or piped to what must stay, and no flag may weaken the transfer
    note:   round 1, validation-failed: only-tool-calls-change: more than the tool changes here: the other commands, the addresses, the files and what is joined or piped to what must stay, and no flag may weaken the transfer
    note:   round 2, validation-failed: only-tool-calls-change: more than the tool changes here: the other commands, the addresses, the files and what is joined or piped to what must stay, and no flag may weaken the transfer

    base-family: `debian:12-slim` is neither a small variant of the same version of `python:3.12` nor a distroless image
    Skipped 1 fix (1 resolve-error)
    note: AI fix tally/prefer-slim-base-image (Dockerfile:1): skipped (validation-failed); asked probity, sandbox: bubblewrap: base-family: `debian:12-slim` is neither a small variant of the same version of `python:3.12` nor a distroless image
    note:   round 1, validation-failed: base-family: `debian:12-slim` is neither a small variant of the same version of `python:3.12` nor a distroless image
    note:   round 2, validation-failed: base-family: `debian:12-slim` is neither a small variant of the same version of `python:3.12` nor a distroless image
    ");
}

#[test]
fn the_second_round_repairs_the_proposal_of_the_first() {
    for sample in samples() {
        let bad = turn(&patch(sample.old, &sample.bad));
        let stage = Stage::new(sample.old, &(bad + &turn(&patch(&sample.bad, &sample.good))));
        let output = stage.fix(sample.rule).run().code(0);
        assert_eq!(outcome(&output)["session"]["rounds"], 2);
        assert_eq!(stage.text(), sample.good);
    }
}

#[test]
fn a_whole_file_can_be_asked_for_and_is_made_of_what_the_agent_was_shown() {
    let script = format!(
        "{}\n{}\n{}\n",
        serde_json::json!({"on": "session/prompt", "capture": {
            "build": ["```Dockerfile\nFROM golang:1.22\n", "EXPOSE"],
            "run": ["EXPOSE 8080\n", "```"],
        }}),
        serde_json::json!({"say": "```Dockerfile\nFROM golang:1.22 AS build\n${build}FROM debian:12-slim\n\n\
            WORKDIR /src\n\nCOPY --from=build /usr/local/bin/app /usr/local/bin/app\n\nEXPOSE 8080\n${run}```\n"}),
        serde_json::json!({"answer": {"stopReason": "end_turn"}}),
    );
    let stage = Stage::new(GO, &script);
    let output = stage.fix(MULTI_STAGE).env("TALLY_AI_AUTOFIX_OUTPUT", "dockerfile").run().code(0);
    assert_eq!(outcome(&output)["outcome"], "applied");
    assert_eq!(stage.text(), TWO_STAGES);
}

#[test]
fn a_batch_is_one_session_and_every_member_is_accounted_for() {
    let new = format!("{TWO_STAGES}\nHEALTHCHECK CMD [\"/usr/local/bin/app\", \"check\"]\n");
    let stage = Stage::new(GO, &turn(&patch(GO, &new)));
    let rules = format!("{MULTI_STAGE},hadolint/DL3057");
    let output = stage.fix(&rules).run().code(0);
    let report: serde_json::Value = serde_json::from_str(&output.stdout).unwrap();
    let fixes = report["ai_fixes"].as_array().unwrap();
    assert_eq!(fixes.len(), 2);
    assert!(fixes.iter().all(|fix| fix["outcome"] == "applied" && fix["session"]["prompts"] == 1));
    assert_eq!(stage.text(), new);
}
