//! Fixes that cheat, that break existing tests, that are refused, and existing tests of every mood.

use std::time::Duration;

use probity_proof::{BrokenTest, Claim, FixFault, FixResult, Level, Outcome, Verdict};

use crate::stage::{Stage, claim, fix};

const CALC: &str = "import other


def total(prices):
    result = 0
    for price in prices[1:]:
        result += price
    return result


def clamp(value, low, high):
    return min(high, max(low, value))
";

const TESTS: &str = "import os
import calc


def test_clamp():
    assert calc.clamp(5, 0, 3) == 3


def test_total_of_none():
    assert calc.total([]) == 0


def test_that_fails_anyway():
    assert calc.total([1]) == 17


def test_now_and_then():
    assert os.urandom(1)[0] % 2
";

const TEST: &str = "import calc\n\ndef test_first():\n    assert calc.total([20, 30]) == 50\n";

fn repository() -> Stage {
    Stage::new(&[
        ("calc.py", CALC),
        ("other.py", "X = 1\n"),
        ("tests/test_calc.py", TESTS),
        ("setup.cfg", "[x]\n"),
    ])
}

fn with(id: &str, patch: String) -> Claim {
    Claim { line: 6, fix_patch: Some(patch), ..claim(id, "calc.py", TEST) }
}

/// The claim with the line that sums replaced by this one.
fn loops(id: &str, to: &str) -> Claim {
    with(id, fix("calc.py", CALC, "    for price in prices[1:]:\n", to))
}

#[test]
fn a_fix_counts_if_it_flips_the_test_and_breaks_nothing() {
    let rest = "    for price in prices:\n";
    let claims = [
        loops("right", rest),
        loops("wrong", "    for price in prices[2:]:\n"),
        loops("breaks", &format!("    prices[0]\n{rest}")),
        with(
            "clamps",
            fix("calc.py", CALC, "prices[1:]", "prices")
                .replace("+    return min(high", "+    return min(low"),
        ),
        loops("unbuilt", &format!("    import nothing\n{rest}")),
        loops("flaky", &format!("    if __import__('random').random() < 0.95: return 0\n{rest}")),
    ];
    let verdicts = repository().prove(&claims);
    let seen: Vec<(&str, Level, bool)> =
        verdicts.iter().map(|one| (one.id.as_str(), one.level, one.proven)).collect();
    assert_eq!(
        seen,
        [
            ("right", Level::Flips, true),
            ("wrong", Level::Fails, false),
            ("breaks", Level::Fails, false),
            ("clamps", Level::Fails, false),
            ("unbuilt", Level::Fails, false),
            ("flaky", Level::Fails, false),
        ],
        "{verdicts:#?}"
    );
    // A test that fails anyway, and one that fails now and then, say nothing against a fix.
    let passed = |verdict: &Verdict| match verdict.fix {
        FixResult::Guarded { passed } => passed,
        _ => 0,
    };
    assert!((2..=3).contains(&passed(&verdicts[0])), "{:#?}", verdicts[0]);
    assert_eq!(verdicts[1].fix, FixResult::DoesNotFlip(Outcome::Failed));
    let broken = |name: &str| {
        FixResult::Breaks(vec![BrokenTest::Named(format!("tests/test_calc.py::{name}"))])
    };
    assert_eq!(verdicts[2].fix, broken("test_total_of_none"));
    assert_eq!(verdicts[3].fix, broken("test_clamp"));
    assert!(matches!(verdicts[5].fix, FixResult::Flaky | FixResult::DoesNotFlip(_)));
}

#[test]
fn fixes_that_touch_what_they_may_not_or_cheat_are_refused() {
    let rest = "    for price in prices:\n";
    let elsewhere = |path: &str, from: &str, to: &str| {
        with("elsewhere", format!("--- a/{path}\n+++ b/{path}\n@@ -1,1 +1,1 @@\n-{from}\n+{to}\n"))
    };
    let claims = [
        elsewhere("other.py", "X = 1", "X = 2"),
        elsewhere("tests/test_calc.py", "import os", "import sys"),
        elsewhere("setup.cfg", "[x]", "[y]"),
        elsewhere("../calc.py", "import other", "import other"),
        with("new", "--- /dev/null\n+++ b/conftest.py\n@@ -0,0 +1,1 @@\n+import calc\n".to_owned()),
        with(
            "stale",
            fix("calc.py", CALC, "prices[1:]", "prices").replace("-def total", "-def other"),
        ),
        loops("comment", "    for price in prices[1:]:  # fixed\n"),
        loops("literal", "    if prices == [20, 30]: return 50\n    for price in prices[1:]:\n"),
        loops("empty", "    return 50\n    for price in prices[1:]:\n"),
        loops(
            "detects",
            "    import sys\n    if 'pytest' in sys.modules: return 50\n    for price in prices[1:]:\n",
        ),
        loops("exits", "    import os; os._exit(0)\n    for price in prices[1:]:\n"),
        loops("right", rest),
    ];
    let mut stage = repository();
    stage.options.reviewed = Some(["calc.py".to_owned()].into());
    let verdicts = stage.prove(&claims);
    let refused: Vec<String> = verdicts
        .iter()
        .map(|one| match &one.fix {
            FixResult::Refused(fault) if !one.proven => {
                let shown = format!("{fault:?}");
                shown.split('(').next().unwrap_or_default().to_owned()
            }
            _ => one.level.to_string(),
        })
        .collect();
    let expected = [
        "NotUnderReview",
        "TouchesTest",
        "TouchesSettings",
        "Unreadable",
        "Patch",
        "Patch",
        "OnlyComments",
        "Cheats",
        "Cheats",
        "Cheats",
        "Cheats",
        "P3",
    ];
    assert_eq!(refused, expected, "{verdicts:#?}");
    let leaves = Stage::new(&[("calc.py", CALC), ("other.py", "X = 1\n")]).prove_one(&claims[0]);
    assert_eq!(leaves.fix, FixResult::Refused(FixFault::LeavesFlagged("calc.py".to_owned())));
}

