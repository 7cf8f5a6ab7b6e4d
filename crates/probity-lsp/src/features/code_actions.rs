//! Code actions: fixes of findings, all fixes of a rule, every safe fix, suppressions, and agents.

use gen_lsp_types::{CodeAction, CodeActionKind, CodeActionParams, Diagnostic};
use probity_check::EditorFixes;
use probity_finding::{Applicability, Finding, Fix, Span};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Answer, View, diagnostics, edits, suppress, typed};
use crate::capabilities::{AI_FIX, FIX_ALL, SUPPRESS, kind};

/// Fixing a longer text takes so long that a client waits for it only if a person has chosen it.
const LARGEST_WORKED_OUT: usize = 256 * 1024;

/// What an action without an edit promises to work out.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Promise {
    pub(crate) uri: String,
    /// The text that it is about.
    pub(crate) revision: u64,
    /// Empty for all rules.
    pub(crate) rule: String,
    what: What,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum What {
    FixAll,
    FixRule,
    AskAgent,
}

impl Promise {
    pub(crate) fn is_for_agent(&self) -> bool {
        self.what == What::AskAgent
    }

    /// The action with its edit; without one where nothing changes.
    pub(crate) fn kept(&self, view: &View<'_>, action: CodeAction) -> CodeAction {
        let wanted = match self.what {
            What::FixAll => EditorFixes::Safe,
            What::FixRule => EditorFixes::Rule(&self.rule),
            What::AskAgent => return action,
        };
        let Some(text) = view.host.fix(&view.subject(), wanted) else { return action };
        let changes = edits::between(view.text(), &text);
        let edit = edits::of_document(view.document, &view.lines, view.client, &changes);
        CodeAction { edit: Some(edit), ..action }
    }
}

pub(super) fn answer(view: &View<'_>, params: Value) -> Answer {
    typed(params, |params: CodeActionParams| {
        let Some(report) = view.report() else { return Ok(Vec::new()) };
        let only = params.context.only.unwrap_or_default();
        let place = view.lines.span(params.range);
        let here: Vec<&Finding> = report
            .findings
            .iter()
            .filter(|finding| finding.spans().any(|span| touches(span, place)))
            .collect();
        let mut actions = Vec::new();
        let quick_fixes = String::from(CodeActionKind::QuickFix);
        let suppressions = asks_for(&only, SUPPRESS).then(|| suppress::Places::of(view));
        for finding in &here {
            let diagnostic = diagnostics::of_finding(&view.document.uri, &view.lines, finding);
            if asks_for(&only, &quick_fixes) {
                fixes(view, finding, &diagnostic, &mut actions);
            }
            if report.is_ai_enabled && view.client.resolves_edits && asks_for(&only, AI_FIX) {
                actions.extend(by_agent(view, finding, &diagnostic));
            }
        }
        if asks_for(&only, &quick_fixes) {
            for finding in first_of_each_rule(&here) {
                actions.extend(fix_rule(view, finding, &report.findings));
            }
        }
        for finding in &here {
            let Some(places) = &suppressions else { break };
            let diagnostic = diagnostics::of_finding(&view.document.uri, &view.lines, finding);
            actions.extend(places.actions(finding, &diagnostic));
        }
        if asks_for(&only, FIX_ALL) {
            actions.extend(fix_all(view, &report.findings));
        }
        Ok(actions)
    })
}

