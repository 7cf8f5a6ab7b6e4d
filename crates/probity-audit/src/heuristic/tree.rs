//! The tree of an Aiken module: what the detectors need, and nothing that needs types.

/// Deeper trees are cut. It is far above what people write, and far below what a stack holds.
pub(super) const MAX_HEIGHT: u16 = 100;

/// A range of byte offsets in the text of its module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Span {
    pub(super) start: usize,
    pub(super) end: usize,
}

#[derive(Debug, Default)]
pub(super) struct Module {
    pub(super) imports: Vec<Import>,
    pub(super) types: Vec<TypeDefinition>,
    pub(super) constants: Vec<(String, Expr)>,
    pub(super) functions: Vec<Function>,
    pub(super) validators: Vec<Validator>,
}

/// `use path.{name as alias} as alias`.
#[derive(Debug)]
pub(super) struct Import {
    pub(super) path: String,
    pub(super) alias: String,
    /// The name in the other module, and the name here.
    pub(super) names: Vec<(String, String)>,
}

#[derive(Debug)]
pub(super) struct TypeDefinition {
    pub(super) name: String,
    pub(super) constructors: Vec<Constructor>,
}

#[derive(Debug)]
pub(super) struct Constructor {
    pub(super) name: String,
    pub(super) fields: Vec<(Option<String>, TypeName)>,
}

/// `Option<List<Int>>` as names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TypeName {
    pub(super) name: String,
    pub(super) arguments: Vec<TypeName>,
}

#[derive(Debug)]
pub(super) struct Function {
    pub(super) name: String,
    pub(super) parameters: Vec<Parameter>,
    pub(super) body: Expr,
}

#[derive(Debug)]
pub(super) struct Parameter {
    pub(super) pattern: Pattern,
    pub(super) annotation: Option<TypeName>,
}

#[derive(Debug)]
pub(super) struct Validator {
    pub(super) parameters: Vec<Parameter>,
    pub(super) handlers: Vec<Handler>,
}

#[derive(Debug)]
pub(super) struct Handler {
    /// `spend`, `mint`, …, `else`; in the old syntax the name of the `fn`, if it has one.
    pub(super) name: String,
    /// `fn spend(datum, redeemer, context)` instead of `spend(...)`.
    pub(super) old_syntax: bool,
    pub(super) parameters: Vec<Parameter>,
    pub(super) body: Expr,
    pub(super) span: Span,
}

#[derive(Debug)]
pub(super) struct Expr {
    pub(super) span: Span,
    pub(super) kind: ExprKind,
    height: u16,
}

#[derive(Debug)]
pub(super) enum ExprKind {
    Var(String),
    Constructor(String),
    Literal(String),
    /// `_` as an argument: the call is a function of it.
    Hole,
    Call {
        callee: Box<Expr>,
        arguments: Vec<(Option<String>, Expr)>,
    },
    Record {
        constructor: String,
        base: Option<Box<Expr>>,
        fields: Vec<(String, Expr)>,
    },
    Field(Box<Expr>, String),
    Binary(Operator, Box<Expr>, Box<Expr>),
    Not(Box<Expr>),
    Negate(Box<Expr>),
    And(Vec<Expr>),
    Or(Vec<Expr>),
    List(Vec<Expr>, Option<Box<Expr>>),
    Tuple(Vec<Expr>),
    Lambda(Vec<Parameter>, Box<Expr>),
    Block(Vec<Statement>),
    When(Box<Expr>, Vec<(Vec<Pattern>, Expr)>),
    If(Vec<Condition>, Option<Box<Expr>>),
    Fail,
    /// What could not be parsed, or is nested too deeply.
    Error,
}

/// One `if` of a chain; `pattern` is that of `if value is pattern`.
#[derive(Debug)]
pub(super) struct Condition {
    pub(super) test: Expr,
    pub(super) pattern: Option<Pattern>,
    pub(super) body: Expr,
}

#[derive(Debug)]
pub(super) struct Statement {
    pub(super) kind: StatementKind,
    pub(super) value: Expr,
}

#[derive(Debug)]
pub(super) enum StatementKind {
    Let(Pattern, Option<TypeName>),
    /// `let pattern <- call`: what follows is the last argument of the call.
    Backpass(Pattern),
    Expect(Option<(Pattern, Option<TypeName>)>),
    Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Operator {
    Or,
    And,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    Pipe,
}

#[derive(Debug)]
pub(super) enum Pattern {
    Discard,
    Name(String),
    Literal(String),
    Constructor {
        name: String,
        fields: Vec<(Option<String>, Pattern)>,
    },
    /// `tail` is that of `[first, ..rest]`, with a name or without.
    List {
        items: Vec<Pattern>,
        tail: Option<Option<String>>,
    },
    Tuple(Vec<Pattern>),
    Alias(Box<Pattern>, String),
}

impl Expr {
    pub(super) fn new(span: Span, kind: ExprKind) -> Self {
        let height = 1 + kind.tallest_child();
        if height > MAX_HEIGHT { Self::error(span) } else { Self { span, kind, height } }
    }

    pub(super) fn error(span: Span) -> Self {
        Self { span, kind: ExprKind::Error, height: 1 }
    }

    /// Calls `visit` with each direct child.
    pub(super) fn each_child<'a>(&'a self, visit: &mut dyn FnMut(&'a Self)) {
        self.kind.each_child(visit);
    }
}

impl ExprKind {
    fn tallest_child(&self) -> u16 {
        let mut tallest = 0;
        self.each_child(&mut |child| tallest = tallest.max(child.height));
        tallest
    }

    fn each_child<'a>(&'a self, visit: &mut dyn FnMut(&'a Expr)) {
        match self {
            Self::Var(_) | Self::Constructor(_) | Self::Literal(_) => {}
            Self::Hole | Self::Fail | Self::Error => {}
            Self::Call { callee, arguments } => {
                visit(callee);
                arguments.iter().for_each(|(_, argument)| visit(argument));
            }
            Self::Record { base, fields, .. } => {
                base.iter().for_each(|base| visit(base));
                fields.iter().for_each(|(_, value)| visit(value));
            }
            Self::Field(inner, _) | Self::Not(inner) | Self::Negate(inner) => visit(inner),
            Self::Lambda(_, inner) => visit(inner),
            Self::Binary(_, left, right) => {
                visit(left);
                visit(right);
            }
            Self::And(items) | Self::Or(items) | Self::Tuple(items) => {
                items.iter().for_each(visit);
            }
            Self::List(items, tail) => {
                items.iter().for_each(&mut *visit);
                tail.iter().for_each(|tail| visit(tail));
            }
            Self::Block(statements) => {
                statements.iter().for_each(|statement| visit(&statement.value));
            }
            Self::When(subject, arms) => {
                visit(subject);
                arms.iter().for_each(|(_, body)| visit(body));
            }
            Self::If(conditions, otherwise) => {
                for condition in conditions {
                    visit(&condition.test);
                    visit(&condition.body);
                }
                otherwise.iter().for_each(|body| visit(body));
            }
        }
    }
}
