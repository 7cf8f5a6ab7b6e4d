//! Literals that code compares something with, plain and inside conversions.

use tree_sitter::Node;

use super::{Parsed, Visit, literals::is_literal};

/// Node kinds that are values made of other values.
const COMPOSITES: [&str; 9] = [
    "list",
    "tuple",
    "set",
    "dictionary",
    "array",
    "object",
    "composite_literal",
    "array_expression",
    "tuple_expression",
];

impl Parsed<'_> {
    /// Literals that something is compared with: by `==` and the like, by a method, or as a case.
    /// A literal in a conversion, as in `a == int64(7)`, is one of them.
    pub(crate) fn compared_literals(&self) -> Vec<String> {
        let (mut found, imports) = (Vec::new(), self.imports());
        self.each(&mut |node, _| {
            for operand in self.operands(node) {
                self.inner_literals(operand, &imports, &mut found);
            }
            Visit::Enter
        });
        found
    }

    fn operands<'tree>(&self, node: Node<'tree>) -> Vec<Node<'tree>> {
        let children = || -> Vec<Node<'tree>> { node.children(&mut node.walk()).collect() };
        let field = |name: &str| node.child_by_field_name(name).into_iter().collect();
        match node.kind() {
            "binary_expression" | "comparison_operator" => {
                let children = children();
                let compares = children.iter().any(|child| {
                    matches!(self.text(*child), "==" | "===" | "in" | "is" | "!=" | "!==")
                });
                if compares { children } else { Vec::new() }
            }
            "expression_case" | "switch_case" => field("value"),
            "let_condition" => field("pattern"),
            "match_pattern" => children(),
            "case_clause" => {
                children().into_iter().filter(|child| child.kind() != "block").collect()
            }
            "macro_invocation" if self.text(node).starts_with("matches!") => children(),
            "call" | "call_expression" => self.compared_by_call(node),
            _ => Vec::new(),
        }
    }

    /// The receiver and the arguments of `a.equals(7)`, and the values in `[7].includes(a)`.
    fn compared_by_call<'tree>(&self, call: Node<'tree>) -> Vec<Node<'tree>> {
        let Some((callee, arguments)) = parts(call) else { return Vec::new() };
        let name = self.text(callee).rsplit(['.', ':']).next().unwrap_or_default();
        let name = name.trim_matches('_').to_ascii_lowercase();
        let mut values: Vec<Node<'_>> = arguments.named_children(&mut arguments.walk()).collect();
        values.extend(receiver(callee));
        let is_equality = name.contains("equal")
            || matches!(name.as_str(), "eq" | "ne" | "is" | "cmp" | "compare" | "isclose");
        if !is_equality {
            let is_membership =
                matches!(name.as_str(), "contains" | "includes" | "has" | "indexof");
            values.retain(|value| {
                is_membership
                    && (COMPOSITES.contains(&value.kind()) || value.kind() == "new_expression")
            });
        }
        values
    }

    /// The literals of an operand, but not those inside a block, or a call that depends on more.
    fn inner_literals(&self, node: Node<'_>, imports: &[&str], found: &mut Vec<String>) {
        let mut pending = vec![node];
        while let Some(node) = pending.pop() {
            let is_entered = match node.kind() {
                kind if is_literal(kind) => {
                    found.push(self.signed(node));
                    false
                }
                "call" | "call_expression" | "new_expression" => !self.refers(node, imports),
                "expression_list"
                | "parenthesized_expression"
                | "case_pattern"
                | "tuple_struct_pattern"
                | "or_pattern"
                | "pattern_list"
                | "unary_expression"
                | "unary_operator"
                | "reference_expression"
                | "type_cast_expression"
                | "type_conversion_expression"
                | "as_expression"
                | "match_pattern"
                | "argument_list"
                | "arguments"
                | "keyword_argument"
                | "field_expression"
                | "member_expression"
                | "attribute"
                | "selector_expression"
                | "generic_function"
                | "literal_value"
                | "literal_element"
                | "keyed_element"
                | "pair"
                | "token_tree"
                | "literal" => true,
                "macro_invocation" => self.text(node).starts_with("vec!"),
                kind => COMPOSITES.contains(&kind),
            };
            if is_entered {
                let children: Vec<Node<'_>> = node.children(&mut node.walk()).collect();
                pending.extend(children.into_iter().rev());
            }
        }
    }

    /// Whether a value depends on a variable. The names of functions, types and packages are none.
    fn refers(&self, node: Node<'_>, imports: &[&str]) -> bool {
        let mut pending = vec![node];
        while let Some(node) = pending.pop() {
            if let Some((callee, arguments)) = parts(node) {
                pending.push(arguments);
                pending.extend(receiver(callee).filter(|value| !self.is_static(*value, imports)));
                continue;
            }
            if matches!(node.kind(), "identifier" | "self" | "this") {
                return true;
            }
            let is_named = matches!(node.kind(), "keyword_argument" | "keyed_element");
            let mut cursor = node.walk();
            let children = node.named_children(&mut cursor).skip(usize::from(is_named));
            pending.extend(children.filter(|child| !child.kind().contains("type")));
        }
        false
    }

    /// Whether a receiver is a type or a package, judged by its first name.
    fn is_static(&self, receiver: Node<'_>, imports: &[&str]) -> bool {
        let is_part = |character: char| !(character.is_alphanumeric() || character == '_');
        let first = self.text(receiver).split(is_part).next().unwrap_or_default();
        first.starts_with(char::is_uppercase)
            || !first.is_empty()
                && imports.iter().any(|import| import.split(is_part).any(|word| word == first))
    }

    fn imports(&self) -> Vec<&str> {
        let mut found = Vec::new();
        self.each(&mut |node, _| {
            let is_import = match node.kind() {
                "import_declaration" | "import_statement" | "import_from_statement" => true,
                "variable_declarator" => self.text(node).contains("require("),
                _ => false,
            };
            if is_import {
                found.push(self.text(node));
                return Visit::Skip;
            }
            Visit::Enter
        });
        found
    }
}

