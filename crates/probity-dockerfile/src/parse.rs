//! The front door: text in, tree out.

use probity_finding::{Span, TextSlice};

use crate::{
    Arguments, Comment, Dockerfile, ErrorKind, Heredoc, Instruction, Keyword, SyntaxError,
    TokenKind, Tokens,
    directive::Directives,
    error::Report,
    heredoc,
    instruction::{LinePlace, instruction},
    lines::{self, Joined, Line, Lines},
    token,
    tree::Extras,
};

/// Parses a Dockerfile. Whatever the text is, there is a tree; what BuildKit would reject is in its
/// `errors`.
#[must_use]
pub fn parse(text: &str) -> Dockerfile<'_> {
    parse_with(text, None)
}

/// The same for a text that is shared already: lines and words are pieces of it.
#[must_use]
pub fn parse_shared(text: &TextSlice) -> Dockerfile<'_> {
    parse_with(text, Some(text))
}

fn parse_with<'a>(text: &'a str, shared: Option<&'a TextSlice>) -> Dockerfile<'a> {
    let mut parser = Parser::new(text, shared);
    while let Some(line) = parser.lines.next() {
        parser.read_line(line);
    }
    parser.finish()
}

struct Parser<'a> {
    text: &'a str,
    /// The same text, if it is shared.
    shared: Option<&'a TextSlice>,
    lines: Lines<'a>,
    tokens: Tokens,
    directives: Directives,
    instructions: Vec<Instruction>,
    errors: Vec<SyntaxError>,
    /// The comments since the last instruction.
    comments: Vec<Comment>,
}

const BOM: &str = "\u{feff}";

/// The longest line that BuildKit reads, in bytes, without its line feed.
const LONGEST_LINE: usize = 65_535;

impl<'a> Parser<'a> {
    fn new(text: &'a str, shared: Option<&'a TextSlice>) -> Self {
        let bom = if text.starts_with(BOM) { BOM.len() } else { 0 };
        let mut parser = Self {
            text,
            shared,
            lines: Lines::new(text, bom),
            tokens: Tokens::default(),
            directives: Directives::new(),
            instructions: Vec::new(),
            errors: Vec::new(),
            comments: Vec::new(),
        };
        parser.token(TokenKind::Bom, Span::new(0, bom));
        parser
    }

    /// Reads a line that does not continue another one, and whatever belongs to it.
    fn read_line(&mut self, line: Line) {
        check_length(line, &mut self.errors);
        let content = line.content.slice(self.text).unwrap_or_default();
        let trimmed = content.trim_start();
        let start = line.content.end - trimmed.len();
        self.token(TokenKind::Whitespace, Span::new(line.content.start, start));
        if trimmed.starts_with('#') {
            self.read_comment(line, start);
            return;
        }
        self.directives.done = true;
        if trimmed.is_empty() {
            self.token(TokenKind::LineEnd, line.ending);
            return;
        }
        self.read_instruction(line, start);
    }

    fn read_comment(&mut self, line: Line, start: usize) {
        let mut report = Report { errors: &mut self.errors, line: line.number };
        let is_directive = self.directives.read(self.text, line, start, &mut report);
        let kind = if is_directive { TokenKind::Directive } else { TokenKind::Comment };
        self.token(kind, Span::new(start, line.content.end));
        self.token(TokenKind::LineEnd, line.ending);
        if is_directive {
            return;
        }
        let comment = lines::comment(self.text, line, start);
        if comment.text.is_empty() {
            self.comments.clear();
        } else {
            self.comments.push(comment);
        }
    }

