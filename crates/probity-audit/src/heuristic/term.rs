//! Symbolic values. Equal values have the same [`Term`], whatever names lead to them.

use std::collections::{HashMap, HashSet};

use super::tree::{Expr, Function, Operator, Span};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Term(u32);

/// What a handler is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Root {
    Transaction,
    /// `Option<State>`.
    Datum,
    /// The datum of the own input.
    State,
    Redeemer,
    OwnReference,
    OwnInput,
    PolicyId,
    /// The credential of a withdrawal, the certificate, the voter or the proposal.
    Subject,
    Context,
    /// A parameter of the validator, by position.
    Parameter(usize),
}

/// How an element was taken from its list.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Selector {
    Position(usize),
    At(Term),
    /// The n-th one that satisfies a predicate.
    Match(Term, usize),
    /// Any one: what holds for it holds for all.
    Every(Term),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Node<'p> {
    Root(Root),
    Literal(String),
    Field(Term, String),
    Construct {
        name: String,
        base: Option<Term>,
        fields: Vec<(String, Term)>,
    },
    /// A call of the standard library; `parts` is what its functions do with the elements.
    Library {
        name: String,
        arguments: Vec<Term>,
        parts: Vec<Term>,
    },
    /// A call that was not followed: of unknown code, or of a function that calls itself.
    Opaque {
        recursive: bool,
        arguments: Vec<Term>,
    },
    Binary(Operator, Term, Term),
    Negate(Term),
    List(Vec<Term>, Option<Term>),
    Tuple(Vec<Term>),
    Tail(Term),
    Element(Term, Selector),
    Closure(Delayed<'p>),
    /// A condition that is decided when it is needed.
    Condition(Delayed<'p>),
    Function(usize, FunctionCode<'p>),
    LibraryFunction(String),
    /// `call(_, argument)`.
    Partial(Term, Vec<Option<Term>>),
    /// The value was built with this constructor.
    Is(Term, String),
    /// The list has exactly so many elements.
    Length(Term, usize),
    Unknown(usize),
}

/// Code that runs later, with the names it uses and the functions that it was reached through.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Delayed<'p> {
    pub(super) code: Code<'p>,
    pub(super) names: Vec<(String, Term)>,
    pub(super) stack: Vec<FunctionCode<'p>>,
}

/// An expression of a file; equal to another only at the same place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Code<'p> {
    pub(super) file: usize,
    pub(super) expr: &'p Expr,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct FunctionCode<'p>(pub(super) &'p Function);

macro_rules! equal_by_address {
    ($name:ident, $field:tt) => {
        impl PartialEq for $name<'_> {
            fn eq(&self, other: &Self) -> bool {
                std::ptr::eq(self.$field, other.$field)
            }
        }
        impl Eq for $name<'_> {}
        impl std::hash::Hash for $name<'_> {
            fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
                std::ptr::hash(self.$field, state);
            }
        }
    };
}
equal_by_address!(Code, expr);
equal_by_address!(FunctionCode, 0);

/// Where a term was first made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Location {
    pub(super) file: usize,
    pub(super) span: Span,
}

#[derive(Default)]
pub(super) struct Terms<'p> {
    nodes: Vec<Node<'p>>,
    known: HashMap<Node<'p>, Term>,
    origins: Vec<Location>,
    types: HashMap<Term, String>,
}

impl<'p> Terms<'p> {
    pub(super) fn add(&mut self, node: Node<'p>, origin: Location) -> Term {
        if let Some(term) = self.known.get(&node) {
            return *term;
        }
        let term = Term(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        self.nodes.push(node.clone());
        self.origins.push(origin);
        self.known.insert(node, term);
        term
    }

    pub(super) fn root(&mut self, root: Root) -> Term {
        self.add(Node::Root(root), Location::default())
    }

    pub(super) fn find(&self, node: &Node<'p>) -> Option<Term> {
        self.known.get(node).copied()
    }

    pub(super) fn node(&self, term: Term) -> &Node<'p> {
        &self.nodes[term.0 as usize]
    }

