//! Python: every outcome, and the mistakes of a test that look like failures.

use std::{
    sync::atomic::Ordering,
    time::{Duration, Instant},
};

use probity_review::{Claim, Level, Outcome, Reach, Workshop};

use super::stage::{Row, Stage, claim, is_running, line};

const CALC: &str = "import os
import sys

LIMIT = 10


def sub(a, b):
    return a + b


def first(values):
    return values[0]


def leave():
    sys.exit(3)


class Store:
    def get(self):
        return self.missing


def find(name):
    return None


async def later(a):
    return a + 1


class Box:
    def __init__(self, size):
        self.size = size

    def half(self):
        return self.size

    @property
    def double(self):
        return self.size

    @staticmethod
    def made():
        return Box(3)


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

fn unit(body: &str) -> String {
    format!(
        "import unittest, calc\n\nclass TestA(unittest.TestCase):\n    def test_b(self):\n        \
         calc.sub(3, 1)\n        {body}\n"
    )
}

const REAL: &str = "assert calc.sub(3, 1) == 2";

#[test]
fn every_outcome_of_pytest_is_told_apart() {
    let stage = repository();
    let on = |id: &str, code: String| Claim { line: 8, ..claim(id, "calc.py", &code) };
    let at = |mut claim: Claim, path: &str| {
        claim.test_file = Some(path.to_owned());
        claim
    };
    let named = |mut claim: Claim, name: &str| {
        claim.test_name = Some(name.to_owned());
        claim
    };
    use Outcome::{BuildError, Failed, Flaky, HarnessError, NotRun, Passed, Rejected, Skipped};
    let package = "from pkg.inner import twice\n\ndef test_x():\n    assert twice(2) == 4\n";
    let table: Vec<(Claim, Outcome, bool)> = vec![
        (on("real", test(REAL)), Failed, true),
        (claim("sub", "pkg/inner.py", package), Failed, true),
        (at(claim("below", "pkg/inner.py", package), "pkg/tests/test_y.py"), Failed, true),
        (on("words", test(&format!("{REAL}, 'cannot: undefined syntax error'"))), Failed, true),
        (on("raises", test("calc.first([])")), Failed, true),
        (on("in-code", test("calc.Store().get()")), Failed, true),
        (on("leaves", test("calc.leave()")), Failed, true),
        (on("constant", test("assert False")), Failed, false),
        (on("behind", test("calc.sub(1, 1)\nassert 1 == 2")), Failed, false),
        (on("fail", test("calc.sub(1, 1)\npytest.fail('x')")), Failed, false),
        (on("local", test("x = 1\ncalc.sub(1, 1)\nassert x == 2")), Failed, false),
        (on("not-local", test("x = 1\nx = calc.sub(1, 1)\nassert x == 1")), Failed, true),
        (on("finally", test("try:\n    calc.sub(1, 1)\nfinally:\n    raise ValueError('x')")), Failed, false),
        (on("skips", test("if calc.sub(3, 1) == 2:\n    pytest.skip('x')\nraise ValueError('x')")), Failed, true),
        (on("unit-equal", unit("self.assertEqual(1, 2)")), Failed, false),
        (on("unit-fail", unit("self.fail('x')")), Failed, false),
        (on("dial", test("calc.sub(1, 1)\nimport socket\nsocket.create_connection(('1.1.1.1', 80), 5)")), HarnessError, false),
        (on("file", test("calc.sub(1, 1)\nopen('/nowhere/x')")), HarnessError, false),
        (on("program", test("calc.sub(1, 1)\nimport subprocess\nsubprocess.run(['nowhere'])")), HarnessError, false),
        (on("elsewhere", test("import subprocess\nassert subprocess.run(['false']).returncode == 0")), Failed, false),
        (on("raise", test("calc.sub(1, 1)\nraise ValueError('x')")), Failed, false),
        (on("import", test("assert calc.LIMIT == 11")), Failed, false),
        (
            on("guarded", test("if calc.sub(3, 1) == 2:\n    return\npytest.fail('x')")),
            Failed,
            true,
        ),
        (on("pass", test("assert calc.sub(1, 1) == 2")), Passed, false),
        (on("name", test("calc.sub(1, 1)\nnothing()")), HarnessError, false),
        (on("attribute", test("calc.sub(1, 1)\ncalc.nothing()")), HarnessError, false),
        (on("late", test("calc.sub(1, 1)\nimport nothing")), HarnessError, false),
        (on("exit", test("calc.sub(1, 1)\nos._exit(1)")), HarnessError, false),
        (on("exit0", test("calc.sub(1, 1)\nos._exit(0)")), HarnessError, false),
        (on("sysexit", test("calc.sub(1, 1)\nraise SystemExit(1)")), HarnessError, false),
        (
            on("fixture", test(REAL).replace("test_x()", "test_x(nothing)")),
            HarnessError,
            false,
        ),
        (on("async", test(REAL).replace("def ", "async def ")), HarnessError, false),
        (on("loading", test(REAL).replace("import calc", "import nothing")), BuildError, false),
        (on("syntax", test("assert (")), BuildError, false),
        (on("skip", test("pytest.skip('x')")), Skipped, false),
        (
            on("xfail", test(REAL).replace("def test_x", "@pytest.mark.xfail\ndef test_x")),
            Skipped,
            false,
        ),
        (named(on("wrong", test(REAL)), "test_y"), NotRun, false),
        (named(on("theirs", test(REAL)), "test_old"), NotRun, false),
        (on("none", "x = 1\n".to_owned()), NotRun, false),
        (at(on("out", test(REAL)), "../test_x.py"), Rejected, false),
        (at(on("over", test(REAL)), "calc.py"), Rejected, false),
        (at(on("old", test(REAL)), "test_old.py"), Rejected, false),
        (at(on("plain", test(REAL)), "x.py"), Rejected, false),
        (on("over-code", test(&format!("open('calc.py', 'w').write('x')\n{REAL}"))), Rejected, false),
        (
            on("over-and-back", test(&format!("t = open('calc.py').read()\nopen('calc.py', 'w').write(t)\n{REAL}"))),
            Rejected,
            false,
        ),
        (on("replaced", test(&format!("calc.first([1])\ncalc.sub = lambda a, b: 0\n{REAL}"))), Rejected, false),
        (
            on("lucky", test("n = os.path.exists('seen')\nopen('seen', 'w').close()\nassert calc.sub(1, 1) == (3 if n else 2)")),
            Flaky,
            false,
        ),
        (
            on(
                "flaky",
                test(
                    "calc.sub(1, 1)\nif not os.path.exists('ran'):\n    open('ran', 'w').close()\n    \
                     assert calc.sub(1, 1) == 3",
                ),
            ),
            Flaky,
            false,
        ),
        (
            on(
                "class",
                "import unittest, calc\n\nclass TestA(unittest.TestCase):\n    def test_b(self):\n        \
                 self.assertEqual(calc.sub(3, 1), 2)\n"
                    .to_owned(),
            ),
            Failed,
            true,
        ),
        (on("crash", test("calc.crash(0)")), Failed, true),
        (on("own-crash", test("calc.sub(1, 1)\nimport ctypes; ctypes.string_at(0)")), HarnessError, false),
        (on("abort", test("calc.sub(1, 1)\nos.abort()")), HarnessError, false),
    ];
    let claims: Vec<Claim> = table.iter().map(|(claim, ..)| claim.clone()).collect();
    let verdicts = stage.prove(&claims);
    for ((claim, outcome, proven), verdict) in table.iter().zip(&verdicts) {
        assert_eq!(
            (verdict.outcome, verdict.proven),
            (*outcome, *proven),
            "{}: {}\n{}\n{:?}",
            claim.id,
            line(verdict),
            verdict.output,
            verdict.reach
        );
    }
    let by_id = |id: &str| verdicts.iter().find(|verdict| verdict.id == id).unwrap();
    let real = by_id("real");
    assert_eq!((real.level, real.runs.len(), real.runner), (Level::Stable, 3, "pytest"));
    assert!(matches!(real.reach, Reach::Reached { lines: true, .. }));
    assert!(matches!(by_id("raises").reach, Reach::Reached { lines: false, .. }));
    assert_eq!(by_id("import").reach, Reach::NotReached);
    assert!(matches!(by_id("elsewhere").reach, Reach::Unmeasured(_)));
    assert_eq!(by_id("class").test_name, "TestA::test_b");
    assert!(real.output.contains("assert 4 == 2"), "{}", real.output);
}