    fn read_instruction(&mut self, first: Line, start: usize) {
        let escape = self.directives.escape;
        let errors = &mut self.errors;
        let joined =
            lines::join(&mut self.lines, first, start, escape, |line| check_length(line, errors));
        let Joined { line, pieces, inner_comments, empty_continuations } = joined;
        let mut report = Report { errors: &mut self.errors, line: first.number };
        let line = match self.shared {
            Some(text) => line.finish_in(text),
            None => line.finish(),
        };
        let mut found = instruction(line, LinePlace::OwnLine, escape, &mut report);
        token::cut(self.text, &found, &pieces, &mut self.tokens);
        let mut heredocs: Box<[Heredoc]> = Box::default();
        if found.may_hold_heredocs() {
            let markers = heredoc::markers(&found.line, &mut report);
            let markers = markers.into_iter().map(|(at, marker)| (found.line.span(at), marker));
            let markers = markers.collect();
            let (lines, tokens, errors) = (&mut self.lines, &mut self.tokens, &mut self.errors);
            let found_bodies = heredoc::bodies(self.text, lines, markers, tokens, |line| {
                check_length(line, errors)
            });
            heredocs = found_bodies.into();
            found.reach_over(&heredocs);
            self.check_heredocs(&heredocs, first.number);
        }
        found.set_lines(first.number, self.lines.number());
        let extras = Extras {
            heredocs,
            comments: std::mem::take(&mut self.comments).into(),
            inner_comments: inner_comments.into(),
            empty_continuations: empty_continuations.into(),
            trigger_errors: Box::default(),
        };
        found.extras = extras.unless_empty();
        self.instructions.push(found);
    }

    /// The first heredoc without an end takes the rest of the file; those behind it had no chance.
    fn check_heredocs(&mut self, heredocs: &[Heredoc], line: usize) {
        let mut report = Report { errors: &mut self.errors, line };
        if let Some(heredoc) = heredocs.iter().find(|heredoc| heredoc.terminator.is_none()) {
            report.error_with_help(
                ErrorKind::UnterminatedHeredoc,
                heredoc.marker,
                "unterminated heredoc",
                format!("end it with a line that says {} and nothing else", heredoc.name),
            );
        }
    }

    fn finish(mut self) -> Dockerfile<'a> {
        self.check_stages();
        self.errors.sort_by_key(|error| error.span.start);
        self.tokens.shrink_to_fit();
        self.instructions.shrink_to_fit();
        Dockerfile {
            text: self.text,
            tokens: self.tokens,
            directives: self.directives.found,
            escape: self.directives.escape,
            instructions: self.instructions,
            errors: self.errors,
        }
    }

    fn check_stages(&mut self) {
        let Some(first) = self.instructions.first() else {
            let line = self.lines.number().max(1);
            let mut report = Report { errors: &mut self.errors, line };
            let end = self.text.trim_end().len();
            let place = Span::at(end);
            report.error(ErrorKind::NoInstructions, place, "file with no instructions");
            return;
        };
        let stage = self.instructions.iter().find(|found| found.keyword == Keyword::From);
        let early = self
            .instructions
            .iter()
            .find(|found| !matches!(found.keyword, Keyword::Arg | Keyword::Unknown));
        match (stage, early) {
            (None, _) => {
                let mut report = Report { errors: &mut self.errors, line: first.lines().0 };
                report.error_with_help(
                    ErrorKind::NoStages,
                    first.keyword_span(),
                    "dockerfile contains no stages to build",
                    "begin with FROM".to_owned(),
                );
            }
            (Some(_), Some(early)) if early.keyword != Keyword::From => {
                let mut report = Report { errors: &mut self.errors, line: early.lines().0 };
                report.error_with_help(
                    ErrorKind::InstructionBeforeFrom,
                    early.keyword_span(),
                    format!("no build stage in current context: {} before FROM", early.keyword),
                    "only ARG may stand before the first FROM".to_owned(),
                );
            }
            _ => {}
        }
    }

    fn token(&mut self, kind: TokenKind, span: Span) {
        self.tokens.push(kind, span);
    }
}

impl Instruction {
    /// Lets the instruction, and the one behind `ONBUILD`, end where its heredocs do.
    fn reach_over(&mut self, heredocs: &[Heredoc]) {
        let ends = heredocs.iter().map(|heredoc| heredoc.terminator.unwrap_or(heredoc.body).end);
        self.span.end = ends.fold(self.span.end, usize::max);
        if let Arguments::Onbuild(Some(nested)) = &mut self.arguments {
            nested.span.end = self.span.end;
            if !heredocs.is_empty() {
                nested.extras.get_or_insert_default().heredocs = heredocs.into();
            }
        }
    }
}

fn check_length(line: Line, errors: &mut Vec<SyntaxError>) {
    let length = line.ending.end - line.content.start;
    if length > LONGEST_LINE + 1 || (length > LONGEST_LINE && line.ending.is_empty()) {
        let mut report = Report { errors, line: line.number };
        let message = format!("dockerfile line greater than max allowed size of {LONGEST_LINE}");
        report.error(ErrorKind::LineTooLong, line.content, message);
    }
}