    pub(super) fn origin(&self, term: Term) -> Location {
        self.origins[term.0 as usize]
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn note_type(&mut self, term: Term, name: &str) {
        // `Data` is what a value is before anyone says what it is.
        if !name.is_empty() && name != "Data" {
            self.types.entry(term).or_insert_with(|| name.to_owned());
        }
    }

    pub(super) fn type_of(&self, term: Term) -> Option<&str> {
        self.types.get(&term).map(String::as_str)
    }

    pub(super) fn is_root(&self, term: Term, root: Root) -> bool {
        *self.node(term) == Node::Root(root)
    }

    /// `term` as the field `name` of another term.
    pub(super) fn field_of(&self, term: Term, name: &str) -> Option<Term> {
        match self.node(term) {
            Node::Field(owner, field) if field == name => Some(*owner),
            _ => None,
        }
    }

    /// The arguments of a call of the standard library.
    pub(super) fn library(&self, term: Term) -> Option<(&str, &[Term])> {
        match self.node(term) {
            Node::Library { name, arguments, .. } => Some((name, arguments)),
            _ => None,
        }
    }

    /// Whether `term` is one of these fields of the transaction.
    pub(super) fn is_transaction_field(&self, term: Term, name: &str) -> bool {
        self.field_of(term, name).is_some_and(|owner| self.is_root(owner, Root::Transaction))
    }

    /// Every term that `term` is made of, itself included.
    pub(super) fn parts(&self, term: Term) -> HashSet<Term> {
        let mut seen = HashSet::new();
        let mut open = vec![term];
        while let Some(next) = open.pop() {
            if seen.insert(next) {
                self.each_child(next, |child| open.push(child));
            }
        }
        seen
    }

    pub(super) fn mentions(&self, term: Term, target: Term) -> bool {
        self.parts(term).contains(&target)
    }

    pub(super) fn any_part(&self, term: Term, test: impl Fn(&Node<'p>) -> bool) -> bool {
        self.parts(term).into_iter().any(|part| test(self.node(part)))
    }

    pub(super) fn mentions_root(&self, term: Term, root: Root) -> bool {
        self.find(&Node::Root(root)).is_some_and(|root| self.mentions(term, root))
    }

    pub(super) fn mentions_parameter(&self, term: Term) -> bool {
        self.any_part(term, |node| matches!(node, Node::Root(Root::Parameter(_))))
    }

    pub(super) fn children(&self, term: Term) -> Vec<Term> {
        let mut found = Vec::new();
        self.each_child(term, |child| found.push(child));
        found
    }

    fn each_child(&self, term: Term, mut visit: impl FnMut(Term)) {
        match self.node(term) {
            Node::Root(_) | Node::Literal(_) | Node::Unknown(_) => {}
            Node::Function(..) | Node::LibraryFunction(_) => {}
            Node::Field(inner, _) | Node::Negate(inner) | Node::Tail(inner) => visit(*inner),
            Node::Is(inner, _) | Node::Length(inner, _) => visit(*inner),
            Node::Construct { base, fields, .. } => {
                base.iter().copied().for_each(&mut visit);
                fields.iter().for_each(|(_, value)| visit(*value));
            }
            Node::Library { arguments, parts, .. } => {
                arguments.iter().chain(parts).copied().for_each(visit);
            }
            Node::Opaque { arguments, .. } | Node::Tuple(arguments) => {
                arguments.iter().copied().for_each(visit);
            }
            Node::Binary(_, left, right) => {
                visit(*left);
                visit(*right);
            }
            Node::List(items, tail) => items.iter().chain(tail).copied().for_each(visit),
            Node::Element(list, selector) => {
                visit(*list);
                if let Selector::At(index) = selector {
                    visit(*index);
                }
            }
            Node::Closure(delayed) | Node::Condition(delayed) => {
                delayed.names.iter().for_each(|(_, value)| visit(*value));
            }
            Node::Partial(callee, arguments) => {
                visit(*callee);
                arguments.iter().flatten().copied().for_each(visit);
            }
        }
    }
}
