//! What is the same in every language: placement, odd repositories, many claims, and the end.

use std::{
    fs,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::Duration,
};

use probity_proof::{
    Claim, Level, Outcome, PrepareNote, Refusal, Trouble, Why, WithoutFix, Workshop,
};

use crate::stage::{Stage, at, claim, fix, named};

const CALC: &str = "def sub(a, b):\n    return a + b\n";
const REAL: &str = "import calc\n\n\ndef test_x():\n    assert calc.sub(3, 1) == 2\n";

fn right() -> Claim {
    Claim {
        fix_patch: Some(fix("calc.py", CALC, "a + b", "a - b")),
        ..claim("right", "calc.py", REAL)
    }
}

#[test]
fn a_test_is_placed_inside_the_copy_under_a_name_of_its_own_or_not_at_all() {
    let stage = Stage::new(&[("calc.py", CALC), ("test_old.py", ""), ("notes.txt", "")]);
    std::os::unix::fs::symlink("calc.py", stage.path().join("linked.py")).unwrap();
    std::os::unix::fs::symlink(".", stage.path().join("here")).unwrap();
    stage.commit();
    let on = || claim("a", "calc.py", REAL);
    let owned = str::to_owned;
    let rows = [
        (at(on(), "../test_x.py"), Refusal::TestPathOutside(owned("../test_x.py"))),
        (at(on(), "/tmp/test_x.py"), Refusal::TestPathOutside(owned("/tmp/test_x.py"))),
        (at(on(), ".git/test_x.py"), Refusal::TestPathOutside(owned(".git/test_x.py"))),
        (at(on(), "here/test_x.py"), Refusal::TestPathThroughLink(owned("here/test_x.py"))),
        (at(on(), "test_old.py"), Refusal::TestFileExists(owned("test_old.py"))),
        (at(on(), "x.py"), Refusal::NotATestFileName(owned("x.py"))),
        (named(on(), "test_y"), Refusal::NoSuchTest(Some(owned("test_y")))),
        (claim("a", "calc.py", " \n"), Refusal::NoTest),
        (claim("a", "calc.py", "\0"), Refusal::NulInTest),
        (claim("a", "gone.py", REAL), Refusal::FlaggedFileMissing(owned("gone.py"))),
        (claim("a", "../calc.py", REAL), Refusal::FlaggedPathOutside(owned("../calc.py"))),
        (claim("a", "notes.txt", REAL), Refusal::NoRunner(owned("notes.txt"))),
        (claim("a", "calc.go", REAL), Refusal::NoRunner(owned("calc.go"))),
    ];
    let claims: Vec<Claim> = rows.iter().map(|(claim, _)| claim.clone()).collect();
    for ((_, expected), verdict) in rows.iter().zip(stage.prove(&claims)) {
        assert_eq!(verdict.why, Why::Refused(expected.clone()), "{verdict:#?}");
        assert!(!verdict.proven && verdict.runs.is_empty());
    }
}

#[test]
fn odd_repositories_are_tried_all_the_same() {
    let bare = Stage::bare(&[("calc.py", CALC)]);
    assert!(bare.prove_one(&right()).proven);

    let unborn =
        Stage::bare(&[("calc.py", CALC), (".gitignore", "ignored.py\n"), ("ignored.py", "")]);
    unborn.git(&["init", "-q"]);
    for (target, link) in [("/etc/hostname", "out"), ("calc.py", "in"), ("/tmp", "away")] {
        std::os::unix::fs::symlink(target, unborn.path().join(link)).unwrap();
    }
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mkfifoat(rustix::fs::CWD, unborn.path().join("pipe"), mode).unwrap();
    let look = REAL.replace(
        "    assert",
        "    import os\n    print([name for name in ('out', 'in', 'pipe', '.git', 'ignored.py') if os.path.lexists(name)])\n    assert",
    );
    let workshop = Workshop::prepare(unborn.options.clone(), &|_| {}).unwrap();
    assert_eq!(workshop.notes(), [PrepareNote::LinksDropped(2)]);
    let through = at(claim("through", "calc.py", REAL), "away/test_x.py");
    let claims = [Claim { test_code: look, ..right() }, through];
    let verdicts = workshop.prove_all(&claims, WithoutFix::Leave, &|_, _| {});
    assert!(verdicts[0].proven, "{verdicts:#?}");
    assert!(verdicts[0].output.contains("['in']"), "{}", verdicts[0].output);
    // The link is not in the copy, so that the directory is a new one there, and nothing more.
    assert_eq!(verdicts[1].outcome, Outcome::Failed, "{verdicts:#?}");
    assert!(fs::symlink_metadata("/tmp/test_zz_probity_through.py").is_err());
}

