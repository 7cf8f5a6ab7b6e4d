//! `--prove` without any tool: what a model offers, what is sent, and what is kept where nothing can run.

use probity_audit::{AuditOptions, ExploitLevel, Proving, embedded};
use probity_proof::{Backend, ProofOptions, Workshop};

use crate::{
    model::{audit, model, options},
    project::{SPEND, project},
};

const FOUND: &str = r#"{"action":"final","findings":[{"title":"Datum not checked","severity":"high","summary":"s","evidence":["expect InlineDatum(_) = output.datum"],"recommendation":"r","file":"a.ak","line":3,"impact":"Funds are lost.","likelihood":"certain"}]}"#;
const EXPLOIT: &str = r#"{"action":"final","test_name":"a","control_name":"b","test_code":"test a() { True }\ntest b() { True }"}"#;

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
    let prove = Some(Proving { workshop: &workshop, rounds: 3 });
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
