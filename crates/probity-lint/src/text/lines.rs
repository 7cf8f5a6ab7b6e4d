//! Whole lines and line ends, for fixes that add or remove them.

use probity_dockerfile::{Dockerfile, Instruction, Token, TokenKind};
use probity_finding::{Edit, Span};

/// The lines that a span touches, with the line end of the last one.
pub(crate) fn whole_lines(text: &str, span: Span) -> Span {
    let before = text.get(..span.start).unwrap_or_default();
    let behind = text.get(span.end..).unwrap_or_default();
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let end = behind.find('\n').map_or(text.len(), |at| span.end + at + 1);
    Span::new(start, end)
}

/// The line end that the file uses, told by its first.
pub(crate) fn line_end(text: &str) -> &'static str {
    match text.split_once('\n') {
        Some((first, _)) if first.ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// Spaces that a line is indented by where the file has no indentation of its own.
const USUAL_INDENTATION: usize = 4;

/// One step of indentation as the file has it: a tab, or the fewest spaces that continue an
/// instruction. It reads the whole file, so a rule asks once.
pub(crate) fn indentation(file: &Dockerfile<'_>) -> String {
    let widths = 2..=8;
    let (mut tabs, mut spaces) = (0, Vec::new());
    for line in lines(file).iter().filter(|line| !line.in_heredoc && !line.is_blank()) {
        let width = line.text.bytes().take_while(|&byte| byte == b' ').count();
        tabs += usize::from(line.text.starts_with('\t'));
        // One space before `&&` aligns it and is not a step.
        spaces.extend(widths.contains(&width).then_some(width));
    }
    if tabs > spaces.len() {
        return "\t".to_owned();
    }
    " ".repeat(spaces.iter().min().copied().unwrap_or(USUAL_INDENTATION))
}

/// Puts a blank line before and after an instruction where there is none, above the comments that
/// belong to it. Instructions that go over several lines are told apart that way.
pub(crate) fn blank_lines_around(file: &Dockerfile<'_>, index: usize) -> Vec<Edit> {
    let before = index.checked_sub(1).and_then(|left| blank_line_after(file, left));
    before.into_iter().chain(blank_line_after(file, index)).collect()
}

/// Puts a blank line between an instruction and the next one where there is none.
pub(crate) fn blank_line_after(file: &Dockerfile<'_>, index: usize) -> Option<Edit> {
    let gap = gap_after(file, index)?;
    if has_blank_line(file, gap) {
        return None;
    }
    Some(Edit::insert(gap.start, line_end(file.text)))
}

/// Whether the file has a blank line between any two instructions. It reads the whole file, so a rule
/// asks once.
pub(crate) fn has_paragraphs(file: &Dockerfile<'_>) -> bool {
    let mut gaps = (0..file.instructions.len()).filter_map(|index| gap_after(file, index));
    gaps.any(|gap| has_blank_line(file, gap))
}

/// Whether an instruction goes over several lines.
pub(crate) fn is_multi_line(file: &Dockerfile<'_>, instruction: &Instruction) -> bool {
    instruction.span.slice(file.text).is_some_and(|text| text.contains('\n'))
}

fn gap_after(file: &Dockerfile<'_>, index: usize) -> Option<Span> {
    let (before, after) = (file.instructions.get(index)?, file.instructions.get(index + 1)?);
    let start = whole_lines(file.text, before.span).end;
    Some(Span::new(start, after.span.start.max(start)))
}

fn has_blank_line(file: &Dockerfile<'_>, gap: Span) -> bool {
    let between = gap.slice(file.text).unwrap_or_default();
    between.split_inclusive('\n').any(|line| line.trim().is_empty() && line.ends_with('\n'))
}

/// Puts another instruction before one, above the comments that belong to it: a directive among them
/// is about the instruction that follows.
pub(crate) fn instruction_before(
    file: &Dockerfile<'_>,
    instruction: &Instruction,
    written: &str,
) -> Edit {
    let mut start = instruction.span.start;
    while let Some(above) = comment_above(file.text, start) {
        start = above;
    }
    Edit::insert(start, format!("{written}{}", line_end(file.text)))
}

/// The start of the line above, where that is a comment; one with a directive counts across empty
/// lines too.
fn comment_above(text: &str, at: usize) -> Option<usize> {
    let mut own = whole_lines(text, Span::at(at)).start;
    let mut is_next = true;
    loop {
        let above = whole_lines(text, Span::at(own.checked_sub(1)?));
        let line = above.slice(text)?.trim();
        let is_directive = ["ignore", "skip"].iter().any(|word| line.contains(word));
        if line.starts_with('#') {
            return (is_next || is_directive).then_some(above.start);
        }
        if !line.is_empty() {
            return None;
        }
        (own, is_next) = (above.start, false);
    }
}

/// One line of the text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line<'a> {
    /// Without the line end and, on the first line, without the byte order mark.
    pub(crate) text: &'a str,
    pub(crate) start: usize,
    /// Behind the line end.
    pub(crate) end: usize,
    /// It is content of a heredoc, or ends one: every byte of it counts.
    pub(crate) in_heredoc: bool,
}

impl Line<'_> {
    pub(crate) fn is_blank(&self) -> bool {
        !self.in_heredoc && self.text.trim().is_empty()
    }
}

/// The lines that were written; the empty one behind the last line end was not.
pub(crate) fn lines<'a>(file: &Dockerfile<'a>) -> Vec<Line<'a>> {
    let is_of_heredoc =
        |token: &Token| matches!(token.kind, TokenKind::HeredocBody | TokenKind::HeredocEnd);
    let mut heredocs = file.tokens.iter().filter(is_of_heredoc).peekable();
    let mut found = Vec::new();
    let mut at = 0;
    for whole in file.text.split_inclusive('\n') {
        let end = at + whole.len();
        while heredocs.next_if(|body| body.span.end <= at).is_some() {}
        let in_heredoc = heredocs.peek().is_some_and(|body| body.span.start <= at);
        let text = whole.trim_end_matches(['\r', '\n']);
        let text = if at == 0 { text.trim_start_matches('\u{feff}') } else { text };
        let mark = if at == 0 && whole.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        found.push(Line { text, start: at + mark, end, in_heredoc });
        at = end;
    }
    found
}
