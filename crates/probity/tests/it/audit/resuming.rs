//! Nothing that was finished is asked again, whatever ended the run before.

use std::{
    fs,
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use super::{
    TRUE, about_findings, audit, project, report,
    server::{Play, Server, skill},
    state, statuses,
};

#[test]
fn after_a_kill_in_the_middle_finished_skills_are_kept_and_not_asked_again() {
    let dir = project();
    let server = Server::new(|number, body| match skill(body).as_str() {
        "strict-value-equality-001" => Play::Says(TRUE.to_owned()),
        // The second skill hangs in the first run.
        _ if number == 1 => Play::Silence,
        _ => Play::Says(TRUE.to_owned()),
    });
    let mut child = audit(&dir, &server)
        .into_command()
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let began = Instant::now();
    while server.requests().len() < 2 {
        assert!(
            began.elapsed() < Duration::from_secs(30),
            "the second skill was never asked about"
        );
        thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(statuses(&state(dir.path())), ["completed"], "the state is whole");
    assert!(!dir.path().join(".tx3/audit/vulnerabilities.md").exists());

    audit(&dir, &server).args(["--resume"]).run().code(0);
    let asked: Vec<String> = server.bodies().iter().map(skill).collect();
    assert_eq!(
        asked,
        [
            "strict-value-equality-001",
            "missing-address-validation-002",
            "missing-address-validation-002",
            "unvalidated-datum-003",
        ]
    );
    assert_eq!(statuses(&state(dir.path())), ["completed"; 3]);
    insta::assert_snapshot!(about_findings(&report(dir.path())), @"
    - **Datum not checked** (`high`)
      - Summary: Any datum passes.
      - Recommendation: Compare it.
      - Location: validators/spend.ak:3
      - Evidence: `expect InlineDatum(_) = output.datum`
      - Found by: `strict-value-equality-001`, `missing-address-validation-002`, `unvalidated-datum-003`

    ## Coverage

    - `strict-value-equality-001`: 6 of 6 lines in 1 file
    - `missing-address-validation-002`: 6 of 6 lines in 1 file
    - `unvalidated-datum-003`: 6 of 6 lines in 1 file

    ## Executive summary

    The audit found 1 vulnerability: 0 exploited and fixed, 0 exploited, 1 quoted only.
    The highest severity is high.
    ");
    let left: Vec<_> = fs::read_dir(dir.path().join(".tx3/audit")).unwrap().flatten().collect();
    assert_eq!(left.len(), 2, "no half-written file: {left:?}");
}

#[test]
fn a_finished_audit_sends_nothing_when_resumed() {
    let (dir, server) = (project(), Server::saying(&[TRUE]));
    audit(&dir, &server).run().code(0);
    let (requests, before) = (server.requests().len(), state(dir.path()));
    let output = audit(&dir, &server).args(["--resume"]).run().code(0);
    assert_eq!(server.requests().len(), requests);
    assert_eq!(state(dir.path()), before);
    assert_eq!(output.stderr, "");
    audit(&dir, &server).run().code(0);
    assert_eq!(server.requests().len(), 2 * requests, "without the flag all is asked");
}

#[test]
fn what_changed_since_is_asked_again_and_the_reason_is_told() {
    let (dir, server) = (project(), Server::saying(&[TRUE]));
    let output = audit(&dir, &server).args(["--resume"]).run().code(0);
    insta::assert_snapshot!(output.stderr, @"warning: there is no .tx3/audit/state.json to resume; everything is asked");
    fs::write(dir.path().join("validators/new.ak"), "new").unwrap();
    let output = audit(&dir, &server).args(["--resume"]).run().code(0);
    insta::assert_snapshot!(output.stderr, @"warning: .tx3/audit/state.json is not resumed: the sources have changed since");
    assert_eq!(server.requests().len(), 6);
    let output = audit(&dir, &server).args(["--resume", "--model", "other"]).run().code(0);
    insta::assert_snapshot!(output.stderr, @"warning: .tx3/audit/state.json is not resumed: another provider or model was asked");
    fs::write(dir.path().join(".tx3/audit/state.json"), "{").unwrap();
    let output = audit(&dir, &server).args(["--resume"]).run().code(1);
    insta::assert_snapshot!(output.stderr, @"
    error: .tx3/audit/state.json is not the state of an audit
      cause: EOF while parsing an object at line 1 column 1
      help: start over without --resume
    ");
    let output = audit(&dir, &server).run().code(0);
    assert_eq!(
        output.stderr,
        "warning: .tx3/audit/state.json is not the state of an audit; findings of the previous audit \
         get no status\n"
    );
}

#[test]
fn skills_run_side_by_side_and_their_order_is_the_same() {
    let dir = project();
    let arrived = Arc::new(AtomicUsize::new(0));
    let here = Arc::clone(&arrived);
    let server = Server::new(move |_, body| {
        here.fetch_add(1, Ordering::SeqCst);
        // Nobody is answered before all three have asked, which one after the other never have.
        let began = Instant::now();
        while here.load(Ordering::SeqCst) < 3 && began.elapsed() < Duration::from_secs(20) {
            thread::sleep(Duration::from_millis(5));
        }
        let together = here.load(Ordering::SeqCst) >= 3;
        let wait = if skill(body).ends_with("001") { 300 } else { 0 };
        let said = if together { TRUE } else { "alone" };
        Play::After(Duration::from_millis(wait), Box::new(Play::Says(said.to_owned())))
    });
    audit(&dir, &server).args(["--jobs", "3"]).run().code(0);
    let ids: Vec<String> = state(dir.path())["iterations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|iteration| iteration["skill_id"].as_str().unwrap().to_owned())
        .collect();
    let expected =
        ["strict-value-equality-001", "missing-address-validation-002", "unvalidated-datum-003"];
    assert_eq!(ids, expected);
}

/// Whoever commits a state could have written that every skill found nothing.
#[test]
fn a_committed_state_is_not_resumed() {
    let dir = project();
    let server = Server::new(|_, _| Play::Says(TRUE.to_owned()));
    audit(&dir, &server).run().code(0);
    let asked = server.requests().len();
    let git = |words: &[&str]| {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=Ann", "-c", "user.email=ann@example.org"]).args(words);
        assert!(git.current_dir(dir.path()).output().unwrap().status.success(), "{words:?}");
    };
    git(&["init", "-q"]);
    git(&["add", "--force", "."]);
    git(&["commit", "-q", "-m", "all"]);
    let output = audit(&dir, &server).args(["--resume"]).run().code(1);
    assert!(output.stderr.contains("git tracks"), "{}", output.stderr);
    assert!(output.stderr.contains("git rm --cached"), "{}", output.stderr);
    assert_eq!(server.requests().len(), asked);
    git(&["rm", "-q", "--cached", "-r", ".tx3"]);
    audit(&dir, &server).args(["--resume"]).run().code(0);
    assert_eq!(server.requests().len(), asked);
}
