//! Words and the parts that are no expansions of variables.

use std::ops::Range;

use shuck_ast::{
    CommandSubstitutionSyntax, HeredocBody, HeredocBodyPart, LiteralText, Pattern, PatternPart,
    StmtSeq, WordPart, WordPartNode,
};

use crate::{
    BlockKind, CommandPlace, Part, PartKind, Quote, Word,
    lower::{Lower, literal::Unquoted},
};

/// What the lowering of a word has to know of where it stands.
#[derive(Clone, Copy)]
pub(super) struct Context<'w> {
    pub(super) place: CommandPlace,
    pub(super) quote: Quote,
    /// Whether patterns and braces are expanded here: not in the value of an assignment.
    patterns: bool,
    braces: &'w [shuck_ast::BraceSyntax],
    /// Where the word begins.
    start: usize,
}

impl Lower<'_> {
    pub(super) fn word(&mut self, place: CommandPlace, word: &shuck_ast::Word) -> Word {
        self.word_in(place, word, true, Quote::None)
    }

    /// The value of an assignment, where no file names are looked up.
    pub(super) fn value(&mut self, place: CommandPlace, word: &shuck_ast::Word) -> Word {
        self.word_in(place, word, false, Quote::None)
    }

    pub(super) fn word_in(
        &mut self,
        place: CommandPlace,
        word: &shuck_ast::Word,
        patterns: bool,
        quote: Quote,
    ) -> Word {
        let range = self.range(word.span);
        let parts = self.within(&range, |lower| {
            let braces = word.brace_syntax.as_slice();
            let context = Context { place, quote, patterns, braces, start: range.start };
            lower.parts(context, &word.parts)
        });
        self.made(range, parts)
    }

    /// A word of parts that are lowered already.
    pub(super) fn made(&self, range: Range<usize>, parts: Vec<Part>) -> Word {
        Word::new(self.span(range.clone()), self.shared(&range), parts)
    }

    fn parts(&mut self, context: Context<'_>, nodes: &[WordPartNode]) -> Vec<Part> {
        let mut parts = Vec::with_capacity(nodes.len());
        for node in nodes {
            let range = self.range(node.span);
            self.within(&range, |lower| lower.part(context, node, range.clone(), &mut parts));
        }
        parts
    }

    fn part(
        &mut self,
        context: Context<'_>,
        node: &WordPartNode,
        range: Range<usize>,
        parts: &mut Vec<Part>,
    ) {
        let kind = match &node.kind {
            WordPart::Literal(text) => {
                self.literal(context, text, range, parts);
                return;
            }
            WordPart::SingleQuoted { value, .. } => {
                let inner = self.range(value.span());
                let kind = PartKind::Text(if value.is_source_backed() {
                    self.shared(&inner)
                } else {
                    self.same_or_own(&inner, value.slice(self.text))
                });
                parts.push(Part { span: self.span(inner), quote: Quote::Single, kind });
                return;
            }
            WordPart::DoubleQuoted { parts: inner, .. } => {
                if inner.is_empty() {
                    let at = (range.start + 1).min(range.end);
                    parts.push(self.text_part(at..at, Quote::Double));
                }
                let context = Context { quote: Quote::Double, ..context };
                parts.extend(self.parts(context, inner));
                return;
            }
            WordPart::CommandSubstitution { body, syntax } => {
                let backticks = *syntax == CommandSubstitutionSyntax::Backtick;
                self.substitution(context.place, body, &range, backticks)
            }
            WordPart::ProcessSubstitution { body, .. } => {
                let kind = BlockKind::ProcessSubstitution;
                let inner = trimmed(&range, 2, 1);
                let (block, _) = self.block(kind, Some(context.place), body, inner);
                PartKind::ProcessSubstitution { block }
            }
            WordPart::ArithmeticExpansion { expression_word_ast, .. } => {
                self.arithmetic(context.place, expression_word_ast)
            }
            WordPart::ZshQualifiedGlob(_) => PartKind::Glob(self.shared(&range)),
            expansion => self.expansion(context, expansion, &range),
        };
        parts.push(Part { span: self.span(range), quote: context.quote, kind });
    }

    pub(super) fn substitution(
        &mut self,
        place: CommandPlace,
        body: &StmtSeq,
        range: &Range<usize>,
        backticks: bool,
    ) -> PartKind {
        let inner = trimmed(range, if backticks { 1 } else { 2 }, 1);
        let (block, _) = self.block(BlockKind::Substitution, Some(place), body, inner);
        PartKind::Substitution { block, backticks }
    }

    pub(super) fn arithmetic(&mut self, place: CommandPlace, word: &shuck_ast::Word) -> PartKind {
        let word = self.word_in(place, word, false, Quote::Double);
        let expanded = |part: &Part| part.text().is_none();
        PartKind::Arithmetic(word.parts().iter().filter(|part| expanded(part)).cloned().collect())
    }

    fn literal(
        &self,
        context: Context<'_>,
        text: &LiteralText,
        range: Range<usize>,
        parts: &mut Vec<Part>,
    ) {
        let cooked = match text {
            LiteralText::Source => None,
            LiteralText::Owned(text) | LiteralText::CookedSource(text) => Some(text.as_ref()),
        };
        // Within `$(…)` the parser copies plain text; only what differs was decoded by it.
        let decoded = cooked.filter(|cooked| *cooked != self.slice(&range));
        if let Some(decoded) = decoded {
            let kind = PartKind::Text(decoded.into());
            parts.push(Part { span: self.span(range), quote: context.quote, kind });
        } else if context.quote == Quote::None {
            let mut braces = Vec::new();
            if context.patterns && self.dialect.has_braces() {
                let expanded = context.braces.iter().filter(|brace| brace.expands());
                braces.extend(expanded.map(|brace| self.range(brace.span)));
            }
            let first = range.start == context.start;
            let text = self.slice(&range);
            let unquoted = Unquoted { text, patterns: context.patterns, first };
            let spanned = unquoted.parts(range.start, &braces).into_iter();
            parts.extend(spanned.map(|(range, kind)| {
                let kind = match kind {
                    PartKind::Text(text) => PartKind::Text(self.same_or_own(&range, &text)),
                    kind => kind,
                };
                Part { span: self.span(range), quote: Quote::None, kind }
            }));
        } else {
            let decoded = super::literal::in_double_quotes(self.slice(&range));
            let kind = PartKind::Text(self.same_or_own(&range, &decoded));
            parts.push(Part { span: self.span(range), quote: context.quote, kind });
        }
    }

    /// A pattern of `case` or `${X%…}` as a word.
    pub(super) fn pattern(&mut self, place: CommandPlace, pattern: &Pattern) -> Word {
        let range = self.range(pattern.span);
        let mut parts = Vec::new();
        self.within(&range, |lower| {
            for node in &pattern.parts {
                let range = lower.range(node.span);
                let raw = lower.shared(&range);
                let kind = match &node.kind {
                    PatternPart::Word(word) => {
                        let word = lower.word_in(place, word, false, Quote::None);
                        parts.extend(word.parts().iter().cloned());
                        continue;
                    }
                    PatternPart::Literal(_) => {
                        let (text, first) = (raw.as_str(), false);
                        let unquoted = Unquoted { text, patterns: false, first };
                        PartKind::Text(unquoted.decoded().into())
                    }
                    _ => PartKind::Glob(raw),
                };
                parts.push(Part { span: lower.span(range), quote: Quote::None, kind });
            }
        });
        self.made(range, parts)
    }

    /// The body of a here-document as a word.
    pub(super) fn body(&mut self, place: CommandPlace, body: &HeredocBody) -> Word {
        let range = self.range(body.span);
        let (quote, patterns, start) = (Quote::Double, false, range.start);
        let context = Context { place, quote, patterns, braces: &[], start };
        let mut parts = Vec::new();
        self.within(&range, |lower| {
            for node in &body.parts {
                let range = lower.range(node.span);
                lower.within(&range, |lower| {
                    let kind = match &node.kind {
                        HeredocBodyPart::Literal(text) => {
                            lower.literal(context, text, range.clone(), &mut parts);
                            return;
                        }
                        HeredocBodyPart::CommandSubstitution { body, syntax } => {
                            let backticks = *syntax == CommandSubstitutionSyntax::Backtick;
                            lower.substitution(place, body, &range, backticks)
                        }
                        HeredocBodyPart::ArithmeticExpansion { expression_word_ast, .. } => {
                            lower.arithmetic(place, expression_word_ast)
                        }
                        HeredocBodyPart::Variable(name) => {
                            super::expansion::plain_variable(name.as_str())
                        }
                        HeredocBodyPart::Parameter(parameter) => {
                            lower.parameter(context, parameter, &range)
                        }
                    };
                    parts.push(Part { span: lower.span(range.clone()), quote, kind });
                });
            }
        });
        self.made(range, parts)
    }
}

/// A range without its delimiters.
fn trimmed(range: &Range<usize>, start: usize, end: usize) -> Range<usize> {
    let inner = range.start + start..range.end.saturating_sub(end);
    if inner.start <= inner.end { inner } else { range.end..range.end }
}
