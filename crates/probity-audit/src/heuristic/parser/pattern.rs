//! Patterns of `let`, `expect`, `when` and parameters.

use super::Parser;
use crate::heuristic::{lexer::TokenKind, tree::Pattern};

impl Parser<'_> {
    pub(super) fn pattern(&mut self) -> Pattern {
        if self.depth >= super::MAX_DEPTH {
            self.skip_balanced();
            return Pattern::Discard;
        }
        self.depth += 1;
        let mut pattern = self.bare_pattern();
        while self.eat("as") {
            let name = self.lower().unwrap_or_default();
            pattern = Pattern::Alias(Box::new(pattern), name);
            // One alias is enough, and a chain of them would be a deep tree.
            if self.is("as") {
                break;
            }
        }
        self.depth -= 1;
        pattern
    }

    fn bare_pattern(&mut self) -> Pattern {
        let token = self.peek();
        let word = self.word(token);
        match token.kind {
            TokenKind::Lower => self.name_pattern(),
            TokenKind::Upper => {
                self.advance();
                self.constructor_pattern(word.to_owned())
            }
            TokenKind::Int | TokenKind::Text => {
                self.advance();
                Pattern::Literal(word.to_owned())
            }
            _ if word == "[" => self.list_pattern(),
            _ if word == "(" => {
                self.advance();
                let mut items = Vec::new();
                self.until(")", |parser| items.push(parser.pattern()));
                Pattern::Tuple(items)
            }
            _ if word == "-" => {
                self.advance();
                let number = self.advance();
                Pattern::Literal(format!("-{}", self.word(number)))
            }
            _ => Pattern::Discard,
        }
    }

    /// A name, `_name`, a labelled parameter (`label name`) or `module.Constructor`.
    fn name_pattern(&mut self) -> Pattern {
        let mut name = self.lower().unwrap_or_default();
        let next = self.peek();
        if self.word(next) == "." && self.ahead(1).kind == TokenKind::Upper {
            self.advance();
            let constructor = self.upper().unwrap_or_default();
            return self.constructor_pattern(constructor);
        }
        let keyword = matches!(self.word(next), "as" | "is" | "via" | "if" | "else");
        if next.kind == TokenKind::Lower && !next.after_newline && !keyword {
            name = self.lower().unwrap_or_default();
        }
        if name.starts_with('_') { Pattern::Discard } else { Pattern::Name(name) }
    }

    fn constructor_pattern(&mut self, name: String) -> Pattern {
        let mut name = name;
        // `Type.Constructor`.
        if self.is(".") && self.ahead(1).kind == TokenKind::Upper {
            self.advance();
            name = self.upper().unwrap_or_default();
        }
        let mut fields = Vec::new();
        if self.eat("{") {
            self.until("}", |parser| {
                if parser.eat("..") {
                    return;
                }
                let Some(label) = parser.lower() else { return };
                let pattern =
                    if parser.eat(":") { parser.pattern() } else { Pattern::Name(label.clone()) };
                fields.push((Some(label), pattern));
            });
        } else if self.eat("(") {
            self.until(")", |parser| {
                if parser.eat("..") {
                    return;
                }
                let labelled = parser.ahead(1);
                let label = (parser.word(labelled) == ":").then(|| parser.lower()).flatten();
                if label.is_some() {
                    parser.eat(":");
                }
                let pattern = parser.pattern();
                fields.push((label, pattern));
            });
        }
        Pattern::Constructor { name, fields }
    }

    fn list_pattern(&mut self) -> Pattern {
        self.advance();
        let mut items = Vec::new();
        let mut tail = None;
        self.until("]", |parser| {
            if parser.eat("..") {
                tail = Some(parser.lower().filter(|name| !name.starts_with('_')));
            } else {
                items.push(parser.pattern());
            }
        });
        Pattern::List { items, tail }
    }
}
