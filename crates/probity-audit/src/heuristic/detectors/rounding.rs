//! Rounding: a division before a multiplication loses what the multiplication needs, and a quotient
//! is rounded in favor of the transaction's builder.

use super::{Class, HandlerPaths, Hit, Node, Operator, Project, Risk, Root, Term, Terms, View};

pub(super) const CLASS: Class = Class {
    name: "rounding",
    title: "Rounding against the script",
    severity: Risk::Medium,
    summary: "Integer division drops a remainder that belongs to the script: the amount is divided \
              before it is multiplied, or rounded in favor of the transaction builder.",
    recommendation: "Multiply first, and round in favor of the protocol: \
                     `( amount * rate + divisor - 1 ) / divisor`.",
    detect,
};

fn detect(_: &Project<'_>, handler: &HandlerPaths<'_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    for view in handler.views() {
        let parts = view.all_parts().into_iter();
        let early = parts.filter(|part| loses_remainder(view.terms, *part));
        hits.extend(early.map(|part| Hit::at(view.terms.origin(part))));
        hits.extend(wrong_way(&view));
    }
    hits
}

/// Quotients of an amount that the redeemer names, rounded against the script: down in what has to
/// stay there, or up in what may leave.
fn wrong_way(view: &View<'_, '_>) -> Vec<Hit> {
    let outputs = view.continuing_outputs();
    let kept: Vec<Term> =
        outputs.into_iter().filter_map(|output| view.field(output, "value")).collect();
    let keeps = |term: Term| kept.iter().any(|value| view.terms.mentions(term, *value));
    let mut quotients = Vec::new();
    for fact in view.facts() {
        let sides = fact.ordering(view.terms).into_iter().chain(fact.equality(view.terms));
        for (required, actual) in sides {
            if keeps(actual) && !keeps(required) {
                collect_quotients(view.terms, required, Sign::Plus, &mut quotients);
            }
        }
    }
    quotients.retain(|(quotient, sign)| {
        let wrong = match sign {
            Sign::Plus => Rounding::Down,
            Sign::Minus => Rounding::Up,
        };
        rounding(view.terms, *quotient) == Some(wrong)
            && view.terms.mentions_root(*quotient, Root::Redeemer)
    });
    quotients.into_iter().map(|(quotient, _)| Hit::at(view.terms.origin(quotient))).collect()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    Plus,
    Minus,
}

impl Sign {
    fn turned(self) -> Self {
        match self {
            Self::Plus => Self::Minus,
            Self::Minus => Self::Plus,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Rounding {
    Down,
    Up,
}

/// The quotients that an amount is the sum of, each with its sign.
fn collect_quotients(terms: &Terms<'_>, term: Term, sign: Sign, found: &mut Vec<(Term, Sign)>) {
    match terms.node(term) {
        Node::Binary(Operator::Add, left, right) => {
            collect_quotients(terms, *left, sign, found);
            collect_quotients(terms, *right, sign, found);
        }
        Node::Binary(Operator::Subtract, left, right) => {
            collect_quotients(terms, *left, sign, found);
            collect_quotients(terms, *right, sign.turned(), found);
        }
        Node::Negate(inner) => collect_quotients(terms, *inner, sign.turned(), found),
        Node::Binary(Operator::Divide, ..) => found.push((term, sign)),
        Node::Library { name, arguments, .. } => match (name.as_str(), arguments.as_slice()) {
            ("assets.add", [value, _, _, quantity]) => {
                collect_quotients(terms, *value, sign, found);
                collect_quotients(terms, *quantity, sign, found);
            }
            (
                "assets.lovelace_of" | "assets.without_lovelace" | "assets.from_lovelace",
                [inner],
            ) => {
                collect_quotients(terms, *inner, sign, found);
            }
            ("assets.merge", [one, other]) => {
                collect_quotients(terms, *one, sign, found);
                collect_quotients(terms, *other, sign, found);
            }
            _ => {}
        },
        _ => {}
    }
}

/// How a quotient is rounded; nothing if it is not clear.
fn rounding(terms: &Terms<'_>, quotient: Term) -> Option<Rounding> {
    let Node::Binary(Operator::Divide, dividend, divisor) = terms.node(quotient) else {
        return None;
    };
    match terms.node(*dividend) {
        Node::Binary(Operator::Multiply, ..) if !terms.mentions(*dividend, *divisor) => {
            Some(Rounding::Down)
        }
        Node::Binary(Operator::Add | Operator::Subtract, ..)
            if terms.mentions(*dividend, *divisor) =>
        {
            Some(Rounding::Up)
        }
        _ => None,
    }
}

/// `a / b * c`. With `c` equal to `b` it rounds to a multiple on purpose, and a dividend that
/// contains the divisor rounds up on purpose.
fn loses_remainder(terms: &Terms<'_>, term: Term) -> bool {
    let Node::Binary(Operator::Multiply, left, right) = terms.node(term) else { return false };
    [(left, right), (right, left)].into_iter().any(|(quotient, factor)| {
        match terms.node(*quotient) {
            Node::Binary(Operator::Divide, dividend, divisor) => {
                divisor != factor && !terms.mentions(*dividend, *divisor)
            }
            _ => false,
        }
    })
}
