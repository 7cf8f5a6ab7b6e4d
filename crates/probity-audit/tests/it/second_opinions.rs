//! Refutations, changed files, and answers of earlier runs.

use std::{
    collections::HashMap,
    fs,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use probity_audit::{
    AnswerCache, AuditOptions, ExploitLevel, Iteration, Provider, ProviderSpec, Risk, Rules,
    Verdict, detect, embedded,
};

use crate::{
    model::{audit, model, options, saying},
    project::{SPEND, project, report},
};

const FOUND: &str = r#"{"action":"final","findings":[{"title":"Datum not checked","severity":"high","summary":"SECRET REASONING","evidence":["expect InlineDatum(_) = output.datum"],"recommendation":"SECRET ADVICE","file":"a.ak","line":3}]}"#;
const CLEAN: &str = r#"{"action":"final","status":"completed","findings":[]}"#;

#[test]
fn a_refutation_annotates_a_finding_and_counts_only_with_a_quote_that_exists() {
    let quoted = r#"{"action":"final","verdict":"refuted","reason":"the price is checked","evidence":["lovelace_of(output.value) == datum.price"],"file":"a.ak"}"#;
    let invented = r#"{"action":"final","verdict":"refuted","reason":"because","evidence":["expect checked(output.datum)"],"file":"a.ak"}"#;
    let upheld = r#"{"verdict":"upheld","reason":"nothing compares the datum","evidence":[]}"#;
    let dir = project(&[("a.ak", SPEND)]);
    let skills = &embedded().unwrap()[..1];
    let sources = ["a.ak".to_owned()];
    for (said, verdict, requests) in [
        (vec![quoted], Verdict::Refuted, 2),
        (vec![invented], Verdict::Undecided, 2),
        (vec![upheld], Verdict::Upheld, 2),
        (vec!["I disagree.", upheld], Verdict::Upheld, 3),
        // A final answer of the other kind is not a verdict.
        (vec![CLEAN, "No."], Verdict::Undecided, 3),
    ] {
        let said: Vec<String> = said.into_iter().map(str::to_owned).collect();
        let (provider, asked) = model(move |system, turn, _| {
            let is_refuter = system.starts_with("You check a claim");
            if is_refuter { said[turn.min(said.len() - 1)].clone() } else { FOUND.to_owned() }
        });
        let how = AuditOptions { refute: true, ..options(dir.path(), &sources, skills, &provider) };
        let state = audit(how);
        let iteration = &state.iterations[0];
        assert_eq!((iteration.findings.len(), iteration.status.as_str()), (1, "completed"));
        let refutation = iteration.findings[0].refutation.as_ref().unwrap();
        assert_eq!(refutation.verdict, verdict, "{refutation:?}");
        // It is paid for like every other question.
        let usage = state.usage.unwrap();
        assert_eq!((usage.requests, usage.input_tokens), (requests, 100 * requests));
        let asked = asked.lock().unwrap();
        let claim = asked.iter().find(|asked| asked.system.starts_with("You check"));
        let claim = &claim.unwrap().prompt;
        assert!(claim.contains("Claim: Datum not checked\n"), "{claim}");
        assert!(claim.contains("Quote: expect InlineDatum(_) = output.datum\n"), "{claim}");
        assert!(!claim.contains("SECRET"), "{claim}");
        // A refuted finding is still a finding, in every format.
        let report = report(dir.path(), &state);
        assert_eq!(report.findings.len(), 1);
        let line = format!("  - Refutation: {}. ", verdict.as_str());
        assert!(report.markdown().contains(&line), "{}", report.markdown());
        let json: serde_json::Value = serde_json::from_str(&report.json()).unwrap();
        assert_eq!(json["findings"][0]["refutation"]["verdict"], verdict.as_str());
        assert_eq!(json["summary"]["refutations"][verdict.as_str()], 1);
        let detail = report.by_file(dir.path())[0].findings[0].detail.clone().unwrap();
        assert!(detail.contains(&format!("Refutation: {}. ", verdict.as_str())), "{detail}");
    }
}

#[test]
fn only_changed_sources_have_to_be_read_and_findings_elsewhere_are_set_apart() {
    let long = "  let step = compute(state)\n".repeat(2_000);
    let dir = project(&[("a.ak", SPEND), ("b.ak", &long)]);
    let skills = &embedded().unwrap()[..1];
    let sources = ["a.ak".to_owned(), "b.ak".to_owned()];
    let changed = |files: &[&str]| Some(files.iter().map(|file| (*file).to_owned()).collect());
    for (changed, status, asked_times) in [
        // The changed file fits into the first prompt, though both together do not.
        (changed(&["a.ak"]), "completed", 1),
        (changed(&["b.ak"]), "unread", 2),
        (None, "unread", 2),
    ] {
        let (provider, asked) = saying(&[CLEAN]);
        let how = AuditOptions { changed, ..options(dir.path(), &sources, skills, &provider) };
        let state = audit(how);
        assert_eq!(state.iterations[0].status, status);
        assert_eq!(asked.lock().unwrap().len(), asked_times);
    }
    for (changed, is_elsewhere) in [(changed(&["b.ak"]), true), (changed(&["a.ak"]), false)] {
        let (provider, _) = saying(&[FOUND]);
        let how = AuditOptions { changed, ..options(dir.path(), &sources, skills, &provider) };
        let state = audit(how);
        let report = report(dir.path(), &state);
        assert_eq!(
            (report.findings.len(), report.elsewhere.len()),
            if is_elsewhere { (0, 1) } else { (1, 0) }
        );
        assert_eq!(report.reaches(Risk::Low, ExploitLevel::Quoted), !is_elsewhere);
        let heading = "## Findings outside the changed files";
        assert_eq!(report.markdown().contains(heading), is_elsewhere);
    }
}

#[derive(Debug, Default)]
struct Memory {
    kept: Mutex<HashMap<String, Iteration>>,
}

impl AnswerCache for Memory {
    fn get(&self, key: &str) -> Option<Iteration> {
        self.kept.lock().unwrap().get(key).cloned()
    }
    fn put(&self, key: &str, iteration: &Iteration) {
        self.kept.lock().unwrap().insert(key.to_owned(), iteration.clone());
    }
}

#[test]
fn a_whole_answer_is_used_again_until_skill_sources_model_or_question_change() {
    let dir = project(&[("a.ak", SPEND)]);
    let mut skills = embedded().unwrap()[..1].to_vec();
    let sources = ["a.ak".to_owned()];
    let memory = Memory::default();
    let (mut provider, asked) = saying(&[FOUND]);
    let ask = |skills: &[probity_audit::Skill], provider: &Provider, refute: bool| {
        let plain = options(dir.path(), &sources, skills, provider);
        let state = audit(AuditOptions { cache: Some(&memory), refute, ..plain });
        let iteration = state.iterations[0].clone();
        assert_eq!(iteration.findings.len(), 1);
        let count = std::mem::take(&mut *asked.lock().unwrap()).len();
        (iteration.cached, count, state.usage.map(|usage| usage.requests))
    };
    assert_eq!(ask(&skills, &provider, false), (false, 1, Some(1)));
    assert_eq!(ask(&skills, &provider, false), (true, 0, None), "and at no cost");
    assert!(!ask(&skills, &provider, true).0, "it was not refuted then");
    provider.spec.model = Some("two".into());
    assert!(!ask(&skills, &provider, false).0);
    provider.spec.model = Some("one".into());
    assert!(ask(&skills, &provider, false).0);
    skills[0].digest = "other".into();
    assert!(!ask(&skills, &provider, false).0);
    skills[0].digest = embedded().unwrap()[0].digest.clone();
    fs::write(dir.path().join("a.ak"), format!("{SPEND}\n")).unwrap();
    assert!(!ask(&skills, &provider, false).0);
    // A model without a name may be another one tomorrow.
    provider.spec.model = None;
    assert!(!ask(&skills, &provider, false).0);
    assert!(!ask(&skills, &provider, false).0);
}

#[test]
fn a_partial_answer_is_never_kept() {
    let dir = project(&[("a.ak", SPEND)]);
    let skills = &embedded().unwrap()[..1];
    let sources = ["a.ak".to_owned()];
    let invented = FOUND.replace("expect InlineDatum(_)", "expect SomethingElse(_)");
    for said in [
        vec!["Hm.", "Hm."],
        vec![r#"{"action":"final","status":"failed","findings":[]}"#],
        // The answer that was to be corrected is reported, but the model never came to its end.
        vec![invented.as_str(), "Hm.", "Hm."],
    ] {
        let memory = Memory::default();
        let (provider, _) = saying(&said);
        audit(AuditOptions {
            cache: Some(&memory),
            ..options(dir.path(), &sources, skills, &provider)
        });
        assert_eq!(memory.kept.lock().unwrap().len(), 0, "{said:?}");
    }
}

#[test]
fn detectors_read_the_sources_once_for_all_skills() {
    let dir = project(&[("a.ak", SPEND)]);
    let skills = probity_audit::Pack::Full.skills().unwrap();
    let sources = ["a.ak".to_owned()];
    let runs = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&runs);
    let spec = ProviderSpec { name: "detectors".into(), model: None, notes: String::new() };
    let provider = Provider::detectors(spec, move |sources| {
        counted.fetch_add(1, Ordering::SeqCst);
        detect(sources)
    });
    let state =
        audit(AuditOptions { jobs: 4, ..options(dir.path(), &sources, &skills, &provider) });
    assert_eq!((state.iterations.len(), runs.load(Ordering::SeqCst)), (25, 1));
}

#[test]
fn only_our_own_rules_ask_for_structured_output() {
    let dir = project(&[("a.ak", SPEND)]);
    let skills = &embedded().unwrap()[..1];
    let sources = ["a.ak".to_owned()];
    for (rules, is_asked_for) in [(Rules::Probity, true), (Rules::Specification, false)] {
        let (provider, asked) = saying(&[FOUND]);
        audit(AuditOptions { rules, ..options(dir.path(), &sources, skills, &provider) });
        let has_schema: Vec<bool> =
            asked.lock().unwrap().iter().map(|asked| asked.schema.is_some()).collect();
        assert_eq!(has_schema, [is_asked_for]);
    }
}
