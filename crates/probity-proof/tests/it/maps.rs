//! What the runs of existing tests cost: one run of all of them shows what each runs code of, serves all
//! claims and the next review, and no more run than are needed for a verdict.

use std::fs;

use probity_proof::{BrokenTest, FixResult, Verdict, WithoutFix, Workshop};

use crate::{
    guard::{DOUBLE, MIRROR, PYTHON},
    stage::Stage,
    whole_corpus::is_whole,
};

/// A repository with these tests beside the mirrored ones, and caches of its own.
fn stage(tests: &[(&str, &str)]) -> Stage {
    let mut stage = Stage::new(&[&[MIRROR, (PYTHON.path, PYTHON.text)][..], tests].concat());
    stage.options.caches = Some(
        stage
            .path()
            .parent()
            .unwrap()
            .join(format!("{}-caches", stage.path().file_name().unwrap().to_string_lossy())),
    );
    stage
}

/// The verdicts on the claim of the defect and the reversed one, and how many runs each took.
fn prove(stage: &Stage) -> [(Verdict, usize); 2] {
    let workshop = Workshop::prepare(stage.options.clone(), &|_| {}).unwrap();
    let mut before = 0;
    [("defect", PYTHON.defect), ("reversed", PYTHON.reversed)].map(|(id, claimed)| {
        let claims = [PYTHON.claim(id, claimed)];
        let verdict = workshop.prove_all(&claims, WithoutFix::Leave, &|_, _| {}).remove(0);
        let runs = workshop.process_counts().runs - before;
        before += runs;
        (verdict, runs)
    })
}

#[test]
fn one_run_of_all_tests_serves_all_claims_and_the_next_review() {
    let stage = stage(&[]);
    let caches = stage.options.caches.clone().unwrap();
    // Four pairs, two runs beside the other's text, and the existing tests with the fix.
    let proof = 8 + 2 + 1;
    // Two pairs, the same two, the tests with the fix, and what breaks four times on both sides.
    let refusal = 4 + 2 + 1 + 8;
    let runs = |stage: &Stage| prove(stage).map(|(_, runs)| runs);
    assert_eq!(runs(&stage), [proof + 1, refusal], "cold");
    assert_eq!(runs(&stage), [proof, refusal], "warm");
    if is_whole() {
        stage.write("tests/test_more.py", "import calc\n\ndef test_more():\n    assert calc\n");
        stage.commit();
        assert_eq!(runs(&stage), [proof + 1, refusal], "another commit");
    }
    // A file that nobody has committed changes what the tests say as well.
    stage.write("tests/test_more.py", "import calc\n\ndef test_more():\n    assert not calc\n");
    // Once more for the one that fails, which may mind being followed.
    assert_eq!(runs(&stage), [proof + 2, refusal], "another tree");
    fs::remove_dir_all(caches).unwrap();
}

#[test]
fn a_run_ends_at_the_first_test_that_breaks() {
    let more = "import calc\n\ndef test_twice():\n    assert calc.double(3) == 6\n";
    let stage = stage(&[("tests/test_twice.py", more)]);
    let [(right, _), (reversed, _)] = prove(&stage);
    assert_eq!(right.fix, FixResult::Guarded { passed: 3 });
    assert_eq!(reversed.fix, FixResult::Breaks(vec![BrokenTest::Named(DOUBLE.to_owned())]));
    assert_eq!((reversed.runs.len(), reversed.pairs), (2, 2), "nothing more has to be shown");
    fs::remove_dir_all(stage.options.caches.as_ref().unwrap()).unwrap();
}

/// Code that a test starts as a program leaves no trace in the test's own process.
#[test]
fn tests_that_commits_change_with_the_code_guard_a_fix() {
    let started = "import subprocess, sys\n\ndef test_program():\n    \
        told = subprocess.check_output([sys.executable, '-c', 'import calc; print(calc.double(2))'])\n    \
        assert told == b'4\\n'\n";
    let program = ("tests/test_program.py", started);
    let mut stage = Stage::new(&[(PYTHON.path, PYTHON.text), program]);
    stage.options.caches = None;
    let [_, (alone, _)] = prove(&stage);
    assert_eq!(alone.fix, FixResult::Guarded { passed: 0 }, "nobody knows of the test");
    for text in ["", PYTHON.text] {
        stage.write(PYTHON.path, text);
        stage.write(program.0, &format!("{started}# {}\n", text.len()));
        stage.commit();
    }
    let [(right, _), (reversed, _)] = prove(&stage);
    assert_eq!(right.fix, FixResult::Guarded { passed: 1 });
    let broken = BrokenTest::Named("tests/test_program.py::test_program".to_owned());
    assert_eq!(reversed.fix, FixResult::Breaks(vec![broken]));
}
