//! The text of a file in which one function returns another value.

use super::{Function, Grammar, functions::Body};

impl Grammar {
    /// The source with a function that does this statement, or gives this value, and nothing else.
    pub(crate) fn with_value(self, source: &str, function: &Function, value: &Value) -> String {
        let statement = match value {
            Value::Nothing => "return".to_owned(),
            Value::Returned(value) if !function.yields => format!("return {value}"),
            Value::Returned(value) if self == Self::Python => format!("yield from {value}; return"),
            Value::Returned(value) => format!("yield* {value}; return"),
            Value::Thrown(statement) => statement.clone(),
        };
        let (before, inserted, after) = match &function.body {
            Body::Braces(range) => {
                let at = range.start + 1;
                (source.get(..at), format!(" {statement}; "), source.get(at..))
            }
            Body::Indented { start, indent } => {
                let gap = match indent {
                    Some(indent) => format!("\n{}", indentation(source, *start, *indent)),
                    None => "; ".to_owned(),
                };
                (source.get(..*start), format!("{statement}{gap}"), source.get(*start..))
            }
            Body::Expression(range) => {
                let value = match (value, self) {
                    (Value::Returned(value), _) => format!("({value})"),
                    (Value::Nothing, Self::Python) => "None".to_owned(),
                    (Value::Nothing, Self::Rust) => "()".to_owned(),
                    (Value::Nothing, _) => "undefined".to_owned(),
                    (Value::Thrown(statement), Self::Python) => {
                        let error = statement.trim_start_matches("raise ");
                        format!("(_ for _ in ()).throw({error})")
                    }
                    (Value::Thrown(statement), Self::Rust) => format!("{{ {statement} }}"),
                    (Value::Thrown(statement), _) => format!("(() => {{ {statement} }})()"),
                };
                (source.get(..range.start), value, source.get(range.end..))
            }
        };
        format!("{}{inserted}{}", before.unwrap_or_default(), after.unwrap_or_default())
    }
}

impl Grammar {
    /// The statement by which a function throws, raises or panics.
    pub(crate) fn throwing(self) -> &'static str {
        match self {
            Self::Go => "panic(\"probity\")",
            Self::Rust => "panic!(\"probity\")",
            Self::Python => "raise ValueError(\"probity\")",
            _ => "throw new Error(\"probity\")",
        }
    }

    /// The source with functions that all throw at once; none if there is no function with a body.
    pub(crate) fn with_all_throwing(self, source: &str) -> Option<String> {
        let thrown = Value::Thrown(self.throwing().to_owned());
        let mut functions = self.parse(source)?.functions();
        functions.retain(|function| !matches!(function.body, Body::Expression(_)));
        functions.sort_by_key(|function| match &function.body {
            Body::Braces(range) | Body::Expression(range) => range.start,
            Body::Indented { start, .. } => *start,
        });
        if functions.is_empty() {
            return None;
        }
        let all = functions.iter().rev();
        Some(
            all.fold(source.to_owned(), |text, function| self.with_value(&text, function, &thrown)),
        )
    }
}

/// What a function is made to do.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Value {
    /// It returns at once.
    Nothing,
    /// It returns this expression.
    Returned(String),
    /// It throws, raises or panics by this statement.
    Thrown(String),
}

/// The blanks and tabs before a statement.
fn indentation(source: &str, start: usize, width: usize) -> &str {
    source.get(start.saturating_sub(width)..start).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{Grammar, Value};

    #[test]
    fn a_function_returns_what_it_is_told_in_every_language() {
        let three = Value::Returned("3".to_owned());
        for (path, source, expected) in [
            (
                "a.go",
                "package a\n\nfunc F() int {\n\treturn 1\n}\n",
                "package a\n\nfunc F() int { return 3; \n\treturn 1\n}\n",
            ),
            ("a.py", "def f():\n\treturn 1\n", "def f():\n\treturn 3\n\treturn 1\n"),
            ("a.py", "def f(): return 1\n", "def f(): return 3; return 1\n"),
            (
                "a.py",
                "def f():\n    yield 1\n",
                "def f():\n    yield from 3; return\n    yield 1\n",
            ),
            (
                "a.js",
                "function* f() { yield 1; }\n",
                "function* f() { yield* 3; return;  yield 1; }\n",
            ),
            ("a.js", "const f = () => 1;\n", "const f = () => (3);\n"),
            ("a.py", "f = lambda a: a + 1\n", "f = lambda a: (3)\n"),
            ("a.rs", "const F: fn(u8) -> u8 = |a| a + 1;\n", "const F: fn(u8) -> u8 = |a| (3);\n"),
            ("a.js", "const f = () => ({ a: 1 });\n", "const f = () => (3);\n"),
            ("a.ts", "function f() { return 1; }\n", "function f() { return 3;  return 1; }\n"),
            ("a.rs", "fn f() -> u8 { 1 }\n", "fn f() -> u8 { return 3;  1 }\n"),
        ] {
            let grammar = Grammar::of(path).unwrap();
            let function = grammar.parse(source).unwrap().functions().remove(0);
            let altered = grammar.with_value(source, &function, &three);
            assert_eq!(altered, expected);
            assert!(!grammar.parse(&altered).unwrap().tree.root_node().has_error(), "{altered}");
        }
    }

    #[test]
    fn every_function_of_a_test_throws() {
        for (path, source, expected) in [
            (
                "a.py",
                "def f():\n    pass\ndef test_x():\n    'Says.'\n    assert f()\n",
                "def f():\n    !\n    pass\ndef test_x():\n    !\n    'Says.'\n    assert f()\n",
            ),
            (
                "a.js",
                "test('x', () => { [1].map((n) => { f(n); }); });\n",
                "test('x', () => { !;  [1].map((n) => { !;  f(n); }); });\n",
            ),
            ("a.rs", "#[test]\nfn x() { f(|| 1) }\n", "#[test]\nfn x() { !;  f(|| 1) }\n"),
        ] {
            let grammar = Grammar::of(path).unwrap();
            let expected = expected.replace('!', grammar.throwing());
            assert_eq!(grammar.with_all_throwing(source), Some(expected));
        }
        assert_eq!(Grammar::Python.with_all_throwing("x = 1\n"), None);
    }
}
