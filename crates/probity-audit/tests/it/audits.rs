//! Whole audits with a scripted model: the order of what is kept, and what ends an audit early.

use std::{
    io,
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use probity_agent::{Agent, AgentError, Answer, Cancel, Limits, StopReason, Turn, Usage};
use probity_audit::{
    AuditError, AuditOptions, Event, Observer, PermissionPrompt, Previous, Provider, ProviderSpec,
    ReadScope, Rules, Skill, State, ToolOptions, embedded, resume, run,
};

use crate::project::{SPEND, project};

/// Says the next line of its script with every turn, and the last one for ever.
struct Scripted {
    script: Vec<String>,
    turn: usize,
    asked: Arc<AtomicUsize>,
}

impl Agent for Scripted {
    fn name(&self) -> &str {
        "scripted"
    }

    fn ask(&mut self, turn: &Turn, _: &Limits, _: &Cancel) -> Result<Answer, AgentError> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        // The first skill is the slowest, so that others are done before it.
        if turn.prompt.contains("strict-value-equality-001") {
            thread::sleep(Duration::from_millis(150));
        }
        let line = self.script[self.turn.min(self.script.len() - 1)].clone();
        self.turn += 1;
        let usage = Usage { input_tokens: 100, output_tokens: 10, ..Usage::default() };
        Ok(Answer {
            text: line,
            stop: StopReason::EndTurn,
            usage: Some(usage),
            denied: vec![],
            requests: 1,
        })
    }
}

struct Quiet;

impl Observer for Quiet {
    fn allow(&self, _: &str, _: &str) -> bool {
        false
    }
    fn event(&self, _: &Skill, _: &Event<'_>) {}
}

fn scripted(script: &[&str]) -> (Provider, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let (count, script) =
        (Arc::clone(&asked), script.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>());
    let spec = ProviderSpec { name: "scripted".into(), model: None, notes: String::new() };
    let provider = Provider::agent(spec, move |_| {
        Ok(Box::new(Scripted { script: script.clone(), turn: 0, asked: Arc::clone(&count) }))
    });
    (provider, asked)
}

fn options<'a>(root: &'a Path, skills: &'a [Skill], provider: &'a Provider) -> AuditOptions<'a> {
    AuditOptions {
        rules: Rules::Specification,
        root,
        sources: &[],
        source_digest: Some("digest".into()),
        skills,
        provider,
        permission: PermissionPrompt::new(ReadScope::Workspace, false, false, &[]),
        tools: ToolOptions {
            numbered: false,
            allow_sensitive: false,
            allow_ignored: false,
            rules: Rules::Specification,
        },
        limits: Limits::within(Duration::from_secs(10)),
        jobs: 1,
        budget: None,
        earlier: Vec::new(),
        previous: Previous::default(),
        changed: None,
        refute: false,
        prove: None,
        cache: None,
    }
}

fn audit(options: AuditOptions<'_>) -> (Result<State, AuditError>, Vec<usize>) {
    let seen = Mutex::new(Vec::new());
    let keep = |state: &State| {
        seen.lock().unwrap().push(state.iterations.len());
        Ok(())
    };
    let result = run(options, &Quiet, &keep, &Cancel::new());
    (result, seen.into_inner().unwrap())
}

const DONE: &str = r#"{"action":"final","status":"completed","findings":[]}"#;

/// What has to come before it.
const LOOK: &str = r#"{"action":"read_file","path":"a.ak"}"#;

#[test]
fn the_state_is_kept_before_the_first_skill_and_after_each_in_the_order_of_the_skills() {
    let dir = project(&[("a.ak", SPEND)]);
    let skills = embedded().unwrap();
    for jobs in [1, 3, 64] {
        let (provider, _) = scripted(&[LOOK, DONE]);
        let (state, seen) = audit(AuditOptions { jobs, ..options(dir.path(), &skills, &provider) });
        assert_eq!(seen, [0, 1, 2, 3], "{jobs}");
        let ids: Vec<String> =
            state.unwrap().iterations.into_iter().map(|iteration| iteration.skill_id).collect();
        assert_eq!(ids, skills.iter().map(|skill| skill.id.clone()).collect::<Vec<_>>(), "{jobs}");
    }
}

