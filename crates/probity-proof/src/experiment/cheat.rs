//! The plain forms of a fix that makes a test pass without curing anything.
//!
//! These rules only refuse. What they do not see, the existing tests have to.

use std::collections::BTreeSet;

use probity_finding::patch::Patch;

use crate::{
    Cheat, Claim,
    syntax::{self, Grammar, Parsed},
};

/// Words by which code finds out that a test runs it.
const DETECTION: &str = "PYTEST_CURRENT_TEST pytest unittest JEST_WORKER_ID VITEST NODE_ENV NODE_TEST_CONTEXT \
    testing.Testing flag.Lookup test.v cfg!(test) cfg(test) sys.argv process.argv os.Args \
    env::args sys._getframe inspect.stack inspect.currentframe traceback.extract .stack \
    runtime.Caller Backtrace:: zz_probity PROBITY_ sys.modules CARGO_ current_exe \
    thread::current /proof import.meta.main";

/// The same in languages that have no grammar here.
const PLAIN_DETECTION: &str = "BATS_ RSpec Minitest PHPUnit org.junit GTEST_ gtest getStackTrace StackWalker \
    debug_backtrace caller( $PROGRAM_NAME __FILE__ BASH_SOURCE FUNCNAME HARNESS_";

/// What stands in a line that compares, in languages that have no grammar here.
const PLAIN_COMPARISONS: [&str; 10] =
    ["==", " -eq ", "[ ", "case ", "when ", ".equals(", ".eql?", "switch", "in_array(", " eq "];

/// Words by which code reads the environment, and what test runs have in it.
const ENVIRONMENT: [&str; 6] =
    ["environ", "getenv", "process.env", "Getenv", "LookupEnv", "env::var"];
const OF_TESTS: [&str; 3] = ["\"CI\"", "'CI'", "env.CI"];

/// Words by which code takes failures away.
const SILENCE: &str = "exit(0) Exit(0) _exit( node:assert 'assert' \"assert\" AssertionError set_hook \
    uncaughtException unhandledRejection excepthook builtins. globalThis.expect atexit t.Skip \
    catch_unwind";

/// Values that a guard may be about whatever the test gives: small ones, none, and limits of types.
const ORDINARY: &str = "0 1 2 -1 nil null none undefined nan inf -inf infinity -infinity true false \
    127 -128 128 255 256 32767 -32768 65535 65536 2147483647 -2147483648 2147483648 4294967295 \
    4294967296 9007199254740991 -9007199254740991 9223372036854775807 -9223372036854775808 \
    9223372036854775808 18446744073709551615";

/// What is dishonest in the change of one file.
pub(super) fn found(
    path: &str,
    old: &str,
    new: &str,
    patch: &Patch,
    claim: &Claim,
) -> Option<Cheat> {
    let grammar = Grammar::of(path);
    let code = |text: &str| Some(grammar?.parse(text)?.without_comments());
    let (known, added) = match (code(old), code(new)) {
        (Some(old), Some(new)) => {
            let added = without_lines(&new, &old);
            (old, added)
        }
        _ => (old.to_owned(), patch.added().flat_map(|line| [line, "\n"]).collect()),
    };
    let is_new = |word: &str| added.contains(word) && !known.contains(word);
    let plain = if grammar.is_none() { PLAIN_DETECTION } else { "" };
    let words = DETECTION.split(' ').chain(plain.split_whitespace());
    let mut detection = words.filter(|word| is_new(word)).map(str::to_owned);
    let name = claim.test_name.as_deref().and_then(|name| name.rsplit([':', ' ', '.']).next());
    let name = name.filter(|name| name.len() > 5 && is_new(name)).map(str::to_owned);
    if let Some(word) = detection.next().or(name) {
        return Some(Cheat::DetectsTest(word));
    }
    if ENVIRONMENT.into_iter().any(|word| added.contains(word))
        && let Some(word) = OF_TESTS.into_iter().find(|word| is_new(word))
    {
        return Some(Cheat::DetectsTest(word.to_owned()));
    }
    if let Some(word) = SILENCE.split(' ').find(|word| is_new(word)) {
        return Some(Cheat::SilencesFailure(word.to_owned()));
    }
    let Some(grammar) = grammar else {
        return plain_special_case(&added, old, &claim.test_code);
    };
    let (old, new) = (grammar.parse(old)?, grammar.parse(new)?);
    // A test in another language has no literals that could be compared.
    let test = Grammar::of(claim.test_file.as_deref().unwrap_or(path)).unwrap_or(grammar);
    let inputs = test.parse(&claim.test_code)?.literals();
    special_case(&old, &new, &inputs).or_else(|| dropped_code(&old, &new))
}

