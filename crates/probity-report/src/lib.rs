//! Findings in, text out: every format of every capability that reports findings.
//!
//! Reports are streamed: one file's findings are written and forgotten before the next file's come.
//! Only what a format wants at its end is kept: counts, and the rules that were hit. JUnit is the
//! exception, since its root element counts what follows it.

#![cfg_attr(not(test), warn(clippy::disallowed_methods, reason = "probity-report is pure"))]

mod ai_detection;
pub mod ai_fix;
mod checkstyle;
mod codeclimate;
pub mod counts;
mod github_actions;
mod gnu;
mod json;
mod junit;
mod markdown;
pub mod ours;
pub mod place;
pub mod proof;
pub mod review;
#[cfg(test)]
mod samples;
mod sarif;
mod screen;
mod sonarqube;
pub mod stages;
mod stream;
mod text;

use std::io::{self, Write};

use probity_check::{AiDetection, AiFix, builds::Invocation};
use probity_finding::Finding;
use probity_lint::Rejection;
use probity_text::runner::Syntax;

pub use crate::screen::{Paint, Screen, Table, padded, shown_width};

/// One file's part of a report. The findings are in report order.
#[derive(Clone, Copy, Debug)]
pub struct FileReport<'a> {
    /// The path as it is shown, with forward slashes, relative where that is shorter.
    pub path: &'a str,
    /// What was checked; empty when the file could not be read.
    pub text: &'a str,
    pub findings: &'a [Finding],
    /// What agents were asked for, and what became of it.
    pub ai_fixes: &'a [AiFix],
    /// What an agent was asked to find.
    pub ai_detections: &'a [AiDetection],
    /// The builds of Compose and Bake files that use it.
    pub invocations: &'a [&'a Invocation],
    /// Why no fix was applied, where fixes were asked for and none may touch the file. The text report
    /// leaves it to the summary on standard error.
    pub rejection: Option<&'a Rejection>,
}

/// What is known when the last file is done.
#[derive(Clone, Copy, Debug, Default)]
pub struct Totals {
    pub files_scanned: usize,
    pub rules_enabled: usize,
}

/// Writes one format.
pub trait Reporter {
    /// Called once per scanned file, in the order of the report, also for files without findings.
    fn file(&mut self, out: &mut dyn Write, file: &FileReport<'_>) -> io::Result<()>;
    /// Called once, behind the last file.
    fn finish(self: Box<Self>, out: &mut dyn Write, totals: &Totals) -> io::Result<()>;
}

/// What a reader of the report may ask for.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Whether text shows the source below each finding.
    pub show_source: bool,
    pub detail: Detail,
    /// What the text format is written for; no other format has colors or folded lines.
    pub screen: Screen,
    /// The command that explains a rule, where this name has one.
    pub explain: Option<&'static str>,
    pub tool_version: &'static str,
    /// What a rule is about, in a sentence, where the caller knows.
    pub describe: fn(&str) -> Option<String>,
}

/// How much of each finding the text report shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// As the short form, and no summary.
    Quiet,
    /// A message, a line of source, and no more than a few findings of a rule in one file.
    Short,
    /// Everything that is known about every finding.
    Full,
}

/// The formats, in the order in which help lists them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// For people at a terminal.
    Text,
    /// One document with everything that is known; lines from 1, columns in bytes from 0.
    Json,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// Workflow commands that GitHub turns into annotations.
    GithubActions,
    /// Tables for a comment or a job summary.
    Markdown,
    Checkstyle,
    /// Issues as JSON documents, each ended by a NUL character.
    Codeclimate,
    /// A GitLab code quality report.
    Gitlab,
    Junit,
    /// One line per finding, as the GNU coding standards want it.
    Gnu,
    /// SonarQube's generic issue import.
    Sonarqube,
}