#[test]
fn a_failure_that_no_value_of_the_code_can_change_proves_nothing() {
    use Outcome::{Failed, HarnessError};
    let stage = repository();
    let helpers = "\n\ndef fail():\n    pytest.fail('broken')\n\n\ndef one():\n    return 1\n\n\n\
        def check(got, want):\n    assert got == want\n";
    let table: &[Row] = &[
        ("local", "calc.sub(1, 1)\nx = [1]\nassert x == [2]", 8, Failed, false),
        ("helper", "calc.sub(1, 1)\nfail()", 8, Failed, false),
        ("helped", "calc.sub(1, 1)\ncheck(one(), 2)", 8, Failed, false),
        ("closure", "calc.sub(1, 1)\nbad = lambda: 1 / 0\nbad()", 8, Failed, false),
        (
            "table",
            "for want in (2, 3):\n    calc.sub(1, want)\n    check(one(), want)",
            8,
            Failed,
            false,
        ),
        ("printed", "print(calc.sub(1, 1))\nfail()", 8, Failed, false),
        ("message", "assert one() == 2, f'got {calc.sub(1, 1)}'", 8, Failed, false),
        ("arity", "calc.sub(1, 1)\ncalc.sub(1)", 8, Failed, false),
        ("unset", "calc.sub(1, 1)\nx = None\nx.name", 8, HarnessError, false),
        ("moving", "got = calc.sub(3, 1)\nassert got == got + one()", 8, Failed, false),
        ("stepwise", "assert calc.sub(3, 2) == calc.sub(3, 1) - one()", 8, Failed, true),
        ("silent", "if calc.sub(3, 1) != 2:\n    fail()", 8, Failed, true),
        ("checked", "check(calc.sub(3, 1), one() + one())", 8, Failed, true),
        (
            "cases",
            "for a, b, c in ((1, 0, 1), (3, 1, 2)):\n    if calc.sub(a, b) != c:\n        fail()",
            8,
            Failed,
            true,
        ),
        ("nothing", "assert calc.find('a') is not None", 25, Failed, true),
        ("member", "assert calc.find('a').name == 'a'", 25, Failed, true),
        ("later", "import asyncio\nassert asyncio.run(calc.later(1)) == 3", 29, Failed, true),
        ("method", "box = calc.Box(4)\nassert box.half() == 2", 37, Failed, true),
        ("property", "assert calc.Box(4).double == 8", 41, Failed, true),
        ("static", "assert calc.Box.made().half() == 2", 37, Failed, true),
    ];
    stage.prove_table("calc.py", &|body| test(body) + helpers, table);
}

