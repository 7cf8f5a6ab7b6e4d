//! Literals: those of a test, and those that code compares something with.

use tree_sitter::Node;

use super::{Parsed, Visit};

impl Parsed<'_> {
    /// Every literal as it is written, each once, in the order of the text.
    pub(crate) fn literals(&self) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        self.each(&mut |node, _| {
            if !is_literal(node.kind()) {
                return Visit::Enter;
            }
            let text = self.signed(node);
            if !found.contains(&text) {
                found.push(text);
            }
            Visit::Skip
        });
        found
    }

    /// Lists, objects and the like that are made of literals alone.
    pub(crate) fn composites(&self) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        self.each(&mut |node, _| {
            let is_composite = matches!(
                node.kind(),
                "list"
                    | "dictionary"
                    | "tuple"
                    | "set"
                    | "array"
                    | "object"
                    | "composite_literal"
                    | "array_expression"
            );
            let text = self.text(node);
            if is_composite && self.is_plain(node) && !found.iter().any(|known| known == text) {
                found.push(text.to_owned());
            }
            Visit::Enter
        });
        found
    }

    /// What Rust's macros compare with each other, as it is written: inside of a macro no grammar
    /// knows an expression.
    pub(crate) fn compared_in_macros(&self) -> Vec<&str> {
        let mut found = Vec::new();
        self.each(&mut |node, _| {
            let name = node.child_by_field_name("macro").map(|name| self.text(name));
            if node.kind() == "macro_invocation" && name == Some("assert_eq") {
                let arguments = self.text(node).split_once('!').map_or("", |(_, rest)| rest.trim());
                let inner = arguments.get(1..arguments.len().saturating_sub(1)).unwrap_or_default();
                found.extend(split(inner).into_iter().take(2).map(str::trim));
            }
            Visit::Enter
        });
        found
    }

    /// Literals that something is compared with: by `==` and the like, or as a case.
    pub(crate) fn compared_literals(&self) -> Vec<String> {
        let mut found = Vec::new();
        self.each(&mut |node, _| {
            let compares = match node.kind() {
                "binary_expression" | "comparison_operator" => {
                    let mut cursor = node.walk();
                    let mut operators = node.children(&mut cursor);
                    operators.any(|child| {
                        matches!(self.text(child), "==" | "===" | "in" | "is" | "!=" | "!==")
                    })
                }
                "expression_case" | "switch_case" | "case_clause" | "match_pattern" => true,
                _ => false,
            };
            if compares {
                let mut cursor = node.walk();
                let value = node.child_by_field_name("value");
                let operands: Vec<Node<'_>> = match node.kind() {
                    "expression_case" | "switch_case" => value.into_iter().collect(),
                    "case_clause" => {
                        node.children(&mut cursor).filter(|it| it.kind() != "block").collect()
                    }
                    _ => node.children(&mut cursor).collect(),
                };
                for operand in operands {
                    self.inner_literals(operand, &mut found);
                }
            }
            Visit::Enter
        });
        found
    }

    /// The literals of an operand, but not those inside a call or a block of it.
    fn inner_literals(&self, node: Node<'_>, found: &mut Vec<String>) {
        let mut pending = vec![node];
        while let Some(node) = pending.pop() {
            if is_literal(node.kind()) {
                found.push(self.signed(node));
            } else if matches!(
                node.kind(),
                "expression_list"
                    | "parenthesized_expression"
                    | "list"
                    | "tuple"
                    | "set"
                    | "array"
                    | "case_pattern"
                    | "or_pattern"
                    | "pattern_list"
                    | "unary_expression"
                    | "unary_operator"
                    | "match_pattern"
                    | "literal"
            ) {
                let mut cursor = node.walk();
                let children: Vec<Node<'_>> = node.children(&mut cursor).collect();
                pending.extend(children.into_iter().rev());
            }
        }
    }

    /// With the minus before it.
    fn signed(&self, node: Node<'_>) -> String {
        let text = self.text(node);
        let is_negative = node
            .prev_sibling()
            .is_some_and(|before| before.kind() == "-" && before.prev_sibling().is_none());
        if is_negative { format!("-{text}") } else { text.to_owned() }
    }

    fn is_plain(&self, node: Node<'_>) -> bool {
        let mut pending = vec![node];
        while let Some(node) = pending.pop() {
            let refers = matches!(
                node.kind(),
                "call"
                    | "call_expression"
                    | "identifier"
                    | "attribute"
                    | "member_expression"
                    | "selector_expression"
                    | "spread_element"
                    | "macro_invocation"
                    | "await_expression"
                    | "subscript"
            );
            if refers {
                return false;
            }
            let mut cursor = node.walk();
            // The name of a field is no name of a value.
            let names = usize::from(node.kind() == "keyed_element");
            pending.extend(node.named_children(&mut cursor).skip(names));
        }
        true
    }
}

/// At the commas that are in no brackets and in no text.
pub(crate) fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start, mut quoted) = (Vec::new(), 0_i32, 0, false);
    let mut before = ' ';
    for (at, character) in text.char_indices() {
        match character {
            '"' if before != '\\' => quoted = !quoted,
            _ if quoted => {}
            '(' | '[' | '{' | '<' => depth += 1,
            ')' | ']' | '}' | '>' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(text.get(start..at).unwrap_or_default());
                start = at + 1;
            }
            _ => {}
        }
        before = character;
    }
    parts.push(text.get(start..).unwrap_or_default());
    parts.retain(|part| !part.trim().is_empty());
    parts
}

fn is_literal(kind: &str) -> bool {
    matches!(
        kind,
        "int_literal"
            | "float_literal"
            | "interpreted_string_literal"
            | "raw_string_literal"
            | "rune_literal"
            | "integer"
            | "float"
            | "string"
            | "number"
            | "template_string"
            | "integer_literal"
            | "string_literal"
            | "char_literal"
            | "boolean_literal"
            | "true"
            | "false"
            | "nil"
            | "none"
            | "null"
            | "undefined"
    )
}

#[cfg(test)]
mod tests {
    use super::super::Grammar;

    #[test]
    fn composites_are_made_of_literals_alone() {
        for (path, source, expected) in [
            ("a.go", "package a\nvar x = f(p.Box{W: 1, H: 2}, []int{y})\n", "p.Box{W: 1, H: 2}"),
            ("a.py", "f([1, (2, 3)], [x])\n", "[1, (2, 3)] (2, 3)"),
            ("a.js", "f({ a: 1 }, [g()]);", "{ a: 1 }"),
        ] {
            let parsed = Grammar::of(path).unwrap().parse(source).unwrap();
            assert_eq!(parsed.composites().join(" "), expected, "{source}");
        }
    }

    #[test]
    fn literals_of_every_language_are_read() {
        for (path, source, literals, compared) in [
            (
                "a.go",
                "package a\nfunc f() { if x == -3 || g(\"a\") { return []int{1, 2} } }\n",
                "-3 \"a\" 1 2",
                "-3",
            ),
            ("a.py", "assert f(-1, 'x') == [1, None]\n", "-1 'x' 1 None", "1 None"),
            ("a.js", "assert.equal(f(1.5), x === `a`);", "1.5 `a`", "`a`"),
            ("a.rs", "fn x() { assert_eq!(f(3), \"a\"); if y == 'c' {} }", "3 \"a\" 'c'", "'c'"),
        ] {
            let parsed = Grammar::of(path).unwrap().parse(source).unwrap();
            assert_eq!(parsed.literals().join(" "), literals, "{source}");
            assert_eq!(parsed.compared_literals().join(" "), compared, "{source}");
        }
    }
}
