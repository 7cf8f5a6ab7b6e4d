//! The report for people at a terminal: each finding with its source, and a summary.

mod excerpt;

use std::io::{self, Write};

use annotate_snippets::{AnnotationKind, Element, Group, Level, Origin, Renderer, Snippet};
use probity_finding::{Applicability, Finding, Fix, LineIndex, Related, Severity, Span};

use self::excerpt::{Excerpt, is_near};
use super::{
    FileReport, Options, Reporter, Totals,
    ai_fix::AiFix,
    counts::{Counts, plural},
    place::{Place, Unit},
    visible,
};

#[derive(Debug)]
pub(crate) struct Text {
    show_source: bool,
    renderer: Renderer,
    bold: anstyle::Style,
    counts: Counts,
    fixable: Fixable,
}

impl Text {
    pub(crate) fn new(options: &Options) -> Self {
        let (renderer, bold) = if options.color {
            // Addresses are written out, so that they survive a log and an old terminal.
            (Renderer::styled().hyperlink(false), anstyle::Style::new().bold())
        } else {
            (Renderer::plain(), anstyle::Style::new())
        };
        Self {
            show_source: options.show_source,
            renderer,
            bold,
            counts: Counts::default(),
            fixable: Fixable::default(),
        }
    }
}

impl Reporter for Text {
    fn file(&mut self, out: &mut dyn Write, file: &FileReport<'_>) -> io::Result<()> {
        self.counts.add(file.findings);
        let lines = LineIndex::new(file.text);
        let path = visible::line(file.path);
        let mut told: Vec<&str> = Vec::new();
        for (index, finding) in file.findings.iter().enumerate() {
            self.fixable.add(finding, file.ai_fixes);
            if self.show_source {
                if finding.span.is_some() && told.contains(&finding.rule.as_ref()) {
                    continue;
                }
                let mut groups = groups(&path, &lines, finding);
                if finding.severity == Severity::Style {
                    // What is a matter of taste is shown once, and must not hide the rest.
                    told.push(&finding.rule);
                    let more = file.findings.get(index + 1..).unwrap_or_default();
                    groups.extend(repeated(&lines, &finding.rule, more));
                }
                let report = self.renderer.render(&groups);
                writeln!(out, "{report}\n")?;
            } else {
                write_line(out, &path, &lines, finding)?;
            }
        }
        Ok(())
    }

    fn finish(self: Box<Self>, out: &mut dyn Write, totals: &Totals) -> io::Result<()> {
        let bold = self.bold;
        let scanned = plural(totals.files_scanned, "file");
        if self.counts.total() == 0 {
            return writeln!(out, "{bold}No findings{bold:#} in {scanned}.");
        }
        let findings = plural(self.counts.total(), "finding");
        let words = self.counts.in_words();
        let files = self.counts.files;
        writeln!(out, "{bold}{findings}{bold:#} in {files} of {scanned}: {words}.")?;
        self.fixable.write(out)
    }
}

fn write_line(
    out: &mut dyn Write,
    path: &str,
    lines: &LineIndex<'_>,
    finding: &Finding,
) -> io::Result<()> {
    write!(out, "{path}:")?;
    if let Some(span) = finding.span {
        let Place { line, column, .. } = Place::shown(lines, span, Unit::Character);
        write!(out, "{line}:{column}:")?;
    }
    let message = visible::line(&finding.message);
    let rule = visible::line(&finding.rule);
    writeln!(out, " {}: {message} [{rule}]", finding.severity)
}

/// The parts of one finding: itself, and the places that explain it but are far away.
fn groups<'a>(path: &'a str, lines: &LineIndex<'_>, finding: &'a Finding) -> Vec<Group<'a>> {
    let title = level(finding.severity)
        .primary_title(visible::line(&finding.message))
        .id(visible::line(&finding.rule));
    let is_close =
        |related: &&Related| finding.span.is_some_and(|span| is_near(lines, span, related.span));
    let (close, far): (Vec<&Related>, Vec<&Related>) = finding.related.iter().partition(is_close);
    let mut group = match finding.span {
        Some(span) => title.element(source(path, lines, span, &close)),
        None => title.element(Origin::path(path)),
    };
    if let Some(detail) = &finding.detail {
        group = group.element(Level::NOTE.message(visible::block(detail)));
    }
    if let Some(docs) = &finding.docs {
        group = group.element(Level::NOTE.with_name("docs").message(visible::line(docs)));
    }
    for fix in &finding.fixes {
        group = group.element(Level::HELP.message(help(fix)));
    }
    let mut groups = vec![group];
    groups.extend(far.into_iter().map(|related| {
        Level::NOTE.secondary_title(visible::line(&related.message)).element(source(
            path,
            lines,
            related.span,
            &[],
        ))
    }));
    groups
}

