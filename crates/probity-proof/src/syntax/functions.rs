//! Functions: their names, their lines, their bodies, and which parameters they use.

use std::{collections::BTreeSet, ops::Range};

use tree_sitter::Node;

use super::{Grammar, Parsed, Visit};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Function {
    /// Empty for one that has none.
    pub(crate) name: String,
    /// From 1.
    pub(crate) first: u32,
    pub(crate) last: u32,
    pub(crate) body: Body,
    /// The text of its parameters, with their parentheses if it has any.
    pub(crate) parameters: String,
    /// The text of what it says it returns; empty if it says nothing.
    pub(crate) result: String,
    /// Those that it uses before it returns in any case.
    pub(crate) used_parameters: BTreeSet<String>,
    /// Whether statements come after it has returned in any case.
    pub(crate) has_dead_code: bool,
    /// Those that are of the type it returns, where both say theirs.
    pub(crate) alike_parameters: Vec<String>,
    /// Whether it gives several values, one after the other.
    pub(crate) yields: bool,
}

/// Where a function does its work, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Body {
    /// Between braces, which are part of it.
    Braces(Range<usize>),
    /// One expression, as an arrow function may have it.
    Expression(Range<usize>),
    /// Statements below one another, the first of them this far in; or on the line of its head.
    Indented { start: usize, indent: Option<usize> },
}

impl Parsed<'_> {
    pub(crate) fn functions(&self) -> Vec<Function> {
        let mut found = Vec::new();
        self.each(&mut |node, _| {
            if is_function(node.kind())
                && let Some(function) = self.function(node)
            {
                found.push(function);
            }
            Visit::Enter
        });
        found
    }

    fn function(&self, node: Node<'_>) -> Option<Function> {
        let body = node.child_by_field_name("body")?;
        let parameters = ["receiver", "parameters", "parameter"]
            .into_iter()
            .filter_map(|field| node.child_by_field_name(field));
        let names: BTreeSet<&str> = parameters
            .flat_map(|node| self.identifiers(node))
            .filter(|name| *name != "_")
            .collect();
        let (reached, has_dead_code) = reached(body);
        let used: BTreeSet<&str> =
            reached.into_iter().flat_map(|node| self.identifiers(node)).collect();
        let result =
            ["result", "return_type"].into_iter().find_map(|field| node.child_by_field_name(field));
        let result = result.map(|node| self.text(node)).unwrap_or_default();
        let line = |row: usize| u32::try_from(row).unwrap_or(u32::MAX).saturating_add(1);
        Some(Function {
            name: self.name(node),
            first: line(node.start_position().row),
            last: line(node.end_position().row),
            body: self.body(node, body),
            parameters: self.parameters(node),
            result: result.to_owned(),
            has_dead_code,
            alike_parameters: self.alike_parameters(node, result),
            used_parameters: names.intersection(&used).map(|name| (*name).to_owned()).collect(),
            yields: has_yield(body),
        })
    }

    fn parameters(&self, node: Node<'_>) -> String {
        let list = node.child_by_field_name("parameters");
        list.map(|list| self.text(list)).unwrap_or_default().to_owned()
    }

    fn alike_parameters(&self, node: Node<'_>, result: &str) -> Vec<String> {
        let Some(list) = node.child_by_field_name("parameters") else { return Vec::new() };
        let mut cursor = list.walk();
        let alike = |parameter: Node<'_>| {
            let kind = parameter.child_by_field_name("type")?;
            let name = parameter.child_by_field_name("pattern")?;
            (self.text(kind) == result).then(|| self.text(name).to_owned())
        };
        list.named_children(&mut cursor).filter_map(alike).collect()
    }

    fn body(&self, node: Node<'_>, body: Node<'_>) -> Body {
        if self.grammar == Grammar::Python && node.kind() != "lambda" {
            let start = body.start_position();
            let own_line = start.row > node.start_position().row;
            let indent = own_line.then_some(start.column);
            return Body::Indented { start: body.start_byte(), indent };
        }
        if self.text(body).starts_with('{') && body.kind() != "object" {
            Body::Braces(body.byte_range())
        } else {
            Body::Expression(body.byte_range())
        }
    }

    /// Its own name, or that of what it is bound to.
    fn name(&self, node: Node<'_>) -> String {
        if let Some(name) = node.child_by_field_name("name") {
            return self.text(name).to_owned();
        }
        let Some(parent) = node.parent() else { return String::new() };
        let name = ["name", "left", "key", "property"]
            .into_iter()
            .find_map(|field| parent.child_by_field_name(field));
        match name {
            Some(name) if name.id() != node.id() => {
                let text = self.text(name);
                text.rsplit('.').next().unwrap_or(text).to_owned()
            }
            _ => String::new(),
        }
    }

    /// The names that a text has, each once.
    pub(super) fn names(&self) -> BTreeSet<&str> {
        self.identifiers(self.tree.root_node()).into_iter().collect()
    }

    fn identifiers(&self, node: Node<'_>) -> Vec<&str> {
        let mut found = Vec::new();
        let mut pending = vec![node];
        while let Some(node) = pending.pop() {
            let is_name = matches!(
                node.kind(),
                "identifier"
                    | "shorthand_property_identifier"
                    | "shorthand_property_identifier_pattern"
                    | "self"
                    | "this"
                    | "super"
            );
            if is_name {
                found.push(self.text(node));
            }
            // A type is not a value.
            if node.kind() == "type_annotation" || node.kind() == "type" {
                continue;
            }
            let mut cursor = node.walk();
            pending.extend(node.children(&mut cursor));
        }
        found
    }
}

