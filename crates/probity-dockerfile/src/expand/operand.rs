//! `${…}`: the modifiers and what they do with their operands.

use std::ops::Range;

use super::{ExpandError, ExpandErrorKind, Operator, lexer::Lexer, pattern::Pattern};

impl Lexer<'_, '_> {
    /// Reads the rest of a reference, the position being at its `{` and `start` at its `$`.
    pub(super) fn braced(&mut self, start: usize) -> Result<String, ExpandError> {
        self.advance();
        match self.peek() {
            None => return Err(self.error(ExpandErrorKind::MissingBrace, start)),
            Some('{' | '}' | ':') => {
                return Err(self.error(ExpandErrorKind::BadSubstitution, start));
            }
            Some(_) => {}
        }
        let name_range = self.name();
        let Some(modifier) = self.advance() else {
            return Err(self.error(ExpandErrorKind::MissingBrace, start));
        };
        match modifier {
            '}' => {
                let value = self.look_up(start, name_range.clone(), None).map(str::to_owned);
                Ok(value.unwrap_or_else(|| self.as_written(name_range, "")))
            }
            ':' => {
                let Some(second) = self.advance() else {
                    return Err(self.error(ExpandErrorKind::MissingBrace, start));
                };
                if matches!(second, '#' | '%') {
                    return Err(self.unsupported(format!(":{second}"), start));
                }
                self.modified(start, name_range, Modifier { character: second, colon: true })
            }
            '-' | '+' | '?' | '#' | '%' => {
                self.modified(start, name_range, Modifier { character: modifier, colon: false })
            }
            '/' => self.replaced(start, name_range),
            _ => Err(self.unsupported(modifier.to_string(), start)),
        }
    }

    fn modified(
        &mut self,
        start: usize,
        name_range: Range<usize>,
        modifier: Modifier,
    ) -> Result<String, ExpandError> {
        // A pattern gives escapes a meaning of its own.
        let is_pattern = matches!(modifier.character, '#' | '%');
        let Some(operand) = self.until('}', is_pattern)? else {
            return Err(self.error(ExpandErrorKind::MissingBrace, start));
        };
        let operator = modifier.operator();
        let Some(value) = self.look_up(start, name_range.clone(), Some(operator)) else {
            if self.expander.keep_unset {
                return Ok(self.as_written(name_range, &format!("{modifier}{operand}")));
            }
            return match operator {
                Operator::Default => Ok(operand),
                Operator::Required => {
                    Err(self.required(start, name_range, operand, "is not allowed to be unset"))
                }
                Operator::Unsupported => Err(self.unsupported(modifier.to_string(), start)),
                // The pattern is read all the same, so that a wrong one is an error.
                Operator::TrimPrefix | Operator::TrimSuffix => {
                    self.trimmed(start, operator, "", &operand)
                }
                Operator::Alternative | Operator::Replace => Ok(String::new()),
            };
        };
        let counts_as_unset = modifier.colon && value.is_empty();
        match operator {
            Operator::Default if counts_as_unset => Ok(operand),
            Operator::Alternative if counts_as_unset => Ok(String::new()),
            Operator::Alternative => Ok(operand),
            Operator::Required if counts_as_unset => {
                Err(self.required(start, name_range, operand, "is not allowed to be empty"))
            }
            Operator::Default | Operator::Required | Operator::Replace => Ok(value.to_owned()),
            Operator::TrimPrefix | Operator::TrimSuffix => {
                self.trimmed(start, operator, value, &operand)
            }
            Operator::Unsupported => Err(self.unsupported(modifier.to_string(), start)),
        }
    }

    /// Removes the shortest match of the pattern, or the longest if the sign is written twice.
    fn trimmed(
        &mut self,
        start: usize,
        operator: Operator,
        value: &str,
        operand: &str,
    ) -> Result<String, ExpandError> {
        let sign = if operator == Operator::TrimPrefix { '#' } else { '%' };
        let (longest, source) = match operand.strip_prefix(sign) {
            Some(rest) => (true, rest),
            None => (false, operand),
        };
        let pattern = self.pattern(start, source)?;
        self.spend(pattern.cost(value), start)?;
        let rest = match operator {
            Operator::TrimPrefix => pattern.trim_prefix(value, longest),
            _ => pattern.trim_suffix(value, longest),
        };
        Ok(rest.to_owned())
    }

    fn replaced(&mut self, start: usize, name_range: Range<usize>) -> Result<String, ExpandError> {
        let all = self.peek() == Some('/');
        if all {
            self.advance();
        }
        let Some(source) = self.until('/', true)? else {
            return Err(self.error(ExpandErrorKind::MissingSlash, start));
        };
        let Some(replacement) = self.until('}', true)? else {
            return Err(self.error(ExpandErrorKind::MissingBrace, start));
        };
        let value = self.look_up(start, name_range.clone(), Some(Operator::Replace));
        if value.is_none() && self.expander.keep_unset {
            // BuildKit writes one slash back even where there were two.
            return Ok(self.as_written(name_range, &format!("/{source}/{replacement}")));
        }
        let value = value.unwrap_or_default();
        let pattern = self.pattern(start, &source)?;
        self.spend(pattern.cost(value), start)?;
        if !all {
            return Ok(pattern.replace_first(value, &replacement));
        }
        // Each match, and there is at most one at each place, copies the replacement.
        self.spend(value.len().saturating_add(1).saturating_mul(replacement.len()), start)?;
        Ok(pattern.replace_all(value, &replacement))
    }

    fn pattern(&self, start: usize, source: &str) -> Result<Pattern, ExpandError> {
        Pattern::parse(source).ok_or_else(|| {
            self.error(ExpandErrorKind::InvalidPattern { pattern: source.to_owned() }, start)
        })
    }

    /// The reference as it stood, or nothing unless unset variables are kept.
    fn as_written(&self, name_range: Range<usize>, rest: &str) -> String {
        if self.expander.keep_unset {
            format!("${{{}{rest}}}", self.slice(name_range))
        } else {
            String::new()
        }
    }

    fn unsupported(&self, modifier: String, start: usize) -> ExpandError {
        self.error(ExpandErrorKind::UnsupportedModifier { modifier }, start)
    }

    fn required(
        &self,
        start: usize,
        name_range: Range<usize>,
        operand: String,
        otherwise: &str,
    ) -> ExpandError {
        let name = self.slice(name_range).to_owned();
        let message = if operand.is_empty() { otherwise.to_owned() } else { operand };
        self.error(ExpandErrorKind::Required { name, message }, start)
    }
}

/// The sign after the name, and whether a colon makes an empty value count as unset.
#[derive(Clone, Copy)]
struct Modifier {
    character: char,
    colon: bool,
}

impl Modifier {
    fn operator(self) -> Operator {
        match self.character {
            '-' => Operator::Default,
            '+' => Operator::Alternative,
            '?' => Operator::Required,
            '#' => Operator::TrimPrefix,
            '%' => Operator::TrimSuffix,
            _ => Operator::Unsupported,
        }
    }
}

impl std::fmt::Display for Modifier {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let colon = if self.colon { ":" } else { "" };
        write!(formatter, "{colon}{}", self.character)
    }
}
