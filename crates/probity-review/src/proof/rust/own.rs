//! Failures that are the test's own, as far as its text tells: no code can have a part in them.

use std::collections::BTreeSet;

use super::{
    super::regard::statements::{Statement, assigned, is_word, statements, words},
    marks::bare,
};

/// What ends a function in any case. `unreachable!` is not among them: it says that the code should
/// not have come there, which is a claim about the code.
const PANICS: [&str; 4] = ["panic!", "todo!", "unimplemented!", "assert!(false"];

/// Methods of the standard library that call what they are given for what they are called on.
const COMBINATORS: [&str; 16] = [
    "unwrap_or_else",
    "map_or_else",
    "or_else",
    "ok_or_else",
    "map_err",
    "map",
    "and_then",
    "then",
    "filter",
    "inspect",
    "inspect_err",
    "for_each",
    "or_insert_with",
    "get_or_insert_with",
    "get_or_init",
    "is_some_and",
];

/// Parts of words by which a test says that what it has handed over should not have been called.
const FORBIDS: [&str; 16] = [
    "not",
    "never",
    "n't",
    "twice",
    "again",
    "once",
    "call",
    "unexpected",
    "must",
    "should",
    "already",
    "lazy",
    "lazily",
    "evaluat",
    "invok",
    "reach",
];

/// Words of statements that look at nothing but themselves and the process, which the code has not
/// made.
const NEUTRAL: [&str; 51] = [
    "assert",
    "assert_eq",
    "assert_ne",
    "panic",
    "let",
    "mut",
    "if",
    "else",
    "true",
    "false",
    "Some",
    "None",
    "Ok",
    "Err",
    "std",
    "env",
    "var",
    "var_os",
    "args",
    "process",
    "id",
    "is_ok",
    "is_err",
    "is_some",
    "is_none",
    "unwrap",
    "expect",
    "unwrap_or_default",
    "unwrap_or",
    "ok",
    "err",
    "as_deref",
    "as_ref",
    "len",
    "count",
    "is_empty",
    "to_owned",
    "to_string",
    "into",
    "String",
    "str",
    "from",
    "as_str",
    "vec",
    "matches",
    "as",
    "fn",
    "usize",
    "i32",
    "bool",
    "eq",
];

/// Words by which a function may have been left before.
const LEAVING: [&str; 3] = ["return", "break", "continue"];

/// Whether the panic at this line is one that a closure of the test raises in any case, and the
/// closure was handed to a function that may do nothing else than call it.
pub(super) fn panics_by_itself(test: &str, line: u32) -> bool {
    let bare = bare(test);
    let statements = statements(&bare, false);
    let of_line = |it: &&Statement<'_>| (it.first..=it.last).contains(&line);
    statements.iter().filter(of_line).any(|statement| {
        let text = statement.text.trim_start();
        let raises = |text: &str| PANICS.iter().any(|panic| text.starts_with(panic));
        let around = match statement.above.last().and_then(|above| statements.get(*above)) {
            // In a block of its own, and the first there.
            Some(around) if raises(text) && around.text.trim_end().ends_with('|') => {
                let behind = statements
                    .iter()
                    .find(|it| it.first >= around.first && it.above.len() > around.above.len());
                if !behind.is_some_and(|first| std::ptr::eq(first.text, statement.text)) {
                    return false;
                }
                around.text
            }
            _ => text,
        };
        let handed = |(at, _): (usize, &str)| {
            let inside = around.get(at + 1..).unwrap_or_default().trim_start();
            let direct = raises(inside) || (inside.is_empty() && !std::ptr::eq(around, text));
            direct
                && callee(around.get(..at).unwrap_or_default())
                    .is_some_and(|name| !COMBINATORS.contains(&name))
        };
        let said = text_of(test, around_first(&statements, around, statement), statement.last);
        around.match_indices('|').any(handed) && !FORBIDS.iter().any(|word| said.contains(word))
    })
}