/// The statements of a body up to the first that leaves it in any case, and whether more follow.
fn reached(body: Node<'_>) -> (Vec<Node<'_>>, bool) {
    let mut cursor = body.walk();
    let mut statements: Vec<Node<'_>> = body.named_children(&mut cursor).collect();
    // Some grammars have a list between the braces and the statements.
    if let [list] = statements[..]
        && list.kind() == "statement_list"
    {
        let mut cursor = list.walk();
        statements = list.named_children(&mut cursor).collect();
    }
    let leaves = |node: &Node<'_>| {
        let inner = if node.kind() == "expression_statement" { node.named_child(0) } else { None };
        matches!(
            inner.unwrap_or(*node).kind(),
            "return_statement" | "return_expression" | "raise_statement" | "throw_statement"
        )
    };
    // What is one expression has no statements.
    let Some(at) = statements.iter().position(leaves) else { return (vec![body], false) };
    // JavaScript and Rust allow functions below the code that calls them.
    let is_dead = |node: &Node<'_>| !is_function(node.kind()) && !node.kind().contains("comment");
    let has_dead_code = statements.split_off(at + 1).iter().any(is_dead);
    (statements, has_dead_code)
}

fn has_yield(body: Node<'_>) -> bool {
    let mut pending = vec![body];
    while let Some(node) = pending.pop() {
        if matches!(node.kind(), "yield" | "yield_expression") {
            return true;
        }
        let mut cursor = node.walk();
        pending.extend(node.named_children(&mut cursor).filter(|child| !is_function(child.kind())));
    }
    false
}

fn is_function(kind: &str) -> bool {
    matches!(
        kind,
        "function_declaration"
            | "method_declaration"
            | "func_literal"
            | "function_definition"
            | "lambda"
            | "method_definition"
            | "arrow_function"
            | "function_expression"
            | "generator_function_declaration"
            | "generator_function"
            | "function_item"
            | "closure_expression"
    )
}

#[cfg(test)]
mod tests {
    use super::Grammar;

    #[test]
    fn functions_are_found_with_their_names_and_what_they_use() {
        for (path, source, expected) in [
            (
                "a.go",
                "package a\n\nfunc (c *C) F(a, b int) (int, error) {\n\treturn a, nil\n}\n",
                "F 3-5 (int, error) a",
            ),
            (
                "a.py",
                "class C:\n    async def f(self, a=1):\n        return self.x\n",
                "f 2-3  self",
            ),
            ("a.js", "const f = (a, { b }) => a + b;\n", "f 1-1  a b"),
            ("a.js", "exports.g = function (a) {\n  return 1;\n};\n", "g 1-3  "),
            ("a.js", "class C {\n  m(a) { return this.b; }\n}\n", "m 2-2  "),
            ("a.js", "function f(a) {\n  return 1;\n  return a;\n}\n", "f 1-4  "),
            ("a.py", "def f(a):\n    return 1\n    return a\n", "f 1-3  "),
            ("a.py", "def f(a, b):\n    if a: return 1\n    return b\n", "f 1-3  a b"),
            ("a.go", "package a\n\nfunc F(a int) int {\n\treturn 1\n\treturn a\n}\n", "F 3-6 int "),
            ("a.rs", "fn f(a: u8) -> u8 {\n    return 1;\n    a\n}\n", "f 1-4 u8 "),
            (
                "a.ts",
                "export function f(a: number): string {\n  return `${a}`;\n}\n",
                "f 1-3 : string a",
            ),
            (
                "a.rs",
                "impl C {\n    pub fn f(&self, a: u8) -> Option<u8> {\n        Some(a)\n    }\n}\n",
                "f 2-4 Option<u8> a",
            ),
        ] {
            let parsed = Grammar::of(path).unwrap().parse(source).unwrap();
            let found: Vec<String> = parsed
                .functions()
                .into_iter()
                .map(|function| {
                    let used: Vec<String> = function.used_parameters.into_iter().collect();
                    format!(
                        "{} {}-{} {} {}",
                        function.name,
                        function.first,
                        function.last,
                        function.result,
                        used.join(" ")
                    )
                })
                .collect();
            assert_eq!(found, [expected], "{source}");
        }
    }

    #[test]
    fn text_that_is_not_a_program_has_no_functions() {
        for path in ["a.go", "a.py", "a.js", "a.ts", "a.tsx", "a.rs"] {
            for source in ["", "{{{{", "func (", "def f(", "=> =>", "\u{0}\u{fffd}", "fn f("] {
                Grammar::of(path).unwrap().parse(source).unwrap().functions();
            }
        }
        assert_eq!(Grammar::of("a.rb"), None);
    }
}
