//! Rounding: a division before a multiplication loses what the multiplication needs.

use super::{Class, HandlerPaths, Hit, Node, Operator, Project, Risk, Term, Terms};

pub(super) const CLASS: Class = Class {
    name: "rounding",
    title: "Division before multiplication",
    severity: Risk::Medium,
    summary: "The amount is divided before it is multiplied. Integer division drops the remainder, \
              so small amounts become zero.",
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
    }
    hits
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
