//! Names and types of an expression, checked before it ever runs.

use std::{collections::BTreeSet, fmt};

use cel::{
    IdedExpr,
    common::ast::{CallExpr, ComprehensionExpr, Expr, LiteralValue, operators},
};

/// Why an expression is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExpressionError {
    #[error("it is not a valid expression: {0}")]
    Syntax(String),
    #[error("it is longer than {0} bytes")]
    TooLong(usize),
    #[error("it has more than {0} words and signs")]
    TooLarge(usize),
    #[error("its brackets are nested more than {0} deep")]
    TooDeep(usize),
    #[error("a loop cannot stand in another loop")]
    NestedLoop,
    #[error("`{name}` is not known; known are {known}")]
    UnknownName { name: String, known: String },
    #[error("{of} has no `{field}`; it has {known}")]
    UnknownField { of: &'static str, field: String, known: String },
    #[error("`{0}` is not a function that can be used here")]
    UnknownFunction(String),
    #[error("`{function}` cannot be used on {types}")]
    WrongTypes { function: String, types: String },
    #[error("{0} cannot be used here")]
    Unsupported(&'static str),
    #[error("`environment` needs the name of a variable, such as `environment.PATH`")]
    WholeEnvironment,
    #[error("it is {0}; it must be true or false")]
    NotACondition(&'static str),
}

/// What an expression is about, by its names: the type of each, and what it holds.
pub(super) const VARIABLES: [(&str, Type); 13] = [
    ("instruction", Type::Text),
    ("text", Type::Text),
    ("words", Type::Texts),
    ("flags", Type::Map),
    ("commands", Type::Commands),
    ("packages", Type::Packages),
    ("labels", Type::Map),
    ("variables", Type::Map),
    ("environment", Type::Map),
    ("stage", Type::Stage),
    ("base", Type::Text),
    ("user", Type::Text),
    ("shell", Type::Text),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Bool,
    Int,
    Text,
    Texts,
    /// From text to text.
    Map,
    Stage,
    Command,
    Commands,
    Package,
    Packages,
    /// A list without members, which can become any.
    NoMembers,
}

/// What an expression needs to run.
#[derive(Clone, Debug, Default)]
pub(super) struct Checked {
    names: BTreeSet<String>,
    /// The variables of the environment that it asks for.
    pub(super) environment: BTreeSet<String>,
}

impl Checked {
    pub(super) fn uses(&self, name: &str) -> bool {
        self.names.contains(name)
    }
}

pub(super) fn check(expression: &IdedExpr) -> Result<Checked, ExpressionError> {
    let mut checker = Checker::default();
    match checker.type_of(expression)? {
        Type::Bool => Ok(checker.checked),
        other => Err(ExpressionError::NotACondition(other.words())),
    }
}

#[derive(Default)]
struct Checker {
    checked: Checked,
    /// The variables of the loop around, with its result.
    of_loop: Vec<(String, Type)>,
    in_loop: bool,
}

impl Checker {
    fn type_of(&mut self, expression: &IdedExpr) -> Result<Type, ExpressionError> {
        match &expression.expr {
            Expr::Literal(LiteralValue::Boolean(_)) => Ok(Type::Bool),
            Expr::Literal(LiteralValue::Int(_) | LiteralValue::UInt(_)) => Ok(Type::Int),
            Expr::Literal(LiteralValue::String(_)) => Ok(Type::Text),
            Expr::Literal(_) => Err(ExpressionError::Unsupported("a value of this type")),
            Expr::Ident(name) => self.name(name),
            Expr::Select(select) => {
                if self.is_environment(&select.operand) {
                    self.checked.environment.insert(select.field.clone());
                    return Ok(if select.test { Type::Bool } else { Type::Text });
                }
                let of = self.type_of(&select.operand)?;
                let field = of.field(&select.field)?;
                Ok(if select.test { Type::Bool } else { field })
            }
            Expr::List(list) => {
                let mut all = Type::NoMembers;
                for element in &list.elements {
                    let one = self.type_of(element)?.list()?;
                    all = one.joined(all).ok_or(ExpressionError::Unsupported("a mixed list"))?;
                }
                Ok(all)
            }
            Expr::Call(call) => self.call(call),
            Expr::Comprehension(comprehension) => self.comprehension(comprehension),
            Expr::Map(_) | Expr::Struct(_) => Err(ExpressionError::Unsupported("a map")),
            Expr::Unspecified => Err(ExpressionError::Unsupported("an empty part")),
        }
    }

    fn name(&mut self, name: &str) -> Result<Type, ExpressionError> {
        if let Some((_, own)) = self.of_loop.iter().rev().find(|(known, _)| known == name) {
            return Ok(*own);
        }
        if name == "environment" {
            return Err(ExpressionError::WholeEnvironment);
        }
        let Some((_, found)) = VARIABLES.iter().find(|(known, _)| *known == name) else {
            let known: Vec<&str> = VARIABLES.iter().map(|(known, _)| *known).collect();
            let (name, known) = (name.to_owned(), known.join(", "));
            return Err(ExpressionError::UnknownName { name, known });
        };
        self.checked.names.insert(name.to_owned());
        Ok(*found)
    }

    fn is_environment(&self, expression: &IdedExpr) -> bool {
        matches!(&expression.expr, Expr::Ident(name) if name == "environment")
            && !self.of_loop.iter().any(|(own, _)| own == "environment")
    }

    fn call(&mut self, call: &CallExpr) -> Result<Type, ExpressionError> {
        let operands: Vec<&IdedExpr> =
            call.target.as_deref().into_iter().chain(&call.args).collect();
        if let Some((found, name)) = self.of_environment(&call.func_name, &operands) {
            self.checked.environment.insert(name);
            return Ok(found);
        }
        let mut types = Vec::with_capacity(operands.len());
        for operand in operands {
            types.push(self.type_of(operand)?);
        }
        result_of(&call.func_name, &types)
    }

    /// `environment["NAME"]` and `"NAME" in environment`.
    fn of_environment(&self, function: &str, operands: &[&IdedExpr]) -> Option<(Type, String)> {
        let (found, map, name) = match (function, operands) {
            (operators::INDEX, [map, name]) => (Type::Text, map, name),
            (operators::IN, [name, map]) => (Type::Bool, map, name),
            _ => return None,
        };
        match &name.expr {
            Expr::Literal(LiteralValue::String(name)) if self.is_environment(map) => {
                Some((found, name.inner().to_owned()))
            }
            _ => None,
        }
    }

    fn comprehension(&mut self, found: &ComprehensionExpr) -> Result<Type, ExpressionError> {
        if self.in_loop {
            return Err(ExpressionError::NestedLoop);
        }
        let range = self.type_of(&found.iter_range)?;
        let member = range.member().ok_or_else(|| wrong("a loop", &[range]))?;
        let start = self.type_of(&found.accu_init)?;
        self.in_loop = true;
        self.of_loop.push((found.iter_var.clone(), member));
        if let Some(second) = &found.iter_var2 {
            self.of_loop.push((second.clone(), Type::Text));
        }
        self.of_loop.push((found.accu_var.clone(), start));
        self.type_of(&found.loop_cond)?;
        let step = self.type_of(&found.loop_step)?;
        let end = step.joined(start).ok_or_else(|| wrong("a loop", &[start, step]))?;
        self.of_loop.push((found.accu_var.clone(), end));
        let result = self.type_of(&found.result);
        self.of_loop.clear();
        self.in_loop = false;
        result
    }
}

fn wrong(function: &str, types: &[Type]) -> ExpressionError {
    let shown = function.trim_matches('_').trim_start_matches('@').replace("[_]", "[]");
    let types: Vec<&str> = types.iter().map(|one| one.words()).collect();
    ExpressionError::WrongTypes { function: shown, types: types.join(" and ") }
}

/// What a function or an operator gives for operands of these types.
fn result_of(function: &str, types: &[Type]) -> Result<Type, ExpressionError> {
    use Type::{Bool, Int, Map, Text, Texts};
    let result = match (function, types) {
        (operators::LOGICAL_AND | operators::LOGICAL_OR, all)
            if all.iter().all(|one| *one == Bool) =>
        {
            Some(Bool)
        }
        (operators::LOGICAL_NOT | operators::NOT_STRICTLY_FALSE, [Bool]) => Some(Bool),
        (operators::CONDITIONAL, [Bool, one, other]) => one.joined(*other),
        (operators::EQUALS | operators::NOT_EQUALS, [one, other]) => {
            one.joined(*other).map(|_| Bool)
        }
        (
            operators::LESS
            | operators::LESS_EQUALS
            | operators::GREATER
            | operators::GREATER_EQUALS,
            [Int, Int] | [Text, Text],
        ) => Some(Bool),
        (operators::ADD, [Int, Int]) | (operators::SUBSTRACT, [Int, Int]) => Some(Int),
        (operators::ADD, [Text, Text]) => Some(Text),
        (operators::ADD, [one, other]) if one.member().is_some() => one.joined(*other),
        (operators::NEGATE, [Int]) => Some(Int),
        (operators::IN, [Text, Texts | Map | Type::NoMembers]) => Some(Bool),
        (operators::INDEX, [Map, Text]) => Some(Text),
        (operators::INDEX, [list, Int]) if *list != Map => list.member(),
        ("size", [Text | Map]) => Some(Int),
        ("size", [list]) if list.member().is_some() => Some(Int),
        ("startsWith" | "endsWith" | "contains", [Text, Text]) => Some(Bool),
        _ => {
            let known = ["size", "startsWith", "endsWith", "contains"];
            let is_operator = function.starts_with(['_', '!', '-', '@']);
            if !is_operator && !known.contains(&function) {
                return Err(ExpressionError::UnknownFunction(function.to_owned()));
            }
            None
        }
    };
    result.ok_or_else(|| wrong(function, types))
}

impl Type {
    /// Its fields, where it is an object.
    fn fields(self) -> &'static [(&'static str, Self)] {
        match self {
            Self::Stage => &[("name", Self::Text), ("index", Self::Int), ("is_final", Self::Bool)],
            Self::Command => &[("name", Self::Text), ("arguments", Self::Texts)],
            Self::Package => {
                &[("name", Self::Text), ("version", Self::Text), ("manager", Self::Text)]
            }
            _ => &[],
        }
    }

    fn field(self, name: &str) -> Result<Self, ExpressionError> {
        if self == Self::Map {
            return Ok(Self::Text);
        }
        let found = self.fields().iter().find(|(field, _)| *field == name);
        found.map(|(_, field)| *field).ok_or_else(|| {
            let known: Vec<&str> = self.fields().iter().map(|(field, _)| *field).collect();
            let known = if known.is_empty() { "no fields".to_owned() } else { known.join(", ") };
            ExpressionError::UnknownField { of: self.words(), field: name.to_owned(), known }
        })
    }

    /// What a loop over it goes through.
    fn member(self) -> Option<Self> {
        match self {
            Self::Texts | Self::Map => Some(Self::Text),
            Self::Commands => Some(Self::Command),
            Self::Packages => Some(Self::Package),
            Self::NoMembers => Some(Self::NoMembers),
            _ => None,
        }
    }

    /// The list with such members.
    fn list(self) -> Result<Self, ExpressionError> {
        match self {
            Self::Text => Ok(Self::Texts),
            Self::Command => Ok(Self::Commands),
            Self::Package => Ok(Self::Packages),
            _ => Err(ExpressionError::Unsupported("a list of this")),
        }
    }

    /// The type of what may be one or the other.
    fn joined(self, other: Self) -> Option<Self> {
        match (self, other) {
            _ if self == other => Some(self),
            (Self::NoMembers, list) | (list, Self::NoMembers) => list.member().map(|_| list),
            _ => None,
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Bool => "true or false",
            Self::Int => "a number",
            Self::Text => "a text",
            Self::Texts => "a list of texts",
            Self::Map => "a map",
            Self::Stage => "a stage",
            Self::Command => "a command",
            Self::Commands => "a list of commands",
            Self::Package => "a package",
            Self::Packages => "a list of packages",
            Self::NoMembers => "an empty list",
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.words())
    }
}
