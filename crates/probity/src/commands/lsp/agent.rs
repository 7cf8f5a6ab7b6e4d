//! Asking an agent for one fix of an open text.

use std::{
    sync::{
        Arc,
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::Duration,
};

use probity_agent::Cancel;
use probity_check::{AiFix, EditorText};
use probity_lsp::{AiAnswer, AiWatch};

use super::folders::DocumentRules;
use crate::commands::check::{FileEffects, Progress, RunEffects};

/// How often somebody looks whether the person has lost interest.
const GLANCE: Duration = Duration::from_millis(50);

pub(super) fn ask(
    rules: &DocumentRules,
    text: &EditorText<'_>,
    rule: &str,
    watch: &dyn AiWatch,
) -> AiAnswer {
    let cancel = Cancel::new();
    let (heard, words) = mpsc::channel::<String>();
    let progress = Box::new(move |_: &str, what: &str| {
        // Nobody listens after the answer is there.
        drop(heard.send(what.to_owned()));
    });
    let answer = thread::scope(|threads| {
        let asked = cancel.clone();
        let work = threads.spawn(move || fixed(rules, text, rule, asked, progress));
        // The sender is gone when the work is done.
        loop {
            match words.recv_timeout(GLANCE) {
                Ok(what) => watch.progress(&what),
                Err(RecvTimeoutError::Timeout) if watch.is_cancelled() => cancel.cancel(),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        work.join()
    });
    if watch.is_cancelled() {
        return AiAnswer::Cancelled;
    }
    match answer {
        Ok(Ok((fixed, asked))) => judged(text.text, fixed, &asked),
        Ok(Err(error)) => AiAnswer::Unchanged { reason: format!("{error:#}") },
        Err(_) => AiAnswer::Unchanged { reason: "the work on the answer failed".to_owned() },
    }
}

/// The text as the agent and the checks of its patch leave it, and what became of each question.
fn fixed(
    rules: &DocumentRules,
    text: &EditorText<'_>,
    rule: &str,
    cancel: Cancel,
    progress: Progress,
) -> anyhow::Result<(String, Vec<AiFix>)> {
    let run = Arc::new(RunEffects::for_editor(cancel, progress)?);
    let effects = FileEffects { config: Arc::clone(&rules.config), run };
    Ok(rules.editor.ask_agent(text, rule, Arc::new(effects))?)
}

fn judged(before: &str, fixed: String, asked: &[AiFix]) -> AiAnswer {
    let applied = asked.iter().find(|fix| fix.outcome == "applied");
    match (applied, asked.first()) {
        (Some(fix), _) if fixed != before => {
            let (level, reason) = proof_in_words(fix);
            AiAnswer::Fixed { text: fixed, level, reason }
        }
        (_, Some(fix)) => AiAnswer::Unchanged { reason: in_words(fix) },
        (_, None) => {
            AiAnswer::Unchanged { reason: "no finding of the rule needs an agent".to_owned() }
        }
    }
}

fn proof_in_words(fix: &AiFix) -> (String, String) {
    match &fix.proof {
        Some(proof) => {
            let obstacle = proof.obstacle.as_ref().map(|why| format!("; no further: {why}"));
            let level = format!("proven by {}", proof.level);
            (level, format!("{}{}", proof.summary, obstacle.unwrap_or_default()))
        }
        None => (
            "proven by static checks".to_owned(),
            "the patch applies, parses, keeps the runtime settings and adds no finding".to_owned(),
        ),
    }
}

fn in_words(fix: &AiFix) -> String {
    match (&fix.detail, fix.reason) {
        (Some(detail), Some(reason)) => format!("{detail} ({reason})"),
        _ => "the agent sees nothing to change".to_owned(),
    }
}
