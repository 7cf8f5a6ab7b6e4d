//! Formatting by the layout rules: spaces, newlines and continuations, and never a word.

use gen_lsp_types::{DocumentFormattingParams, DocumentRangeFormattingParams, TextEdit};
use probity_check::EditorFixes;
use probity_finding::{Edit, Span};
use serde_json::Value;

use super::{Answer, View, edits, typed};
use crate::host::DocumentKind;

pub(super) fn whole(view: &View<'_>, params: Value) -> Answer {
    typed(params, |_: DocumentFormattingParams| Ok(edits::text_edits(&view.lines, &layout(view))))
}

/// The same, as far as it changes lines of the range.
pub(super) fn range(view: &View<'_>, params: Value) -> Answer {
    typed(params, |params: DocumentRangeFormattingParams| {
        let wanted = view.lines.span(params.range);
        let (first, last) = (view.lines.line_of(wanted.start), view.lines.line_of(wanted.end));
        let is_within = |edit: &Edit| {
            // An edit ends where the line behind its last one begins.
            let end = edit.span.end.saturating_sub(1).max(edit.span.start);
            first <= view.lines.line_of(edit.span.start) && view.lines.line_of(end) <= last
        };
        let edits: Vec<Edit> = layout(view).into_iter().filter(is_within).collect();
        let edits: Vec<TextEdit> = edits::text_edits(&view.lines, &edits);
        Ok(edits)
    })
}

fn layout(view: &View<'_>) -> Vec<Edit> {
    if view.document.kind != DocumentKind::Dockerfile {
        return Vec::new();
    }
    let formatted = view.host.fix(&view.subject(), EditorFixes::Layout);
    // Whatever a rule of layout may come to do, a formatter changes no word.
    formatted.and_then(|text| between(view.text(), &text)).unwrap_or_default()
}

/// What differs between the words of two texts; nothing where a word differs too.
fn between(before: &str, after: &str) -> Option<Vec<Edit>> {
    let mut edits = Vec::new();
    let (mut at, mut new) = (0, after);
    loop {
        let (old_gap, new_gap) = (gap(before.get(at..)?), gap(new));
        compare(old_gap, new_gap, at, &mut edits);
        at += old_gap.len();
        new = new.get(new_gap.len()..)?;
        let (old_char, new_char) = (before.get(at..)?.chars().next(), new.chars().next());
        match (old_char, new_char) {
            (None, None) => return Some(edits),
            (Some(old), Some(char)) if old == char => {
                at += old.len_utf8();
                new = new.get(char.len_utf8()..)?;
            }
            _ => return None,
        }
    }
}

/// The layout that a text begins with: spaces, newlines and escape characters.
fn gap(text: &str) -> &str {
    let is_layout = |char: char| char.is_whitespace() || matches!(char, '\\' | '`');
    text.get(..text.find(|char| !is_layout(char)).unwrap_or(text.len())).unwrap_or_default()
}

/// The end of a line, the lines between, and the indentation, each for itself: a range of lines is
/// formatted without its neighbors.
fn compare(old: &str, new: &str, start: usize, edits: &mut Vec<Edit>) {
    let mut push = |from: usize, old: &str, new: &str| {
        if old != new {
            let span = Span::new(start + from, start + from + old.len());
            edits.push(Edit::replace(span, new));
        }
    };
    let ends = |text: &str| {
        let first = text.find('\n')?;
        let half = usize::from(text.get(..first)?.ends_with('\r'));
        Some((first - half, text.rfind('\n')? + 1))
    };
    let (Some((first, last)), Some((new_first, new_last))) = (ends(old), ends(new)) else {
        return push(0, old, new);
    };
    push(0, &old[..first], &new[..new_first]);
    push(first, &old[first..last], &new[new_first..new_last]);
    push(last, &old[last..], &new[new_last..]);
}

#[cfg(test)]
mod tests {
    use probity_finding::{Fix, apply};

    use super::*;

    #[test]
    fn gaps_change_one_by_one_and_words_not_at_all() {
        for (before, after, count) in [
            ("a  b \n\n\nc", "a b\n\nc", Some(3)),
            ("a && b\r\n", "a \\\r\n  && b\r\n", Some(1)),
            ("a  \r\n\r\n\r\nb\r\n", "a\r\n\r\nb\r\n", Some(2)),
            ("é😀", "é😀\n", Some(1)),
            ("a b", "a c", None),
            ("a", "a b", None),
        ] {
            let edits = between(before, after);
            assert_eq!(edits.as_ref().map(Vec::len), count, "{before:?}");
            if let Some(edits) = edits {
                let is_half =
                    |at: usize| before[..at].ends_with('\r') && before[at..].starts_with('\n');
                let places = edits.iter().flat_map(|edit| [edit.span.start, edit.span.end]);
                assert!(!places.into_iter().any(is_half), "{edits:?}");
                assert_eq!(apply(before, &[&Fix::safe("all", edits)]).text, after);
            }
        }
    }
}
