//! Edits as the protocol writes them, and the edits that lead from one text to another.

use std::collections::HashMap;

use gen_lsp_types::{
    AnnotatedTextEdit, ChangeAnnotation, DocumentChange, OptionalVersionedTextDocumentIdentifier,
    TextDocumentEdit, TextDocumentIdentifier, TextEdit, WorkspaceEdit,
};
use probity_finding::{Edit, Span};
use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::{client::Client, document::Document, lines::Lines};

/// What a person reads before confirming an edit.
pub(crate) struct Note {
    pub(crate) label: String,
    pub(crate) description: String,
}

/// The lines that differ, each run of them as one edit.
pub(crate) fn between(before: &str, after: &str) -> Vec<Edit> {
    let (old_lines, new_lines) = (lines_of(before), lines_of(after));
    let operations = capture_diff_slices(Algorithm::Myers, &old_lines, &new_lines);
    let offsets = |lines: &[&str]| -> Vec<usize> {
        let mut at = 0;
        let mut starts = vec![0];
        for line in lines {
            at += line.len();
            starts.push(at);
        }
        starts
    };
    let (old, new) = (offsets(&old_lines), offsets(&new_lines));
    let place = |starts: &[usize], line: usize| starts.get(line).copied().unwrap_or_default();
    let changed = operations.iter().filter(|op| !matches!(op, DiffOp::Equal { .. }));
    changed
        .map(|op| {
            let (from, to) = (op.old_range(), op.new_range());
            let span = Span::new(place(&old, from.start), place(&old, from.end));
            let text = after.get(place(&new, to.start)..place(&new, to.end)).unwrap_or_default();
            Edit::replace(span, text)
        })
        .collect()
}

fn lines_of(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

pub(crate) fn text_edits(lines: &Lines<'_>, edits: &[Edit]) -> Vec<TextEdit> {
    let edits = edits.iter().map(|edit| with_whole_newlines(lines.text(), edit));
    edits.map(|edit| TextEdit { range: lines.range(edit.span), new_text: edit.text }).collect()
}

/// The protocol has no position between `\r` and `\n`: a client would move the edit before both and
/// leave a newline of another kind. An edit that begins or ends there takes the whole newline.
fn with_whole_newlines(text: &str, edit: &Edit) -> Edit {
    let is_half = |at: usize| {
        let before = at.checked_sub(1).and_then(|before| text.get(before..=at));
        before == Some("\r\n")
    };
    let Span { mut start, mut end } = edit.span;
    let mut new = edit.text.clone();
    if is_half(end) {
        end += 1;
        new.push('\n');
    }
    if is_half(start) {
        start -= 1;
        new.insert(0, '\r');
    }
    Edit::replace(Span::new(start, end), new)
}

/// An edit of one document, tied to its version where the client understands that.
pub(crate) fn of_document(
    document: &Document,
    lines: &Lines<'_>,
    client: &Client,
    edits: &[Edit],
) -> WorkspaceEdit {
    let edits = text_edits(lines, edits);
    if !client.takes_document_changes {
        let changes = HashMap::from([(document.uri.clone(), edits)]);
        return WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() };
    }
    let edits = edits.into_iter().map(Into::into).collect();
    WorkspaceEdit {
        document_changes: Some(vec![versioned(document, edits)]),
        ..WorkspaceEdit::default()
    }
}

/// An edit that the editor applies only after a person has agreed, where it can ask.
pub(crate) fn confirmed(
    document: &Document,
    lines: &Lines<'_>,
    client: &Client,
    edits: &[Edit],
    note: Note,
) -> WorkspaceEdit {
    if !(client.takes_document_changes && client.takes_annotations) {
        return of_document(document, lines, client, edits);
    }
    let annotation_id = "probity-ai".to_owned();
    let whole = as_one(lines.text(), edits);
    let annotated = text_edits(lines, whole.as_slice()).into_iter().map(|text_edit| {
        AnnotatedTextEdit { annotation_id: annotation_id.clone(), text_edit }.into()
    });
    let annotation = ChangeAnnotation {
        label: note.label,
        needs_confirmation: Some(true),
        description: Some(note.description),
    };
    WorkspaceEdit {
        document_changes: Some(vec![versioned(document, annotated.collect())]),
        change_annotations: Some(HashMap::from([(annotation_id, annotation)])),
        ..WorkspaceEdit::default()
    }
}

