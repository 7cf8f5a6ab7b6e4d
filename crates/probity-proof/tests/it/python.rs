//! Python with pytest.

use probity_proof::{Claim, FixResult, Level, Outcome, SuiteRun};

use crate::stage::{Stage, claim, fix};

const CALC: &str = "def total(prices):
    result = 0
    for price in prices[1:]:
        result += price
    return result


def clamp(value, low, high):
    return min(high, max(low, value))
";

const TESTS: &str = "import calc


def test_clamp():
    assert calc.clamp(5, 0, 3) == 3


def test_total_of_none():
    assert calc.total([]) == 0
";

fn repository() -> Stage {
    Stage::new(&[("calc.py", CALC), ("tests/test_calc.py", TESTS)])
}

#[test]
fn a_fix_that_flips_the_test_and_breaks_nothing_proves_the_claim() {
    let stage = repository();
    let test = "import calc\n\ndef test_first():\n    assert calc.total([2, 3]) == 5\n";
    let right = fix("calc.py", CALC, "prices[1:]", "prices");
    let verdict = stage.prove_one(&Claim { fix_patch: Some(right), ..claim("1", "calc.py", test) });
    assert_eq!(
        (verdict.outcome, verdict.level, verdict.proven, &verdict.fix),
        (Outcome::Failed, Level::Flips, true, &FixResult::Flips(SuiteRun::Complete { passed: 2 })),
        "{verdict:#?}"
    );
}
