//! Expansions of variables: `$X`, `${X:-default}`, `${X%pattern}`.

use std::ops::Range;

use shuck_ast::{
    BourneParameterExpansion as Bourne, ParameterExpansion, ParameterExpansionSyntax, ParameterOp,
    VarRef, WordPart, ZshExpansionTarget,
};

use crate::{
    CommandPlace, Operation, PartKind, Quote, Variable, Word,
    lower::{Lower, word::Context},
};

impl Lower<'_> {
    pub(super) fn expansion(
        &mut self,
        context: Context<'_>,
        part: &WordPart,
        range: &Range<usize>,
    ) -> PartKind {
        let place = context.place;
        match part {
            WordPart::Variable(name) => plain_variable(name.as_str()),
            WordPart::Parameter(parameter) => self.parameter(context, parameter, range),
            WordPart::ParameterExpansion {
                reference,
                operator,
                operand_word_ast,
                colon_variant,
                ..
            } => {
                let operand = operand_word_ast.as_deref();
                self.operation(context, reference, operator, operand, *colon_variant)
            }
            WordPart::Length(reference) | WordPart::ArrayLength(reference) => {
                variable(reference.name.as_str(), Operation::Length, None)
            }
            WordPart::ArrayAccess(reference) | WordPart::ArrayIndices(reference) => {
                self.access(place, reference)
            }
            WordPart::Substring { reference, offset_word_ast, .. }
            | WordPart::ArraySlice { reference, offset_word_ast, .. } => {
                let operand = self.word_in(place, offset_word_ast, false, Quote::Double);
                variable(reference.name.as_str(), Operation::Other, Some(operand))
            }
            WordPart::IndirectExpansion { reference, operand_word_ast, .. } => {
                let operand = operand_word_ast.as_deref();
                let operand = operand.map(|word| self.operand_word(context, word));
                variable(reference.name.as_str(), Operation::Other, operand)
            }
            WordPart::PrefixMatch { prefix, .. } => {
                variable(prefix.as_str(), Operation::Other, None)
            }
            WordPart::Transformation { reference, .. } => {
                variable(reference.name.as_str(), Operation::Other, None)
            }
            // Everything else is no expansion of a variable and does not come here.
            _ => PartKind::Text(self.shared(range)),
        }
    }

    pub(super) fn parameter(
        &mut self,
        context: Context<'_>,
        parameter: &ParameterExpansion,
        range: &Range<usize>,
    ) -> PartKind {
        let place = context.place;
        let bourne = match &parameter.syntax {
            ParameterExpansionSyntax::Bourne(bourne) => bourne,
            ParameterExpansionSyntax::Zsh(zsh) => {
                let name = match &zsh.target {
                    ZshExpansionTarget::Reference(reference) => reference.name.as_str(),
                    _ => "",
                };
                let plain = zsh.modifiers.is_empty() && zsh.operation.is_none();
                let operation = match (plain, zsh.length_prefix) {
                    (true, None) => Operation::Value,
                    (true, Some(_)) => Operation::Length,
                    _ => Operation::Other,
                };
                return variable(name, operation, None);
            }
        };
        match bourne {
            Bourne::Access { reference } => self.access(place, reference),
            Bourne::Length { reference } => {
                variable(reference.name.as_str(), Operation::Length, None)
            }
            Bourne::Operation { reference, operator, operand_word_ast, colon_variant, .. } => {
                let operand = operand_word_ast.as_deref();
                self.within(range, |lower| {
                    lower.operation(context, reference, operator, operand, *colon_variant)
                })
            }
            Bourne::Slice { reference, offset_word_ast, .. } => {
                let operand = self.word_in(place, offset_word_ast, false, Quote::Double);
                variable(reference.name.as_str(), Operation::Other, Some(operand))
            }
            Bourne::Indirect { reference, operand_word_ast, .. } => {
                let operand = operand_word_ast.as_deref();
                let operand = operand.map(|word| self.operand_word(context, word));
                variable(reference.name.as_str(), Operation::Other, operand)
            }
            Bourne::Indices { reference } | Bourne::Transformation { reference, .. } => {
                variable(reference.name.as_str(), Operation::Other, None)
            }
            Bourne::PrefixMatch { prefix, .. } => variable(prefix.as_str(), Operation::Other, None),
        }
    }

    fn operation(
        &mut self,
        context: Context<'_>,
        reference: &VarRef,
        operator: &ParameterOp,
        operand: Option<&shuck_ast::Word>,
        colon: bool,
    ) -> PartKind {
        let operation = match operator {
            ParameterOp::UseDefault => Operation::Default { colon },
            ParameterOp::AssignDefault => Operation::Assign { colon },
            ParameterOp::UseReplacement => Operation::Alternative { colon },
            ParameterOp::Error => Operation::Require { colon },
            _ => Operation::Other,
        };
        let operand = match operator {
            ParameterOp::RemovePrefixShort { pattern }
            | ParameterOp::RemovePrefixLong { pattern }
            | ParameterOp::RemoveSuffixShort { pattern }
            | ParameterOp::RemoveSuffixLong { pattern } => {
                Some(self.pattern(context.place, pattern))
            }
            ParameterOp::ReplaceFirst { pattern, replacement_word_ast, .. }
            | ParameterOp::ReplaceAll { pattern, replacement_word_ast, .. } => {
                let found = self.pattern(context.place, pattern);
                let replacement = self.operand_word(context, replacement_word_ast);
                let start = self.range(pattern.span).start;
                let whole = self.clamp(start..self.range(replacement_word_ast.span).end);
                let parts = found.parts().iter().chain(replacement.parts()).cloned();
                Some(self.made(whole, parts.collect()))
            }
            _ => operand.map(|word| self.operand_word(context, word)),
        };
        variable(reference.name.as_str(), operation, operand)
    }

    /// `${X}` and `${X[…]}`.
    fn access(&mut self, place: CommandPlace, reference: &VarRef) -> PartKind {
        let Some(subscript) = &reference.subscript else {
            return plain_variable(reference.name.as_str());
        };
        let operand = subscript.word_ast.as_ref();
        let operand = operand.map(|word| self.word_in(place, word, false, Quote::Double));
        variable(reference.name.as_str(), Operation::Other, operand)
    }

    fn operand_word(&mut self, context: Context<'_>, word: &shuck_ast::Word) -> Word {
        self.word_in(context.place, word, false, context.quote)
    }
}

pub(super) fn plain_variable(name: &str) -> PartKind {
    variable(name, Operation::Value, None)
}

fn variable(name: &str, operation: Operation, operand: Option<Word>) -> PartKind {
    PartKind::Variable(Box::new(Variable { name: name.to_owned(), operation, operand }))
}
