//! What the failing statement of a test looks at, as far as its text tells.
//!
//! A control that alters results says nothing of a test that looks at something else: at what a
//! function did to an object, or at whether it fails at all. Such a test is not called constant
//! because no result changes it.

mod objects;
pub(super) mod statements;

use std::collections::BTreeSet;

use objects::{called, function_name, inside, is_made, made_of};
use statements::{
    Statement, assigned, declares_function, is_word, statements, without_words, words,
};

/// Words of complaints that something did not fail.
const NOT_FAILED: [&str; 9] = [
    "DID NOT RAISE",
    "not raised",
    "Missing expected exception",
    "Missing expected rejection",
    "to throw",
    "did not throw",
    "instead of rejecting",
    "instead of rejected",
    "did not panic as expected",
];

/// Words of a test's conditions that look at a failure.
const LOOKS_AT_FAILURE: [&str; 3] = ["recover", "catch_unwind", "instanceof"];

/// Words that every statement may have.
const KEYWORDS: [&str; 12] =
    ["const", "let", "var", "mut", "new", "await", "if", "for", "in", "of", "range", "return"];

/// Why no result of these functions may change what the test says, if that is so. The lines are those
/// of its complaint; what the code holds are the names that its functions bind outside of themselves.
pub(super) fn beside_results(
    test: &str,
    complaint: &str,
    lines: &BTreeSet<u32>,
    functions: &[String],
    held: &[String],
    indented: bool,
) -> Option<String> {
    let bare = without_words(test, indented);
    let statements = statements(&bare, indented);
    let regard = Regard::of(&statements, lines);
    let effect = functions.iter().find(|function| regard.looks_behind(&statements, function));
    if let Some(function) = effect {
        return Some(format!("the test looks at what {function} does, not at what it returns"));
    }
    if let Some(name) = held.iter().find(|name| regard.words.contains(*name)) {
        return Some(format!("the test looks at {name}, which the code holds"));
    }
    let told = misses_failure(complaint);
    let looks = LOOKS_AT_FAILURE.iter().any(|word| regard.words.contains(*word));
    if !told && !looks {
        return None;
    }
    // What is said to have failed is in the statement that complains, if there is one, or is what
    // that waits for.
    let within: BTreeSet<u32> = statements
        .iter()
        .filter(|statement| statement.above.iter().any(|above| regard.parts.contains(above)))
        .map(|statement| statement.first)
        .chain(lines.iter().copied())
        .collect();
    let regard = Regard::of(&statements, &within);
    let anywhere = looks || lines.is_empty();
    let called = |function: &&String| {
        let call = format!("{function}(");
        statements.iter().enumerate().any(|(number, statement)| {
            let within = anywhere
                || regard.parts.contains(&number)
                || statement.above.iter().any(|above| regard.parts.contains(above));
            within && statement.text.contains(&call)
        })
    };
    let function = functions.iter().find(called)?;
    Some(format!("the test waits for {function} to fail"))
}

/// Whether the failing statement looks at one of these, or at what was made of it.
pub(super) fn looks_at(
    test: &str,
    lines: &BTreeSet<u32>,
    names: &[String],
    indented: bool,
) -> bool {
    let bare = without_words(test, indented);
    let statements = statements(&bare, indented);
    let regard = Regard::of(&statements, lines);
    let within = regard.parts.iter().flat_map(|part| inside(&statements, *part));
    let within: BTreeSet<&str> = within.collect();
    names.iter().any(|name| regard.words.contains(name) || within.contains(name.as_str()))
}

/// Whether the statement at this line raises something, as the function that it stands in does in any
/// case: so does what a test gives to the code to see it fail.
pub(super) fn raises_by_itself(test: &str, line: u32, indented: bool) -> bool {
    let bare = without_words(test, indented);
    let statements = statements(&bare, indented);
    let raises = |text: &str| {
        ["raise ", "throw ", "panic("].iter().any(|it| text.trim_start().starts_with(it))
            || (indented && text.trim_start().starts_with("def ") && text.contains(": raise "))
    };
    let found =
        statements.iter().find(|it| (it.first..=it.last).contains(&line) && raises(it.text));
    let Some(statement) = found else { return false };
    let Some(around) = statement.above.last() else { return false };
    let is_function = |text: &str| {
        ["=>", "func(", "function", "def "].iter().any(|it| text.contains(it))
            && !words(text).any(|it| ["if", "for", "while", "switch", "else"].contains(&it))
    };
    let alone = statement.text.trim_start().starts_with("def ")
        || statements.get(*around).is_some_and(|it| is_function(it.text));
    // Something before it may leave the function.
    let before = statements.iter().filter(|it| it.last < line || it.first < statement.first);
    alone
        && !before.filter(|it| it.above.contains(around)).any(|it| {
            words(it.text).any(|word| ["if", "return", "switch", "match"].contains(&word))
        })
}

