//! What operators join: names, literals, calls, records, blocks and branches.

use super::Braces;
use crate::heuristic::{
    lexer::TokenKind,
    parser::Parser,
    tree::{Condition, Expr, ExprKind},
};

impl Parser<'_> {
    pub(super) fn postfix(&mut self, braces: Braces) -> Expr {
        let start = self.start();
        let mut found = self.primary(braces);
        loop {
            let token = self.peek();
            match self.word(token) {
                "." => {
                    self.advance();
                    found = self.member(found, start, braces);
                }
                "(" if !token.after_newline => {
                    self.advance();
                    let arguments = self.arguments();
                    let kind = ExprKind::Call { callee: Box::new(found), arguments };
                    found = Expr::new(self.span(start), kind);
                }
                // `condition?` only adds a trace.
                "?" => {
                    self.advance();
                }
                _ => return found,
            }
        }
    }

    /// `value.field`, `pair.1st` or `module.Constructor`.
    fn member(&mut self, value: Expr, start: usize, braces: Braces) -> Expr {
        let token = self.peek();
        let name = self.word(token).to_owned();
        match token.kind {
            TokenKind::Upper => {
                self.advance();
                self.constructor(name, start, braces)
            }
            TokenKind::Lower | TokenKind::Int => {
                self.advance();
                Expr::new(self.span(start), ExprKind::Field(Box::new(value), name))
            }
            _ => value,
        }
    }

    fn arguments(&mut self) -> Vec<(Option<String>, Expr)> {
        let mut arguments = Vec::new();
        self.until(")", |parser| {
            let next = parser.ahead(1);
            let is_label = parser.peek().kind == TokenKind::Lower && parser.word(next) == ":";
            let label = if is_label { parser.lower() } else { None };
            if is_label {
                parser.eat(":");
            }
            let value = parser.expression();
            arguments.push((label, value));
        });
        arguments
    }

    fn primary(&mut self, braces: Braces) -> Expr {
        let start = self.start();
        let token = self.peek();
        let word = self.word(token);
        match token.kind {
            TokenKind::Int | TokenKind::Text => {
                self.advance();
                Expr::new(self.span(start), ExprKind::Literal(word.replace('_', "")))
            }
            TokenKind::Upper => {
                self.advance();
                self.constructor(word.to_owned(), start, braces)
            }
            TokenKind::Lower => self.word_expression(word, start),
            TokenKind::Symbol => match word {
                "(" => self.parenthesized(start),
                "[" => self.list(start),
                "{" => self.block(),
                _ => Expr::error(self.span(start)),
            },
            TokenKind::End => Expr::error(self.span(start)),
        }
    }

    fn word_expression(&mut self, word: &str, start: usize) -> Expr {
        match word {
            "when" => return self.when(start),
            "if" => return self.if_chain(start),
            "fn" => return self.lambda(start),
            "else" | "is" | "let" | "expect" => return Expr::error(self.span(start)),
            _ => {}
        }
        self.advance();
        match word {
            "and" if self.is("{") => {
                let items = self.items();
                Expr::new(self.span(start), ExprKind::And(items))
            }
            "or" if self.is("{") => {
                let items = self.items();
                Expr::new(self.span(start), ExprKind::Or(items))
            }
            "fail" | "todo" => {
                let token = self.peek();
                if token.kind == TokenKind::Text && !token.after_newline {
                    self.advance();
                }
                Expr::new(self.span(start), ExprKind::Fail)
            }
            // A trace inside an expression stands before the value that it returns.
            "trace" => {
                self.expression();
                self.expression()
            }
            _ if word.starts_with('_') => Expr::new(self.span(start), ExprKind::Hole),
            _ => Expr::new(self.span(start), ExprKind::Var(word.to_owned())),
        }
    }

    fn items(&mut self) -> Vec<Expr> {
        let mut items = Vec::new();
        self.advance();
        self.until("}", |parser| items.push(parser.expression()));
        items
    }

    fn constructor(&mut self, name: String, start: usize, braces: Braces) -> Expr {
        if !self.is("{") || !self.record_follows(braces) {
            return Expr::new(self.span(start), ExprKind::Constructor(name));
        }
        self.advance();
        let mut base = None;
        let mut fields = Vec::new();
        self.until("}", |parser| {
            if parser.eat("..") {
                base = Some(Box::new(parser.expression()));
                return;
            }
            let at = parser.start();
            let Some(label) = parser.lower() else { return };
            let value = if parser.eat(":") {
                parser.expression()
            } else {
                Expr::new(parser.span(at), ExprKind::Var(label.clone()))
            };
            fields.push((label, value));
        });
        Expr::new(self.span(start), ExprKind::Record { constructor: name, base, fields })
    }

    fn record_follows(&mut self, braces: Braces) -> bool {
        let (first, second) = (self.ahead(1), self.ahead(2));
        match (self.word(first), self.word(second)) {
            ("..", _) => true,
            (_, ":" | ",") => first.kind == TokenKind::Lower,
            (word, "}") => {
                braces == Braces::MayBeRecord && first.kind == TokenKind::Lower && word != "fail"
            }
            ("}", _) => braces == Braces::MayBeRecord,
            _ => false,
        }
    }

    fn parenthesized(&mut self, start: usize) -> Expr {
        self.advance();
        let mut items = Vec::new();
        self.until(")", |parser| items.push(parser.expression()));
        match items.len() {
            1 => items.remove(0),
            _ => Expr::new(self.span(start), ExprKind::Tuple(items)),
        }
    }

    fn list(&mut self, start: usize) -> Expr {
        self.advance();
        let mut items = Vec::new();
        let mut tail = None;
        self.until("]", |parser| {
            if parser.eat("..") {
                tail = Some(Box::new(parser.expression()));
            } else {
                items.push(parser.expression());
            }
        });
        Expr::new(self.span(start), ExprKind::List(items, tail))
    }

    fn lambda(&mut self, start: usize) -> Expr {
        self.advance();
        let parameters = self.parameters();
        if self.eat("->") {
            self.type_name();
        }
        let body = Box::new(self.block());
        Expr::new(self.span(start), ExprKind::Lambda(parameters, body))
    }

    fn when(&mut self, start: usize) -> Expr {
        self.advance();
        let subject = Box::new(self.expression_in(Braces::AreBody));
        self.eat("is");
        let mut arms = Vec::new();
        if self.eat("{") {
            self.until("}", |parser| {
                let mut patterns = vec![parser.pattern()];
                while parser.eat("|") {
                    patterns.push(parser.pattern());
                }
                if parser.eat("->") {
                    let body = parser.arm_body();
                    arms.push((patterns, body));
                }
            });
        }
        Expr::new(self.span(start), ExprKind::When(subject, arms))
    }

    /// The body of an arm may begin with statements that have no braces of their own.
    fn arm_body(&mut self) -> Expr {
        let start = self.start();
        let mut statements = Vec::new();
        while matches!(self.peek_word(), "let" | "expect" | "trace") {
            let statement = self.statement();
            statements.extend(statement);
        }
        let value = self.expression();
        if statements.is_empty() {
            return value;
        }
        let kind = crate::heuristic::tree::StatementKind::Value;
        statements.push(crate::heuristic::tree::Statement { kind, value });
        Expr::new(self.span(start), ExprKind::Block(statements))
    }

    fn if_chain(&mut self, start: usize) -> Expr {
        let mut conditions = Vec::new();
        let mut otherwise = None;
        while self.eat("if") {
            let test = self.expression_in(Braces::AreBody);
            let pattern = self.eat("is").then(|| self.pattern());
            if pattern.is_some() && self.eat(":") {
                self.type_name();
            }
            let body = self.block();
            conditions.push(Condition { test, pattern, body });
            if !self.eat("else") {
                break;
            }
            if !self.is("if") {
                otherwise = Some(Box::new(self.block()));
                break;
            }
        }
        Expr::new(self.span(start), ExprKind::If(conditions, otherwise))
    }
}
