//! The merge base: what a change has brought, and what was there before.

use probity_proof::{Base, BaseResult, Claim, Level};

use crate::stage::{Stage, claim, fix, named};

const NOW: &str =
    "def sub(a, b):\n    return a + b\n\n\ndef first(values):\n    return values[1]\n";

const REAL: &str = "import calc\n\n\ndef test_x():\n    assert calc.sub(3, 1) == 2\n";
const OLD: &str = "import calc\n\n\ndef test_x():\n    assert calc.first([7, 8]) == 7\n";

fn repository() -> Stage {
    let sound = "import calc\n\n\ndef test_zero():\n    assert calc.sub(0, 0) == 0\n";
    let mut stage = Stage::new(&[("calc.py", NOW), ("tests/test_calc.py", sound)]).quickly();
    stage.change("calc.py", &NOW.replace("a + b", "a - b"), &[(2, 2)]);
    stage
}

#[test]
fn a_test_that_passes_before_the_change_proves_what_the_change_added() {
    let on = |id: &str, line: u32, code: &str| {
        named(Claim { line, ..claim(id, "calc.py", code) }, "test_x")
    };
    let right = fix("calc.py", NOW, "values[1]", "values[0]");
    let wrong = fix("calc.py", NOW, "a + b", "a * b");
    let verdicts = repository().prove(&[
        on("added", 2, REAL),
        // The blamed line is not one that the change has added.
        on("beside", 1, REAL),
        on("old", 6, OLD),
        Claim { fix_patch: Some(right), ..on("fixed", 6, OLD) },
        // A fix on offer has to work, whatever the base does.
        Claim { fix_patch: Some(wrong), ..on("misfixed", 2, REAL) },
        on("constant", 2, "import calc\n\n\ndef test_x():\n    assert calc.sub(1, 1) is test_x\n"),
    ]);
    let seen: Vec<_> = verdicts
        .iter()
        .map(|one| (one.id.as_str(), one.level, one.proven, one.introduced, one.base))
        .collect();
    let (passes, fails) = (BaseResult::Passes, BaseResult::Fails);
    assert_eq!(
        seen,
        [
            ("added", Level::Flips, true, Some(true), passes),
            ("beside", Level::Depends, true, Some(true), passes),
            ("old", Level::Depends, true, Some(false), fails),
            ("fixed", Level::Flips, true, Some(false), fails),
            ("misfixed", Level::Fails, false, Some(true), passes),
            ("constant", Level::Fails, false, Some(true), fails),
        ],
        "{verdicts:#?}"
    );
}

#[test]
fn a_base_that_lacks_the_feature_says_nothing() {
    let mut stage = Stage::new(&[("calc.py", "X = 1\n")]);
    let commit = stage.commit();
    stage.write("calc.py", &format!("X = 1\n{NOW}"));
    stage.write("fresh.py", "def sub(a, b):\n    return a + b\n");
    stage.commit();
    let added = [("calc.py".to_owned(), vec![(2, 7)]), ("fresh.py".to_owned(), vec![(1, 2)])];
    stage.options.base = Some(Base { commit, added: added.into() });
    let fresh = REAL.replace("calc", "fresh");
    let verdicts = stage.prove(&[
        Claim { line: 3, ..claim("feature", "calc.py", REAL) },
        Claim { line: 2, ..claim("file", "fresh.py", &fresh) },
    ]);
    let seen: Vec<_> = verdicts.iter().map(|one| (one.level, one.introduced)).collect();
    assert_eq!(seen, [(Level::Depends, Some(true)), (Level::Depends, Some(true))], "{verdicts:#?}");
}

#[test]
fn a_base_that_nobody_has_is_said_and_hinders_nothing() {
    let mut stage = Stage::new(&[("calc.py", NOW)]);
    stage.options.base = Some(Base { commit: "0123456789".to_owned(), ..Base::default() });
    let workshop = probity_proof::Workshop::prepare(stage.options.clone(), &|_| {}).unwrap();
    assert!(matches!(workshop.notes(), [probity_proof::PrepareNote::NoBase { .. }]));
}