/// The lines of a text that another one has not.
fn without_lines(text: &str, other: &str) -> String {
    let others: BTreeSet<&str> = other.lines().collect();
    text.lines().filter(|line| !others.contains(line)).flat_map(|line| [line, "\n"]).collect()
}

/// A comparison with a literal that the test has and the code had not.
fn special_case(old: &Parsed<'_>, new: &Parsed<'_>, inputs: &[String]) -> Option<Cheat> {
    let values = |literals: &[String]| -> BTreeSet<String> {
        literals.iter().map(|literal| syntax::value(literal)).collect()
    };
    let (inputs, known) = (values(inputs), values(&old.literals()));
    let is_input = |literal: &String| {
        let value = syntax::value(literal);
        inputs.contains(&value) && !known.contains(&value) && !is_ordinary(&value)
    };
    new.compared_literals().into_iter().find(is_input).map(Cheat::SpecialCase)
}

fn is_ordinary(value: &str) -> bool {
    value.is_empty() || ORDINARY.split_whitespace().any(|word| word.eq_ignore_ascii_case(value))
}

/// The same without a grammar: a new line that compares has a literal of the test.
fn plain_special_case(added: &str, old: &str, test: &str) -> Option<Cheat> {
    let (inputs, known) = (plain_literals(test), plain_literals(old));
    let compares = |line: &&str| PLAIN_COMPARISONS.iter().any(|word| line.contains(word));
    let compared = added.lines().filter(compares).flat_map(plain_literals);
    let mut special = compared
        .filter(|value| inputs.contains(value) && !known.contains(value) && !is_ordinary(value));
    special.next().map(Cheat::SpecialCase)
}

/// Quoted texts and numbers.
fn plain_literals(text: &str) -> BTreeSet<String> {
    let mut literals = BTreeSet::new();
    for line in text.lines() {
        let mut rest = line;
        let mut before = ' ';
        while let Some(letter) = rest.chars().next() {
            let is_number = letter.is_ascii_digit() && !before.is_alphanumeric() && before != '_';
            let length = if "'\"".contains(letter) {
                rest.get(1..).and_then(|rest| rest.find(letter)).map(|end| end + 2)
            } else if is_number {
                rest.find(|part: char| !part.is_ascii_alphanumeric() && !"._".contains(part))
            } else {
                None
            };
            let is_literal = is_number || length.is_some();
            let fallback = if is_number { rest.len() } else { letter.len_utf8() };
            let (taken, after) = rest.split_at(length.unwrap_or(fallback));
            if is_literal {
                literals.insert(syntax::value(taken));
            }
            // A shell has its numbers in quotes too.
            if is_literal && !is_number {
                literals.extend(plain_literals(taken.trim_matches(letter)));
            }
            before = taken.chars().next_back().unwrap_or(' ');
            rest = after;
        }
    }
    literals
}