/// What a call calls, and with what.
fn parts(call: Node<'_>) -> Option<(Node<'_>, Node<'_>)> {
    let field = |name: &str| call.child_by_field_name(name);
    let mut callee = field("function").or_else(|| field("constructor"))?;
    if callee.kind() == "generic_function" {
        callee = callee.child_by_field_name("function")?;
    }
    Some((callee, field("arguments")?))
}

/// The value before the last dot of a callee.
fn receiver(callee: Node<'_>) -> Option<Node<'_>> {
    let names = ["value", "object", "operand"];
    names.into_iter().find_map(|name| callee.child_by_field_name(name))
}

#[cfg(test)]
mod tests {
    use super::super::Grammar;

    #[test]
    fn conversions_and_methods_compare_with_their_literals() {
        for (path, condition, expected) in [
            ("a.rs", "a == 'c' || g(3)", "'c'"),
            ("a.go", "a == -3 || g(\"a\")", "-3"),
            ("a.py", "a == [1, None]", "1 None"),
            ("a.js", "a === `b`", "`b`"),
            ("a.rs", "a == T::from(7)", "7"),
            ("a.rs", "a == 7.into()", "7"),
            ("a.rs", "a == i64::from(-7)", "-7"),
            ("a.rs", "a == 7_u8 as i64", "7_u8"),
            ("a.rs", "a == Some(\"x\".to_owned())", "\"x\""),
            ("a.rs", "a == \"7\".parse::<T>().unwrap()", "\"7\""),
            ("a.rs", "a == vec![7, 8]", "7 8"),
            ("a.rs", "a.eq(&7)", "7"),
            ("a.rs", "matches!(a, 7 | 8)", "7 8"),
            ("a.rs", "let Some(7) = a", "7"),
            ("a.rs", "a == xs.get(7)", ""),
            ("a.rs", "a == max(b, 7)", ""),
            ("a.rs", "a > T::from(7)", ""),
            ("a.go", "a == int64(7)", "7"),
            ("a.go", "a == T(7)", "7"),
            ("a.go", "a.Equal(decimal.NewFromInt(7))", "7"),
            ("a.go", "a.Cmp(big.NewInt(7)) == 0", "0 7"),
            ("a.go", "reflect.DeepEqual(xs, []int{7, 5})", "7 5"),
            ("a.go", "slices.Contains([]int{7}, a)", "7"),
            ("a.go", "bytes.Equal(a, []byte(\"x\"))", "\"x\""),
            ("a.go", "strings.Contains(a, \"x\")", ""),
            ("a.go", "a.Get(\"x\") == b", ""),
            ("a.py", "a == Decimal(\"7\")", "\"7\""),
            ("a.py", "a == decimal.Decimal('7')", "'7'"),
            ("a.py", "a == date(2020, month=7, day=9)", "2020 7 9"),
            ("a.py", "a == Fraction(int('7'))", "'7'"),
            ("a.py", "a in frozenset([7])", "7"),
            ("a.py", "a.__eq__(7)", "7"),
            ("a.py", "a.find('x') == b", ""),
            ("a.py", "options.get('x') is None", "None"),
            ("a.py", "a == str(b, 'utf-8')", ""),
            ("a.js", "a === BigInt(7)", "7"),
            ("a.js", "a === Number('7')", "'7'"),
            ("a.js", "a == new BigNumber(7)", "7"),
            ("a.js", "a.isEqualTo(BigNumber.from(7))", "7"),
            ("a.js", "+a === +new Date('x')", "'x'"),
            ("a.js", "Object.is(a, 7)", "7"),
            ("a.js", "[7].includes(a)", "7"),
            ("a.js", "new Set([7]).has(a)", "7"),
            ("a.js", "a.indexOf('x') === b", ""),
            ("a.js", "a.includes('x')", ""),
            ("a.ts", "a === (7 as Cents)", "7"),
        ] {
            let source = match path {
                "a.go" => {
                    let imports = "bytes decimal big".replace(' ', "\"\nimport \"m/");
                    format!("package a\nimport \"{imports}\"\nfunc f() {{ if {condition} {{}} }}\n")
                }
                "a.py" => format!("import decimal\nif {condition}: pass\n"),
                "a.rs" => format!("fn f() {{ if {condition} {{}} }}"),
                _ => format!("if ({condition}) {{}}"),
            };
            let mut compared =
                Grammar::of(path).unwrap().parse(&source).unwrap().compared_literals();
            compared.dedup();
            assert_eq!(compared.join(" "), expected, "{source}");
        }
    }
}
