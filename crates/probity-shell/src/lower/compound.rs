//! Compound commands: subshells, groups, conditions, loops, functions.

use std::ops::Range;

use shuck_ast::{Command as Node, CompoundCommand, ConditionalExpr, ForSyntax, IfSyntax, Stmt};

use crate::{
    BlockKind, CommandPlace, Compound, CompoundKind,
    lower::{Lower, union},
};

impl Lower<'_> {
    /// Lowers a compound command, its redirections included; gives where it stands.
    pub(super) fn compound(
        &mut self,
        place: CommandPlace,
        statement: &Stmt,
    ) -> (Compound, Range<usize>) {
        let mut made = Compound {
            kind: CompoundKind::Other,
            blocks: Vec::new(),
            words: Vec::new(),
            redirections: Vec::new(),
        };
        let mut range = match &statement.command {
            Node::Compound(compound) => self.dispatch(place, compound, statement, &mut made),
            Node::Function(function) => {
                made.kind = CompoundKind::Function;
                let words = function.header.entries.iter().map(|entry| &entry.word);
                let words: Vec<_> = words.map(|word| self.word(place, word)).collect();
                made.words = words;
                let whole = self.range(function.span);
                let body = match &function.body.command {
                    Node::Compound(CompoundCommand::BraceGroup(list)) => {
                        self.delimited(place, BlockKind::Function, list, ['{', '}'], &mut made)
                    }
                    _ => {
                        let body = [&*function.body];
                        let from = self.range(function.body.span).start;
                        // The body may begin with a parenthesis that its span leaves out.
                        let from = self.before(from, '(').unwrap_or(from);
                        self.nested(place, BlockKind::Function, &body, from..whole.end, &mut made)
                    }
                };
                whole.start..body.end
            }
            Node::AnonymousFunction(function) => {
                let range = self.range(function.span);
                let body = [&*function.body];
                self.nested(place, BlockKind::Function, &body, range.clone(), &mut made);
                range
            }
            _ => {
                let range = self.range(statement.span);
                self.nested(place, BlockKind::Group, &[statement], range.clone(), &mut made);
                range
            }
        };
        for redirect in &statement.redirects {
            let (redirection, at) = self.redirection(place, redirect);
            made.redirections.push(redirection);
            range = union(&range, &at);
        }
        (made, range)
    }

    fn dispatch(
        &mut self,
        place: CommandPlace,
        compound: &CompoundCommand,
        statement: &Stmt,
        made: &mut Compound,
    ) -> Range<usize> {
        match compound {
            CompoundCommand::Subshell(list) => {
                made.kind = CompoundKind::Subshell;
                self.delimited(place, BlockKind::Subshell, list, ['(', ')'], made)
            }
            CompoundCommand::BraceGroup(list) => {
                made.kind = CompoundKind::Group;
                self.delimited(place, BlockKind::Group, list, ['{', '}'], made)
            }
            CompoundCommand::If(it) => {
                made.kind = CompoundKind::If;
                let end = match it.syntax {
                    IfSyntax::ThenFi { fi_span, .. } => fi_span,
                    IfSyntax::Brace { right_brace_span, .. } => right_brace_span,
                };
                self.list(place, BlockKind::Condition, &it.condition, made);
                self.list(place, BlockKind::Branch, &it.then_branch, made);
                for (condition, branch) in &it.elif_branches {
                    self.list(place, BlockKind::Condition, condition, made);
                    self.list(place, BlockKind::Branch, branch, made);
                }
                if let Some(branch) = &it.else_branch {
                    self.list(place, BlockKind::Branch, branch, made);
                }
                self.range(it.span).start..self.range(end).end
            }
            CompoundCommand::While(it) => {
                made.kind = CompoundKind::While;
                self.list(place, BlockKind::Condition, &it.condition, made);
                let body = self.list(place, BlockKind::LoopBody, &it.body, made);
                let end = it.done_span.map_or(body.end, |span| self.range(span).end);
                self.range(it.span).start..end
            }
            CompoundCommand::Until(it) => {
                made.kind = CompoundKind::Until;
                self.list(place, BlockKind::Condition, &it.condition, made);
                let body = self.list(place, BlockKind::LoopBody, &it.body, made);
                let end = it.done_span.map_or(body.end, |span| self.range(span).end);
                self.range(it.span).start..end
            }
            CompoundCommand::For(it) => {
                made.kind = CompoundKind::For;
                let targets = it.targets.iter().map(|target| &target.word);
                let words = targets.chain(it.words.iter().flatten());
                made.words = words.map(|word| self.word(place, word)).collect();
                let body = self.list(place, BlockKind::LoopBody, &it.body, made);
                let end = match it.syntax {
                    ForSyntax::InDoDone { done_span: end, .. }
                    | ForSyntax::ParenDoDone { done_span: end, .. }
                    | ForSyntax::InBrace { right_brace_span: end, .. }
                    | ForSyntax::ParenBrace { right_brace_span: end, .. } => self.range(end).end,
                    ForSyntax::InDirect { .. } | ForSyntax::ParenDirect { .. } => body.end,
                };
                self.range(it.span).start..end
            }
            CompoundCommand::ArithmeticFor(it) => {
                made.kind = CompoundKind::For;
                let body = self.list(place, BlockKind::LoopBody, &it.body, made);
                let end = it.done_span.map_or(body.end, |span| self.range(span).end);
                self.range(it.span).start..end
            }
            CompoundCommand::Select(it) => {
                made.kind = CompoundKind::Select;
                made.words = it.words.iter().map(|word| self.word(place, word)).collect();
                self.list(place, BlockKind::LoopBody, &it.body, made);
                self.range(it.span).start..self.range(it.done_span).end
            }
            CompoundCommand::Case(it) => {
                made.kind = CompoundKind::Case;
                made.words.push(self.word(place, &it.word));
                for case in &it.cases {
                    for pattern in &case.patterns {
                        let word = self.pattern(place, pattern);
                        made.words.push(word);
                    }
                    self.list(place, BlockKind::CaseArm, &case.body, made);
                }
                self.range(it.span).start..self.range(it.esac_span).end
            }
            CompoundCommand::Conditional(it) => {
                made.kind = CompoundKind::Test;
                self.conditions(place, &it.expression, made);
                self.range(it.span)
            }
            CompoundCommand::Arithmetic(it) => {
                made.kind = CompoundKind::Arithmetic;
                self.range(it.span)
            }
            CompoundCommand::Coproc(it) => {
                let range = self.range(it.span);
                self.nested(place, BlockKind::Subshell, &[&*it.body], range.clone(), made);
                range
            }
            CompoundCommand::Repeat(it) => {
                made.words.push(self.word(place, &it.count));
                self.list(place, BlockKind::LoopBody, &it.body, made);
                self.range(it.span)
            }
            CompoundCommand::Foreach(it) => {
                made.words = it.words.iter().map(|word| self.word(place, word)).collect();
                self.list(place, BlockKind::LoopBody, &it.body, made);
                self.range(it.span)
            }
            CompoundCommand::Always(it) => {
                self.list(place, BlockKind::Group, &it.body, made);
                self.list(place, BlockKind::Group, &it.always_body, made);
                self.range(it.span)
            }
            CompoundCommand::Time(it) => {
                let inner: Vec<&Stmt> = it.command.iter().map(AsRef::as_ref).collect();
                let range = self.range(statement.span);
                self.nested(place, BlockKind::Group, &inner, range.clone(), made);
                range
            }
        }
    }

    /// The words within `[[ … ]]`, in the order of the source.
    fn conditions(
        &mut self,
        place: CommandPlace,
        expression: &ConditionalExpr,
        made: &mut Compound,
    ) {
        let mut left = vec![expression];
        while let Some(expression) = left.pop() {
            match expression {
                ConditionalExpr::Binary(it) => left.extend([&*it.right, &*it.left]),
                ConditionalExpr::Unary(it) => left.push(&it.expr),
                ConditionalExpr::Parenthesized(it) => left.push(&it.expr),
                ConditionalExpr::Word(word) | ConditionalExpr::Regex(word) => {
                    made.words.push(self.word_in(place, word, false, crate::Quote::None));
                }
                ConditionalExpr::Pattern(pattern) => {
                    let word = self.pattern(place, pattern);
                    made.words.push(word);
                }
                ConditionalExpr::VarRef(reference) => {
                    let range = self.range(reference.span);
                    made.words.push(self.plain(range));
                }
            }
        }
    }
}