#[test]
fn a_directory_of_a_repository_is_a_repository() {
    let mut stage =
        Stage::new(&[("below/calc.py", CALC), ("below/deep/x.py", ""), ("other.py", "")]);
    let base = CALC.replace("a + b", "a - b");
    stage.change("below/calc.py", &base, &[]);
    let added = [("calc.py".to_owned(), vec![(2, 2)])];
    stage.options.base.as_mut().unwrap().added = added.into();
    stage.options.repo.push("below");
    let introduced = Claim { line: 2, ..claim("base", "calc.py", REAL) };
    let verdicts = stage.prove(&[right(), introduced]);
    let seen: Vec<_> = verdicts.iter().map(|one| (one.level, one.proven, one.introduced)).collect();
    let expected = [(Level::Flips, true, Some(true)), (Level::Flips, true, Some(true))];
    assert_eq!(seen, expected, "{verdicts:#?}");
}

#[test]
fn a_tracked_file_is_there_even_if_it_is_ignored() {
    let stage =
        Stage::new(&[("calc.py", &format!("import data\n\n\n{CALC}")), ("data.py", "X = 1\n")]);
    stage.write(".gitignore", "data.py\n");
    stage.commit();
    let verdict = stage.prove_one(&Claim { line: 4, ..claim("data", "calc.py", REAL) });
    assert_eq!(verdict.level, Level::Depends, "{verdict:#?}");
}

#[test]
fn claims_that_run_beside_each_other_do_not_meet() {
    let mut stage = Stage::new(&[("calc.py", CALC)]);
    stage.options.jobs = 4;
    let leaves = "import os, calc\n\n\ndef test_x():\n    assert not os.path.exists('left')\n    \
        open('left', 'w').close()\n    os.makedirs('deep/er')\n    assert calc.sub(3, 1) == 2\n";
    let same = Claim { test_code: leaves.to_owned(), ..right() };
    let claims = vec![same; 6];
    let done = AtomicUsize::new(0);
    let workshop = Workshop::prepare(stage.options.clone(), &|_| {}).unwrap();
    let verdicts = workshop.prove_all(&claims, WithoutFix::Leave, &|_, _| {
        done.fetch_add(1, Ordering::SeqCst);
    });
    assert_eq!(done.into_inner(), 6);
    for verdict in verdicts {
        assert!(verdict.proven, "{verdict:#?}");
    }
}

#[test]
fn a_test_that_runs_is_killed_when_the_review_is_cancelled() {
    let stage = Stage::new(&[("calc.py", CALC)]);
    let sleeps = "import time\n\n\ndef test_x():\n    time.sleep(50)\n";
    let claims = [claim("sleeps", "calc.py", sleeps), right(), right()];
    let workshop = Workshop::prepare(stage.options.clone(), &|_| {}).unwrap();
    stage.options.cancel.store(false, Ordering::SeqCst);
    let verdicts = thread::scope(|threads| {
        threads.spawn(|| {
            thread::sleep(Duration::from_secs(1));
            stage.options.cancel.store(true, Ordering::SeqCst);
        });
        workshop.prove_all(&claims, WithoutFix::Leave, &|_, _| {})
    });
    let cancelled = Why::Ran(probity_proof::RunDetail::Trouble(Trouble::Cancelled));
    assert_eq!(verdicts[0].why, cancelled, "{verdicts:#?}");
    assert!(verdicts.iter().all(|verdict| !verdict.proven), "{verdicts:#?}");
}
