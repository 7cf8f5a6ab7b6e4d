//! Parser directives: `# syntax=`, `# escape=` and `# check=` at the top of the file.

use probity_finding::Span;

use crate::{Directive, DirectiveName, ErrorKind, error::Report, lines::Line};

/// What the directives have said so far.
#[derive(Debug)]
pub(crate) struct Directives {
    /// The first line that is no directive ends the search for them.
    pub(crate) done: bool,
    pub(crate) escape: char,
    pub(crate) found: Vec<Directive>,
}

impl Directives {
    pub(crate) fn new() -> Self {
        Self { done: false, escape: '\\', found: Vec::new() }
    }

    /// Looks at a comment line whose `#` is at `start`; says whether it is a directive.
    pub(crate) fn read(
        &mut self,
        text: &str,
        line: Line,
        start: usize,
        report: &mut Report<'_>,
    ) -> bool {
        if self.done {
            return false;
        }
        let Some(directive) = directive(text, line, start) else {
            self.done = true;
            return false;
        };
        if self.found.iter().any(|other| other.name == directive.name) {
            let message =
                format!("only one {} parser directive can be used", directive.name.as_str());
            report.error(ErrorKind::DuplicateDirective, directive.span, message);
        } else if directive.name == DirectiveName::Escape {
            match directive.value.as_str() {
                "\\" => self.escape = '\\',
                "`" => self.escape = '`',
                other => report.error_with_help(
                    ErrorKind::InvalidEscapeDirective,
                    directive.value_span,
                    format!("invalid escape token {other:?}"),
                    "use ` or \\".to_owned(),
                ),
            }
        }
        self.found.push(directive);
        true
    }
}

impl DirectiveName {
    /// The name as it is written, in lower case.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Syntax => "syntax",
            Self::Escape => "escape",
            Self::Check => "check",
        }
    }

    fn of(name: &str) -> Option<Self> {
        let all = [Self::Syntax, Self::Escape, Self::Check];
        all.into_iter().find(|known| known.as_str().eq_ignore_ascii_case(name))
    }
}

/// Reads `# name = value`.
fn directive(text: &str, line: Line, start: usize) -> Option<Directive> {
    let end = line.content.end;
    let behind = text.get(start..end)?.strip_prefix('#')?.trim_start();
    let name_start = end - behind.len();
    let name_end = behind.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(behind.len());
    let (name, rest) = behind.split_at_checked(name_end)?;
    let value = rest.trim_start_matches(BLANK).strip_prefix('=')?;
    let trimmed = value.trim_matches(BLANK);
    // A value of blanks alone is a blank, and only nothing is no value.
    let value =
        if trimmed.is_empty() { value.get(value.len().checked_sub(1)?..)? } else { trimmed };
    let value_start = if trimmed.is_empty() {
        end - value.len()
    } else {
        end - rest.trim_start_matches(BLANK).get(1..)?.trim_start_matches(BLANK).len()
    };
    let value_span = Span::new(value_start, value_start + value.len());
    Some(Directive {
        name: DirectiveName::of(name)?,
        name_span: Span::new(name_start, name_start + name.len()),
        value: value.to_owned(),
        value_span,
        span: Span::new(start, value_span.end),
        line: line.number,
    })
}

/// What `\s` is in Go's regular expressions.
const BLANK: [char; 5] = ['\t', '\n', '\u{c}', '\r', ' '];
