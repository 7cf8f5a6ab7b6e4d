//! Code that does nothing, and is compiled all the same.
//!
//! Python shows its programs the compiled code of every function, in which no comment is left, and
//! JavaScript its text, from which a test can remove comments. A test that compares either would pass
//! for a fix that changes nothing.

use std::ops::RangeInclusive;

use tree_sitter::Node;

use super::{Grammar, Parsed, functions::Body};

/// Statements that are added: more than a fix of some lines adds, and fewer than anybody waits for.
const EMPTY_LISTS: usize = 40;
/// Literals and names of the other version that are added.
const MOST_WORDS: usize = 40;

impl Parsed<'_> {
    /// The text with idle code in every function that has one of these lines: lists that nobody keeps,
    /// and in them the literals and names of another text. None if there is no such function.
    pub(crate) fn with_idle_code(
        &self,
        lines: &RangeInclusive<u32>,
        other: &str,
    ) -> Option<String> {
        let words = Words::of(self.grammar)?;
        let mut places: Vec<(usize, Option<usize>)> = Vec::new();
        for function in self.functions() {
            if function.first > *lines.end() || function.last < *lines.start() {
                continue;
            }
            match function.body {
                Body::Indented { start, indent } => {
                    places.push((self.behind_texts(start)?, indent));
                }
                Body::Braces(range) => places.push((self.behind_texts(range.start)?, None)),
                Body::Expression(_) => {}
            }
        }
        places.sort_unstable();
        places.dedup();
        let idle = words.idle(other, &self.declared())?;
        let mut text = self.source.to_owned();
        for (start, indent) in places.iter().rev() {
            let gap = match indent {
                Some(width) => {
                    let before = self.source.get(..*start)?;
                    let line = before.rsplit_once('\n').map_or(before, |(_, line)| line);
                    format!("\n{}", line.get(..(*width).min(line.len()))?)
                }
                None => "; ".to_owned(),
            };
            text.insert_str(*start, &format!("{idle}{gap}"));
        }
        let is_right = !places.is_empty() && !words.have_error(&text);
        (is_right && !words.have_error(self.source)).then_some(text)
    }

    /// Names that `global` and `nonlocal` declare, which nothing may use before.
    fn declared(&self) -> Vec<&str> {
        let mut found = Vec::new();
        self.each(&mut |node, _| {
            if matches!(node.kind(), "global_statement" | "nonlocal_statement") {
                found.extend(self.text(node).split([' ', ',']));
            }
            super::Visit::Enter
        });
        found
    }

    /// The first statement of a body that is no text: such a text says what a function does, or how it
    /// is to be read. Without another one the end of the body.
    fn behind_texts(&self, start: usize) -> Option<usize> {
        let mut found = None;
        self.each(&mut |node, _| {
            let is_body = matches!(node.kind(), "block" | "statement_block");
            if is_body && node.start_byte() == start && found.is_none() {
                let is_text = |node: &Node<'_>| {
                    node.kind() == "comment"
                        || node.kind() == "expression_statement"
                            && node.named_child(0).is_some_and(|inner| inner.kind() == "string")
                };
                let mut cursor = node.walk();
                let first = node.named_children(&mut cursor).find(|node| !is_text(node));
                let end = node.end_byte() - usize::from(node.kind() == "statement_block");
                found = Some(first.map_or(end, |node| node.start_byte()));
            }
            super::Visit::Enter
        });
        found
    }
}

/// How a language says what does nothing.
struct Words {
    grammar: Grammar,
    before: &'static str,
    never: &'static str,
}

impl Words {
    fn of(grammar: Grammar) -> Option<Self> {
        let (before, never) = match grammar {
            Grammar::Python => ("", "[] and"),
            Grammar::JavaScript | Grammar::TypeScript | Grammar::Tsx => ("void ", "0 &&"),
            // Their programs do not see their functions.
            Grammar::Go | Grammar::Rust => return None,
        };
        Some(Self { grammar, before, never })
    }

    fn idle(&self, other: &str, declared: &[&str]) -> Option<String> {
        let Self { before, never, .. } = self;
        let parsed = self.grammar.parse(other)?;
        // A formatted text would run the code in it.
        let literals =
            parsed.literals().into_iter().filter(|text| !text.contains(['{', '\n', '`']));
        let literals = literals.take(MOST_WORDS).map(|literal| format!("{before}[{literal}]"));
        let names = parsed.names().into_iter().filter(|name| !declared.contains(name));
        let names = names.take(MOST_WORDS).map(|name| format!("{before}({never} {name})"));
        let lists = std::iter::repeat_n(format!("{before}[]"), EMPTY_LISTS);
        let statements = lists.chain(literals).chain(names);
        let whole = statements.filter(|statement| !self.have_error(statement));
        Some(whole.collect::<Vec<_>>().join("; "))
    }

    fn have_error(&self, text: &str) -> bool {
        self.grammar.parse(text).is_none_or(|parsed| parsed.tree.root_node().has_error())
    }
}

#[cfg(test)]
mod tests {
    use super::Grammar;

    #[test]
    fn idle_code_comes_behind_the_documentation_of_the_functions_that_differ() {
        let lists = ["[]"; super::EMPTY_LISTS].join("; ");
        for (source, line, other, expected) in [
            (
                "def f(a):\n    'Says.'\n    return a\n",
                3,
                "    return a + 1\n",
                "def f(a):\n    'Says.'\n    @; [1]; ([] and a)\n    return a\n",
            ),
            (
                "def f():\n    global x\n    x = 1\n",
                3,
                "    x = y\n",
                "def f():\n    @; ([] and y)\n    global x\n    x = 1\n",
            ),
            ("def f(a): return a\n", 1, "return -2\n", "def f(a): @; [-2]; return a\n"),
            (
                "def g():\n\tpass\ndef f():\n\tdef h():\n\t\treturn 1\n\treturn h\n",
                5,
                "\t\treturn x.y\n",
                "def g():\n\tpass\ndef f():\n\t@; ([] and x); ([] and y)\n\tdef h():\n\t\t@; \
                 ([] and x); ([] and y)\n\t\treturn 1\n\treturn h\n",
            ),
        ] {
            let parsed = Grammar::Python.parse(source).unwrap();
            let found = parsed.with_idle_code(&(line..=line), other).unwrap();
            assert_eq!(found, expected.replace('@', &lists));
        }
        let source = "function f(a) {\n  'use strict';\n  return a;\n}\n";
        let parsed = Grammar::JavaScript.parse(source).unwrap();
        let found = parsed.with_idle_code(&(3..=3), "  return a + 0;\n").unwrap();
        let lists = ["void []"; super::EMPTY_LISTS].join("; ");
        let idle = format!("{lists}; void [0]; void (0 && a); return a;");
        assert_eq!(found, source.replace("return a;", &idle));
        let parsed = Grammar::Python.parse("x = 1\n").unwrap();
        assert_eq!(parsed.with_idle_code(&(1..=1), "x = 2\n"), None);
    }
}