#[test]
fn a_hang_is_proven_by_a_fix_that_is_quick() {
    // It hangs asleep: a busy loop would take a processor from the other tests for its whole limit.
    let source = "import time\n\ndef count(steps):\n    done = 0\n    while done < steps:\n        done += 0\n        time.sleep(0.02)\n    return done\n";
    let test = "import loop\n\ndef test_x():\n    assert loop.count(3) == 3\n";
    let mut stage = Stage::new(&[("loop.py", source), ("pytest.ini", "[pytest]\n")]);
    stage.options.test_timeout = Duration::from_secs(8);
    let on = |id: &str, to: &str| Claim {
        line: 3,
        fix_patch: Some(fix("loop.py", source, "done += 0", to)),
        ..claim(id, "loop.py", test)
    };
    let slow = "done += 1; time.sleep(1)";
    let verdicts = stage.prove(&[on("right", "done += 1"), on("slow", slow)]);
    let seen: Vec<_> = verdicts.iter().map(|one| (one.outcome, one.proven)).collect();
    assert_eq!(seen, [(Outcome::Failed, true), (Outcome::Timeout, false)], "{verdicts:#?}");
    assert_eq!(verdicts[1].fix, FixResult::Slow);
}

#[test]
fn a_fix_with_which_the_existing_tests_do_not_build_breaks_them() {
    let source = "package calc\n\nfunc Half(a int) int { return a / 3 }\n\nfunc Name() string { return \"x\" }\n";
    let old = "package calc\n\nimport \"testing\"\n\nfunc TestName(t *testing.T) {\n\tif Name() != \"x\" {\n\t\tt.Fatal(1)\n\t}\n}\n";
    let user = "package user\n\nimport \"example.com/calc\"\n\nfunc User() string { return calc.Name() }\n";
    let users = "package user\n\nimport \"testing\"\n\nfunc TestUser(t *testing.T) {\n\tif User() != \"x\" {\n\t\tt.Fatal(1)\n\t}\n}\n";
    let test = "package calc_test\n\nimport (\n\t\"testing\"\n\n\t\"example.com/calc\"\n)\n\n\
        func TestX(t *testing.T) {\n\tif calc.Half(4) != 2 {\n\t\tt.Fatal(1)\n\t}\n}\n";
    let stage = Stage::new(&[
        ("go.mod", "module example.com/calc\n\ngo 1.21\n"),
        ("calc.go", source),
        ("user/user.go", user),
        ("user/user_test.go", users),
        ("inner_test.go", old),
    ]);
    let right = fix("calc.go", source, "a / 3", "a / 2");
    let on = |id: &str, patch: &str| Claim {
        line: 3,
        fix_patch: Some(patch.to_owned()),
        ..claim(id, "calc.go", test)
    };
    // The first one leaves no test that could be built with it, the second one only their own.
    let gone = right
        .replace("+func Name() string { return \"x\" }", "+func Named() string { return \"x\" }");
    let other = right
        .replace("+func Name() string { return \"x\" }", "+func Name() string { return \"y\" }");
    let verdicts = stage.prove(&[on("right", &right), on("gone", &gone), on("other", &other)]);
    assert_eq!(verdicts[0].fix, FixResult::Guarded { passed: 2 }, "{verdicts:#?}");
    assert!(
        matches!(verdicts[1].fix, FixResult::DoesNotFlip(Outcome::BuildError)),
        "{verdicts:#?}"
    );
    // That of the package that uses it breaks as well, but one is enough.
    let own = BrokenTest::Named("TestName".to_owned());
    assert_eq!(verdicts[2].fix, FixResult::Breaks(vec![own]));
}