const STATE: &str = "class Cart:
    kinds = []

    def __init__(self, items=[]):
        self.items = items

    def add(self, item):
        self.items.append(item)
        self.kinds.append(type(item))


def average(numbers):
    return sum(numbers) / (len(numbers) + 1)
";

#[test]
fn what_a_run_leaves_behind_in_the_code_is_not_there_for_the_next() {
    use Outcome::Failed;
    let stage = Stage::new(&[("calc.py", STATE)]);
    let head = "import os\nimport pytest\n\n\n@pytest.fixture\ndef cart():\n    import calc\n    \
        cart = calc.Cart()\n    cart.add('a')\n    return cart\n\n\ndef test_x(cart):\n    import calc\n    ";
    let table: &[Row] = &[
        ("shared", "assert calc.Cart().items == []", 4, Failed, true),
        ("of-class", "assert calc.Cart([]).kinds == []", 2, Failed, true),
        ("constant", "assert len(calc.Cart([]).items) == 0 and os.name == 'x'", 4, Failed, false),
    ];
    stage.prove_table("calc.py", &|body| format!("{head}{body}\n"), table);
}

#[test]
fn a_test_that_looks_whether_it_is_watched_proves_nothing() {
    use Outcome::{Failed, Passed};
    let stage = Stage::new(&[("calc.py", STATE)]);
    let code = |body: &str| {
        let body: String = body.lines().map(|line| format!("    {line}\n")).collect();
        let head = "import os, sys, threading\nimport calc\n\n\n";
        format!("{head}def test_x(request):\n    got = calc.average([1, 3])\n{body}")
    };
    let table: &[Row] = &[
        ("real", "assert got == 2", 13, Failed, true),
        (
            "module",
            "if any('control' in it and 'zz' in it for it in sys.modules):\n    return\nassert os.name == 'x'",
            13,
            Passed,
            false,
        ),
        (
            "argument",
            "assert any('control' in it for it in request.config.invocation_params.args)",
            13,
            Failed,
            false,
        ),
        ("code", "assert calc.average.__code__.co_argcount == 0", 13, Failed, false),
        ("process", "assert 'py' in open(f'/proc/{os.getppid()}/comm').read()", 13, Failed, false),
        (
            "elsewhere",
            "if 'py' in open(f'/proc/{os.getppid()}/comm').read():\n    assert got == 2\nassert os.name == 'x'",
            13,
            Failed,
            false,
        ),
    ];
    stage.prove_table("calc.py", &code, table);
}

