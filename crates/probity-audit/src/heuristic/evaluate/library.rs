//! What is known about the standard library: lists and their elements, options, the own input.

use super::{Evaluator, Location, Node, Operator, Outcomes, Path, Root, Term};
use crate::heuristic::{path::FactSource, term::Selector};

impl Evaluator<'_> {
    pub(super) fn library_call(
        &mut self,
        name: &str,
        arguments: Vec<Term>,
        path: Path,
        at: Location,
    ) -> Outcomes {
        match (name, arguments.as_slice()) {
            ("builtin.head_list", [list]) => {
                let selector = Selector::Position(0);
                return self.element(*list, selector, FactSource::Required, path, at);
            }
            ("builtin.tail_list", [list]) => {
                return vec![(path, self.terms.add(Node::Tail(*list), at))];
            }
            ("list.length", [list]) => {
                if let Some(("list.filter", [inner, test])) = self.terms.library(*list) {
                    let arguments = vec![*inner, *test];
                    return self.library_call("list.count", arguments, path, at);
                }
            }
            _ => {}
        }
        let parts = self.element_parts(name, &arguments, &path, at);
        // Both versions of the standard library make pairs of a dictionary.
        let name = if name == "dict.to_list" { "dict.to_pairs" } else { name };
        let node = Node::Library { name: name.to_owned(), arguments, parts };
        vec![(path, self.terms.add(node, at))]
    }

    /// What a function does with the elements of a list: its results and its conditions.
    fn element_parts(
        &mut self,
        name: &str,
        arguments: &[Term],
        path: &Path,
        at: Location,
    ) -> Vec<Term> {
        let (Some(list), Some(function)) = (arguments.first(), arguments.last()) else {
            return Vec::new();
        };
        let Some(arity) = self.arity(*function) else { return Vec::new() };
        if arguments.len() < 2 || !(name.starts_with("list.") || name.starts_with("pairs.")) {
            return Vec::new();
        }
        let selector = Selector::Every(*function);
        let mut parts = Vec::new();
        for (path, element) in self.element(*list, selector, FactSource::Branch, path.clone(), at) {
            let given = self.fold_arguments(name, element, arity, at);
            let known = path.facts.len();
            for (path, result) in self.apply(*function, given, path, at) {
                parts.push(result);
                parts.extend(path.facts.iter().skip(known).map(|fact| fact.term));
                if matches!(self.terms.node(result), Node::Condition(..)) {
                    let assumed = self.assume(result, true, FactSource::Branch, path, at);
                    let facts = assumed.iter().flat_map(|path| path.facts.iter().skip(known));
                    parts.extend(facts.map(|fact| fact.term));
                }
            }
        }
        parts.sort();
        parts.dedup();
        parts
    }

    fn fold_arguments(
        &mut self,
        name: &str,
        element: Term,
        arity: usize,
        at: Location,
    ) -> Vec<Term> {
        match arity {
            1 => vec![element],
            2 if name.starts_with("pairs.") => {
                vec![self.field(element, "1st", at), self.field(element, "2nd", at)]
            }
            2 if name == "list.reduce" => vec![self.unknown(at), element],
            2 if name == "list.indexed_map" => vec![self.unknown(at), element],
            2 => vec![element, self.unknown(at)],
            _ => vec![
                self.field(element, "1st", at),
                self.field(element, "2nd", at),
                self.unknown(at),
            ],
        }
    }

    /// An element of a list, with what follows from the way in which the list was made.
    pub(super) fn element(
        &mut self,
        list: Term,
        selector: Selector,
        source: FactSource,
        path: Path,
        at: Location,
    ) -> Outcomes {
        match self.terms.node(list).clone() {
            Node::List(items, tail) => match &selector {
                Selector::Position(position) if *position < items.len() => {
                    return vec![(path, items[*position])];
                }
                Selector::Match(..) if tail.is_none() && items.len() <= 4 => {
                    return items.into_iter().map(|item| (path.clone(), item)).collect();
                }
                _ => {}
            },
            Node::Library { name, arguments, .. } => match (name.as_str(), arguments.as_slice()) {
                ("list.filter", [inner, test]) => {
                    let selector = match selector {
                        Selector::Position(position) => Selector::Match(*test, position),
                        other => other,
                    };
                    let mut found = Vec::new();
                    for (path, element) in self.element(*inner, selector, source, path, at) {
                        let paths = self.assume_call(*test, element, true, source, path, at);
                        found.extend(paths.into_iter().map(|path| (path, element)));
                    }
                    return found;
                }
                ("list.map", [inner, function]) => {
                    let mut found = Vec::new();
                    for (path, element) in self.element(*inner, selector, source, path, at) {
                        found.extend(self.apply(*function, vec![element], path, at));
                    }
                    return found;
                }
                ("transaction.find_script_outputs", [outputs, hash]) => {
                    return self.script_output(list, *outputs, *hash, selector, source, path, at);
                }
                _ => {}
            },
            _ => {}
        }
        vec![(path, self.terms.add(Node::Element(list, selector), at))]
    }

    /// `find_script_outputs` compares the payment credential alone.
    #[expect(clippy::too_many_arguments, reason = "both lists, the hash, and where it is used")]
    fn script_output(
        &mut self,
        list: Term,
        outputs: Term,
        hash: Term,
        selector: Selector,
        source: FactSource,
        path: Path,
        at: Location,
    ) -> Outcomes {
        let selector = match selector {
            Selector::Position(position) => Selector::Match(list, position),
            other => other,
        };
        let at_call = self.terms.origin(list);
        let element = self.terms.add(Node::Element(outputs, selector), at_call);
        let address = self.field(element, "address", at_call);
        let credential = self.field(address, "payment_credential", at_call);
        let fields = vec![("Script.0".to_owned(), hash)];
        let script = Node::Construct { name: "Script".to_owned(), base: None, fields };
        let script = self.terms.add(script, at);
        let equal = self.terms.add(Node::Binary(Operator::Equal, credential, script), at_call);
        let paths = self.fact(equal, true, source, path, at_call);
        paths.into_iter().map(|path| (path, element)).collect()
    }

    /// Whether `Some` of this value says more than that there is one.
    pub(super) fn unwraps_by_itself(&self, value: Term) -> bool {
        match self.terms.node(value) {
            Node::Root(Root::Datum) => true,
            Node::Library { name, .. } => matches!(
                name.as_str(),
                "list.find" | "list.head" | "list.at" | "transaction.find_input"
            ),
            _ => false,
        }
    }

    pub(super) fn unwrap_some(
        &mut self,
        value: Term,
        source: FactSource,
        path: Path,
        at: Location,
    ) -> Outcomes {
        if self.terms.is_root(value, Root::Datum) {
            return vec![(path, self.terms.root(Root::State))];
        }
        let call = self
            .terms
            .library(value)
            .map(|(name, arguments)| (name.to_owned(), arguments.to_vec()));
        let (name, arguments) = call.unwrap_or_default();
        let at_call = self.terms.origin(value);
        match (name.as_str(), arguments.as_slice()) {
            ("list.find", [list, test]) => {
                let selector = Selector::Match(*test, 0);
                let mut found = Vec::new();
                for (path, element) in self.element(*list, selector, source, path, at_call) {
                    let paths = self.assume_call(*test, element, true, source, path, at_call);
                    found.extend(paths.into_iter().map(|path| (path, element)));
                }
                found
            }
            ("list.head", [list]) => {
                self.element(*list, Selector::Position(0), source, path, at_call)
            }
            ("list.at", [list, index]) => {
                self.element(*list, Selector::At(*index), source, path, at_call)
            }
            ("transaction.find_input", [inputs, reference]) => {
                let in_inputs = self.terms.is_transaction_field(*inputs, "inputs");
                if in_inputs && self.terms.is_root(*reference, Root::OwnReference) {
                    return vec![(path, self.terms.root(Root::OwnInput))];
                }
                let node = Node::Element(*inputs, Selector::At(*reference));
                let element = self.terms.add(node, at_call);
                let own = self.field(element, "output_reference", at_call);
                let equal = self.terms.add(Node::Binary(Operator::Equal, own, *reference), at_call);
                let paths = self.fact(equal, true, source, path, at_call);
                paths.into_iter().map(|path| (path, element)).collect()
            }
            _ => vec![(path, self.payload(value, "Some", None, 0, at))],
        }
    }

    /// What the old `ctx.purpose`, or `ctx.info`, says about the own script.
    pub(super) fn purpose_payload(&mut self, value: Term, key: &str) -> Option<Term> {
        let Node::Field(owner, name) = self.terms.node(value) else { return None };
        if !self.terms.is_root(*owner, Root::Context)
            || !matches!(name.as_str(), "purpose" | "info")
        {
            return None;
        }
        let root = match key {
            "Spend.0" | "Spending.0" | "output" => Root::OwnReference,
            "Spending.1" | "datum" => Root::Datum,
            "Mint.0" | "Minting.0" => Root::PolicyId,
            "WithdrawFrom.0" | "Withdraw.0" | "Withdrawing.0" => Root::Subject,
            _ => return None,
        };
        Some(self.terms.root(root))
    }
}
