//! `--prove` without any tool: what a model offers, what is sent, and what is kept where nothing can run.

use std::fs;

use probity_audit::{AuditOptions, ExploitLevel, Exploitation, Previous, Proving, embedded};
use probity_proof::{Backend, ProofOptions, Workshop};

use crate::{
    model::{audit, model, options, saying},
    project::{SPEND, project, report},
};

const FOUND: &str = r#"{"action":"final","findings":[{"title":"Datum not checked","severity":"high","summary":"s","evidence":["expect InlineDatum(_) = output.datum"],"recommendation":"r","file":"a.ak","line":3,"impact":"Funds are lost.","likelihood":"certain"}]}"#;
const NOTHING: &str = r#"{"action":"final","status":"completed","findings":[]}"#;
const EXPLOIT: &str = r#"{"action":"final","test_name":"a","control_name":"b","test_code":"test a() { True }\ntest b() { True }"}"#;

#[test]
fn the_exploit_of_the_previous_audit_is_tried_before_the_model_is_asked() {
    let dir = project(&[("a.ak", SPEND)]);
    let (skills, sources) = (&embedded().unwrap()[..1], ["a.ak".to_owned()]);
    let (provider, asked) = model(|system, _, _| {
        if system.starts_with("You test ") { EXPLOIT } else { FOUND }.to_owned()
    });
    let mut before = audit(options(dir.path(), &sources, skills, &provider));
    let kept: Exploitation = serde_json::from_value(serde_json::json!({
        "level": "exploited", "reason": "It succeeds.", "test_name": "old", "control_name": "fair",
        "test_code": "test old() { True }\ntest fair() { True }",
    }))
    .unwrap();
    before.iterations[0].findings[0].exploit = Some(kept.clone());
    let mut proof = ProofOptions::new(dir.path(), Backend::None);
    proof.environment = vec![("PATH".into(), "/nowhere".into())];
    let workshop = Workshop::prepare(proof, &|_| {}).unwrap();
    let prove = Some(Proving { workshop: &workshop, rounds: 1, heeds_ignores: true });
    let run = |prove| {
        asked.lock().unwrap().clear();
        let previous = Previous::of(before.clone());
        audit(AuditOptions { prove, previous, ..options(dir.path(), &sources, skills, &provider) })
    };
    let state = run(prove);
    let prompts: Vec<String> =
        asked.lock().unwrap().iter().map(|question| question.prompt.clone()).collect();
    // One attempt is the model's own, though the old exploit was tried.
    assert_eq!(prompts.len(), 2);
    assert!(prompts[1].contains("\nYour tests were run. Not exploited: "), "{}", prompts[1]);
    let exploit = state.iterations[0].findings[0].exploit.as_ref().unwrap();
    assert_eq!((exploit.level, exploit.test_name.as_str()), (ExploitLevel::Quoted, "a"));
    // The same sources keep what was shown about them.
    assert_eq!(run(None).iterations[0].findings[0].exploit, Some(kept));
    fs::write(dir.path().join("a.ak"), format!("{SPEND}\n")).unwrap();
    assert_eq!(run(None).iterations[0].findings[0].exploit, None);
}

#[test]
fn a_finding_that_a_comment_accepts_costs_no_attempt() {
    let accepted = SPEND.replace(
        "output.datum\n",
        "output.datum // probity-ignore[strict-value-equality-001] -- nobody reads it\n",
    );
    let dir = project(&[("a.ak", &accepted)]);
    let (skills, sources) = (&embedded().unwrap()[..1], ["a.ak".to_owned()]);
    let mut proof = ProofOptions::new(dir.path(), Backend::None);
    proof.environment = vec![("PATH".into(), "/nowhere".into())];
    let workshop = Workshop::prepare(proof, &|_| {}).unwrap();
    let kept: Exploitation = serde_json::from_value(serde_json::json!({
        "level": "exploited", "reason": "It succeeds.", "test_name": "old", "control_name": "fair",
        "test_code": "test old() { True }\ntest fair() { True }",
    }))
    .unwrap();
    for (heeds_ignores, attempts, status) in [(true, 0, "accepted"), (false, 1, "unclear")] {
        let (provider, asked) = model(|system, _, _| {
            if system.starts_with("You test ") { EXPLOIT } else { FOUND }.to_owned()
        });
        let prove = Some(Proving { workshop: &workshop, rounds: 1, heeds_ignores });
        let proving = options(dir.path(), &sources, skills, &provider);
        let mut state = audit(AuditOptions { prove, ..proving });
        let of_exploits = asked
            .lock()
            .unwrap()
            .iter()
            .filter(|question| question.system.starts_with("You test "))
            .count();
        assert_eq!(of_exploits, attempts);
        assert_eq!(state.iterations[0].findings[0].exploit.is_some(), attempts > 0);
        assert_eq!(report(dir.path(), &state).ignored.len(), 1);

        // One that no skill reports again has an exploit, which is not run either.
        state.iterations[0].findings[0].exploit = Some(kept.clone());
        let (provider, _) = saying(&[NOTHING]);
        let again = options(dir.path(), &sources, skills, &provider);
        let previous = Previous::of(state);
        let state = audit(AuditOptions { prove, previous, ..again });
        assert_eq!(state.previous[0].status.as_str(), status, "{:?}", state.previous);
    }
}

