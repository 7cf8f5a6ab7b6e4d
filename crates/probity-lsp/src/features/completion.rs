//! Completion: instructions, flags and their values, stages, variables, and rules in directives.

mod config;

use gen_lsp_types::{
    CompletionItem, CompletionItemKind, CompletionList, CompletionParams, Documentation,
    MarkupContent, MarkupKind, TextEdit,
};
use probity_dockerfile::{Dockerfile, Facts, Keyword};
use probity_finding::Span;
use serde_json::Value;

use super::{Answer, View, manual, places};
use crate::{features::typed, host::DocumentKind};

/// One thing that can be inserted.
#[derive(Clone, Debug)]
struct Choice {
    label: String,
    kind: CompletionItemKind,
    about: String,
}

fn choice(label: impl Into<String>, kind: CompletionItemKind, about: impl Into<String>) -> Choice {
    Choice { label: label.into(), kind, about: about.into() }
}

/// What can be inserted, and the text before the cursor that it replaces.
struct Choices {
    replaced: Span,
    all: Vec<Choice>,
}

pub(super) fn answer(view: &View<'_>, params: Value) -> Answer {
    typed(params, |params: CompletionParams| {
        let at = view.lines.offset(params.text_document_position_params.position);
        let choices = match view.document.kind {
            DocumentKind::Dockerfile => in_dockerfile(view, at),
            DocumentKind::Config => config::choices(view, at),
            DocumentKind::Other => None,
        };
        let items = choices.map(|choices| items(view, &choices)).unwrap_or_default();
        Ok(CompletionList { is_incomplete: false, items, ..CompletionList::default() })
    })
}

fn items(view: &View<'_>, choices: &Choices) -> Vec<CompletionItem> {
    let range = view.range(choices.replaced);
    let item = |choice: &Choice| CompletionItem {
        label: choice.label.clone(),
        kind: Some(choice.kind),
        documentation: (!choice.about.is_empty()).then(|| {
            let value = choice.about.clone();
            Documentation::from(MarkupContent { kind: MarkupKind::Markdown, value })
        }),
        text_edit: Some(TextEdit { range, new_text: choice.label.clone() }.into()),
        ..CompletionItem::default()
    };
    choices.all.iter().map(item).collect()
}

fn in_dockerfile(view: &View<'_>, at: usize) -> Option<Choices> {
    let (file, facts) = view.parsed();
    let line = view.lines.line_span(view.lines.line_of(at));
    let before = view.text().get(line.start..at)?;
    let is_continued = continued_instruction(&file, line.start);
    if before.trim_start().starts_with('#') {
        return in_comment(view, before, at);
    }
    let (keyword, arguments) = match is_continued {
        Some(keyword) => (keyword, before),
        None => {
            let text = before.trim_start();
            let (first, rest) =
                text.split_once([' ', '\t']).map_or((text, None), |(a, b)| (a, Some(b)));
            match (rest, Keyword::of(first)) {
                (None, _) => return Some(instructions(first, at)),
                (Some(rest), Keyword::Onbuild) => match rest.trim_start().split_once([' ', '\t']) {
                    None => return Some(instructions(rest.trim_start(), at)),
                    Some((nested, rest)) => (Keyword::of(nested), rest),
                },
                (Some(rest), keyword) => (keyword, rest),
            }
        }
    };
    let word_start = arguments.rfind([' ', '\t']).map_or(0, |space| space + 1);
    let word = arguments.get(word_start..)?;
    variables(&file, &facts, word, at)
        .or_else(|| flags(&facts, keyword, word, at))
        .or_else(|| from(&facts, keyword, arguments.get(..word_start)?, word, at))
}

/// The instruction that goes on in the line that begins here.
fn continued_instruction(file: &Dockerfile<'_>, line_start: usize) -> Option<Keyword> {
    let is_inside = |span: Span| span.start < line_start && line_start <= span.end;
    let found = file.instructions.iter().find(|instruction| is_inside(instruction.span))?;
    let before = file.text.get(..line_start)?.trim_end();
    (before.ends_with(file.escape) && found.heredocs().is_empty()).then_some(found.keyword)
}

fn replacing(word: &str, at: usize, all: Vec<Choice>) -> Choices {
    Choices { replaced: Span::new(at - word.len(), at), all }
}

fn instructions(word: &str, at: usize) -> Choices {
    let is_lower = !word.is_empty() && word.chars().all(|char| char.is_ascii_lowercase());
    let named = Keyword::names().map(|name| {
        let about = manual::page(Keyword::of(name)).map_or("", |page| page.about);
        let label = if is_lower { name.to_ascii_lowercase() } else { name.to_owned() };
        choice(label, CompletionItemKind::Keyword, about)
    });
    replacing(word, at, named.collect())
}