#[test]
fn a_line_of_the_module_itself_is_reached_by_importing_it() {
    let stage = repository();
    let claim = Claim { line: 4, ..claim("limit", "calc.py", &test("assert calc.LIMIT == 11")) };
    let verdict = stage.prove_one(&claim);
    assert!(verdict.proven, "{}", line(&verdict));
}

#[test]
fn a_class_counts_if_the_test_rests_on_it_or_a_fix_of_it_helps() {
    let stage = repository();
    let class = "class Base(Exception):\n    pass\n\n\nclass Rejected(Exception):\n    pass\n";
    stage.write("errors.py", class);
    // Whoever loads it first has run its lines, and that is none of the test's doing.
    stage.write("conftest.py", "import errors\n");
    stage.commit();
    let head = "import os\nimport pytest\nfrom errors import Base, Rejected\n\n\ndef test_x():\n";
    let on = |id: &str, body: &str| Claim {
        line: 5,
        ..claim(id, "errors.py", &format!("{head}    {body}\n"))
    };
    let raises = "with pytest.raises(Base):\n        raise Rejected(1)";
    let fix = "--- a/errors.py\n+++ b/errors.py\n@@ -5,2 +5,2 @@\n-class Rejected(Exception):\n\
        +class Rejected(Base):\n     pass\n";
    let claims = [
        on("base", "assert issubclass(Rejected, Base)"),
        on("apart", "Rejected\n    assert os.environ.get('NOPE')"),
        on("broken", "int(Rejected.__name__)"),
        on("raised", raises),
        Claim { fix_patch: Some(fix.to_owned()), ..on("fixed", raises) },
    ];
    let verdicts = stage.prove(&claims);
    let seen: Vec<_> = verdicts.iter().map(|it| (it.id.as_str(), it.proven, it.level)).collect();
    let expected = [
        ("base", true, Level::Fails),
        ("apart", false, Level::Fails),
        ("broken", false, Level::Fails),
        ("raised", false, Level::Fails),
        ("fixed", true, Level::Flips),
    ];
    assert_eq!(seen, expected, "{:#?}", verdicts.iter().map(line).collect::<Vec<_>>());
}

#[test]
fn a_mock_that_is_not_set_up_is_the_tests_own() {
    let stage = repository();
    stage.write("limits.py", "def is_high(value):\n    return value > 3\n");
    stage.commit();
    let code = |given: &str| {
        format!(
            "from unittest.mock import MagicMock\nfrom limits import is_high\n\n\n\
             def test_x():\n    assert is_high({given}) is True\n"
        )
    };
    let on = |id: &str, given: &str| claim(id, "limits.py", &code(given));
    let verdicts = stage.prove(&[on("mock", "MagicMock()"), on("number", "3")]);
    let seen: Vec<_> = verdicts.iter().map(|it| (it.outcome, it.proven)).collect();
    let expected = [(Outcome::HarnessError, false), (Outcome::Failed, true)];
    assert_eq!(seen, expected, "{:#?}", verdicts.iter().map(line).collect::<Vec<_>>());
}

