//! Simple commands: assignments and words.

use std::ops::Range;

use shuck_ast::{ArrayElem, AssignmentValue, BuiltinCommand, Command as Node, DeclOperand, Stmt};

use crate::{
    Assignment, Call, Command, CommandPlace, Part, PartKind, Quote, Word,
    command::Extras,
    inner::{self, Inner},
    lower::{Lower, union},
};

/// A command that is being put together.
#[derive(Default)]
struct Draft {
    words: Vec<Word>,
    extras: Extras,
}

impl Lower<'_> {
    /// Lowers a simple command; gives its index and where it stands.
    pub(super) fn command(
        &mut self,
        place: CommandPlace,
        statement: &Stmt,
    ) -> (usize, Range<usize>) {
        let index = self.commands.len();
        // The place in the list is taken first, so that what is nested comes behind.
        let unknown = self.span(self.range(statement.span));
        self.commands.push(Command::new(unknown, place, Vec::new(), Extras::default()));
        let mut command = Draft::default();
        let mut range = None;
        match &statement.command {
            Node::Simple(simple) => {
                self.assignments(place, &simple.assignments, &mut command, &mut range);
                let name = (!simple.name.span.to_range().is_empty()).then_some(&simple.name);
                command.words.reserve_exact(usize::from(name.is_some()) + simple.args.len());
                for word in name.into_iter().chain(&simple.args) {
                    self.argument(place, word, &mut command, &mut range);
                }
                if let Some((at, invocation)) = inner::words_of(&Call::of(&command.words).peeled())
                    && let Some(first) = name.into_iter().chain(&simple.args).nth(at.start)
                    && let Some(last) = name.into_iter().chain(&simple.args).nth(at.end - 1)
                {
                    let range = union(&self.range(first.span), &self.range(last.span));
                    self.inner.push(Inner { range, invocation });
                }
            }
            Node::Builtin(builtin) => self.builtin(place, builtin, &mut command, &mut range),
            Node::Decl(declaration) => {
                self.assignments(place, &declaration.assignments, &mut command, &mut range);
                let name = self.range(declaration.variant_span);
                command.words.push(self.plain(name.clone()));
                grow(&mut range, &name);
                for operand in &declaration.operands {
                    self.operand(place, operand, &mut command, &mut range);
                }
            }
            _ => {}
        }
        for redirect in &statement.redirects {
            let (redirection, at) = self.redirection(place, redirect);
            command.extras.redirections.push(redirection);
            grow(&mut range, &at);
        }
        let range = range.unwrap_or_else(|| self.range(statement.span));
        let span = self.span(range.clone());
        if let Some(known) = self.commands.get_mut(index) {
            *known = Command::new(span, place, command.words, command.extras);
        }
        (index, range)
    }

    fn argument(
        &mut self,
        place: CommandPlace,
        word: &shuck_ast::Word,
        command: &mut Draft,
        range: &mut Option<Range<usize>>,
    ) {
        let at = self.range(word.span);
        command.words.push(self.word(place, word));
        grow(range, &at);
    }

    /// The parser has types of its own for these four.
    fn builtin(
        &mut self,
        place: CommandPlace,
        builtin: &BuiltinCommand,
        command: &mut Draft,
        range: &mut Option<Range<usize>>,
    ) {
        let (name, assignments, first, others, span) = match builtin {
            BuiltinCommand::Break(it) => {
                ("break", &it.assignments, &it.depth, &it.extra_args, it.span)
            }
            BuiltinCommand::Continue(it) => {
                ("continue", &it.assignments, &it.depth, &it.extra_args, it.span)
            }
            BuiltinCommand::Return(it) => {
                ("return", &it.assignments, &it.code, &it.extra_args, it.span)
            }
            BuiltinCommand::Exit(it) => {
                ("exit", &it.assignments, &it.code, &it.extra_args, it.span)
            }
        };
        self.assignments(place, assignments, command, range);
        let whole = self.range(span);
        let from = range.as_ref().map_or(whole.start, |range| range.end);
        let found = self.slice(&(from..whole.end)).find(name).unwrap_or(0);
        let at = self.clamp(from + found..from + found + name.len());
        command.words.push(self.plain(at.clone()));
        grow(range, &at);
        for word in first.iter().chain(others) {
            self.argument(place, word, command, range);
        }
    }

    fn operand(
        &mut self,
        place: CommandPlace,
        operand: &DeclOperand,
        command: &mut Draft,
        range: &mut Option<Range<usize>>,
    ) {
        match operand {
            DeclOperand::Flag(word) | DeclOperand::Dynamic(word) => {
                self.argument(place, word, command, range);
            }
            DeclOperand::Name(name) => {
                let at = self.range(name.span);
                command.words.push(self.plain(at.clone()));
                grow(range, &at);
            }
            DeclOperand::Assignment(assignment) => {
                let (lowered, at) = self.assignment(place, assignment);
                command.words.push(self.assignment_word(&lowered, &at));
                command.extras.declarations.push(lowered);
                grow(range, &at);
            }
        }
    }

    /// `NAME=value` among the arguments: the name and the sign are text, the rest is the value's.
    fn assignment_word(&self, assignment: &Assignment, at: &Range<usize>) -> Word {
        let text = self.slice(at);
        let head = text.find('=').map_or(text.len(), |sign| sign + 1);
        let head = at.start..at.start + head;
        let mut parts = vec![self.text_part(head, Quote::None)];
        let words = assignment.value.iter().chain(&assignment.elements);
        parts.extend(words.flat_map(|word| word.parts().iter().cloned()));
        self.made(at.clone(), parts)
    }

    fn assignments(
        &mut self,
        place: CommandPlace,
        assignments: &[shuck_ast::Assignment],
        command: &mut Draft,
        range: &mut Option<Range<usize>>,
    ) {
        command.extras.assignments.reserve_exact(assignments.len());
        for assignment in assignments {
            let (assignment, at) = self.assignment(place, assignment);
            command.extras.assignments.push(assignment);
            grow(range, &at);
        }
    }

    fn assignment(
        &mut self,
        place: CommandPlace,
        assignment: &shuck_ast::Assignment,
    ) -> (Assignment, Range<usize>) {
        let at = self.range(assignment.span);
        let lowered = self.within(&at, |lower| {
            let name = lower.range(assignment.target.name_span);
            let (mut value, mut elements) = (None, Vec::new());
            match &assignment.value {
                AssignmentValue::Scalar(word) => value = Some(lower.value(place, word)),
                AssignmentValue::Compound(array) => {
                    for element in &array.elements {
                        let (ArrayElem::Sequential(word)
                        | ArrayElem::Keyed { value: word, .. }
                        | ArrayElem::KeyedAppend { value: word, .. }) = element;
                        elements.push(lower.word(place, &word.word));
                    }
                }
            }
            Assignment {
                span: lower.span(at.clone()),
                name: assignment.target.name.as_str().to_owned(),
                name_span: lower.span(name),
                append: assignment.append,
                value,
                elements,
            }
        });
        (lowered, at)
    }

    /// A word that is nothing but its text.
    pub(super) fn plain(&self, range: Range<usize>) -> Word {
        let part = self.text_part(range.clone(), Quote::None);
        self.made(range, vec![part])
    }

    pub(super) fn text_part(&self, range: Range<usize>, quote: Quote) -> Part {
        let kind = PartKind::Text(self.shared(&range));
        Part { span: self.span(range), quote, kind }
    }
}

fn grow(range: &mut Option<Range<usize>>, by: &Range<usize>) {
    *range = Some(range.as_ref().map_or_else(|| by.clone(), |range| union(range, by)));
}
