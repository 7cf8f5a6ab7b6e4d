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

    /// With the minus before it.
    pub(super) fn signed(&self, node: Node<'_>) -> String {
        let text = self.text(node);
        // Between two values a minus subtracts; inside a macro all of them are siblings.
        let is_sign = |minus: Node<'_>| {
            let before = minus.prev_sibling();
            minus.kind() == "-"
                && before.is_none_or(|before| !before.is_named() && !")]".contains(before.kind()))
        };
        let is_negative = node.prev_sibling().is_some_and(is_sign);
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

/// What a literal means, so that `7`, `7.0`, `0x7`, `7_i64`, `7n` and `"7"` are the same.
pub(crate) fn value(literal: &str) -> String {
    let text = literal.trim_end_matches('#');
    let inner = match text.find(['"', '\'', '`']) {
        Some(at) => {
            let quoted = text.get(at..).unwrap_or_default();
            quoted.trim_matches(|character| quoted.starts_with(character))
        }
        None => text,
    };
    number(inner).unwrap_or_else(|| inner.to_owned())
}

fn number(text: &str) -> Option<String> {
    let plain = text.replace('_', "").to_ascii_lowercase();
    let (sign, digits) = match plain.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", plain.as_str()),
    };
    let radix = match digits.get(..2) {
        Some("0x") => 16,
        Some("0o") => 8,
        Some("0b") => 2,
        _ if digits.starts_with(|first: char| first.is_ascii_digit() || first == '.') => 10,
        _ => return None,
    };
    let digits = if radix == 10 { digits } else { digits.get(2..)? };
    // Rust, JavaScript and Go write the type behind the digits.
    let is_suffix = |character: char| "iun".contains(character) || radix == 10 && character == 'f';
    let digits = digits.split(is_suffix).next()?;
    let value = match u128::from_str_radix(digits, radix) {
        Ok(whole) => whole.to_string(),
        Err(_) => digits.parse::<f64>().ok()?.to_string(),
    };
    Some(if value == "0" { value } else { format!("{sign}{value}") })
}

pub(super) fn is_literal(kind: &str) -> bool {
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
    fn literals_that_mean_the_same_are_the_same() {
        for (written, meant) in [
            ("7", "7"),
            ("7.0", "7"),
            ("0x7", "7"),
            ("0xFu8", "15"),
            ("-7_i64", "-7"),
            ("7n", "7"),
            ("7.5f64", "7.5"),
            ("1_000", "1000"),
            ("1e3", "1000"),
            ("-0.0", "0"),
            ("'7'", "7"),
            ("b\"x\"", "x"),
            ("r#\"x\"#", "x"),
            ("`a b`", "a b"),
            ("\"\"", ""),
            ("None", "None"),
            ("\"nan\"", "nan"),
            ("\"7 of 9\"", "7 of 9"),
        ] {
            assert_eq!(super::value(written), meant, "{written}");
        }
    }

    #[test]
    fn literals_of_every_language_are_read() {
        for (path, source, literals) in [
            (
                "a.go",
                "package a\nfunc f() { if x == -3 || g(\"a\") { return []int{1, 2} } }\n",
                "-3 \"a\" 1 2",
            ),
            ("a.py", "assert f(-1, 'x') == [1, None]\n", "-1 'x' 1 None"),
            ("a.js", "assert.equal(f(1.5), x === `a`);", "1.5 `a`"),
            ("a.rs", "fn x() { assert_eq!(f(3), \"a\"); if y == 'c' {} }", "3 \"a\" 'c'"),
            ("a.rs", "fn x() { assert_eq!(f(-3, &[-4]), Ok(a - 5)); }", "-3 -4 5"),
        ] {
            let parsed = Grammar::of(path).unwrap().parse(source).unwrap();
            assert_eq!(parsed.literals().join(" "), literals, "{source}");
        }
    }
}