#[test]
fn misbehaviour_is_ended_bounded_and_blind() {
    let mut stage = repository();
    stage.options.test_timeout = Duration::from_secs(10);
    let look = "print(dict(os.environ))\nimport socket\ntry:\n    socket.create_connection(('1.1.1.1', 80), 5)\n\
        except OSError as error:\n    print('dial:', error)\n";
    let sleeper = (84_000 + std::process::id() % 1000).to_string();
    let bait = format!(
        "import subprocess\nfor _ in range(50):\n    subprocess.Popen(['sleep', '{sleeper}'])\n\
         subprocess.Popen(['setsid', 'sleep', '{sleeper}'])\n{REAL}"
    );
    let flood = "import sys\nfor _ in range(100):\n    os.write(1, b'x' * (1 << 20))\n";
    let claims = [
        claim("loop", "calc.py", &test("while True:\n    pass")),
        claim("look", "calc.py", &test(&format!("{look}{REAL}"))),
        claim("flood", "calc.py", &test(&format!("{flood}{REAL}"))),
        claim("bait", "calc.py", &test(&bait)),
    ];
    let verdicts = stage.prove(&claims);
    let outcomes: Vec<Outcome> = verdicts.iter().map(|verdict| verdict.outcome).collect();
    let expected = [Outcome::Timeout, Outcome::Failed, Outcome::Failed, Outcome::Failed];
    assert_eq!(outcomes, expected, "{:?}", verdicts.iter().map(line).collect::<Vec<_>>());
    assert!(!is_running(&sleeper), "a sleeper is left");
    let output = |number: usize| verdicts.get(number).unwrap().output.as_str();
    assert!(output(1).contains("dial: [Errno 101]"), "{}", output(1));
    assert!(!output(1).contains("a-secret-key"), "{}", output(1));
    assert!(output(2).len() < 70_000);
}

#[test]
fn a_test_that_runs_is_killed_when_the_review_is_called_off() {
    let stage = repository();
    let workshop = Workshop::prepare(stage.options.clone(), &|_| {}).unwrap();
    let claims = [claim("sleeps", "calc.py", &test("import time\ntime.sleep(50)"))];
    let began = Instant::now();
    let verdicts = std::thread::scope(|threads| {
        threads.spawn(|| {
            std::thread::sleep(Duration::from_secs(2));
            stage.options.cancel.store(true, Ordering::SeqCst);
        });
        workshop.prove_all(&claims, &|_, _| {})
    });
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    assert_eq!(verdicts.first().unwrap().outcome, Outcome::HarnessError);
}

#[test]
fn a_proof_flips_at_the_merge_base_and_not_by_a_fix_of_something_else() {
    let mut stage = repository();
    let real = Claim { line: 8, ..claim("base", "calc.py", &test(REAL)) };
    let seen = stage.prove_introduced("calc.py", ("a + b", "a - b"), &real);
    assert_eq!(seen, (Some(true), Level::Flips));
    let absurd = "--- /dev/null\n+++ b/conftest.py\n@@ -0,0 +1,2 @@\n+import calc\n\
        +calc.sub = lambda a, b: a - b\n";
    stage.options.base = None;
    let verdict = stage.prove_one(&Claim { fix_patch: Some(absurd.to_owned()), ..real });
    assert_eq!((verdict.level, verdict.fix_flips), (Level::Stable, None), "{}", line(&verdict));
}

#[test]
fn a_fix_flips_and_the_uncontained_copy_works_too() {
    let stage = repository().uncontained();
    let fix = "--- a/calc.py\n+++ b/calc.py\n@@ -7,2 +7,2 @@\n def sub(a, b):\n\
        -    return a + b\n+    return a - b\n";
    let fixed = Claim { fix_patch: Some(fix.to_owned()), ..claim("fix", "calc.py", &test(REAL)) };
    let verdict = stage.prove_one(&fixed);
    assert_eq!(
        (verdict.level, verdict.fix_flips),
        (Level::Flips, Some(true)),
        "{}",
        line(&verdict)
    );
}