/// A finding of the second skill, and how many vulnerabilities are exploited then.
#[test]
fn a_vulnerability_of_two_skills_is_exploited_once() {
    let dir = project(&[("a.ak", SPEND)]);
    let skills = &embedded().unwrap()[..2];
    let other = FOUND.replace(
        "expect InlineDatum(_) = output.datum",
        "lovelace_of(output.value) == datum.price",
    );
    let elsewhere = other.replace("Datum not checked", "Price is exact").replace(":3", ":4");
    for (second, jobs, exploited) in
        [(FOUND, 1, 1), (FOUND, 2, 1), (other.as_str(), 1, 1), (elsewhere.as_str(), 2, 2)]
    {
        let sources = ["a.ak".to_owned()];
        let mut proof = ProofOptions::new(dir.path(), Backend::None);
        proof.environment = vec![("PATH".into(), "/nowhere".into())];
        let workshop = Workshop::prepare(proof, &|_| {}).unwrap();
        let second_answer = second.to_owned();
        let id = skills[1].id.clone();
        let (provider, asked) = model(move |system, _, prompt| {
            if system.starts_with("You test ") {
                EXPLOIT.to_owned()
            } else if prompt.contains(&id) {
                second_answer.clone()
            } else {
                FOUND.to_owned()
            }
        });
        let prove = Some(Proving { workshop: &workshop, rounds: 2, heeds_ignores: true });
        let options = options(dir.path(), &sources, skills, &provider);
        let state = audit(AuditOptions { prove, jobs, ..options });
        let attempts = asked.lock().unwrap();
        let attempts =
            attempts.iter().filter(|attempt| attempt.system.starts_with("You test ")).count();
        assert_eq!(attempts, 2 * exploited, "{second}");
        let exploits: Vec<_> = state
            .iterations
            .iter()
            .map(|iteration| iteration.findings[0].exploit.as_ref().unwrap())
            .collect();
        assert_eq!(exploits[0], exploits[1]);
    }
}

#[test]
fn a_finding_that_nothing_can_run_stays_quoted_after_the_rounds_it_has() {
    let dir = project(&[("a.ak", SPEND)]);
    let skills = &embedded().unwrap()[..1];
    let sources = ["a.ak".to_owned()];
    // No program of this machine is found there, and so no compiler.
    let mut proof = ProofOptions::new(dir.path(), Backend::None);
    proof.environment = vec![("PATH".into(), "/nowhere".into())];
    let workshop = Workshop::prepare(proof, &|_| {}).unwrap();
    let (provider, asked) =
        model(
            |system, _, _| {
                if system.starts_with("You test ") { EXPLOIT.to_owned() } else { FOUND.to_owned() }
            },
        );
    let prove = Some(Proving { workshop: &workshop, rounds: 3, heeds_ignores: true });
    let state = audit(AuditOptions { prove, ..options(dir.path(), &sources, skills, &provider) });
    let finding = &state.iterations[0].findings[0];
    assert_eq!(finding.level(), ExploitLevel::Quoted);
    assert_eq!((finding.impact.as_deref(), finding.likelihood), (Some("Funds are lost."), None));
    let exploit = finding.exploit.as_ref().unwrap();
    let reason = "Not exploited: the test could not be run: aiken is not installed.";
    assert_eq!(exploit.reason, reason);
    assert!(!exploit.is_kept());
    let asked = asked.lock().unwrap();
    // One question about the skill, and three about the exploit.
    assert_eq!(asked.len(), 4);
    assert!(asked[1].prompt.contains("- *.ak: none, because aiken is not installed\n"));
    assert!(asked[2].prompt.starts_with(&format!("Your tests were run. {reason}\n")));
    assert!(asked[3].prompt.ends_with("1 attempt is left."), "{}", asked[3].prompt);
    let schema = &asked[1].schema.as_ref().unwrap().schema;
    assert!(schema["properties"]["control_name"].is_object(), "{schema}");
    assert_eq!(state.usage.unwrap().requests, 4);
}
