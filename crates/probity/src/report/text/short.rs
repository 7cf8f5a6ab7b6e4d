//! A finding as a reviewer would write it: a line that says what is wrong, the line of source that it
//! is about, and a mark under the words with what would help.

use std::io::{self, Write};

use annotate_snippets::{AnnotationKind, Group, Renderer, Snippet};
use probity_finding::{Finding, LineIndex, Related, Severity, Span};
use probity_text::visible;

use super::{
    excerpt::Excerpt,
    full::{flags, level},
};
use crate::report::place::{self, Place, Unit};

/// Help that is longer than this is left to the verbose report.
const LONGEST_HELP: usize = 100;
/// Line numbers that are listed before the rest is only counted.
const MOST_PLACES: usize = 10;

/// How findings look on this terminal.
#[derive(Debug)]
pub(super) struct Style {
    pub(super) renderer: Renderer,
    pub(super) bold: anstyle::Style,
    pub(super) color: bool,
    pub(super) links: bool,
}

/// `path:line:column: severity: message [rule]`.
pub(super) fn write_line(
    out: &mut dyn Write,
    style: &Style,
    path: &str,
    lines: &LineIndex<'_>,
    finding: &Finding,
) -> io::Result<()> {
    let bold = style.bold;
    let at = finding.span.map(|span| Place::shown(lines, span, Unit::Character));
    let at = at.map(|place| format!("{}:{}:", place.line, place.column)).unwrap_or_default();
    let message = visible::line(&finding.message);
    let rule = style.linked(&visible::line(&finding.rule), finding.docs.as_deref());
    let severity = finding.severity;
    let paint = if style.color { paint(severity) } else { anstyle::Style::new() };
    writeln!(out, "{bold}{path}:{at}{bold:#} {paint}{severity}{paint:#}: {message} [{rule}]")
}

impl Style {
    /// A text that leads to an address where the terminal can follow it.
    fn linked(&self, text: &str, address: Option<&str>) -> String {
        match address {
            Some(address) if self.links && !address.contains(char::is_control) => {
                format!("\u{1b}]8;;{address}\u{1b}\\{text}\u{1b}]8;;\u{1b}\\")
            }
            _ => text.to_owned(),
        }
    }
}

/// The first line of the finding's source with its marks; nothing where there is nothing to look at.
pub(super) fn write_source(
    out: &mut dyn Write,
    style: &Style,
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
    let last = marks.len().saturating_sub(1);
    let help = help(lines, finding, line(first));
    let marks = marks.into_iter().enumerate().map(|(index, mark)| {
        let mark = AnnotationKind::Primary.span(mark);
        // Only behind the last mark is there room for words.
        if index == last { mark.label(help.clone()) } else { mark }
    });
    let snippet = Snippet::source(source).line_start(first_line).annotations(marks);
    let group = Group::with_level(level(finding.severity)).element(snippet);
    let rendered = style.renderer.render(&[group]);
    for line in rendered.lines().filter(|line| !is_empty_gutter(line)) {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// How many findings of a rule are not shown, and where they are.
pub(super) fn write_folded(
    out: &mut dyn Write,
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
    writeln!(out, "{path}: and {count} more of {rule}{at} (-v shows all)")
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

fn paint(severity: Severity) -> anstyle::Style {
    let color = match severity {
        Severity::Error => anstyle::AnsiColor::Red,
        Severity::Warning => anstyle::AnsiColor::Yellow,
        Severity::Info => anstyle::AnsiColor::Cyan,
        Severity::Style => anstyle::AnsiColor::Green,
    };
    color.on_default().bold()
}
