//! What existing tests say of a fix, in repositories whose suites are broken in every way that real
//! ones are.
//!
//! Each repository has one defect and one function that is right. A claim about the defect must not be
//! proven by silence, and a fix that undoes what is right must not pass where a test says so.

mod javascript;

use std::time::Duration;

use probity_proof::{BrokenTest, Claim, FixResult, Gap, Outcome, RunDetail, Verdict, Why};

use crate::{
    stage::{Stage, claim, fix},
    whole_corpus::is_whole,
};

/// A language with the same two functions: one that is wrong, and one that is right.
pub(crate) struct Code {
    pub(crate) path: &'static str,
    pub(crate) text: &'static str,
    /// Tests that fail, and that pass with these fixes.
    pub(crate) defect: (&'static str, (&'static str, &'static str)),
    pub(crate) reversed: (&'static str, (&'static str, &'static str)),
}

/// A repository beside the code, and what its tests say of the two fixes.
struct Row {
    name: &'static str,
    files: Vec<(&'static str, String)>,
    right: FixResult,
    /// The existing test that refuses the other fix.
    refuses: Option<&'static str>,
    /// Only `script/nightly` tries it.
    is_nightly: bool,
}

fn row(name: &'static str, files: &[(&'static str, &str)], right: FixResult) -> Row {
    let files = files.iter().map(|(path, text)| (*path, (*text).to_owned())).collect();
    Row { name, files, right, refuses: None, is_nightly: false }
}

impl Row {
    fn refusing(self, test: &'static str) -> Self {
        Self { refuses: Some(test), ..self }
    }

    fn nightly(self) -> Self {
        Self { is_nightly: true, ..self }
    }
}

fn guarded(passed: usize) -> FixResult {
    FixResult::Guarded { passed }
}

fn partly(passed: usize, gap: Gap) -> FixResult {
    FixResult::PartlyGuarded { passed, gaps: vec![gap] }
}

fn unguarded(gap: Gap) -> FixResult {
    FixResult::Unguarded { gaps: vec![gap] }
}

fn unloaded(file: &str) -> Gap {
    Gap::Unloaded(file.to_owned())
}

fn not_run(place: &str, detail: RunDetail) -> Gap {
    Gap::NotRun { place: place.to_owned(), detail }
}

impl Code {
    pub(crate) fn claim(&self, id: &str, (test, (from, to)): (&str, (&str, &str))) -> Claim {
        let line = self.text.lines().position(|line| line.contains(from)).unwrap() + 1;
        Claim {
            line: u32::try_from(line).unwrap(),
            fix_patch: Some(fix(self.path, self.text, from, to)),
            ..claim(id, self.path, test)
        }
    }

    fn verdicts(&self, row: &Row, prepare: impl Fn(&mut Stage)) -> Vec<Verdict> {
        let mut files: Vec<(&str, &str)> =
            row.files.iter().map(|(path, text)| (*path, text.as_str())).collect();
        files.push((self.path, self.text));
        let mut stage = Stage::new(&files);
        prepare(&mut stage);
        let mut claims = vec![self.claim("defect", self.defect)];
        if row.refuses.is_some() {
            claims.push(self.claim("reversed", self.reversed));
        }
        stage.prove(&claims)
    }

