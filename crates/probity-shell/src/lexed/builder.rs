//! Puts commands together from the pieces that a lexer reads, with the nesting in a list.

use std::ops::Range;

use probity_finding::{Span, TextSlice};

use crate::{
    Assignment, Command, CommandPlace, Operation, Part, PartKind, Quote, Redirection,
    RedirectionKind, Variable, Word, command::Extras,
};

/// What the next byte of a script belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Plain,
    /// `"…"`
    Quoted,
    /// `@"…"@`
    HereString,
}

/// A word before its place in the file is known.
#[derive(Debug, Default)]
pub(super) struct DraftWord {
    pub(super) range: Range<usize>,
    pub(super) parts: Vec<DraftPart>,
}

#[derive(Debug)]
pub(super) struct DraftPart {
    pub(super) range: Range<usize>,
    pub(super) quote: Quote,
    pub(super) kind: DraftKind,
}

#[derive(Debug)]
pub(super) enum DraftKind {
    Text(String),
    Variable(String),
    Block(usize),
}

/// A command before its words are understood.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) place: CommandPlace,
    pub(super) words: Vec<DraftWord>,
    /// The names that the command's value is assigned to, and the value if it is not a command.
    pub(super) assigned: Vec<(DraftWord, Option<DraftWord>)>,
    redirections: Vec<(RedirectionKind, DraftWord)>,
    /// Whether an operator says that the first word is a program, even if it is quoted.
    pub(super) is_called: bool,
    /// Where it begins and ends, with everything that is left out of its words.
    range: Option<Range<usize>>,
}

/// A block that is being read.
struct Open {
    block: usize,
    pipeline: usize,
    stage: usize,
    /// The byte that ends it; none for the script itself.
    close: Option<u8>,
    start: usize,
    /// The index among the drafts.
    draft: Option<usize>,
    word: Option<DraftWord>,
    redirection: Option<RedirectionKind>,
    mode: Mode,
    /// Whether the last thing read is a block of this statement.
    is_after_block: bool,
}

pub(super) struct Builder<'t> {
    pub(super) text: &'t str,
    drafts: Vec<Draft>,
    outer: Vec<Open>,
    top: Open,
    blocks: usize,
    /// How many blocks are open that `)` and `}` end.
    parentheses: usize,
    braces: usize,
}

impl Open {
    fn new(block: usize, close: Option<u8>, start: usize) -> Self {
        Self {
            block,
            pipeline: 0,
            stage: 0,
            close,
            start,
            draft: None,
            word: None,
            redirection: None,
            mode: Mode::Plain,
            is_after_block: false,
        }
    }
}

impl<'t> Builder<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let top = Open::new(0, None, 0);
        let (drafts, outer) = (Vec::new(), Vec::new());
        Self { text, drafts, outer, top, blocks: 1, parentheses: 0, braces: 0 }
    }

    pub(super) fn mode(&self) -> Mode {
        self.top.mode
    }

    pub(super) fn set_mode(&mut self, mode: Mode) {
        self.top.mode = mode;
    }

    pub(super) fn is_in_word(&self) -> bool {
        self.top.word.is_some()
    }

    pub(super) fn is_after_block(&self) -> bool {
        self.top.is_after_block
    }

    /// The words of the command that have ended.
    pub(super) fn words(&self) -> &[DraftWord] {
        self.top
            .draft
            .and_then(|draft| self.drafts.get(draft))
            .map(|draft| &*draft.words)
            .unwrap_or_default()
    }

    pub(super) fn word(&self) -> Option<&DraftWord> {
        self.top.word.as_ref()
    }

    /// The command that is being read.
    pub(super) fn draft(&mut self) -> Option<&mut Draft> {
        let drafts = &mut self.drafts;
        let index = *self.top.draft.get_or_insert_with(|| {
            drafts.push(Draft::default());
            drafts.len() - 1
        });
        let draft = self.drafts.get_mut(index)?;
        draft.place = CommandPlace::new(self.top.block, self.top.pipeline, self.top.stage);
        Some(draft)
    }

    /// Adds to the word what a range of the text stands for.
    pub(super) fn push(&mut self, range: Range<usize>, quote: Quote, kind: DraftKind) {
        if self.top.word.is_none() {
            // The command takes its place among the others before those of the blocks within it.
            self.draft();
        }
        let start = range.start;
        let word = self
            .top
            .word
            .get_or_insert_with(|| DraftWord { range: start..start, parts: Vec::new() });
        self.top.is_after_block = false;
        word.range.end = range.end;
        match (word.parts.last_mut(), kind) {
            (
                Some(DraftPart { range: known, quote: own, kind: DraftKind::Text(text) }),
                DraftKind::Text(more),
            ) if *own == quote && known.end == range.start => {
                known.end = range.end;
                text.push_str(&more);
            }
            (_, kind) => word.parts.push(DraftPart { range, quote, kind }),
        }
    }

    /// Adds text that is meant as it is written.
    pub(super) fn push_plain(&mut self, range: Range<usize>, quote: Quote) {
        let text = self.text.get(range.clone()).unwrap_or_default().to_owned();
        self.push(range, quote, DraftKind::Text(text));
    }

    /// Lets the word begin here: its opening quote belongs to it, but to no part of it.
    pub(super) fn begin_word_at(&mut self, start: usize) {
        if let Some(word) = &mut self.top.word {
            word.range.start = word.range.start.min(start);
        }
    }

    /// Whether the innermost block is one of braces.
    pub(super) fn is_in_braces(&self) -> bool {
        self.top.close == Some(b'}')
    }

    /// Lets the word go on to here, behind a closing quote.
    pub(super) fn extend_word(&mut self, end: usize) {
        if let Some(word) = &mut self.top.word {
            word.range.end = end;
        }
    }

    pub(super) fn end_word(&mut self) {
        let Some(word) = self.top.word.take() else { return };
        let redirection = self.top.redirection.take();
        let Some(draft) = self.draft() else { return };
        draft.grow(&word.range);
        match redirection {
            Some(kind) => draft.redirections.push((kind, word)),
            None => draft.words.push(word),
        }
    }

    /// Takes the next word as the target of a redirection.
    pub(super) fn redirect(&mut self, kind: RedirectionKind) {
        self.end_word();
        self.top.redirection = Some(kind);
    }

    /// Ends a command that an operator joins to the next one.
    pub(super) fn end_stage(&mut self) {
        self.end_command();
        self.top.stage += 1;
    }

    pub(super) fn end_statement(&mut self) {
        if self.end_command() || self.top.stage > 0 {
            self.top.pipeline += 1;
            self.top.stage = 0;
        }
    }

    fn end_command(&mut self) -> bool {
        self.end_word();
        self.top.redirection = None;
        self.top.is_after_block = false;
        self.top.draft.take().is_some()
    }

    pub(super) fn open(&mut self, start: usize, close: u8) {
        self.draft();
        let block = self.blocks;
        self.blocks += 1;
        *self.count(close) += 1;
        let inner = Open::new(block, Some(close), start);
        self.outer.push(std::mem::replace(&mut self.top, inner));
    }

    /// Ends the innermost block that this byte ends, and the blocks within it that nothing ends. A
    /// block is also a part of a word, if words can contain one. Says whether there is such a block.
    pub(super) fn close(&mut self, byte: u8, at: usize, in_word: bool) -> bool {
        if *self.count(byte) == 0 {
            return false;
        }
        while let Some(close) = self.top.close {
            self.close_top(at, in_word);
            if close == byte {
                break;
            }
        }
        true
    }

    fn close_top(&mut self, end: usize, in_word: bool) {
        self.end_statement();
        let (Some(close), Some(outer)) = (self.top.close, self.outer.pop()) else { return };
        *self.count(close) -= 1;
        let Open { block, start, .. } = std::mem::replace(&mut self.top, outer);
        if in_word {
            let quote = if self.top.mode == Mode::Plain { Quote::None } else { Quote::Double };
            self.push(start..end, quote, DraftKind::Block(block));
        } else if let Some(draft) = self.draft() {
            draft.grow(&(start..end));
        }
        self.top.is_after_block = close == b'}' || !in_word;
    }

    fn count(&mut self, close: u8) -> &mut usize {
        if close == b'}' { &mut self.braces } else { &mut self.parentheses }
    }

    /// Ends everything that is open.
    pub(super) fn finish(mut self) -> Vec<Draft> {
        while !self.outer.is_empty() {
            self.close_top(self.text.len(), true);
        }
        self.end_statement();
        self.drafts
    }
}

