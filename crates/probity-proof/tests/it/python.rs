//! Python with pytest: every outcome, and the layouts of projects.

use probity_proof::{Claim, Level, Outcome};

use crate::stage::{Stage, at, claim, fix, named};

const CALC: &str = "import sys

LIMIT = 10


def sub(a, b):
    return a + b


def leave():
    sys.exit(3)


def crash(address):
    import ctypes

    return ctypes.string_at(address)
";

fn repository() -> Stage {
    Stage::new(&[
        ("calc.py", CALC),
        ("pkg/__init__.py", ""),
        ("pkg/inner.py", "def twice(a):\n    return a * 3\n"),
        ("test_old.py", "def test_old():\n    assert False\n"),
        ("pytest.ini", "[pytest]\naddopts = --no-such-option\n"),
    ])
}

fn test(body: &str) -> String {
    let body: String = body.lines().map(|line| format!("    {line}\n")).collect();
    format!("import os\nimport pytest\nimport calc\n\n\ndef test_x():\n{body}")
}

const REAL: &str = "assert calc.sub(3, 1) == 2";

#[test]
fn every_outcome_of_pytest_is_told_apart() {
    use Outcome::{BuildError, Failed, Flaky, HarnessError, NotRun, Passed, Rejected, Skipped};
    let on = |id: &str, code: &str| Claim { line: 7, ..claim(id, "calc.py", code) };
    let does = |id: &str, body: &str| on(id, &test(body));
    let package = "from pkg.inner import twice\n\ndef test_x():\n    assert twice(2) == 4\n";
    let class = "import unittest, calc\n\nclass TestA(unittest.TestCase):\n    def test_b(self):\n        \
        self.assertEqual(calc.sub(3, 1), 2)\n";
    let once = "calc.sub(1, 1)\nif os.urandom(1)[0] % 2:\n    pytest.fail('now and then')";
    let rows = [
        (does("real", REAL), Failed),
        (claim("sub", "pkg/inner.py", package), Failed),
        (at(claim("below", "pkg/inner.py", package), "pkg/tests/test_y.py"), Failed),
        (does("words", "assert calc.sub(3, 1) == 2, 'SyntaxError: undefined'"), Failed),
        (does("leaves", "calc.leave()"), Failed),
        (does("constant", "assert False"), Failed),
        (does("missing", "calc.nothing()"), Failed),
        (does("pass", "assert calc.sub(1, 1) == 2"), Passed),
        (does("exit", "os._exit(1)"), HarnessError),
        (does("exit0", "os._exit(0)"), HarnessError),
        (on("fixture", &test(REAL).replace("test_x()", "test_x(nothing)")), HarnessError),
        (on("loading", &test(REAL).replace("import calc", "import nothing")), BuildError),
        (does("syntax", "assert ("), BuildError),
        (does("skip", "pytest.skip('x')"), Skipped),
        (on("xfail", &test(REAL).replace("def test_x", "@pytest.mark.xfail\ndef test_x")), Skipped),
        (named(does("wrong", REAL), "test_y"), NotRun),
        (named(does("theirs", REAL), "test_old"), NotRun),
        (on("none", "x = 1\n"), NotRun),
        (does("over-code", &format!("open('calc.py', 'w').write('x')\n{REAL}")), Rejected),
        (
            does(
                "over-and-back",
                &format!("t = open('calc.py').read()\nopen('calc.py', 'w').write(t)\n{REAL}"),
            ),
            Rejected,
        ),
        (named(on("class", class), "TestA::test_b"), Failed),
        (does("crash", "calc.crash(0)"), Failed),
    ];
    let verdicts = repository().check_outcomes(&rows);
    let real = verdicts.first().unwrap();
    assert_eq!((real.level, real.runner), (Level::Fails, Some("pytest")));
    assert_eq!(real.test_path, "test_zz_probity_real.py");
    assert!(real.output.contains("assert 4 == 2"), "{}", real.output);
    // One of them passes twice, or fails each time, three times in ten: all of them hardly ever.
    let coins: Vec<Claim> = (0..8).map(|number| does(&format!("coin{number}"), once)).collect();
    let flips = repository().prove(&coins);
    assert!(flips.iter().all(|verdict| !verdict.proven));
    assert!(flips.iter().any(|verdict| verdict.outcome == Flaky), "{flips:#?}");
}

#[test]
fn a_fix_proves_in_every_layout_of_a_project() {
    let source = "def half(a):\n    return a / 3\n";
    let test = |import: &str| format!("{import}\n\n\ndef test_x():\n    assert half(4) == 2\n");
    for (path, more, import) in [
        ("src/shop/money.py", "pyproject.toml", "from shop.money import half"),
        ("shop/money.py", "setup.cfg", "from shop.money import half"),
        ("services/pay desk/money.py", "services/pay desk/pytest.ini", "from money import half"),
        ("money.py", "README.md", "from money import half"),
    ] {
        let stage = Stage::new(&[(path, source), (more, "")]);
        let claim = Claim {
            fix_patch: Some(fix(path, source, "/ 3", "/ 2")),
            ..claim("layout", path, &test(import))
        };
        let verdict = stage.prove_one(&claim);
        assert_eq!((verdict.level, verdict.proven), (Level::Flips, true), "{path}: {verdict:#?}");
    }
}

#[test]
fn what_no_value_of_the_function_changes_is_not_proven() {
    let on = |id: &str, body: &str| Claim { line: 6, ..claim(id, "calc.py", &test(body)) };
    repository().check_levels(&[
        (on("real", REAL), Level::Depends),
        (on("guarded", "if calc.sub(3, 1) == 2:\n    return\npytest.fail('x')"), Level::Depends),
        (on("moving", "got = calc.sub(3, 1)\nassert got == [got]"), Level::Fails),
        (on("watched", "calc.sub(1, 1)\nassert calc.sub.__code__.co_argcount == 0"), Level::Fails),
    ]);
}