    fn check(&self, rows: &[Row], prepare: impl Fn(&mut Stage)) {
        let mut wrong = Vec::new();
        for row in rows.iter().filter(|row| !row.is_nightly || is_whole()) {
            let verdicts = self.verdicts(row, &prepare);
            let mut expected = vec![row.right.clone()];
            expected.extend(
                row.refuses.map(|test| FixResult::Breaks(vec![BrokenTest::Named(test.to_owned())])),
            );
            for (verdict, fix) in verdicts.iter().zip(expected) {
                if verdict.fix != fix || verdict.proven != fix.is_guarded() {
                    wrong.push(format!("{}: not {fix:?}\n{verdict:#?}", row.name));
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}

pub(crate) const PYTHON: Code = Code {
    path: "calc.py",
    text: "def half(a):\n    return a / 3\n\n\ndef double(a):\n    return a * 2\n",
    defect: ("import calc\n\ndef test_x():\n    assert calc.half(4) == 2\n", ("/ 3", "/ 2")),
    reversed: ("import calc\n\ndef test_x():\n    assert calc.double(3) == 9\n", ("* 2", "* 3")),
};

/// The tests of the two functions, of which one says what the other fix undoes.
pub(crate) const MIRROR: (&str, &str) = (
    "tests/test_calc.py",
    "import calc\n\ndef test_zero():\n    assert calc.half(0) == 0\n\n\
     def test_double():\n    assert calc.double(2) == 4\n",
);
const BROKEN: (&str, &str) = ("tests/test_other.py", "import nothing\n");
pub(crate) const DOUBLE: &str = "tests/test_calc.py::test_double";

#[test]
fn pytest_says_which_existing_tests_guard_a_fix() {
    let timed = "import time\nimport pytest\nimport calc\n\n\
        @pytest.mark.parametrize('now', [time.time()])\n\
        def test_double(now):\n    assert calc.double(2) == 4\n";
    let slow = "import time\nimport pytest\nimport calc\n\n@pytest.mark.slow\n\
        def test_slow():\n    time.sleep(3600)\n";
    let marked = "[pytest]\naddopts = -n 4 --cov calc -m 'not slow'\nmarkers =\n    slow: slow\n";
    let in_company = "import calc\n\nready = []\n\ndef test_first():\n    ready.append(1)\n\n\
        def test_double():\n    assert not ready or calc.double(2) == 4\n";
    let before_others = "import os\n\ndef test_a():\n    os.environ['READY'] = '1'\n";
    let after_others =
        format!("import os\n{}\ndef test_ready():\n    assert 'READY' in os.environ\n", MIRROR.1);
    PYTHON.check(
        &[
            row("sound", &[MIRROR], guarded(2)).refusing(DOUBLE),
            row("one file is not collected", &[MIRROR, BROKEN], partly(2, unloaded(BROKEN.0)))
                .refusing(DOUBLE),
            row("an id contains the time", &[(MIRROR.0, timed)], guarded(1)).refusing(DOUBLE),
            row("a test fails only after another", &[(MIRROR.0, in_company)], guarded(2))
                .refusing(DOUBLE),
            row(
                "a test passes only after one that is not run",
                &[("tests/test_a.py", before_others), (MIRROR.0, &after_others)],
                guarded(2),
            )
            .refusing(DOUBLE),
            row(
                "options decide which tests there are",
                &[MIRROR, ("tests/test_slow.py", slow), ("pytest.ini", marked)],
                guarded(2),
            ),
        ],
        |_| {},
    );
}

#[test]
fn pytest_that_shows_nothing_guards_no_fix() {
    let fails = "import calc\n\ndef test_old():\n    assert calc.half(0) == 1\n";
    let other = "import calc\n\ndef test_other():\n    assert calc.half(0) == 0\n";
    let before = "def test_a():\n    assert False\n";
    PYTHON.check(
        &[
            row("there are no tests", &[], guarded(0)),
            row(
                "none touches the code",
                &[("tests/test_a.py", "def test_a(): pass\n")],
                guarded(0),
            )
            .nightly(),
            row("nothing is collected", &[BROKEN], unguarded(unloaded(BROKEN.0))),
            row(
                "the tests of the file are not collected",
                &[("tests/test_calc.py", "import nothing\n"), ("tests/test_other.py", other)],
                unguarded(unloaded("tests/test_calc.py")),
            ),
            row("those of the file fail", &[(MIRROR.0, fails)], unguarded(Gap::NonePasses)),
            row("all fail", &[("tests/test_a.py", before)], unguarded(Gap::NonePasses)).nightly(),
        ],
        |_| {},
    );
}

#[test]
fn tests_of_unittest_guard_a_fix() {
    let tests = "import unittest\nimport calc\n\n\nclass TestCalc(unittest.TestCase):\n    \
        def test_zero(self):\n        self.assertEqual(calc.half(0), 0)\n\n    \
        def test_double(self):\n        self.assertEqual(calc.double(2), 4)\n";
    PYTHON.check(
        &[
            row("unittest", &[("tests/test_calc.py", tests)], guarded(2))
                .refusing("tests/test_calc.py::TestCalc::test_double"),
            // Unittest looks at files that pytest leaves out.
            row("its own names", &[("tests/testcalc.py", tests)], guarded(2))
                .refusing("tests/testcalc.py::TestCalc::test_double")
                .nightly(),
        ],
        |_| {},
    );
}

/// The run of all tests comes to no end, but the nearest tests do.
#[test]
fn tests_without_time_left_are_named() {
    let sleeps = "import time\n\ndef test_sleeps():\n    time.sleep(3600)\n";
    PYTHON.check(
        &[row(
            "one test sleeps",
            &[MIRROR, ("tests/test_aaa.py", sleeps)],
            partly(2, Gap::Unmapped { tests: 3 }),
        )
        .refusing(DOUBLE)],
        |stage| stage.options.suite_timeout = Duration::from_secs(20),
    );
}

/// Code that runs at import, or in a fixture which an earlier test has set up, belongs to every test
/// that has it.
#[test]
fn tests_that_only_import_the_code_guard_a_fix_of_it() {
    let code = Code {
        path: "pkg/limits.py",
        text: "def half(a):\n    return a / 3\n\n\nLIMIT = 2 * 2\n",
        defect: (
            "from pkg.limits import half\n\ndef test_x():\n    assert half(4) == 2\n",
            ("/ 3", "/ 2"),
        ),
        reversed: (
            "from pkg.limits import LIMIT\n\ndef test_x():\n    assert LIMIT == 6\n",
            ("2 * 2", "3 * 2"),
        ),
    };
    let api = "from .limits import LIMIT\n\n\ndef limit():\n    return LIMIT\n";
    let first = "import pkg.api\n\ndef test_first(): pass\n";
    let second = "from pkg import api\n\ndef test_limit():\n    assert api.limit() == 4\n";
    let files = [
        ("pkg/__init__.py", ""),
        ("pkg/api.py", api),
        ("tests/test_a.py", first),
        ("tests/test_b.py", second),
    ];
    let row = row("through another module", &files, guarded(2));
    code.check(&[row.refusing("tests/test_b.py::test_limit")], |_| {});
}

#[test]
fn a_test_that_could_not_start_anywhere_is_not_the_agents_fault() {
    let broken = |file: &'static str, text: &'static str| {
        let verdicts = PYTHON.verdicts(&row("start", &[(file, text)], guarded(0)), |_| {});
        (verdicts[0].outcome, verdicts[0].why.clone())
    };
    for (file, text) in [
        ("conftest.py", "import nothing\n"),
        ("conftest.py", "import pytest\n\n@pytest.fixture(autouse=True)\ndef x():\n    1 / 0\n"),
        ("pytest.ini", "[pytest]\nminversion = 99\n"),
    ] {
        let (outcome, why) = broken(file, text);
        assert_eq!(outcome, Outcome::HarnessError, "{text} {why:?}");
        assert!(matches!(why, Why::Unstarted(_)), "{text} {why:?}");
    }
    // Every test passes here, whatever it says.
    for text in [
        "def pytest_pyfunc_call(pyfuncitem):\n    return True\n",
        "import _pytest.python as it\nit.Function.runtest = lambda self: None\n",
    ] {
        assert_eq!(broken("conftest.py", text), (Outcome::HarnessError, Why::AlwaysPasses));
    }
    // The code needs what is not here.
    let code = Code { text: "import nothing\n\ndef half(a):\n    return a / 3\n", ..PYTHON };
    let row = row("needs", &[], guarded(0));
    let verdicts = code.verdicts(&row, |_| {});
    assert!(matches!(verdicts[0].why, Why::Unstarted(_)), "{verdicts:#?}");
    // The test does.
    let test = "import nothing\n\ndef test_x():\n    assert False\n";
    let code = Code { defect: (test, PYTHON.defect.1), ..PYTHON };
    let verdicts = code.verdicts(&row, |_| {});
    assert_eq!(verdicts[0].why, Why::Ran(RunDetail::Unbuilt), "{verdicts:#?}");
}

pub(crate) const GO: Code = Code {
    path: "calc.go",
    text: "package calc\n\nfunc Half(a int) int { return a / 3 }\n\n\
        func Double(a int) int { return a * 2 }\n",
    defect: (
        "package calc\n\nimport \"testing\"\n\nfunc TestX(t *testing.T) {\n\tif Half(4) != 2 {\n\t\t\
         t.Fatal(1)\n\t}\n}\n",
        ("/ 3", "/ 2"),
    ),
    reversed: (
        "package calc\n\nimport \"testing\"\n\nfunc TestX(t *testing.T) {\n\tif Double(3) != 9 {\n\t\t\
         t.Fatal(1)\n\t}\n}\n",
        ("* 2", "* 3"),
    ),
};

#[test]
fn go_says_which_existing_tests_guard_a_fix() {
    let test = |body: &str| {
        format!(
            "package calc\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\n{body}\n\nvar _ = os.Exit\n"
        )
    };
    let double =
        test("func TestDouble(t *testing.T) {\n\tif Double(2) != 4 {\n\t\tt.Fatal(1)\n\t}\n}");
    let zero = test("func TestZero(t *testing.T) {\n\tif Half(0) != 0 {\n\t\tt.Fatal(1)\n\t}\n}");
    let tagged = format!("//go:build slow\n\n{double}");
    let untagged = tagged.replace("Double(2)", "Nothing(2)");
    let fails = test("func TestOld(t *testing.T) {\n\tt.Fatal(1)\n}");
    let exits = test("func TestA(t *testing.T) {}\n\nfunc TestB(t *testing.T) {\n\tos.Exit(0)\n}");
    let module = ("go.mod", "module example.com/calc\n\ngo 1.21\n");
    let user = "package user\n\nimport \"example.com/calc\"\n\nfunc User() int { return calc.Double(2) }\n";
    let unbuilt = "package user\n\nfunc TestUser(t *testing.T) {}\n";
    GO.check(
        &[
            row("sound", &[module, ("calc_test.go", &double)], guarded(1)).refusing("TestDouble"),
            row("there are no tests", &[module], guarded(0)).nightly(),
            row("all fail", &[module, ("old_test.go", &fails)], unguarded(Gap::NonePasses))
                .nightly(),
            row(
                "the process ends early",
                &[module, ("exits_test.go", &exits)],
                unguarded(not_run("", RunDetail::EndedEarly)),
            ),
            row(
                "a test is under a tag",
                &[module, ("calc_test.go", &zero), ("tagged_test.go", &tagged)],
                guarded(2),
            )
            .refusing("TestDouble")
            .nightly(),
            row(
                "what is under a tag does not build",
                &[module, ("calc_test.go", &double), ("tagged_test.go", &untagged)],
                partly(1, not_run(" (tags slow)", RunDetail::Unbuilt)),
            )
            .refusing("TestDouble"),
            row(
                "a package that uses it has tests that do not build",
                &[
                    module,
                    ("calc_test.go", &double),
                    ("user/user.go", user),
                    ("user/user_test.go", unbuilt),
                ],
                partly(1, not_run("user", RunDetail::Unbuilt)),
            )
            .nightly(),
        ],
        |_| {},
    );
}

pub(crate) const RUST: Code = Code {
    path: "src/lib.rs",
    text: "pub fn half(a: i64) -> i64 {\n    a / 3\n}\n\npub fn double(a: i64) -> i64 {\n    a * 2\n}\n",
    defect: ("#[test]\nfn x() {\n    assert_eq!(calc::half(4), 2);\n}\n", ("/ 3", "/ 2")),
    reversed: ("#[test]\nfn x() {\n    assert_eq!(calc::double(3), 9);\n}\n", ("* 2", "* 3")),
};

#[test]
fn cargo_says_which_existing_tests_guard_a_fix() {
    let manifest =
        ("Cargo.toml", "[package]\nname = \"calc\"\nversion = \"0.1.0\"\nedition = \"2021\"\n");
    let double =
        ("tests/old.rs", "#[test]\nfn double() {\n    assert_eq!(calc::double(2), 4);\n}\n");
    let exits = ("tests/old.rs", "#[test]\nfn exits() {\n    std::process::exit(0);\n}\n");
    let unbuilt = ("tests/broken.rs", "#[test]\nfn x() {\n    nothing();\n}\n");
    let alone = format!("{}\n[[test]]\nname = \"own\"\nharness = false\n", manifest.1);
    let own = ("tests/own.rs", "fn main() {\n    assert_eq!(calc::double(2), 4);\n}\n");
    // The tests share what is global, so each needs a process of its own.
    let global = "use std::sync::atomic::{AtomicI64, Ordering};\n\n\
        static LAST: AtomicI64 = AtomicI64::new(0);\n\n#[test]\nfn double() {\n    \
        assert_eq!(calc::double(2) + LAST.swap(1, Ordering::SeqCst), 4);\n}\n\n#[test]\n\
        fn other() {\n    assert_eq!(LAST.swap(1, Ordering::SeqCst), 0);\n}\n";
    let nextest = [manifest, ("tests/old.rs", global), (".config/nextest.toml", "")];
    RUST.check(
        &[
            row("sound", &[manifest, double], guarded(1)).refusing("calc old double"),
            row("a program is its own harness", &[("Cargo.toml", &alone), own], guarded(1))
                .refusing("calc own main")
                .nightly(),
            row("nextest runs each test by itself", &nextest, guarded(2))
                .refusing("calc old double")
                .nightly(),
            row(
                "a file does not compile",
                &[manifest, double, unbuilt],
                unguarded(not_run("", RunDetail::Unbuilt)),
            ),
        ],
        |_| {},
    );
    let verdicts = RUST.verdicts(&row("exits", &[manifest, exits], guarded(0)), |_| {});
    assert!(matches!(verdicts[0].fix, FixResult::Unguarded { .. }), "{verdicts:#?}");
}