fn variables(file: &Dockerfile<'_>, facts: &Facts, word: &str, at: usize) -> Option<Choices> {
    let dollar = word.rfind('$')?;
    let name = word.get(dollar + 1..)?;
    let name = name.strip_prefix('{').unwrap_or(name);
    if !name.chars().all(places::is_name_char) {
        return None;
    }
    let index = file.instructions.iter().rposition(|instruction| instruction.span.start <= at)?;
    let seen = facts.scope(index).variables().into_iter().map(|variable| {
        let value = variable.value.as_ref().map(|value| format!("`{value}`")).unwrap_or_default();
        choice(variable.name.clone(), CompletionItemKind::Variable, value)
    });
    Some(replacing(name, at, seen.collect()))
}

fn flags(facts: &Facts, keyword: Keyword, word: &str, at: usize) -> Option<Choices> {
    let flag = word.strip_prefix('-')?;
    let Some((name, value)) = flag.trim_start_matches('-').split_once('=') else {
        let known = manual::page(keyword)?.flags.iter();
        let label = |entry: &manual::Entry| {
            choice(format!("--{}", entry.name), CompletionItemKind::Property, entry.about)
        };
        return Some(replacing(word, at, known.map(label).collect()));
    };
    match name {
        "from" => Some(replacing(value, at, stages(facts, at))),
        "mount" => mount(facts, value, at),
        _ => {
            let entry = manual::flag(keyword, name)?;
            Some(replacing(value, at, values(entry)))
        }
    }
}

fn values(entry: &manual::Entry) -> Vec<Choice> {
    let value = |value: &&str| choice(*value, CompletionItemKind::Value, entry.about);
    entry.values.iter().map(value).collect()
}

fn mount(facts: &Facts, value: &str, at: usize) -> Option<Choices> {
    let option = value.rsplit(',').next()?;
    let kind = value.split(',').find_map(|part| part.strip_prefix("type="));
    let Some((key, written)) = option.split_once('=') else {
        let known = manual::mount_options(kind);
        let label =
            |entry: &manual::Entry| choice(entry.name, CompletionItemKind::Property, entry.about);
        return Some(replacing(option, at, known.map(label).collect()));
    };
    if key == "from" {
        return Some(replacing(written, at, stages(facts, at)));
    }
    let entry = manual::mount_options(kind).find(|entry| entry.name == key)?;
    Some(replacing(written, at, values(entry)))
}

/// The named stages before an offset.
fn stages(facts: &Facts, at: usize) -> Vec<Choice> {
    let earlier =
        facts.stages().iter().filter(|stage| stage.name_span.is_some_and(|span| span.end < at));
    let named = earlier.filter_map(|stage| {
        let about = format!("Stage from `{}`", stage.image);
        Some(choice(stage.name.clone()?, CompletionItemKind::Module, about))
    });
    named.collect()
}

fn from(facts: &Facts, keyword: Keyword, before: &str, word: &str, at: usize) -> Option<Choices> {
    if keyword != Keyword::From {
        return None;
    }
    let words = before.split_whitespace().filter(|word| !word.starts_with("--")).count();
    match words {
        0 => {
            let mut all = stages(facts, at);
            all.push(choice("scratch", CompletionItemKind::Module, "An image without files"));
            Some(replacing(word, at, all))
        }
        1 => Some(replacing(
            word,
            at,
            vec![choice("AS", CompletionItemKind::Keyword, "Gives the stage a name")],
        )),
        _ => None,
    }
}

/// Directives, and the rules that they name.
fn in_comment(view: &View<'_>, before: &str, at: usize) -> Option<Choices> {
    let comment = before.trim_start().trim_start_matches('#').trim_start();
    if let Some(equals) = comment
        .rfind("ignore=")
        .map(|at| at + 7)
        .or_else(|| comment.strip_prefix("check=")?.rfind('=').map(|at| at + 7))
    {
        let list = comment.get(equals..)?;
        if list.contains(';') {
            return None;
        }
        let word = list.rsplit(',').next()?.trim_start();
        let is_check = comment.starts_with("check=");
        let rules = view.host.rules().into_iter().filter_map(|rule| {
            let name = if is_check { rule.name.strip_prefix("buildkit/")? } else { &rule.name };
            Some(choice(name, CompletionItemKind::Constant, rule.about.clone()))
        });
        return Some(replacing(word, at, rules.collect()));
    }
    let known = [
        ("syntax=docker/dockerfile:1", "Chooses the version of the Dockerfile language"),
        ("escape=`", "Sets the escape character"),
        ("check=skip=", "Switches BuildKit's checks off for this file"),
        ("tally ignore=", "Suppresses rules for the next instruction"),
        ("tally global ignore=", "Suppresses rules in this file"),
        ("hadolint ignore=", "Suppresses rules for the next instruction"),
        ("hadolint shell=", "Names the shell that the base image runs commands with"),
    ];
    let all = known.map(|(label, about)| choice(label, CompletionItemKind::Snippet, about));
    Some(replacing(comment, at, all.into()))
}