/// Whether a complaint is that something did not fail.
pub(super) fn misses_failure(complaint: &str) -> bool {
    NOT_FAILED.iter().any(|words| complaint.contains(words))
}

/// The failing statement with its conditions, and what they were made of.
struct Regard {
    parts: BTreeSet<usize>,
    words: BTreeSet<String>,
}

impl Regard {
    fn of(statements: &[Statement<'_>], lines: &BTreeSet<u32>) -> Self {
        let mut parts = BTreeSet::new();
        for (number, statement) in statements.iter().enumerate() {
            let is_it = lines.iter().any(|line| (statement.first..=statement.last).contains(line));
            if is_it && called(statement.text).is_none_or(|call| !call.is_apart()) {
                parts.insert(number);
                parts.extend(statement.above.iter().filter(|above| {
                    statements.get(**above).is_some_and(|it| !declares_function(it.text))
                }));
            }
        }
        let mut regard = Self { parts, words: BTreeSet::new() };
        loop {
            let before = regard.words.len();
            for statement in regard.parts.iter().filter_map(|part| statements.get(*part)) {
                let names = words(statement.text).filter(|it| !KEYWORDS.contains(it));
                regard.words.extend(names.map(str::to_owned));
            }
            for (number, statement) in statements.iter().enumerate() {
                let made = assigned(statement.text);
                if made.is_some_and(|(left, _)| words(left).any(|it| regard.words.contains(it))) {
                    regard.parts.insert(number);
                }
                // What a function of the test says comes from inside of it.
                if function_name(statement.text).is_some_and(|it| regard.words.contains(it)) {
                    let inside = statements.iter().enumerate();
                    let inside = inside.filter(|(_, it)| it.above.contains(&number));
                    regard.parts.extend(inside.map(|(number, _)| number));
                }
            }
            if regard.words.len() == before {
                return regard;
            }
        }
    }

    /// Whether the test calls this function for what it does to an object, and looks at that object.
    fn looks_behind(&self, statements: &[Statement<'_>], function: &str) -> bool {
        statements.iter().enumerate().any(|(number, statement)| {
            let Some(call) = called(statement.text) else { return false };
            if self.parts.contains(&number) || !call.names.contains(&function) {
                return false;
            }
            let receiver = call.receiver.filter(|it| is_made(statements, it));
            // What is given in braces has become statements of its own.
            let given = call.given.iter().copied().chain(inside(statements, number));
            let given = given.filter(|it| is_made(statements, it));
            let given = given.filter(|it| self.is_object(statements, it));
            let objects = given.chain(receiver);
            objects.flat_map(|it| made_of(statements, it)).any(|it| self.words.contains(it))
        }) || self.looks_within(statements, function)
    }

    /// Whether this is a method that the language calls, and the test looks at an object of its class.
    fn looks_within(&self, statements: &[Statement<'_>], function: &str) -> bool {
        let Some((class, _)) = function.split_once(".__") else { return false };
        let made = statements.iter().filter_map(|statement| assigned(statement.text));
        let of_class = |right: &str| {
            right.match_indices(class).any(|(at, _)| {
                let behind = right.get(at + class.len()..).unwrap_or_default();
                !right.get(..at).is_some_and(|it| it.ends_with(is_word)) && behind.starts_with('(')
            })
        };
        made.into_iter()
            .any(|(left, right)| of_class(right) && words(left).any(|it| self.words.contains(it)))
    }

    /// Whether something that is given to a function can be changed by it.
    fn is_object(&self, statements: &[Statement<'_>], name: &str) -> bool {
        let made = statements.iter().filter_map(|statement| assigned(statement.text));
        let holds = |right: &str| {
            let begins = ["[", "{", "new ", "&", "make(", "map[", "vec!", "dict(", "list("];
            right.is_empty()
                || begins.iter().any(|begin| right.starts_with(begin))
                || right.starts_with(char::is_uppercase)
                // What a library opens or makes.
                || right.split_once('(').is_some_and(|(path, _)| {
                    path.contains('.') && path.chars().all(|it| is_word(it) || it == '.')
                })
        };
        let created =
            made.into_iter().any(|(left, right)| words(left).any(|it| it == name) && holds(right));
        let looked_into = self.parts.iter().filter_map(|part| statements.get(*part)).any(|part| {
            part.text.match_indices(name).any(|(at, _)| {
                let before = part.text.get(..at).unwrap_or_default();
                let behind = part.text.get(at + name.len()..).unwrap_or_default();
                !before.ends_with(|it: char| is_word(it) || it == '.')
                    && behind.starts_with(['.', '['])
            })
        });
        created || looked_into
    }
}

#[cfg(test)]
mod tests {
    use super::{beside_results, raises_by_itself};

    /// The line in question is the one with the arrow, which is taken off.
    fn why(source: &str, complaint: &str, indented: bool) -> Option<String> {
        let line = source.lines().position(|line| line.contains("<-")).unwrap() + 1;
        let source = source.replace("<-", "");
        let lines = [u32::try_from(line).unwrap()].into();
        let functions = ["add", "put", "sub", "find", "Pool.__exit__"].map(str::to_owned);
        let held = ["counter".to_owned()];
        beside_results(&source, complaint, &lines, &functions, &held, indented)
    }

    #[test]
    fn a_test_that_looks_at_what_a_function_did_is_known() {
        let table: &[(&str, bool, bool)] = &[
            ("c = Cart()\nc.add(Item(1))\nassert c.total == 2 <-", true, true),
            ("c = Cart()\nc.add(Item(1))\ngot = c.total\nassert got == 2 <-", true, true),
            ("def test(cart):\n    cart.add(1)\n    assert cart.total == 2 <-", true, true),
            ("xs = [3, 1]\nadd(xs)\nassert xs == [1, 3] <-", true, true),
            ("import calc\ncalc.sub(1, 1)\nassert calc.one() == 2 <-", true, false),
            ("for want in (2, 3):\n    calc.sub(1, want)\n    check(one(), want) <-", true, false),
            ("c = Cart()\nc.add(1)\nx = 1\nassert x == 2 <-", true, false),
            ("c = Cart()\nassert c.add(1) == 2 <-", true, false),
            (
                "def test(tmp):\n    f = tmp / 'x'\n    c = lib.connect(f)\n    Store(c).add(1)\n    \
                 d = lib.connect(f)\n    n = d.count()\n    assert n == 1 <-",
                true,
                true,
            ),
            (
                "f = 'x'\nc = lib.connect(f)\nStore(c).add(1)\nn = lib.one()\nassert n == 2 <-",
                true,
                false,
            ),
            (
                "def main():\n    p = Pool(2)\n    with p:\n        pass\n    return p.free\n\
                 assert run(main()) == 2 <-",
                true,
                true,
            ),
            (
                "def test(session):\n    client = Client(session)\n    client.put()\n    \
                 session.put.assert_called_once_with() <-",
                true,
                true,
            ),
            (
                "const sink = { ended: false };\nnew Logger(sink).add();\nequal(sink.ended, 1); <-",
                false,
                true,
            ),
            (
                "let freed = 0;\nconst one = { free: () => { freed++; } };\n\
                 await add('x', { a: 1 }, { connect: () => one });\nequal(freed, 1); <-",
                false,
                true,
            ),
            ("let freed = 0;\nawait add('x', { a: 1 });\nequal(freed, 1); <-", false, false),
            (
                "b := &body{x}\nc := &Client{Base: 1, Do: f(func() {\nreturn R{Body: b}\n})}\n\
                 if _, err := c.put(1); err != nil {\nt.Fatal(1)\n}\nif !b.closed {\nt.Error(1) <-\n}",
                false,
                true,
            ),
            (
                "b := &body{x}\nc := &Client{Base: 1}\n\
                 if _, err := c.put(1); err != nil {\nt.Fatal(1)\n}\nif !b.closed {\nt.Error(1) <-\n}",
                false,
                false,
            ),
            ("p = Pool(2)\nwith p:\n    x = 1\nassert x == 2 <-", true, false),
            ("run(calc.add)\nassert calc.counter == 50 <-", true, true),
            ("from time import now\nadd(now.x)\nassert zone == 1, add(now.x) <-", true, false),
            ("a := New()\na.put(5)\nif a.Total != 5 {\nt.Fatal(1) <-\n}", false, true),
            ("a := New(); a.put(5); if a.Total != 5 { t.Fatal(1) } <-", false, true),
            (
                "m := map[string]int{}\nadd(m, \"a\")\nif m[\"a\"] != 1 {\nt.Fatal(1) <-\n}",
                false,
                true,
            ),
            (
                "for _, want := range []int{2, 3} {\nsub(1, want)\nif one() != want {\nt.Error(want) <-\n}\n}",
                false,
                false,
            ),
            ("sub(1, 1)\nx := 1\nif x != 2 {\nt.Fatal(1) <-\n}", false, false),
            ("const q = new Q();\nq.add(1).put(2);\nassert.equal(q.count, 2); <-", false, true),
            (
                "test('x', () => {\n  const u = { a: 1 };\n  put(u, 'a');\n  assert.equal(u.name, 'a'); <-\n});",
                false,
                true,
            ),
            ("const lib = require('./lib');\nlib.sub(1, 1);\ncheck(one(), 2); <-", false, false),
            (
                "for (const want of [2, 3]) { lib.sub(1, want); check(one(), want); } <-",
                false,
                false,
            ),
            (
                "const a = require('a');\nconst q = new Q();\nq.put(1);\na.equal(env.X, 'y'); <-",
                false,
                false,
            ),
            (
                "let mut log = Log::new();\nlog.put(\"a\");\nassert_eq!(log.count, 1); <-",
                false,
                true,
            ),
            ("sub(1, 1);\nlet x = one();\nassert_eq!(x, 2); <-", false, false),
        ];
        for (source, indented, expected) in table {
            let found = why(source, "", *indented);
            assert_eq!(found.is_some(), *expected, "{source}: {found:?}");
        }
    }

    #[test]
    fn a_test_that_waits_for_a_failure_is_known() {
        let go = "defer func() {\nif recover() == nil {\nt.Fatal(1) <-\n}\n}()\nfind(1)";
        assert!(why(go, "", false).is_some());
        let python = "with pytest.raises(Error): <-\n    find(1)";
        assert!(why(python, "DID NOT RAISE <class 'Error'>", true).is_some());
        assert_eq!(why(python, "assert 1 == 2", true), None);
        let later = "task = run(find(1))\nwith pytest.raises(Error): <-\n    await task";
        assert!(why(later, "DID NOT RAISE <class 'Error'>", true).is_some());
        let apart = "other = run(find(1))\nwith pytest.raises(Error): <-\n    await task";
        assert_eq!(why(apart, "DID NOT RAISE <class 'Error'>", true), None);
        let nothing = "calc.other(1)\nwith pytest.raises(Error): <-\n    pass";
        assert_eq!(why(nothing, "DID NOT RAISE <class 'Error'>", true), None);
    }

    #[test]
    fn what_raises_in_any_case_is_told_from_what_raises_at_times() {
        for (source, indented, expected) in [
            ("lib.once(() => { throw new Error('x'); })(); <-", false, true),
            ("lib.once(() => {\n  throw new Error('x'); <-\n})();", false, true),
            ("lib.once(() => { if (n < 3) throw new Error('x'); })(); <-", false, false),
            (
                "lib.once(() => {\n  if (n < 3) {\n    throw new Error('x'); <-\n  }\n})();",
                false,
                false,
            ),
            (
                "lib.once(() => {\n  if (n > 3) return 1;\n  throw new Error('x'); <-\n})();",
                false,
                false,
            ),
            ("Each(xs, func(x int) { panic(1) }) <-", false, true),
            ("Each(xs, func(x int) { if x > 1 { panic(1) } }) <-", false, false),
            ("class L(list):\n    def __len__(self): raise E(1) <-", true, true),
            ("def boom():\n    raise E(1) <-", true, true),
            ("def boom():\n    if x:\n        raise E(1) <-", true, false),
            ("raise E(1) <-", true, false),
        ] {
            let line = source.lines().position(|line| line.contains("<-")).unwrap() + 1;
            let found = raises_by_itself(source, line.try_into().unwrap(), indented);
            assert_eq!(found, expected, "{source}");
        }
    }

    #[test]
    fn nonsense_is_borne() {
        for source in ["<-", "}}{{<-", "((<-", "'<-", "x = = <-", "\u{fc}\"\"\"<-", "= (<-)"] {
            for indented in [false, true] {
                assert_eq!(why(source, "", indented), None, "{source}");
            }
        }
    }
}