impl DraftWord {
    /// The word if it is one text without quotes.
    pub(super) fn bare(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [DraftPart { quote: Quote::None, kind: DraftKind::Text(text), .. }] => Some(text),
            _ => None,
        }
    }

    pub(super) fn is_bare(&self, values: &[&str]) -> bool {
        let is = |text: &str| values.iter().any(|value| text.eq_ignore_ascii_case(value));
        self.bare().is_some_and(is)
    }

    /// The value if it is the same on every run.
    pub(super) fn literal(&self) -> Option<String> {
        let texts = self.parts.iter().map(|part| match &part.kind {
            DraftKind::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    fn into_word(self, text: &TextSlice, place: &dyn Fn(Range<usize>) -> Span) -> Word {
        let parts = self.parts.into_iter().map(|part| {
            let kind = match part.kind {
                DraftKind::Text(value) => {
                    let written = text.slice(part.range.clone());
                    PartKind::Text(if written == value { written } else { value.into() })
                }
                DraftKind::Variable(name) => {
                    let operation = Operation::Value;
                    PartKind::Variable(Box::new(Variable { name, operation, operand: None }))
                }
                DraftKind::Block(block) => PartKind::Substitution { block, backticks: false },
            };
            Part { span: place(part.range), quote: part.quote, kind }
        });
        let parts = parts.collect();
        Word::new(place(self.range.clone()), text.slice(self.range), parts)
    }
}

impl Draft {
    fn grow(&mut self, range: &Range<usize>) {
        let own = self.range.get_or_insert_with(|| range.clone());
        *own = own.start.min(range.start)..own.end.max(range.end);
    }

    pub(super) fn into_command(
        self,
        text: &TextSlice,
        place: &dyn Fn(Range<usize>) -> Span,
    ) -> Command {
        let span = place(self.range.clone().unwrap_or_default());
        let words = self.words.into_iter().map(|word| word.into_word(text, place)).collect();
        let assignments = self.assigned.into_iter().map(|(target, value)| {
            let name = target.parts.iter().find_map(|part| match &part.kind {
                DraftKind::Variable(name) => Some(name.clone()),
                _ => None,
            });
            let name_span = place(target.range.clone());
            let value = value.map(|value| value.into_word(text, place));
            Assignment {
                span: value.as_ref().map_or(name_span, |value| name_span.to(value.span())),
                name: name.unwrap_or_else(|| text.slice(target.range).as_str().to_owned()),
                name_span,
                append: false,
                value,
                elements: Vec::new(),
            }
        });
        let redirections = self.redirections.into_iter().map(|(kind, target)| {
            let target = target.into_word(text, place);
            let span = target.span();
            Redirection { span, fd: None, kind, target: Some(target), here_document: None }
        });
        let extras = Extras {
            assignments: assignments.collect(),
            declarations: Vec::new(),
            redirections: redirections.collect(),
        };
        Command::new(span, self.place, words, extras)
    }
}