/// Whether a kind is one of those that were asked for, or below one of them; all are, if none is.
fn asks_for(only: &[CodeActionKind], kind: &str) -> bool {
    only.is_empty()
        || only.iter().any(|wanted| {
            let wanted = String::from(wanted.clone());
            let below = kind.strip_prefix(&wanted);
            below.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
}

fn touches(span: Span, place: Span) -> bool {
    span.start <= place.end && place.start <= span.end
}

fn fixes(
    view: &View<'_>,
    finding: &Finding,
    diagnostic: &Diagnostic,
    actions: &mut Vec<CodeAction>,
) {
    let ready = finding.fixes.iter().filter(|fix| is_ready(fix));
    for (index, fix) in ready.enumerate() {
        let title = match fix.applicability {
            Applicability::Safe => fix.title.to_string(),
            other => format!("{} ({})", fix.title, other.as_str()),
        };
        let edit = edits::of_document(view.document, &view.lines, view.client, &fix.edits);
        actions.push(CodeAction {
            title,
            kind: Some(CodeActionKind::QuickFix),
            diagnostics: Some(vec![diagnostic.clone()]),
            // Editors apply the preferred one without asking, so it has to be harmless.
            is_preferred: Some(index == 0 && fix.applicability == Applicability::Safe),
            edit: Some(edit),
            ..CodeAction::default()
        });
    }
}

fn is_ready(fix: &Fix) -> bool {
    fix.objective.is_none() && !fix.edits.is_empty()
}

fn by_agent(view: &View<'_>, finding: &Finding, diagnostic: &Diagnostic) -> Option<CodeAction> {
    let fix = finding.fixes.iter().find(|fix| fix.objective.is_some())?;
    Some(CodeAction {
        title: format!("Fix with AI: {}", fix.title),
        kind: Some(kind(AI_FIX)),
        diagnostics: Some(vec![diagnostic.clone()]),
        data: Some(json!(promise(view, What::AskAgent, &finding.rule))),
        ..CodeAction::default()
    })
}

fn first_of_each_rule<'f>(findings: &[&'f Finding]) -> Vec<&'f Finding> {
    let mut first: Vec<&Finding> = Vec::new();
    for finding in findings {
        if !first.iter().any(|known| known.rule == finding.rule) {
            first.push(finding);
        }
    }
    first
}

/// Where a rule has more than one finding that it can fix.
fn fix_rule(view: &View<'_>, finding: &Finding, all: &[Finding]) -> Option<CodeAction> {
    let has_fix = |other: &&Finding| other.rule == finding.rule && other.fixes.iter().any(is_ready);
    let count = all.iter().filter(has_fix).count();
    if count < 2 {
        return None;
    }
    let best = finding.fixes.iter().find(|fix| is_ready(fix))?.applicability;
    let promise_of_fix = match best {
        Applicability::Safe => String::new(),
        other => format!(" ({})", other.as_str()),
    };
    let action = CodeAction {
        title: format!("Fix all {count} findings of {}{promise_of_fix}", finding.rule),
        kind: Some(CodeActionKind::QuickFix),
        ..CodeAction::default()
    };
    worked_out(view, promise(view, What::FixRule, &finding.rule), action)
}

fn fix_all(view: &View<'_>, all: &[Finding]) -> Option<CodeAction> {
    let is_safe = |fix: &Fix| is_ready(fix) && fix.applicability == Applicability::Safe;
    if !all.iter().flat_map(|finding| &finding.fixes).any(is_safe) {
        return None;
    }
    let action = CodeAction {
        title: "Apply all safe fixes".to_owned(),
        kind: Some(kind(FIX_ALL)),
        ..CodeAction::default()
    };
    worked_out(view, promise(view, What::FixAll, ""), action)
}

/// Later if the client can ask again, otherwise now; not at all where nothing would change.
fn worked_out(view: &View<'_>, promise: Promise, action: CodeAction) -> Option<CodeAction> {
    if view.client.resolves_edits {
        return Some(CodeAction { data: Some(json!(promise)), ..action });
    }
    if view.text().len() > LARGEST_WORKED_OUT {
        return None;
    }
    let action = promise.kept(view, action);
    action.edit.is_some().then_some(action)
}

fn promise(view: &View<'_>, what: What, rule: &str) -> Promise {
    Promise {
        uri: view.document.uri.0.clone(),
        revision: view.document.revision,
        rule: rule.to_owned(),
        what,
    }
}

/// An action that writes a directive.
pub(super) fn suppression(title: String, diagnostic: &Diagnostic) -> CodeAction {
    CodeAction {
        title,
        kind: Some(kind(SUPPRESS)),
        diagnostics: Some(vec![diagnostic.clone()]),
        ..CodeAction::default()
    }
}
