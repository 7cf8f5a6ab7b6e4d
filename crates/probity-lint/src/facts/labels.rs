//! Labels as the rules about them see them: key and value without quotes, each with its place.

use probity_dockerfile::{Arguments, Keyword};
use probity_finding::{Finding, Span};

use crate::engine::context::Context;

/// One pair of a `LABEL`.
pub(crate) struct Label {
    pub(crate) stage: Option<usize>,
    pub(crate) key: String,
    pub(crate) key_span: Span,
    pub(crate) value: String,
    pub(crate) value_span: Span,
}

impl Label {
    /// Whether a part of it is known to the build alone.
    pub(crate) fn is_open(&self) -> bool {
        self.key.contains('$') || self.value.contains('$')
    }
}

/// Every label of the file, in its order.
pub(crate) fn all(context: &Context<'_>) -> Vec<Label> {
    let mut found = Vec::new();
    for (index, label) in context.each(Keyword::Label) {
        let Arguments::Pairs { pairs, .. } = &label.arguments else { continue };
        let stage = context.facts.stage_of(index).map(|stage| stage.index);
        found.extend(pairs.iter().map(|pair| {
            let value = pair.value.as_ref();
            Label {
                stage,
                key: unquoted(&pair.key.text),
                key_span: pair.key.span,
                value: value.map(|value| unquoted(&value.text)).unwrap_or_default(),
                value_span: value.map_or(pair.key.span, |value| value.span),
            }
        }));
    }
    found
}

/// Adds a finding for every listed label whose value is something and not what it should be.
pub(crate) fn flag_values(
    context: &Context<'_>,
    is_right: fn(&str) -> bool,
    what: &str,
    findings: &mut Vec<Finding>,
) {
    let listed = context.list("labels");
    for label in all(context) {
        let is_meant = listed.contains(&label.key) && !label.is_open() && !label.value.is_empty();
        if is_meant && !is_right(&label.value) {
            let message = format!("label {} is not {what}", label.key);
            findings.push(context.finding(label.value_span, message));
        }
    }
}

/// A value without the quotes around it.
pub(crate) fn unquoted(text: &str) -> String {
    let inner = ['"', '\'']
        .iter()
        .find_map(|quote| text.strip_prefix(*quote).and_then(|rest| rest.strip_suffix(*quote)));
    inner.unwrap_or(text).to_owned()
}
