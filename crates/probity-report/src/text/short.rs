//! A finding as a reviewer would write it: a line that says what is wrong, the line of source that it
//! is about, and a mark under the words with what would help.

use std::{
    io::{self, Write},
    ops::Range,
};

use annotate_snippets::{AnnotationKind, Group, Renderer, Snippet};
use probity_finding::{Finding, LineIndex, Related, Span};
use probity_text::visible;

use super::{
    excerpt::Excerpt,
    full::{flags, level},
};
use crate::{
    Paint, Screen,
    place::{self, LineRange, Unit},
    shown_width,
};

/// Help that is longer than this is left to the verbose report.
const LONGEST_HELP: usize = 100;
/// Line numbers that are listed before the rest is only counted.
const MOST_PLACES: usize = 10;

/// How findings look on this screen.
#[derive(Debug)]
pub(super) struct Look {
    pub(super) renderer: Renderer,
    pub(super) screen: Screen,
}

impl Look {
    /// A line of a rendered finding, folded if it is a title and not a line of a file.
    pub(super) fn title_folded(&self, line: &str) -> String {
        let text = anstream::adapter::strip_str(line).to_string();
        if text.starts_with(|first: char| first.is_alphabetic()) {
            self.screen.folded(line)
        } else {
            line.to_owned()
        }
    }
}

/// `path:line:column: severity: message [rule]`.
pub(super) fn write_line(
    out: &mut dyn Write,
    look: &Look,
    path: &str,
    lines: &LineIndex<'_>,
    finding: &Finding,
) -> io::Result<()> {
    let screen = look.screen;
    let at = finding.span.map(|span| LineRange::shown(lines, span, Unit::Character));
    let at = at.map(|place| format!("{}:{}:", place.line, place.column)).unwrap_or_default();
    let message = visible::line(&finding.message);
    let rule = screen.linked(&visible::line(&finding.rule), finding.docs.as_deref());
    let place = screen.painted(Paint::Strong, &format!("{path}:{at}"));
    let severity = screen.painted(Paint::Severity(finding.severity), finding.severity.as_str());
    writeln!(out, "{}", screen.folded(&format!("{place} {severity}: {message} [{rule}]")))
}

/// The first line of the finding's source with its marks; nothing where there is nothing to look at.
pub(super) fn write_source(
    out: &mut dyn Write,
    look: &Look,
    lines: &LineIndex<'_>,
    finding: &Finding,
) -> io::Result<()> {
    let Some(first) = finding.span else { return Ok(()) };
    let line = |span: Span| lines.position(span.start).line;
    let within: Vec<Span> = finding
        .spans()
        .filter(|&span| line(span) == line(first))
        .map(|span| on_its_first_line(lines, span))
        .collect();
    let Some(Excerpt { source, first_line, marks }) = Excerpt::new(lines, &within) else {
        return Ok(());
    };
    let help = help(lines, finding, line(first));
    let rendered = |marked: &[Range<usize>], label: Option<&str>| -> Vec<String> {
        let last = marked.len().saturating_sub(1);
        let marks = marked.iter().cloned().enumerate().map(|(index, mark)| {
            let mark = AnnotationKind::Primary.span(mark);
            // Only after the last mark is there room for words.
            if index == last { mark.label(label) } else { mark }
        });
        let snippet = Snippet::source(&source).line_start(first_line).annotations(marks);
        let group = Group::with_level(level(finding.severity)).element(snippet);
        let rendered = look.renderer.render(&[group]);
        rendered.lines().filter(|line| !is_empty_gutter(line)).map(str::to_owned).collect()
    };
    let fits = |shown: &[String]| match look.screen.width {
        Some(width) => shown.iter().all(|line| shown_width(line) <= width),
        None => true,
    };
    let beside = rendered(&marks, help.as_deref());
    if fits(&beside) {
        return write_lines(out, &beside);
    }
    // The words go below the marks, and marks that are too far to the right are left out.
    let fewer = (1..=marks.len()).rev().filter_map(|count| marks.get(..count));
    let mut shown = fewer.map(|marked| rendered(marked, None));
    let narrow = shown.find(|shown| fits(shown));
    write_lines(out, &narrow.unwrap_or_else(|| rendered(&marks, None)))?;
    let Some(help) = help else { return Ok(()) };
    let gutter = " ".repeat(first_line.to_string().len());
    writeln!(out, "{}", look.screen.folded(&format!("{gutter} = {help}")))
}

fn write_lines(out: &mut dyn Write, lines: &[String]) -> io::Result<()> {
    lines.iter().try_for_each(|line| writeln!(out, "{line}"))
}

/// How many findings of a rule are not shown, and where they are.
pub(super) fn write_folded(
    out: &mut dyn Write,
    look: &Look,
    path: &str,
    lines: &LineIndex<'_>,
    rule: &str,
    folded: &[&Finding],
) -> io::Result<()> {
    let count = folded.len();
    let spans = folded.iter().filter_map(|finding| finding.span);
    let at = listed(spans.map(|span| lines.position(span.start).line + 1).collect());
    let at = at.map(|at| format!(", {at}")).unwrap_or_default();
    let rule = visible::line(rule);
    let line = format!("{path}: and {count} more of {rule}{at} (-v shows all)");
    writeln!(out, "{}", look.screen.folded(&line))
}

/// What helps with a finding, in a few words: how it is fixed, what explains it, or where else it is.
fn help(lines: &LineIndex<'_>, finding: &Finding, shown: usize) -> Option<String> {
    let line = |span: Span| lines.position(span.start).line;
    let elsewhere = finding.also_at.iter().map(|&span| line(span)).filter(|&line| line != shown);
    if let Some(places) = listed(elsewhere.map(|line| line + 1).collect()) {
        return Some(format!("and in {places}"));
    }
    if let Some(fix) = finding.fixes.first() {
        return Some(format!("{} ({})", visible::line(&fix.title), flags(fix)));
    }
    let detail = finding.detail.as_deref().filter(|detail| !detail.contains('\n'));
    let detail = detail.map(|detail| visible::line(detail).into_owned());
    let related = |related: &Related| {
        format!("line {}: {}", line(related.span) + 1, visible::line(&related.message))
    };
    detail
        .or_else(|| finding.related.first().map(related))
        .filter(|help| help.chars().count() <= LONGEST_HELP)
}

/// `line 3`, `lines 3, 4` or, where there are many, the first of them.
fn listed(mut lines: Vec<usize>) -> Option<String> {
    lines.dedup();
    let (first, rest) = lines.split_at_checked(MOST_PLACES).unwrap_or((&lines, &[]));
    let numbers: Vec<String> = first.iter().map(usize::to_string).collect();
    let numbers = numbers.join(", ");
    match (lines.len(), rest.len()) {
        (0, _) => None,
        (1, _) => Some(format!("line {numbers}")),
        (_, 0) => Some(format!("lines {numbers}")),
        (_, more) => Some(format!("lines {numbers} and {more} more")),
    }
}

/// What of a span is on the line that it begins on.
fn on_its_first_line(lines: &LineIndex<'_>, span: Span) -> Span {
    let span = place::trimmed(lines, span);
    let end = lines.line_span(lines.position(span.start).line).end;
    place::trimmed(lines, Span { start: span.start, end: span.end.min(end.max(span.start)) })
}

/// Whether the renderer has drawn nothing but the bar that separates line numbers from source.
fn is_empty_gutter(line: &str) -> bool {
    anstream::adapter::strip_str(line).to_string().trim() == "|"
}