fn around_first(statements: &[Statement<'_>], around: &str, statement: &Statement<'_>) -> u32 {
    let found = statements.iter().find(|it| std::ptr::eq(it.text, around));
    found.map_or(statement.first, |it| it.first)
}

/// These lines in small letters.
fn text_of(test: &str, first: u32, last: u32) -> String {
    let number = |line: u32| usize::try_from(line).unwrap_or(usize::MAX);
    let lines = test.lines().skip(number(first).saturating_sub(1));
    let lines: Vec<&str> =
        lines.take(number(last.saturating_sub(first)).saturating_add(1)).collect();
    lines.join("\n").to_lowercase()
}

/// The function whose parentheses are open at the end of a text.
fn callee(before: &str) -> Option<&str> {
    let mut depth = 0_i32;
    for (at, character) in before.char_indices().rev() {
        match character {
            ')' | ']' => depth += 1,
            '(' | '[' if depth > 0 => depth -= 1,
            '(' => {
                let name = before.get(..at)?;
                let start = name.rfind(|it| !is_word(it)).map_or(0, |at| at + 1);
                return name.get(start..).filter(|name| !name.is_empty());
            }
            '[' => return None,
            _ => {}
        }
    }
    None
}

/// Whether the failing statement, with all that decides whether it runs and all that it was made of,
/// looks at nothing that the code could have made or changed.
pub(super) fn looks_at_nothing(test: &str, lines: &BTreeSet<u32>, code: &str) -> bool {
    let bare = bare(test);
    let statements = statements(&bare, false);
    let Some(parts) = parts(&statements, lines) else { return false };
    let of_parts = || parts.iter().filter_map(|part| statements.get(*part));
    let made: BTreeSet<&str> = of_parts()
        .filter_map(|it| assigned(it.text))
        .flat_map(|(left, _)| words(left))
        .filter(|it| !NEUTRAL.contains(it))
        .collect();
    let helpers: BTreeSet<&str> = statements.iter().filter_map(|it| declared(it.text)).collect();
    let neutral =
        |word: &str| NEUTRAL.contains(&word) || made.contains(word) || helpers.contains(word);
    // What is bound may be given to the code elsewhere, which can change it then.
    let elsewhere = statements
        .iter()
        .enumerate()
        .filter(|(number, _)| !parts.contains(number))
        .any(|(_, it)| words(it.text).any(|word| made.contains(word)));
    let apart = of_parts().all(|it| {
        let text = it.text.trim_start();
        !text.starts_with('.') && !text.contains('?') && words(text).all(neutral)
    });
    apart
        && !elsewhere
        && variables(test, &parts, &statements).all(|name| !is_known(name, test, code))
}

/// Whether the failing statement, or what it is made of, has one of these words.
pub(super) fn looks_at(test: &str, lines: &BTreeSet<u32>, names: &BTreeSet<&str>) -> bool {
    let bare = bare(test);
    let statements = statements(&bare, false);
    let parts = parts(&statements, lines).unwrap_or_default();
    let mut words =
        parts.iter().filter_map(|part| statements.get(*part)).flat_map(|it| words(it.text));
    words.any(|word| names.contains(word))
}

/// The failing statements, what decides about them and what they are made of; nothing if one of that
/// cannot be known.
fn parts(statements: &[Statement<'_>], lines: &BTreeSet<u32>) -> Option<BTreeSet<usize>> {
    let mut parts = BTreeSet::new();
    for (number, statement) in statements.iter().enumerate() {
        if lines.iter().any(|line| (statement.first..=statement.last).contains(line)) {
            parts.insert(number);
        }
    }
    if parts.is_empty() {
        return None;
    }
    loop {
        let before = parts.len();
        let mut found = BTreeSet::new();
        for part in &parts {
            let statement = statements.get(*part)?;
            found.extend(statement.above.iter().copied().filter(|above| {
                statements
                    .get(*above)
                    .is_some_and(|it| declared(it.text).is_none() && !is_module(it.text))
            }));
            let function = statement.above.iter().rev().find_map(|above| {
                statements.get(*above).and_then(|it| declared(it.text)).map(|name| (*above, name))
            });
            let (start, name) = function?;
            for (number, other) in statements.iter().enumerate() {
                let names: BTreeSet<&str> = words(statement.text).collect();
                let makes = assigned(other.text).is_some_and(|(left, _)| {
                    words(left).any(|it| names.contains(it) && !NEUTRAL.contains(&it))
                });
                // Of a helper, where it is called; of every function, where it may be left before.
                let calls =
                    declared(other.text).is_none() && words(other.text).any(|it| it == name);
                let leaves = other.above.contains(&start)
                    && number < *part
                    && (words(other.text).any(|it| LEAVING.contains(&it))
                        || other.text.contains("?"));
                // A helper that is called takes part with all it has.
                let helper = other.above.iter().any(|above| {
                    statements
                        .get(*above)
                        .and_then(|it| declared(it.text))
                        .is_some_and(|it| names.contains(it) && it != name)
                });
                if makes || calls || leaves || helper {
                    found.insert(number);
                }
            }
        }
        parts.extend(found);
        if parts.len() == before {
            return Some(parts);
        }
    }
}

/// The name of a function that is declared here.
fn declared(text: &str) -> Option<&str> {
    let mut rest = words(text)
        .skip_while(|it| ["pub", "async", "test", "const", "unsafe", "should_panic"].contains(it));
    rest.next().filter(|it| *it == "fn").and_then(|_| rest.next())
}

fn is_module(text: &str) -> bool {
    words(text).any(|it| it == "mod")
}

/// The variables of the environment that these statements name, and anything else between quotes.
fn variables<'a>(
    test: &'a str,
    parts: &BTreeSet<usize>,
    statements: &[Statement<'_>],
) -> impl Iterator<Item = &'a str> {
    let lines: BTreeSet<u32> = parts
        .iter()
        .filter_map(|part| statements.get(*part))
        .flat_map(|it| it.first..=it.last)
        .collect();
    let of_parts = test.lines().zip(1_u32..).filter(move |(_, number)| lines.contains(number));
    of_parts.flat_map(|(line, _)| {
        line.match_indices("env::var").filter_map(|(at, _)| line.get(at..)?.split('"').nth(1))
    })
}

/// Whether a part of a variable's name is in the code, or in the test a second time: then the code
/// may be meant to set it.
fn is_known(name: &str, test: &str, code: &str) -> bool {
    let (name, test, code) = (name.to_lowercase(), test.to_lowercase(), code.to_lowercase());
    name.split(|it: char| !it.is_alphanumeric())
        .filter(|part| !part.is_empty())
        .any(|part| code.contains(part) || test.matches(part).count() > 1)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{looks_at_nothing, panics_by_itself};

    fn marked(body: &str) -> (String, u32) {
        let source = format!(
            "use calc::*;\n\n#[test]\nfn x() {{\n{body}\n}}\n\nfn fail() {{\n    panic!(\"no\"); //->\n}}\n"
        );
        let sign = if source.contains("<-") { "<-" } else { "//->" };
        let line = source.lines().position(|line| line.contains(sign)).unwrap() + 1;
        (source.replace("<-", "").replace("//->", ""), line.try_into().unwrap())
    }

    #[test]
    fn a_closure_that_panics_in_any_case_is_the_tests_own() {
        for (body, own) in [
            ("    apply(|_| panic!(\"boom\"), 1); <-", true),
            ("    apply(|_| {\n        panic!(\"boom\") <-\n    }, 1);", true),
            ("    apply(move |n: i32| -> i32 { panic!(\"boom\") }, 1); <-", false),
            ("    apply(|_| assert!(false), 1); <-", true),
            ("    apply(|n| assert!(n > 0), 1); <-", false),
            ("    visit(|n| if n < 1 { panic!(\"boom\") }); <-", false),
            ("    visit(|n| {\n        seen += n;\n        panic!(\"boom\"); <-\n    });", false),
            ("    cache.get(1, || panic!(\"must not be called\")); <-", false),
            ("    cache.get(1, || unreachable!()); <-", false),
            ("    let got = find(1).unwrap_or_else(|| panic!(\"boom\")); <-", false),
            ("    let bad = || panic!(\"boom\"); bad(); <-", false),
            ("    panic!(\"boom\"); <-", false),
        ] {
            let (source, line) = marked(body);
            assert_eq!(panics_by_itself(&source, line), own, "{source}");
        }
    }

    #[test]
    fn a_statement_that_names_nothing_of_the_code_cannot_depend_on_it() {
        let nope = "assert!(std::env::var(\"NOPE\").is_ok());";
        let own = |body: &str| body.replace("NOPE!", nope);
        for (body, nothing) in [
            ("    b.put(3);\n    NOPE! <-", true),
            (
                "    b.put(3);\n    let n = std::env::args().count();\n    assert!(n > 1000); <-",
                true,
            ),
            ("    b.put(3);\n    fail();", true),
            ("    b.put(3);\n    if b.total != 3 {\n        fail();\n    }", false),
            ("    b.put(3);\n    if b.total == 3 {\n        return;\n    }\n    NOPE! <-", false),
            ("    b.put(3)?;\n    NOPE! <-", false),
            ("    let mut n = 0;\n    bump(&mut n);\n    assert_eq!(n, 1); <-", false),
            ("    let n = 0;\n    assert_eq!(n, 1); <-", true),
            ("    b.put(3);\n    assert_eq!(b.total, 3); <-", false),
            ("    for n in b.items() {\n        NOPE! <-\n    }", false),
            ("    b.each(|n| {\n        NOPE! <-\n    });", false),
            ("    let Some(n) = b.get() else {\n        panic!(\"x\"); <-\n    };", false),
            ("    load(\"NOPE=1\");\n    NOPE! <-", false),
            ("    save();\n    assert!(std::path::Path::new(\"x\").exists()); <-", false),
            (
                "    let start = std::time::Instant::now();\n    b.put(3);\n    assert!(start.elapsed().as_secs() < 1); <-",
                false,
            ),
            ("    assert_eq!(LIMIT, 3); <-", false),
        ] {
            let (source, line) = marked(&own(body));
            assert_eq!(
                looks_at_nothing(&source, &BTreeSet::from([line]), "pub fn put() {}"),
                nothing,
                "{source}"
            );
        }
        let (source, line) = marked(&own("    b.put(3);\n    NOPE! <-"));
        assert!(!looks_at_nothing(&source, &BTreeSet::from([line]), "set_var(\"nope\", \"1\")"));
        assert!(!looks_at_nothing(&source, &BTreeSet::new(), ""));
        for nonsense in ["", "}}{{", "fn x( {", "'", "|", "\u{fc}|{"] {
            assert!(!looks_at_nothing(nonsense, &BTreeSet::from([1]), ""), "{nonsense}");
            assert!(!panics_by_itself(nonsense, 1), "{nonsense}");
        }
    }
}
