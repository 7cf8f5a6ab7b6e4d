//! How many processes proofs take, and what becomes of claims that have no time left.

use std::time::Duration;

use probity_proof::{
    Claim, FixResult, Outcome, ProcessCounts, ProofOptions, Why, WithoutFix, Workshop,
};

use crate::stage::{Stage, claim, fix};

const PAIRS: usize = ProofOptions::LEAST_PAIRS as usize;

/// A package, its existing test, a claim about it, and what proving that takes.
struct Row {
    files: Vec<(&'static str, &'static str)>,
    source: &'static str,
    broken: &'static str,
    sound: &'static str,
    test: &'static str,
    /// Two with the test, and two of existing tests.
    compilations: usize,
    /// Pairs of the test, existing tests, and one of each version with the other's text or a comment.
    runs: usize,
}

const GO: &str = "package calc\n\nfunc Half(a int) int { return a / 3 }\n";
const PYTHON: &str = "def half(a):\n    return a // 3\n";
const SCRIPT: &str = "export const half = (a) => a / 3;\n";
const RUST: &str = "pub fn half(a: i64) -> i64 {\n    a / 3\n}\n";

fn rows() -> [Row; 4] {
    [
        Row {
            files: vec![
                ("go.mod", "module example.com/calc\n\ngo 1.21\n"),
                (
                    "a_test.go",
                    "package calc\n\nimport \"testing\"\n\nfunc TestZero(t *testing.T) {\n\tif Half(0) != 0 {\n\t\tt.Fatal(1)\n\t}\n}\n",
                ),
                ("a.go", GO),
            ],
            source: GO,
            broken: "a / 3",
            sound: "a / 2",
            test: "package calc\n\nimport \"testing\"\n\nfunc TestX(t *testing.T) {\n\tif Half(4) != 2 {\n\t\tt.Fatal(1)\n\t}\n}\n",
            // Once more to learn which packages use which.
            compilations: 5,
            runs: 2 * PAIRS + 4,
        },
        Row {
            files: vec![
                ("tests/test_a.py", "import a\n\ndef test_zero():\n    assert a.half(0) == 0\n"),
                ("a.py", PYTHON),
            ],
            source: PYTHON,
            broken: "a // 3",
            sound: "a // 2",
            test: "import a\n\ndef test_x():\n    assert a.half(4) == 2\n",
            compilations: 0,
            // A run of all tests shows what they do without the fix, too.
            runs: 2 * PAIRS + 4,
        },
        Row {
            files: vec![
                ("package.json", r#"{"type": "module"}"#),
                (
                    "zero.test.js",
                    "import test from 'node:test';\nimport assert from 'node:assert';\nimport { half } from './a.js';\ntest('zero', () => assert.equal(half(0), 0));\n",
                ),
                ("a.js", SCRIPT),
            ],
            source: SCRIPT,
            broken: "a / 3",
            sound: "a / 2",
            test: "import test from 'node:test';\nimport assert from 'node:assert';\nimport { half } from './a.js';\ntest('x', () => assert.equal(half(4), 2));\n",
            compilations: 0,
            runs: 2 * PAIRS + 4,
        },
        Row {
            files: vec![
                (
                    "Cargo.toml",
                    "[package]\nname = \"calc\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
                ),
                ("tests/zero.rs", "#[test]\nfn zero() {\n    assert_eq!(calc::half(0), 0);\n}\n"),
                ("src/lib.rs", RUST),
            ],
            source: RUST,
            broken: "a / 3",
            sound: "a / 2",
            test: "#[test]\nfn x() {\n    assert_eq!(calc::half(4), 2);\n}\n",
            compilations: 4,
            // Two programs of existing tests, and once to learn the test's whole name.
            runs: 2 * PAIRS + 7,
        },
    ]
}

#[test]
fn every_version_is_built_once_and_every_run_is_one_process() {
    for row in rows() {
        let (path, _) = *row.files.last().unwrap();
        let mut stage = Stage::new(&row.files);
        if path.ends_with(".py") {
            // A run of all tests serves the next review as well.
            stage.options.caches = None;
        }
        let workshop = Workshop::prepare(stage.options.clone(), &|_| {}).unwrap();
        let claim = Claim {
            line: u32::try_from(
                row.source.lines().position(|line| line.contains(row.broken)).unwrap(),
            )
            .unwrap()
                + 1,
            fix_patch: Some(fix(path, row.source, row.broken, row.sound)),
            ..claim("a", path, row.test)
        };
        let verdicts = workshop.prove_all(&[claim], WithoutFix::Leave, &|_, _| {});
        assert!(verdicts[0].proven, "{verdicts:#?}");
        let Row { compilations, runs, .. } = row;
        // Nothing writes into the copy of the preparation, so that it serves all runs.
        let counts = ProcessCounts { compilations, runs, copies: 0 };
        assert_eq!(workshop.process_counts(), counts, "{path}");
    }
}

#[test]
fn a_copy_that_a_test_has_changed_serves_no_other_run() {
    let [_, python, ..] = rows();
    let mut stage = Stage::new(&python.files);
    stage.options.caches = None;
    let workshop = Workshop::prepare(stage.options.clone(), &|_| {}).unwrap();
    let litters = "import a\n\ndef test_x():\n    assert not __import__('os').path.exists('left')\n    \
        open('left', 'w').close()\n    assert a.half(4) == 2\n";
    let right = fix("a.py", python.source, python.broken, python.sound);
    let claim = Claim { line: 2, fix_patch: Some(right), ..claim("a", "a.py", litters) };
    let verdicts = workshop.prove_all(&[claim], WithoutFix::Leave, &|_, _| {});
    assert!(verdicts[0].proven, "{verdicts:#?}");
    // All but the runs of existing tests, which change nothing, so that the run after them has their copy;
    // the first has that of the preparation.
    let counts = workshop.process_counts();
    assert_eq!((counts.runs, counts.copies), (python.runs, 2 * PAIRS + 1));
}

#[test]
fn a_further_fix_costs_one_build_and_a_refused_one_none() {
    let [go, ..] = rows();
    let stage = Stage::new(&go.files);
    let workshop = Workshop::prepare(stage.options.clone(), &|_| {}).unwrap();
    let patch = |sound: &str| fix("a.go", go.source, go.broken, sound);
    let right = patch(go.sound);
    let offered = |others: &[&str]| Claim {
        line: 3,
        fix_patch: Some(patch("a / 4")),
        other_fixes: others.iter().map(|sound| patch(sound)).collect(),
        ..claim("a", "a.go", go.test)
    };
    let cheat = "map[int]int{4: 2}[a]; if a == 4 { return 2 }; return a";
    let claims = [offered(&[cheat, go.sound, "a / 5"]), offered(&["a / 5", cheat])];
    let verdicts = workshop.prove_all(&claims[..1], WithoutFix::Leave, &|_, _| {});
    assert!(verdicts[0].proven, "{verdicts:#?}");
    assert_eq!(verdicts[0].fix_patch.as_ref(), Some(&right));
    let counts = workshop.process_counts();
    // One build and one run of the first fix, and two more pairs for two fixes before.
    assert_eq!((counts.compilations, counts.runs), (go.compilations + 1, go.runs + 5));
    let verdicts = workshop.prove_all(&claims[1..], WithoutFix::Leave, &|_, _| {});
    assert!(!verdicts[0].proven, "{verdicts:#?}");
    // What is said is said of the first.
    assert_eq!(verdicts[0].fix, FixResult::DoesNotFlip(Outcome::Failed));
    assert_eq!(verdicts[0].fix_patch.as_ref(), Some(&patch("a / 4")));
    assert_eq!(workshop.process_counts().compilations, counts.compilations + 3);
}

#[test]
fn claims_that_the_time_for_all_proofs_cuts_off_are_not_proven() {
    let mut stage = Stage::new(&[("a.py", PYTHON)]);
    stage.options.jobs = 1;
    stage.options.proof_timeout = Some(Duration::from_secs(4));
    let hangs = "import a, time\n\ndef test_x():\n    time.sleep(3600)\n";
    let fails = "import a\n\ndef test_x():\n    assert a.half(4) == 2\n";
    let claims = [hangs, fails].map(|test| claim("a", "a.py", test));
    let workshop = Workshop::prepare(stage.options.clone(), &|_| {}).unwrap();
    // What is left of the time is for all calls together.
    for claims in [&claims[..], &claims[1..]] {
        for verdict in workshop.prove_all(claims, WithoutFix::Alter, &|_, _| {}) {
            assert_eq!((verdict.outcome, &verdict.why), (Outcome::NotRun, &Why::OutOfTime));
            assert!(!verdict.proven);
        }
    }
    assert_eq!(workshop.process_counts().runs, 1);
}
