//! A finding with everything that is known about it: source, notes, documentation and fixes.

use annotate_snippets::{AnnotationKind, Element, Group, Level, Origin, Snippet};
use probity_finding::{Applicability, Finding, Fix, LineIndex, Related, Severity, Span};
use probity_text::visible;

use super::{
    excerpt::{Excerpt, MOST_LINES, is_near},
    short::Look,
};
use crate::place::{LineRange, Unit};

/// Columns before the text of a note: a line number of four digits, and `= note: `.
const NOTE_COLUMNS: usize = 13;

/// The parts of one finding: itself, and the places that explain it but are far away.
pub(super) fn groups<'a>(
    path: &'a str,
    lines: &LineIndex<'_>,
    finding: &'a Finding,
    look: &Look,
    explain: Option<&str>,
) -> Vec<Group<'a>> {
    let note = |text: &str| look.screen.folded_after(NOTE_COLUMNS, text);
    let title = level(finding.severity)
        .primary_title(visible::line(&finding.message))
        .id(visible::line(&finding.rule));
    let is_close =
        |related: &&Related| finding.span.is_some_and(|span| is_near(lines, span, related.span));
    let (close, far): (Vec<&Related>, Vec<&Related>) = finding.related.iter().partition(is_close);
    let mut group = match finding.span {
        Some(span) => {
            title.element(source(path, lines, &shown_together(lines, finding, span), &close))
        }
        None => title.element(Origin::path(path)),
    };
    if let Some(detail) = &finding.detail {
        group = group.element(Level::NOTE.message(note(&visible::block(detail))));
    }
    let docs = finding.docs.as_deref().map(str::to_owned);
    if let Some(docs) = docs.or_else(|| Some(format!("{} {}", explain?, finding.rule))) {
        let docs = visible::line(&docs).into_owned();
        group = group.element(Level::NOTE.with_name("docs").message(docs));
    }
    for fix in &finding.fixes {
        group = group.element(Level::HELP.message(note(&help(fix))));
    }
    let mut groups = vec![group];
    groups.extend(far.into_iter().map(|related| {
        Level::NOTE.secondary_title(visible::line(&related.message)).element(source(
            path,
            lines,
            &[related.span],
            &[],
        ))
    }));
    groups
}

/// The places of a finding that one excerpt can show.
fn shown_together(lines: &LineIndex<'_>, finding: &Finding, first: Span) -> Vec<Span> {
    let line = |span: Span| lines.position(span.start).line;
    finding.spans().filter(|&span| line(span) < line(first) + MOST_LINES).collect()
}

/// The place with its source, or the place alone where the source is nothing to look at.
fn source<'a>(
    path: &'a str,
    lines: &LineIndex<'_>,
    spans: &[Span],
    close: &[&'a Related],
) -> Element<'a> {
    let all: Vec<Span> =
        spans.iter().copied().chain(close.iter().map(|related| related.span)).collect();
    let Some(Excerpt { source, first_line, mut marks }) = Excerpt::new(lines, &all) else {
        let place = spans.first().map(|&span| LineRange::shown(lines, span, Unit::Character));
        let origin = Origin::path(path);
        return match place {
            Some(LineRange { line, column, .. }) => origin.line(line).char_column(column).into(),
            None => origin.into(),
        };
    };
    let related = marks.split_off(spans.len());
    let primary = marks.into_iter().map(|mark| AnnotationKind::Primary.span(mark));
    let context = related.into_iter().zip(close).map(|(mark, related)| {
        AnnotationKind::Context.span(mark).label(visible::line(&related.message))
    });
    Snippet::source(source)
        .path(path)
        .line_start(first_line)
        .annotations(primary.chain(context))
        .into()
}

pub(super) fn level(severity: Severity) -> Level<'static> {
    match severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Info => Level::INFO,
        Severity::Style => Level::NOTE.with_name("style"),
    }
}

fn help(fix: &Fix) -> String {
    let kind = match (&fix.objective, fix.applicability) {
        (Some(_), _) => "an agent's fix",
        (None, Applicability::Safe) => "safe fix",
        (None, Applicability::Suggestion) => "suggested fix",
        (None, Applicability::Unsafe) => "unsafe fix",
    };
    format!("{} ({kind}, {})", visible::line(&fix.title), flags(fix))
}

/// The flags that apply a fix.
pub(super) fn flags(fix: &Fix) -> &'static str {
    match (&fix.objective, fix.applicability) {
        (Some(_), _) => "--fix --fix-ai",
        (None, Applicability::Safe) => "--fix",
        (None, Applicability::Suggestion | Applicability::Unsafe) => "--fix --fix-unsafe",
    }
}
