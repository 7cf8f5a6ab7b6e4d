//! What an agent was asked to fix, and what became of it, in words and as JSON.

use probity_autofix::{ContextRead, ReadOutcome};
use probity_check::{AiFix, AiIssue, AiRefusal, AiSession};
use serde_json::{Value, json};

use super::proof::proof_json;

pub(super) fn fix_json(fix: &AiFix, file: &str) -> Value {
    let mut value = json!({
        "file": file,
        "rule": fix.rule,
        "description": fix.title,
        "line": fix.line,
        "outcome": fix.outcome,
    });
    let Some(members) = value.as_object_mut() else { return value };
    if let (Some(reason), Some(detail)) = (fix.reason, &fix.detail) {
        members.insert("reason".to_owned(), reason.into());
        members.insert("detail".to_owned(), detail.as_str().into());
    }
    if let Some(session) = &fix.session {
        members.insert("session".to_owned(), session_json(session));
    }
    if let Some(proof) = &fix.proof {
        members.insert("proof".to_owned(), proof_json(proof));
    }
    value
}

/// One line about what became of it and who was asked, then one for each refusal.
pub fn fix_in_words(fix: &AiFix, shown: &str, in_detail: bool) -> String {
    let place = fix.line.map_or_else(|| shown.to_owned(), |line| format!("{shown}:{line}"));
    let outcome = match fix.reason {
        Some(reason) => format!("{} ({reason})", fix.outcome),
        None => fix.outcome.to_owned(),
    };
    let mut line = format!("AI fix {} ({place}): {outcome}", fix.rule);
    if let Some(session) = &fix.session {
        let (agent, contained_by) = (&session.agent, &session.contained_by);
        line.push_str(&format!("; asked {agent}, sandbox: {contained_by}"));
        if in_detail {
            line.push_str(&in_figures(session));
        }
    }
    if let Some(proof) = &fix.proof {
        line.push_str(&format!("; proof: {}", proof.summary));
    }
    if let Some(detail) = &fix.detail {
        line.push_str(&format!(": {}", in_one_line(detail)));
    }
    // The last round's reasons are the detail, unless there were several rounds.
    let refusals = fix.session.as_ref().map(|it| it.refusals.as_slice()).unwrap_or_default();
    if refusals.len() > 1 || in_detail {
        line.extend(refusals.iter().map(refusal_in_words));
    }
    line
}

pub(super) fn session_json(session: &AiSession) -> Value {
    json!({
        "agent": session.agent,
        "containedBy": session.contained_by,
        "rounds": session.rounds,
        "prompts": session.prompts,
        "promptBytes": session.prompt_bytes,
        "answerBytes": session.answer_bytes,
        "milliseconds": session.milliseconds,
        "secrets": session.secrets,
        "denied": session.denied,
        "reads": session.reads.iter().map(read_to_json).collect::<Vec<_>>(),
        "notes": session.notes,
        "refused": session.refusals.iter().map(refusal_json).collect::<Vec<_>>(),
    })
}

/// A request to read a file: with its size, or with the reason why it was refused.
pub fn read_to_json(read: &ContextRead) -> Value {
    match &read.outcome {
        ReadOutcome::Served { bytes } => json!({"path": read.path, "bytes": bytes}),
        ReadOutcome::Refused { why } => json!({"path": read.path, "refused": why}),
    }
}

fn in_figures(session: &AiSession) -> String {
    let rounds =
        if session.rounds == 1 { "1 round" } else { &format!("{} rounds", session.rounds) };
    format!(
        "; {rounds}, {} bytes sent, {} received, {} ms, {} secrets",
        session.prompt_bytes, session.answer_bytes, session.milliseconds, session.secrets
    )
}

fn refusal_json(refusal: &AiRefusal) -> Value {
    let issue = |issue: &AiIssue| {
        let mut value = json!({ "check": issue.check, "message": issue.message });
        if let Some(members) = value.as_object_mut() {
            let second = issue.second_name.map(|name| ("alsoCalled".to_owned(), name.into()));
            let line = issue.line.map(|line| ("line".to_owned(), line.into()));
            members.extend(second.into_iter().chain(line));
        }
        value
    };
    let issues: Vec<Value> = refusal.issues.iter().map(issue).collect();
    json!({ "round": refusal.round, "reason": refusal.reason, "issues": issues })
}

/// One line for each reason.
fn refusal_in_words(refusal: &AiRefusal) -> String {
    let line = |issue: &AiIssue| {
        let (check, message) = (&issue.check, in_one_line(&issue.message));
        format!("\n  round {}, {}: {check}: {message}", refusal.round, refusal.reason)
    };
    refusal.issues.iter().map(line).collect()
}

/// A message quotes lines of files, and a line of ours must stay one.
fn in_one_line(message: &str) -> String {
    message.replace(char::is_control, " ")
}