/// All changes as one edit. An editor lets a person choose among edits, and only the whole is proven.
fn as_one(text: &str, edits: &[Edit]) -> Option<Edit> {
    let (first, last) = (edits.first()?, edits.last()?);
    let mut new = String::new();
    let mut at = first.span.start;
    for edit in edits {
        new.push_str(text.get(at..edit.span.start).unwrap_or_default());
        new.push_str(&edit.text);
        at = edit.span.end;
    }
    Some(Edit::replace(Span::new(first.span.start, last.span.end), new))
}

fn versioned(document: &Document, edits: Vec<gen_lsp_types::Edit>) -> DocumentChange {
    let identifier = TextDocumentIdentifier { uri: document.uri.clone() };
    let text_document = OptionalVersionedTextDocumentIdentifier {
        version: Some(document.version),
        text_document_identifier: identifier,
    };
    TextDocumentEdit { text_document, edits }.into()
}

#[cfg(test)]
mod tests {
    use probity_finding::{Fix, apply};

    use super::*;
    use crate::lines::Encoding;

    #[test]
    fn changes_of_one_fix_are_one_edit() {
        for (before, after) in [
            ("a\nb\nc\nd\n", "x\nb\nc\ny\nz\n"),
            ("a\nb\n", "b\n"),
            ("a\nb\nc\n", "a\nc\nd"),
            ("é\r\n😀\r\n", "é\r\nb\r\n😀"),
        ] {
            let edit = as_one(before, &between(before, after)).unwrap();
            let (head, tail) = (&before[..edit.span.start], &before[edit.span.end..]);
            assert_eq!(format!("{head}{}{tail}", edit.text), after);
        }
        assert_eq!(as_one("a\n", &[]), None);
    }

    #[test]
    fn an_edit_takes_whole_newlines() {
        let text = "é😀a\r\nb\r\n";
        let half = text.find('\n').unwrap();
        for (span, new, start, end, written) in [
            (Span::at(half), " \\", (0, 4), (1, 0), "\r \\\n"),
            (Span::new(half, half + 1), "\n\r\n", (0, 4), (1, 0), "\r\n\r\n"),
            (Span::new(half - 2, half), "", (0, 3), (1, 0), "\n"),
            (Span::at(half - 1), "x", (0, 4), (0, 4), "x"),
        ] {
            let lines = Lines::new(text, Encoding::Utf16);
            let edits = text_edits(&lines, &[Edit::replace(span, new)]);
            let place = |at: gen_lsp_types::Position| (at.line, at.character);
            let range = edits[0].range;
            assert_eq!((place(range.start), place(range.end)), (start, end), "{span:?}");
            assert_eq!(edits[0].new_text, written, "{span:?}");
        }
    }

    #[test]
    fn the_edits_lead_to_the_other_text_and_touch_nothing_else() {
        for (before, after, count) in [
            ("a\nb\nc\n", "a\nx\nc\n", 1),
            ("a\r\nb\r\n", "a\r\nb\r\nc", 1),
            ("é\n😀\nz", "é\nz", 1),
            ("a\nb\nc\nd\n", "x\nb\nc\ny\n", 2),
            ("", "a\n", 1),
            ("same\n", "same\n", 0),
        ] {
            let edits = between(before, after);
            assert_eq!(edits.len(), count, "{before:?}");
            let applied = apply(before, &[&Fix::safe("all", edits)]);
            assert_eq!(applied.text, after);
        }
    }
}