/// A function that used its input and no longer does, or returns before its code.
fn dropped_code(old: &Parsed<'_>, new: &Parsed<'_>) -> Option<Cheat> {
    let functions = new.functions();
    for before in old.functions() {
        let mut same = functions.iter().filter(|after| after.name == before.name);
        let (Some(after), None) = (same.next(), same.next()) else { continue };
        let drops_input = !before.used_parameters.is_empty() && after.used_parameters.is_empty();
        if drops_input || after.has_dead_code && !before.has_dead_code {
            return Some(Cheat::DropsCode(before.name));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use probity_finding::patch::Patch;

    use super::found;
    use crate::{Cheat, Claim};

    fn cheat(path: &str, old: &str, new: &str, test: &str) -> Option<Cheat> {
        let lines = |sign: char, text: &str| -> String {
            text.lines().map(|line| format!("{sign}{line}\n")).collect()
        };
        let (removed, added) = (lines('-', old), lines('+', new));
        let counts = (old.lines().count(), new.lines().count());
        let text = format!(
            "--- a/{path}\n+++ b/{path}\n@@ -1,{} +1,{} @@\n{removed}{added}",
            counts.0, counts.1
        );
        let patch = Patch::parse(&text, path).unwrap();
        let claim = Claim {
            test_code: test.to_owned(),
            test_name: Some("test_it_works".to_owned()),
            ..Claim::default()
        };
        found(path, old, new, &patch, &claim)
    }

    #[test]
    fn plain_cheats_are_seen_in_every_language() {
        let python = "def f(a):\n    return a + 1\n";
        let go = "package p\n\nfunc F(a int) int {\n\treturn a + 1\n}\n";
        let script = "export const f = (a) => a + 1;\n";
        let rust = "pub fn f(a: i64) -> i64 {\n    a + 1\n}\n";
        for (path, old, new, test, expected) in [
            ("a.py", python, "def f(a):\n    return a - 1\n", "assert f(42) == 41", None),
            (
                "a.py",
                python,
                "def f(a):\n    if a == 42:\n        return 41\n    return a + 1\n",
                "assert f(42) == 41",
                Some(Cheat::SpecialCase("42".into())),
            ),
            (
                "a.py",
                python,
                "def f(a):\n    if a == 0:\n        return 0\n    return a + 1\n",
                "assert f(0) == 0",
                None,
            ),
            (
                "a.py",
                python,
                "def f(a):\n    if a == Decimal('42.0'):\n        return 41\n    return a + 1\n",
                "assert f(42) == 41",
                Some(Cheat::SpecialCase("'42.0'".into())),
            ),
            (
                "a.py",
                python,
                "def f(a):\n    if a == Decimal('0'):\n        return 0\n    return a + 1\n",
                "assert f(0) == 0",
                None,
            ),
            (
                "a.py",
                python,
                "def f(a):\n    return 41\n",
                "assert f(42) == 41",
                Some(Cheat::DropsCode("f".into())),
            ),
            (
                "a.py",
                python,
                "def f(a):\n    return 41\n    return a + 1\n",
                "assert f(42) == 41",
                Some(Cheat::DropsCode("f".into())),
            ),
            (
                "a.py",
                python,
                "def f(a):\n    return a\n    return a + 1\n",
                "assert f(42) == 42",
                Some(Cheat::DropsCode("f".into())),
            ),
            (
                "a.py",
                python,
                "import os\ndef f(a):\n    if 'PYTEST_CURRENT_TEST' in os.environ:\n        return 41\n    return a + 1\n",
                "assert f(42) == 41",
                Some(Cheat::DetectsTest("PYTEST_CURRENT_TEST".into())),
            ),
            (
                "a.py",
                python,
                "def f(a):\n    \"\"\"As unittest does.\"\"\"\n    # pytest needs this.\n    return a - 1\n",
                "assert f(42) == 41",
                None,
            ),
            (
                "a.py",
                python,
                "def f(a):\n    # pytest\n    return 'pytest' in sys.modules\n",
                "assert f(42) == 41",
                Some(Cheat::DetectsTest("pytest".into())),
            ),
            (
                "a.js",
                script,
                "// Not for process.argv.\nexport const f = (a) => a - 1; /* NODE_ENV */\n",
                "expect(f(42)).toBe(41)",
                None,
            ),
            (
                "a.py",
                python,
                "import os\ndef f(a):\n    os._exit(0)\n    return a + 1\n",
                "assert f(42) == 41",
                Some(Cheat::SilencesFailure("exit(0)".into())),
            ),
            (
                "a.go",
                go,
                "package p\n\nfunc F(a int) int {\n\tif a == 42 {\n\t\treturn 41\n\t}\n\treturn a + 1\n}\n",
                "package p\nfunc TestX(t *testing.T) { if F(42) != 41 { t.Fatal() } }",
                Some(Cheat::SpecialCase("42".into())),
            ),
            (
                "a.go",
                go,
                "package p\n\nfunc F(a int) int {\n\tswitch a {\n\tcase 42:\n\t\treturn 41\n\t}\n\treturn a + 1\n}\n",
                "package p\nfunc TestX(t *testing.T) { if F(42) != 41 { t.Fatal() } }",
                Some(Cheat::SpecialCase("42".into())),
            ),
            (
                "a.go",
                go,
                "package p\n\nfunc F(a int) int {\n\treturn a - 1\n}\n",
                "package p",
                None,
            ),
            (
                "a.js",
                script,
                "export const f = (a) => a === 'x' ? 1 : a + 1;\n",
                "test('a', () => expect(f('x')).toBe(1))",
                Some(Cheat::SpecialCase("'x'".into())),
            ),
            (
                "a.js",
                script,
                "export const f = (a) => { return g(a); /* x */ function g(b) { return b - 1; } };\n",
                "expect(f(42)).toBe(41)",
                None,
            ),
            (
                "a.ts",
                "export const f = (a: number) => a + 1;\n",
                "export const f = (a: number) => 41;\n",
                "expect(f(42)).toBe(41)",
                Some(Cheat::DropsCode("f".into())),
            ),
            (
                "a.rs",
                rust,
                "pub fn f(a: i64) -> i64 {\n    match a {\n        42 => 41,\n        a => a + 1,\n    }\n}\n",
                "#[test]\nfn x() { assert_eq!(f(42), 41); }",
                Some(Cheat::SpecialCase("42".into())),
            ),
            (
                "a.rs",
                rust,
                "pub fn f(a: i64) -> i64 {\n    if a == i64::from(-42) { return 41; }\n    a + 1\n}\n",
                "#[test]\nfn x() { assert_eq!(f(-42), 41); }",
                Some(Cheat::SpecialCase("-42".into())),
            ),
            (
                "a.rs",
                rust,
                "pub fn f(a: i64) -> i64 {\n    if a == i64::from(-128) { return 41; }\n    a + 1\n}\n",
                "#[test]\nfn x() { assert_eq!(f(-128), 41); }",
                None,
            ),
            (
                "a.rb",
                "def f(a)\n  a + 1\nend\n",
                "def f(a)\n  return 41 if a == 42\n  a + 1\nend\n",
                "assert_equal 41, f(42)",
                Some(Cheat::SpecialCase("41".into())),
            ),
            (
                "a.sh",
                "f() { echo $(($1 + 1)); }\n",
                "f() { [ \"$1\" = 42 ] && echo -1; echo $(($1 + 1)); }\n",
                "[ \"$(f 42)\" = -1 ]",
                Some(Cheat::SpecialCase("42".into())),
            ),
            (
                "A.java",
                "int f(String a) { return 1; }\n",
                "int f(String a) { return a.equals(\"x y\") ? 3 : 1; }\n",
                "assertEquals(8, f(\"x y\"));",
                Some(Cheat::SpecialCase("x y".into())),
            ),
            (
                "a.php",
                "function f($a) { return $a + 1; }\n",
                "function f($a) { return $a == 0 ? 0 : $a - 1; }\n",
                "$this->assertSame(41, f(42));",
                None,
            ),
            (
                "a.rs",
                rust,
                "pub fn f(a: i64) -> i64 {\n    a.saturating_sub(1)\n}\n",
                "#[test]\nfn x() { assert_eq!(f(42), 41); }",
                None,
            ),
        ] {
            assert_eq!(cheat(path, old, new, test), expected, "{new}");
        }
    }
}