#[test]
fn a_model_that_never_ends_is_stopped_after_25_steps_and_fails_alone() {
    let dir = project(&[("a.ak", SPEND)]);
    let skills = embedded().unwrap();
    let (provider, asked) = scripted(&[r#"{"action":"list_dir","path":"."}"#]);
    let (state, _) = audit(options(dir.path(), &skills[..1], &provider));
    assert_eq!(asked.load(Ordering::SeqCst), 25);
    let iteration = &state.unwrap().iterations[0];
    assert_eq!(iteration.status, "max-steps");
    assert_eq!(
        iteration.error.as_deref().unwrap(),
        "AI provider exceeded max interactive read steps (25) for skill 'strict-value-equality-001' (enable --ai-logs to inspect progress)"
    );
}

#[test]
fn one_unusable_answer_is_repaired_and_two_in_a_row_fail_the_skill() {
    let dir = project(&[("a.ak", SPEND)]);
    let skills = embedded().unwrap();
    for (script, status, asked_times) in [
        (&["what?", LOOK, DONE][..], "completed", 3),
        (&["what?", LOOK, "what?", DONE], "completed", 4),
        (&["{}", "{}", DONE], "failed", 2),
        (&["what?", "[]", DONE], "failed", 2),
    ] {
        let (provider, asked) = scripted(script);
        let (state, _) = audit(options(dir.path(), &skills[..1], &provider));
        assert_eq!(state.unwrap().iterations[0].status, status, "{script:?}");
        assert_eq!(asked.load(Ordering::SeqCst), asked_times, "{script:?}");
    }
}

/// The specification: what the model calls final is final, also as its first word.
#[test]
fn a_final_answer_is_final_under_the_specification() {
    let dir = project(&[("a.ak", SPEND)]);
    let skills = embedded().unwrap();
    for (script, status, asked_times) in [
        (&[r#"{"findings":[]}"#][..], "completed", 1),
        (&[r#"{"status":"completed"}"#], "completed", 1),
        (&[r#"{"findings":[{"title":"t"}]}"#], "completed", 1),
        (&["{}", "{}"], "failed", 2),
        (&[r#"{"status":"failed"}"#], "failed", 1),
    ] {
        let (provider, asked) = scripted(script);
        let (state, _) = audit(options(dir.path(), &skills[..1], &provider));
        let iteration = state.unwrap().iterations.remove(0);
        assert_eq!(iteration.status, status, "{script:?}");
        assert_eq!(asked.load(Ordering::SeqCst), asked_times, "{script:?}");
    }
}

#[test]
fn nothing_is_asked_once_the_budget_is_used_up() {
    let dir = project(&[("a.ak", SPEND)]);
    let skills = embedded().unwrap();
    let (provider, asked) = scripted(&[LOOK, DONE]);
    let (state, _) =
        audit(AuditOptions { budget: Some(430), ..options(dir.path(), &skills, &provider) });
    let state = state.unwrap();
    let statuses: Vec<&str> =
        state.iterations.iter().map(|iteration| iteration.status.as_str()).collect();
    assert_eq!(statuses, ["completed", "completed", "over-budget"]);
    assert_eq!(asked.load(Ordering::SeqCst), 4);
    let usage = state.usage.unwrap();
    assert_eq!((usage.requests, usage.input_tokens, usage.output_tokens), (4, 400, 40));
}

#[test]
fn a_state_that_cannot_be_kept_ends_the_audit() {
    let dir = project(&[("a.ak", SPEND)]);
    let skills = embedded().unwrap();
    let (provider, asked) = scripted(&[LOOK, DONE]);
    let keep = |_: &State| Err(io::Error::other("disk full"));
    let result = run(options(dir.path(), &skills, &provider), &Quiet, &keep, &Cancel::new());
    assert!(matches!(result, Err(AuditError::Checkpoint { .. })));
    assert_eq!(asked.load(Ordering::SeqCst), 0, "no question without a place for its answer");
}

#[test]
fn only_finished_skills_of_the_same_page_provider_and_sources_are_resumed() {
    let dir = project(&[("a.ak", SPEND)]);
    let skills = embedded().unwrap();
    let (provider, _) = scripted(&[LOOK, DONE]);
    let (state, _) =
        audit(AuditOptions { budget: Some(430), ..options(dir.path(), &skills, &provider) });
    let state = state.unwrap();
    let kept = |skills: &[Skill], spec: &ProviderSpec, digest: Option<&str>| {
        resume(state.clone(), skills, spec, digest, None).iterations.len()
    };
    assert_eq!(kept(&skills, &provider.spec, Some("digest")), 2);
    assert_eq!(kept(&skills, &provider.spec, Some("changed")), 0);
    let other = ProviderSpec { model: Some("another".into()), ..provider.spec.clone() };
    assert_eq!(kept(&skills, &other, Some("digest")), 0);
    let mut changed = skills.clone();
    changed[0].digest = "changed".into();
    assert_eq!(kept(&changed, &provider.spec, Some("digest")), 1);

    let earlier = resume(state.clone(), &skills, &provider.spec, Some("digest"), None).iterations;
    let (provider, asked) = scripted(&[LOOK, DONE]);
    let (state, _) = audit(AuditOptions { earlier, ..options(dir.path(), &skills, &provider) });
    assert_eq!(asked.load(Ordering::SeqCst), 2, "the third skill alone is asked about");
    assert!(state.unwrap().iterations.iter().all(|iteration| iteration.status == "completed"));
}

#[test]
fn a_model_that_says_itself_that_it_failed_is_not_done_and_is_asked_again() {
    let dir = project(&[("a.ak", SPEND)]);
    let skills = embedded().unwrap();
    for (answer, is_done) in [
        (r#"{"status":"failed","findings":[]}"#, false),
        (r#"{"action":"final","status":"Error","findings":[]}"#, false),
        (r#"{"status":"completed"}"#, true),
        (r#"{"status":"nothing unusual","findings":[]}"#, true),
    ] {
        let (provider, _) = scripted(&[LOOK, answer]);
        let (state, _) = audit(options(dir.path(), &skills[..1], &provider));
        let state = state.unwrap();
        assert_eq!(state.iterations[0].is_done(), is_done, "{answer}");
        let kept = resume(state, &skills, &provider.spec, Some("digest"), None).iterations.len();
        assert_eq!(kept, usize::from(is_done), "{answer}");
    }
}

/// Keeps what it is told about the model's words.
#[derive(Default)]
struct Listening(Mutex<String>);

impl Observer for Listening {
    fn allow(&self, _: &str, _: &str) -> bool {
        false
    }
    fn event(&self, _: &Skill, event: &Event<'_>) {
        if let Event::Says { text } = event {
            self.0.lock().unwrap().push_str(text);
        }
    }
}

#[test]
fn secrets_in_any_word_of_the_model_are_kept_nowhere() {
    const TOKEN: &str = "ghp_aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5";
    let dir = project(&[("a.ak", SPEND)]);
    let skills = embedded().unwrap();
    for field in ["title", "summary", "recommendation", "evidence", "file"] {
        let answer = format!(
            r#"{{"findings":[{{"{field}":"see {TOKEN} here"}}],"next_prompt":"ask {TOKEN}"}}"#
        );
        let (provider, _) = scripted(&[&answer]);
        let told = Listening::default();
        let options = options(dir.path(), &skills[..1], &provider);
        let state = run(options, &told, &|_| Ok(()), &Cancel::new()).unwrap().to_json().unwrap();
        assert!(!state.contains(TOKEN), "{field}: {state}");
        assert!(state.contains("*****"), "{field}: {state}");
        let told = told.0.into_inner().unwrap();
        assert!(told.contains("findings") && !told.contains(TOKEN), "{told}");
    }
}