/// Where else a rule found something, in a line; what exactly, the other formats and
/// `--hide-source` tell.
fn repeated<'a>(lines: &LineIndex<'_>, rule: &str, more: &[Finding]) -> Option<Group<'a>> {
    let same = more.iter().filter(|finding| finding.rule == rule);
    let places: Vec<String> = same
        .filter_map(|finding| finding.span)
        .map(|span| Place::shown(lines, span, Unit::Character).line.to_string())
        .collect();
    let lines = if places.len() == 1 { "line" } else { "lines" };
    let title = format!("the same rule in {lines} {}", places.join(", "));
    (!places.is_empty()).then(|| Group::with_title(Level::NOTE.secondary_title(title)))
}

/// The place with its source, or the place alone where the source is nothing to look at.
fn source<'a>(
    path: &'a str,
    lines: &LineIndex<'_>,
    span: Span,
    close: &[&'a Related],
) -> Element<'a> {
    let spans: Vec<Span> =
        std::iter::once(span).chain(close.iter().map(|related| related.span)).collect();
    let Some(Excerpt { source, first_line, marks }) = Excerpt::new(lines, &spans) else {
        let Place { line, column, .. } = Place::shown(lines, span, Unit::Character);
        return Origin::path(path).line(line).char_column(column).into();
    };
    let mut marks = marks.into_iter();
    let primary = marks.next().map(|mark| AnnotationKind::Primary.span(mark));
    let context = marks.zip(close).map(|(mark, related)| {
        AnnotationKind::Context.span(mark).label(visible::line(&related.message))
    });
    Snippet::source(source)
        .path(path)
        .line_start(first_line)
        .annotations(primary.into_iter().chain(context))
        .into()
}

fn level(severity: Severity) -> Level<'static> {
    match severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Info => Level::INFO,
        Severity::Style => Level::NOTE.with_name("style"),
    }
}

fn help(fix: &Fix) -> String {
    let how = match (&fix.objective, fix.applicability) {
        (Some(_), _) => "an agent's fix, --fix --fix-ai",
        (None, Applicability::Safe) => "safe fix, --fix",
        (None, Applicability::Suggestion) => "suggested fix, --fix --fix-unsafe",
        (None, Applicability::Unsafe) => "unsafe fix, --fix --fix-unsafe",
    };
    format!("{} ({how})", visible::line(&fix.title))
}

/// How many findings a run with `--fix` would see to, by what it takes; each counts once.
#[derive(Debug, Default)]
struct Fixable {
    safe: usize,
    risky: usize,
    by_agent: usize,
}

impl Fixable {
    fn add(&mut self, finding: &Finding, ai_fixes: &[AiFix]) {
        let was_asked =
            |rule: &str| ai_fixes.iter().any(|fix| fix.session.is_some() && fix.rule == rule);
        let best =
            finding.fixes.iter().map(|fix| (fix.objective.is_some(), fix.applicability)).min();
        match best {
            Some((false, Applicability::Safe)) => self.safe += 1,
            Some((false, _)) => self.risky += 1,
            // Who has been asked already would not know better.
            Some((true, _)) if was_asked(&finding.rule) => {}
            Some((true, _)) => self.by_agent += 1,
            None => {}
        }
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let ways = [
            (self.safe, "`--fix`"),
            (self.risky, "`--fix --fix-unsafe`"),
            (self.by_agent, "`--fix --fix-ai` and an agent, `--acp-command`"),
        ];
        let ways: Vec<String> = ways
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, flags)| format!("{count} with {flags}"))
            .collect();
        if ways.is_empty() {
            return Ok(());
        }
        writeln!(out, "Fixable: {}.", ways.join(", "))
    }
}

#[cfg(test)]
mod tests;
