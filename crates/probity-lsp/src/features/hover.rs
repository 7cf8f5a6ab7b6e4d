//! Hover: the page of a rule on its finding, help on instructions and flags, values of variables,
//! and what a stage runs as.

use gen_lsp_types::{Hover, HoverParams, MarkupContent, MarkupKind};
use probity_dockerfile::{Dockerfile, Facts, Instruction, VariableKind};
use probity_finding::{Finding, Span};
use serde_json::Value;

use super::{Answer, View, manual, places, stage_page, typed};
use crate::host::DocumentKind;

/// Pages of more rules than this are too much to read at once.
const MOST_PAGES: usize = 3;

pub(super) fn answer(view: &View<'_>, params: Value) -> Answer {
    typed(params, |params: HoverParams| {
        if view.document.kind != DocumentKind::Dockerfile {
            return Ok(None);
        }
        let at = view.lines.offset(params.text_document_position_params.position);
        let (file, facts) = view.parsed();
        let mut parts = Vec::new();
        let mut range = None;
        if let Some((span, text)) = thing_at(&file, &facts, at) {
            range = Some(view.range(span));
            parts.push(text);
        }
        parts.extend(pages(view, at));
        if parts.is_empty() {
            return Ok(None);
        }
        let value = parts.join("\n\n---\n\n");
        let contents = MarkupContent { kind: MarkupKind::Markdown, value }.into();
        Ok(Some(Hover { contents, range }))
    })
}

/// The pages of the rules that have found something here, the narrowest finding first.
fn pages(view: &View<'_>, at: usize) -> Vec<String> {
    let Some(report) = view.report() else { return Vec::new() };
    let touches = |span: Span| span.start <= at && at <= span.end;
    let mut here: Vec<(usize, &Finding)> = Vec::new();
    for finding in &report.findings {
        if let Some(span) = finding.spans().find(|span| touches(*span))
            && !here.iter().any(|(_, known)| known.rule == finding.rule)
        {
            here.push((span.len(), finding));
        }
    }
    here.sort_by_key(|(length, _)| *length);
    here.truncate(MOST_PAGES);
    let page = |(_, finding): &(usize, &Finding)| {
        let page = view.host.explain(&finding.rule)?;
        Some(match &finding.detail {
            Some(detail) => format!("{page}\n\n{detail}"),
            None => page,
        })
    };
    here.iter().filter_map(page).collect()
}

/// What is at an offset, beside findings.
fn thing_at(file: &Dockerfile<'_>, facts: &Facts, at: usize) -> Option<(Span, String)> {
    let (index, whole) = places::instruction_at(file, at)?;
    let instruction = places::inner(whole, at);
    variable(file, facts, at)
        .or_else(|| stage_page::used_at(file, facts, at))
        .or_else(|| flag(instruction, at))
        .or_else(|| stage_page::begun_at(file, facts, index, at))
        .or_else(|| keyword(instruction, at))
}

fn touches(span: Span, at: usize) -> bool {
    span.start <= at && at <= span.end
}

fn keyword(instruction: &Instruction, at: usize) -> Option<(Span, String)> {
    let page = manual::page(instruction.keyword)?;
    let text = format!("```dockerfile\n{}\n```\n\n{}", page.syntax, page.about);
    touches(instruction.keyword_span(), at).then_some((instruction.keyword_span(), text))
}

fn flag(instruction: &Instruction, at: usize) -> Option<(Span, String)> {
    let flag = instruction.flags.iter().find(|flag| touches(flag.span, at))?;
    if let Some(option) = flag.options.iter().find(|option| touches(option.span, at)) {
        let kind = flag.option("type").map(|word| word.text.as_str());
        let mut known = manual::mount_options(kind);
        let names = |entry: &&manual::Entry| canonical(&option.key.text) == entry.name;
        if let Some(entry) = known.find(names) {
            return Some((option.span, in_words(&format!("--mount=…,{}", entry.name), entry)));
        }
    }
    let entry = manual::flag(instruction.keyword, &flag.name.text)?;
    Some((flag.span, in_words(&format!("--{}", entry.name), entry)))
}

/// The name that the manual has for an option with several.
fn canonical(key: &str) -> &str {
    match key {
        "dst" | "destination" => "target",
        "src" => "source",
        "ro" => "readonly",
        "readwrite" => "rw",
        other => other,
    }
}

fn in_words(title: &str, entry: &manual::Entry) -> String {
    let values = match entry.values {
        [] => String::new(),
        values => format!("\n\nValues: `{}`.", values.join("`, `")),
    };
    format!("`{title}`\n\n{}.{values}", entry.about)
}

/// The value that a variable has here, and where it comes from.
fn variable(file: &Dockerfile<'_>, facts: &Facts, at: usize) -> Option<(Span, String)> {
    let used = places::uses(file, facts).into_iter().find(|used| touches(used.span, at))?;
    let seen = facts.scope(used.instruction).get(&used.name);
    let Some(seen) = seen else {
        let is_command = file.instructions.get(used.instruction).is_some_and(places::is_command);
        let text = if is_command {
            format!("`{}` is not set by the Dockerfile; the shell or the base image may", used.name)
        } else {
            format!("`{}` is not declared here, so it expands to nothing", used.name)
        };
        return Some((used.span, text));
    };
    let value = match &seen.value {
        Some(value) => format!("`{} = {value}`", used.name),
        None if seen.set => format!("`{}`, whose value only the build knows", used.name),
        None => format!("`{}`, without a default value", used.name),
    };
    let line = seen
        .instruction
        .and_then(|index| file.instructions.get(index))
        .map(|instruction| instruction.lines().0);
    let origin = match (seen.kind, line) {
        (VariableKind::Arg, Some(line)) if seen.value.is_some() => {
            format!("Default of `ARG` in line {line}; `--build-arg {}=…` changes it.", used.name)
        }
        (VariableKind::Arg, Some(line)) => {
            format!("Declared by `ARG` in line {line}; `--build-arg {}=…` sets it.", used.name)
        }
        (VariableKind::Env, Some(line)) => format!("Set by `ENV` in line {line}."),
        _ => "Set by BuildKit.".to_owned(),
    };
    Some((used.span, format!("{value}\n\n{origin}")))
}
