//! Source text of other languages, as far as it is looked at: where a function is, what a test says.
//!
//! Nothing read here proves a claim. It says where to put another value, and which fixes to refuse.

pub(crate) mod aiken;
mod alter;
mod compared;
mod functions;
mod idle;
mod literals;

use std::fmt;

use tree_sitter::{Language, Node, Parser, Tree};

pub(crate) use self::{
    alter::Value,
    functions::Function,
    literals::{split, value},
};

/// Deeper trees than this are not walked.
const MOST_DEPTH: usize = 500;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Grammar {
    Go,
    Python,
    JavaScript,
    TypeScript,
    Tsx,
    Rust,
}

/// A text and its tree.
pub(crate) struct Parsed<'a> {
    grammar: Grammar,
    source: &'a str,
    tree: Tree,
}

impl Grammar {
    /// By the ending of a file's name.
    pub(crate) fn of(path: &str) -> Option<Self> {
        Some(match path.rsplit_once('.')?.1 {
            "go" => Self::Go,
            "py" => Self::Python,
            "js" | "mjs" | "cjs" | "jsx" => Self::JavaScript,
            "ts" | "mts" | "cts" => Self::TypeScript,
            "tsx" => Self::Tsx,
            "rs" => Self::Rust,
            _ => return None,
        })
    }

    fn language(self) -> Language {
        match self {
            Self::Go => tree_sitter_go::LANGUAGE.into(),
            Self::Python => tree_sitter_python::LANGUAGE.into(),
            Self::JavaScript => tree_sitter_javascript::LANGUAGE.into(),
            Self::TypeScript => tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
            Self::Tsx => tree_sitter_typescript::LANGUAGE_TSX.into(),
            Self::Rust => tree_sitter_rust::LANGUAGE.into(),
        }
    }

    pub(crate) fn parse(self, source: &str) -> Option<Parsed<'_>> {
        let mut parser = Parser::new();
        parser.set_language(&self.language()).ok()?;
        let tree = parser.parse(source, None)?;
        Some(Parsed { grammar: self, source, tree })
    }

    /// Whether two texts differ in comments and empty lines alone.
    pub(crate) fn is_same_code(self, one: &str, other: &str) -> bool {
        match (self.parse(one), self.parse(other)) {
            (Some(one), Some(other)) => one.code() == other.code(),
            _ => false,
        }
    }
}

impl<'a> Parsed<'a> {
    /// The code without its comments: kinds and depths of all nodes, and the words of the leaves.
    fn code(&self) -> Vec<(usize, u16, &'a str)> {
        let mut code = Vec::new();
        self.each(&mut |node, depth| {
            if node.kind().contains("comment") {
                return Visit::Skip;
            }
            let text = if node.child_count() == 0 { self.text(node) } else { "" };
            code.push((depth, node.kind_id(), text));
            Visit::Enter
        });
        code
    }

    /// The source without its comments and without the texts that stand alone, as those that
    /// document a function in Python.
    pub(crate) fn without_comments(&self) -> String {
        let mut parts = String::new();
        let mut end = 0;
        self.each(&mut |node, _| {
            let is_text = node.kind() == "expression_statement"
                && node.named_child_count() == 1
                && node.named_child(0).is_some_and(|child| child.kind() == "string");
            if !is_text && !node.kind().contains("comment") {
                return Visit::Enter;
            }
            parts.push_str(self.source.get(end..node.start_byte()).unwrap_or_default());
            end = node.end_byte();
            Visit::Skip
        });
        parts.push_str(self.source.get(end..).unwrap_or_default());
        parts
    }

    fn text(&self, node: Node<'_>) -> &'a str {
        self.source.get(node.byte_range()).unwrap_or_default()
    }

    /// Every node, parents before their children.
    fn each<'tree>(&'tree self, visit: &mut dyn FnMut(Node<'tree>, usize) -> Visit) {
        let mut pending = vec![(self.tree.root_node(), 0)];
        while let Some((node, depth)) = pending.pop() {
            if depth < MOST_DEPTH && visit(node, depth) == Visit::Enter {
                let mut cursor = node.walk();
                let children: Vec<Node<'_>> = node.children(&mut cursor).collect();
                pending.extend(children.into_iter().rev().map(|child| (child, depth + 1)));
            }
        }
    }
}

/// Whether the children of a node are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Visit {
    Enter,
    Skip,
}

impl fmt::Debug for Parsed<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Parsed").field("grammar", &self.grammar).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::Grammar;

    #[test]
    fn only_code_makes_a_difference() {
        for (path, old, new, same) in [
            ("a.go", "package a\n\nvar x = 1\n", "package a\n\n// FIXED\nvar x = 1\n", true),
            ("a.go", "package a\n\nvar x = 1\n", "package a\n\nvar x = 2\n", false),
            ("a.js", "f(`//a`);\n", "f(`//b`);\n", false),
            ("a.rs", "fn a<'a>() {} // x\n", "fn a<'a>() {}\n", true),
            ("a.py", "x = 1\n", "x = 1  # FIXED\n", true),
            ("a.py", "x = '#a'\n", "x = '#b'\n", false),
            ("a.py", "if a:\n    b()\nc()\n", "if a:\n    b()\n    c()\n", false),
            ("a.ts", "let x: number = 1;\n", "let x: number = 1; /* y */\n", true),
        ] {
            let grammar = Grammar::of(path).unwrap();
            assert_eq!(grammar.is_same_code(old, new), same, "{old}{new}");
        }
    }
}
