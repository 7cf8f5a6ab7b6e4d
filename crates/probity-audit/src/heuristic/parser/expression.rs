//! Expressions and blocks.

mod primary;

use super::{MAX_DEPTH, Parser};
use crate::heuristic::tree::{Expr, ExprKind, Operator, Parameter, Span, Statement, StatementKind};

/// How strongly an operator binds; `|>` is the weakest.
fn operator(word: &str) -> Option<(Operator, u8)> {
    Some(match word {
        "|>" => (Operator::Pipe, 0),
        "||" => (Operator::Or, 1),
        "&&" => (Operator::And, 2),
        "==" => (Operator::Equal, 3),
        "!=" => (Operator::NotEqual, 3),
        "<" => (Operator::Less, 3),
        "<=" => (Operator::LessEqual, 3),
        ">" => (Operator::Greater, 3),
        ">=" => (Operator::GreaterEqual, 3),
        "+" => (Operator::Add, 4),
        "-" => (Operator::Subtract, 4),
        "*" => (Operator::Multiply, 5),
        "/" => (Operator::Divide, 5),
        "%" => (Operator::Modulo, 5),
        _ => return None,
    })
}

impl Parser<'_> {
    pub(super) fn expression(&mut self) -> Expr {
        self.expression_in(Braces::MayBeRecord)
    }

    fn expression_in(&mut self, braces: Braces) -> Expr {
        let start = self.start();
        if self.depth >= MAX_DEPTH {
            self.skip_balanced();
            return Expr::error(self.span(start));
        }
        self.depth += 1;
        let found = self.binary(0, braces);
        self.depth -= 1;
        found
    }

    fn binary(&mut self, weakest: u8, braces: Braces) -> Expr {
        let start = self.start();
        let mut left = self.unary(braces);
        loop {
            let token = self.peek();
            let Some((operator, strength)) = operator(self.word(token)) else { break };
            let other_statement = token.after_newline && operator == Operator::Subtract;
            if strength < weakest || other_statement {
                break;
            }
            self.advance();
            let right = self.binary(strength + 1, braces);
            let kind = ExprKind::Binary(operator, Box::new(left), Box::new(right));
            left = Expr::new(self.span(start), kind);
        }
        left
    }

    fn unary(&mut self, braces: Braces) -> Expr {
        let start = self.start();
        let word = self.peek_word();
        if word != "!" && word != "-" {
            return self.postfix(braces);
        }
        // A row of signs is a row of recursions, so it counts as nesting.
        if self.depth >= MAX_DEPTH {
            self.advance();
            return Expr::error(self.span(start));
        }
        self.advance();
        self.depth += 1;
        let inner = Box::new(self.unary(braces));
        self.depth -= 1;
        let kind = if word == "!" { ExprKind::Not(inner) } else { ExprKind::Negate(inner) };
        Expr::new(self.span(start), kind)
    }

    /// `{ statements }`, or one expression where the braces are missing.
    pub(super) fn block(&mut self) -> Expr {
        let start = self.start();
        if !self.is("{") {
            let missing = self.is_end() || self.begins_item();
            return if missing { Expr::error(self.span(start)) } else { self.expression() };
        }
        if self.depth >= MAX_DEPTH {
            self.skip_balanced();
            return Expr::error(self.span(start));
        }
        self.depth += 1;
        self.advance();
        let mut statements = Vec::new();
        self.until("}", |parser| {
            let statement = parser.statement();
            statements.extend(statement);
        });
        self.depth -= 1;
        let span = self.span(start);
        Expr::new(span, ExprKind::Block(without_backpassing(statements, span)))
    }

    fn statement(&mut self) -> Option<Statement> {
        match self.peek_word() {
            "let" => {
                self.advance();
                let pattern = self.pattern();
                let annotation = self.eat(":").then(|| self.type_name());
                if self.eat("<-") {
                    let value = self.expression();
                    return Some(Statement { kind: StatementKind::Backpass(pattern), value });
                }
                self.eat("=");
                let value = self.expression();
                Some(Statement { kind: StatementKind::Let(pattern, annotation), value })
            }
            "expect" => {
                self.advance();
                Some(self.expectation())
            }
            "trace" => {
                self.advance();
                self.expression();
                if self.eat(":") {
                    self.expression();
                    while self.eat(",") {
                        self.expression();
                    }
                }
                None
            }
            _ => {
                let before = self.at;
                let value = self.expression();
                (self.at > before).then_some(Statement { kind: StatementKind::Value, value })
            }
        }
    }

    /// `expect pattern: Type = value`, `expect pattern <- call` or `expect condition`.
    fn expectation(&mut self) -> Statement {
        if !self.pattern_follows() {
            let value = self.expression();
            return Statement { kind: StatementKind::Expect(None), value };
        }
        let pattern = self.pattern();
        let annotation = self.eat(":").then(|| self.type_name());
        if self.eat("<-") {
            let value = self.expression();
            return Statement { kind: StatementKind::Backpass(pattern), value };
        }
        self.eat("=");
        let value = self.expression();
        Statement { kind: StatementKind::Expect(Some((pattern, annotation))), value }
    }

    /// Whether a `=` or `<-` comes before the condition could have ended. Only brackets and the
    /// words of patterns are passed, so each token is looked at for one `expect` only.
    fn pattern_follows(&mut self) -> bool {
        let mut open = 0_usize;
        for distance in 0.. {
            let token = self.ahead(distance);
            match self.word(token) {
                "=" | "<-" if open == 0 => return true,
                "(" | "[" | "{" => open += 1,
                ")" | "]" | "}" if open == 0 => return false,
                ")" | "]" | "}" => open -= 1,
                "" | "expect" | "let" | "when" | "if" | "fn" | "=" | "->" => return false,
                _ => {}
            }
            let ends = open == 0 && distance > 0 && operator_ends_pattern(self.word(token));
            if ends {
                return false;
            }
        }
        false
    }
}

/// `let name <- call(argument)` and what follows as `call(argument, fn(name) { what follows })`.
fn without_backpassing(mut statements: Vec<Statement>, span: Span) -> Vec<Statement> {
    let is_backpass = |found: &Statement| matches!(found.kind, StatementKind::Backpass(_));
    while let Some(at) = statements.iter().rposition(is_backpass) {
        let rest = statements.split_off(at + 1);
        let Some(Statement { kind: StatementKind::Backpass(pattern), value }) = statements.pop()
        else {
            break;
        };
        let body = Box::new(Expr::new(span, ExprKind::Block(rest)));
        let parameters = vec![Parameter { pattern, annotation: None }];
        let lambda = Expr::new(span, ExprKind::Lambda(parameters, body));
        let call_span = value.span;
        let kind = match value.kind {
            ExprKind::Call { callee, mut arguments } => {
                arguments.push((None, lambda));
                ExprKind::Call { callee, arguments }
            }
            kind => ExprKind::Call {
                callee: Box::new(Expr::new(call_span, kind)),
                arguments: vec![(None, lambda)],
            },
        };
        let value = Expr::new(call_span, kind);
        statements.push(Statement { kind: StatementKind::Value, value });
    }
    statements
}

/// Operators that no pattern contains; `<` and `>` belong to types.
fn operator_ends_pattern(word: &str) -> bool {
    !matches!(word, "<" | ">" | "-" | "/") && operator(word).is_some()
}

/// Whether `Name {` begins a record: behind `if` and `when` the brace may begin the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Braces {
    MayBeRecord,
    AreBody,
}