impl Format {
    #[cfg(test)]
    const ALL: &[Self] = &[
        Self::Text,
        Self::Json,
        Self::Sarif,
        Self::GithubActions,
        Self::Markdown,
        Self::Checkstyle,
        Self::Codeclimate,
        Self::Gitlab,
        Self::Junit,
        Self::Gnu,
        Self::Sonarqube,
    ];

    /// How a command of a CI runner is broken in it.
    pub fn syntax(self) -> Syntax {
        match self {
            Self::Text | Self::Markdown | Self::Gnu => Syntax::Text,
            Self::Json | Self::Sarif | Self::Codeclimate | Self::Gitlab | Self::Sonarqube => {
                Syntax::Json
            }
            Self::Checkstyle | Self::Junit => Syntax::Xml,
            Self::GithubActions => Syntax::Annotations,
        }
    }

    pub fn reporter(self, options: &Options) -> Box<dyn Reporter> {
        match self {
            Self::Text => Box::new(text::Text::new(options)),
            Self::Json => Box::new(json::Json::default()),
            Self::Sarif => Box::new(sarif::Sarif::new(options)),
            Self::GithubActions => Box::new(github_actions::GithubActions),
            Self::Markdown => Box::new(markdown::Markdown::default()),
            Self::Checkstyle => Box::new(checkstyle::Checkstyle::default()),
            Self::Codeclimate => Box::new(codeclimate::Codeclimate),
            Self::Gitlab => Box::new(codeclimate::Gitlab::default()),
            Self::Junit => Box::new(junit::Junit::default()),
            Self::Gnu => Box::new(gnu::Gnu),
            Self::Sonarqube => Box::new(sonarqube::Sonarqube::default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use probity_finding::{Edit, Fix, Severity, Span};

    use super::*;

    #[test]
    fn no_format_lets_a_hidden_character_through() {
        for &format in Format::ALL {
            let report = samples::report(format);
            let hidden = report.chars().find(|&char| probity_text::is_hidden(char));
            // The NUL characters are what ends a document there.
            let expected = (format == Format::Codeclimate).then_some('\0');
            assert_eq!(hidden, expected, "{format:?}");
        }
    }

    #[test]
    fn a_report_without_files_is_still_a_report() {
        let json = [Format::Json, Format::Sarif, Format::Gitlab, Format::Sonarqube];
        for format in json {
            let report = samples::render(format, &samples::OPTIONS, &[]);
            let parsed: Result<serde_json::Value, _> = serde_json::from_str(&report);
            assert!(parsed.is_ok(), "{format:?}: {report}");
        }
        for format in [Format::Checkstyle, Format::Junit] {
            let report = samples::render(format, &samples::OPTIONS, &[]);
            assert!(report.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>"), "{report}");
        }
        for format in [Format::GithubActions, Format::Codeclimate, Format::Gnu] {
            assert_eq!(samples::render(format, &samples::OPTIONS, &[]), "");
        }
    }

    #[test]
    fn no_span_of_any_text_makes_a_format_fail() {
        let texts = ["", "\n", "\u{feff}a\r\n", "a\r\nü😀\tb\r\r\n\x1b\u{202e}", "\r\n\r\nz"];
        for text in texts {
            let spans = (0..=text.len() + 1)
                .flat_map(|start| (start..=text.len() + 2).map(move |end| Span { start, end }));
            let findings: Vec<Finding> = spans
                .map(|span| {
                    let edits = vec![Edit::replace(span, "x")];
                    Finding::new("a/b", Severity::Info, span, "m")
                        .with_related(Span::at(text.len() - span.start.min(text.len())), "r")
                        .with_fix(Fix::safe("f", edits))
                })
                .collect();
            let count = findings.len();
            let files = [("f", text, findings)];
            for &format in Format::ALL {
                let options = Options { detail: Detail::Full, ..samples::OPTIONS };
                let report = samples::render(format, &options, &files);
                let told = report.matches("a/b").count();
                assert!(told >= count, "{format:?} of {text:?}: {told} of {count}");
            }
        }
    }
}
