//! Inlay hints: what a stage inherits from the stage that it is based on.

use gen_lsp_types::{InlayHint, InlayHintKind, InlayHintParams, Label, Tooltip};
use probity_dockerfile::{Base, Facts, Setting, Stage};
use serde_json::Value;

use super::{Answer, View, stage_page::in_words, typed};
use crate::host::DocumentKind;

pub(super) fn answer(view: &View<'_>, params: Value) -> Answer {
    typed(params, |params: InlayHintParams| {
        if view.document.kind != DocumentKind::Dockerfile {
            return Ok(Vec::new());
        }
        let (file, facts) = view.parsed();
        let wanted = view.lines.span(params.range);
        let hint = |stage: &Stage| {
            let from = file.instructions.get(stage.instruction)?;
            let is_wanted = wanted.start <= from.span.end && from.span.end <= wanted.end;
            let inherited = is_wanted.then(|| inherited(&facts, stage)).flatten()?;
            Some(InlayHint {
                position: view.lines.position(from.span.end),
                label: Label::String(inherited),
                kind: Some(InlayHintKind::Parameter),
                text_edits: None,
                tooltip: Some(Tooltip::String(
                    "Inherited from the stage it is based on".to_owned(),
                )),
                padding_left: Some(true),
                padding_right: None,
                data: None,
            })
        };
        Ok(facts.stages().iter().filter_map(hint).collect::<Vec<_>>())
    })
}

/// USER, WORKDIR and SHELL as the base stage leaves them.
fn inherited(facts: &Facts, stage: &Stage) -> Option<String> {
    let Base::Stage(base) = stage.base else { return None };
    let runtime = facts.runtime(base);
    let settings =
        [("USER", Setting::User), ("WORKDIR", Setting::Workdir), ("SHELL", Setting::Shell)];
    let parts: Vec<String> = settings
        .into_iter()
        .filter_map(|(name, setting)| {
            let last = runtime.get(setting).last()?;
            Some(format!("{name} {}", in_words(&last.entry.value)))
        })
        .collect();
    (!parts.is_empty()).then(|| parts.join(" · "))
}
