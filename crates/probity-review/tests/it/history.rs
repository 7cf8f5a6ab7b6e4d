//! The history, in both databases: the same story has to hold in each.

mod server;

use std::thread;

use probity_review::{
    Cost, FailureKind, History, HistoryError, HistoryPlace, PersonVerdict, Retention,
    ReviewFailure, ReviewOutput, Status, VerdictRecord,
};

use crate::documents::sample;
use server::Server;

fn review(repo: &str, commit: &str, branch: &str) -> ReviewOutput {
    let mut review = sample();
    review.metadata.repo = repo.to_owned();
    review.metadata.commit = commit.to_owned();
    review.metadata.branch = branch.to_owned();
    review
}

fn failed(repo: &str, commit: &str) -> ReviewOutput {
    let mut review = review(repo, commit, "main");
    review.status = Status::Error;
    (review.score.value, review.score.pass) = (0.0, false);
    let (message, help, stderr) = ("no answer".to_owned(), String::new(), String::new());
    review.error = Some(ReviewFailure { kind: FailureKind::Agent, message, help, stderr });
    review
}

/// Everything that is promised of a history.
fn story(place: &HistoryPlace) {
    let mut history = History::open(place).unwrap();
    assert_eq!(history.list(None, 10).unwrap(), []);
    assert_eq!(history.latest("r", "main", &|_| true).unwrap(), None);
    let mut dirty = review("r", "c1", "main");
    dirty.cost =
        Some(Cost { input_tokens: 7, output_tokens: 3, usd: Some(0.5), ..Cost::default() });
    dirty.proven_issues[0].test_output = "\u{1b}[31mred\u{0}\u{1b}[0m\n".to_owned();
    dirty.proven_issues[0].test_code = "a\u{0}\u{1b}[1m".to_owned();
    dirty.summary = "score\u{0} 8.5".to_owned();
    let first = history.save(&dirty).unwrap();
    history.save(&review("r", "c2", "topic")).unwrap();
    history.save(&failed("r", "c3")).unwrap();
    history.save(&review("other", "c1", "main")).unwrap();

    let kept = history.get("r", "c1").unwrap().unwrap();
    assert_eq!(kept.summary, "score 8.5");
    assert_eq!(kept.proven_issues[0].test_output, "red\n");
    assert_eq!(kept.proven_issues[0].test_code, "a\u{1b}[1m");
    assert_eq!(kept.proven_issues[0].fingerprint, dirty.proven_issues[0].fingerprint);
    assert_eq!(history.by_id(first).unwrap().unwrap().metadata.commit, "c1");
    assert_eq!(history.get("r", "nothing").unwrap(), None);

    let list = history.list(Some("r"), 10).unwrap();
    let commits: Vec<&str> = list.iter().map(|entry| entry.commit.as_str()).collect();
    assert_eq!(commits, ["c3", "c2", "c1"], "the newest first");
    assert_eq!(list[0].score, None, "a review that did not happen has no score");
    assert_eq!((list[2].score, list[2].threshold, list[2].proven), (Some(8.5), 7.0, 1));
    let cost = (list[2].input_tokens, list[2].output_tokens, list[2].usd);
    assert_eq!((cost, list[2].agent.as_str()), ((7, 3, Some(0.5)), "claude"));
    assert!(list[2].pass && list[2].created_at.ends_with('Z'), "{list:?}");
    assert_eq!(history.list(None, 2).unwrap().len(), 2);

    let latest = |history: &mut History, branch| {
        history.latest("r", branch, &|_| true).unwrap().unwrap().metadata.commit
    };
    assert_eq!(latest(&mut history, "main"), "c1", "an error is nothing to compare with");
    assert_eq!(latest(&mut history, "topic"), "c2");
    assert_eq!(
        history.latest("r", "new branch", &|_| true).unwrap(),
        None,
        "another branch says nothing"
    );
    assert_eq!(history.adopt("r", "s", &|commit| commit == "c2").unwrap(), 1);
    assert_eq!(history.latest("s", "topic", &|_| true).unwrap().unwrap().metadata.commit, "c2");
    assert_eq!(history.adopt("s", "r", &|_| true).unwrap(), 1);

    let said = |verdict, by: &str| {
        let review = review("r", "c1", "main");
        VerdictRecord::new(&review, &review.proven_issues[0], verdict, by, "so\u{0} it is")
    };
    assert_eq!(history.verdicts(None).unwrap(), []);
    history.record_verdict(&said(PersonVerdict::FalsePositive, "ada")).unwrap();
    history.record_verdict(&said(PersonVerdict::Accurate, "bob")).unwrap();
    let kept = history.verdicts(Some("r")).unwrap();
    let words: Vec<(&str, PersonVerdict, &str)> =
        kept.iter().map(|verdict| (&*verdict.by, verdict.verdict, &*verdict.reason)).collect();
    assert_eq!(
        words,
        [
            ("bob", PersonVerdict::Accurate, "so it is"),
            ("ada", PersonVerdict::FalsePositive, "so it is")
        ],
        "the newest first"
    );
    assert!(kept[0].created_at.ends_with('Z') && kept[0].issue == kept[1].issue, "{kept:?}");
    assert_eq!(history.verdicts(Some("other")).unwrap(), []);

    assert_eq!(history.prune(None, Retention::default()).unwrap(), 0);
    assert_eq!(history.prune(None, Retention { keep: None, days: Some(1) }).unwrap(), 0);
    assert_eq!(history.prune(Some("r"), Retention { keep: Some(2), days: None }).unwrap(), 1);
    assert_eq!(history.get("r", "c1").unwrap(), None);
    assert!(history.get("other", "c1").unwrap().is_some());
    let id = history.list(Some("other"), 1).unwrap()[0].id;
    assert!(history.delete(id).unwrap());
    assert!(!history.delete(id).unwrap());
    // The tables are brought up to date once, and found so afterwards.
    drop(history);
    assert_eq!(History::open(place).unwrap().list(None, 10).unwrap().len(), 2);
}

/// Many at once, the making of the tables included.
fn crowd(place: &HistoryPlace) {
    thread::scope(|threads| {
        let writers: Vec<_> = (0..6)
            .map(|writer| {
                threads.spawn(move || {
                    let mut history = History::open(place).unwrap();
                    for number in 0..5 {
                        let commit = format!("{writer}-{number}");
                        history.save(&review("crowd", &commit, "main")).unwrap();
                    }
                })
            })
            .collect();
        writers.into_iter().for_each(|writer| writer.join().unwrap());
    });
    assert_eq!(History::open(place).unwrap().list(Some("crowd"), 100).unwrap().len(), 30);
}

#[test]
fn sqlite_keeps_finds_prunes_and_bears_a_crowd() {
    let dir = tempfile::tempdir().unwrap();
    crowd(&HistoryPlace::File(dir.path().join("crowd.sqlite")));
    story(&HistoryPlace::File(dir.path().join("reviews.sqlite")));
    let gone = HistoryPlace::File(dir.path().join("no/such/directory/reviews.sqlite"));
    assert!(matches!(History::open(&gone), Err(HistoryError::Database { .. })));
    let broken = dir.path().join("broken.sqlite");
    std::fs::write(&broken, "this is no database, whatever its name says".repeat(100)).unwrap();
    assert!(History::open(&HistoryPlace::File(broken)).is_err());
}

#[test]
fn postgres_keeps_finds_prunes_and_bears_a_crowd() {
    let server = Server::start();
    let place = HistoryPlace::from_url(&server.url()).unwrap();
    crowd(&place);
    let mut history = History::open(&place).unwrap();
    for entry in history.list(None, 100).unwrap() {
        history.delete(entry.id).unwrap();
    }
    story(&place);
}

#[test]
fn tls_is_verified_as_far_as_the_mode_says() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let server = Server::start_with_tls(port);
    let authority = server.authority();
    let cases = [
        ("localhost", "sslmode=disable", false),
        ("localhost", "sslmode=prefer", true),
        ("localhost", "sslmode=require", true),
        ("127.0.0.1", "sslmode=require", true),
        ("localhost", "sslmode=verify-full", false),
        ("localhost", &format!("sslmode=verify-full&sslrootcert={authority}"), true),
        ("127.0.0.1", &format!("sslmode=verify-full&sslrootcert={authority}"), false),
        ("127.0.0.1", &format!("sslmode=verify-ca&sslrootcert={authority}"), true),
        ("127.0.0.1", "sslmode=verify-ca", false),
    ];
    for (host, mode, opens) in cases {
        let url = format!("postgres://postgres@{host}:{port}/postgres?{mode}");
        let opened = History::open(&HistoryPlace::from_url(&url).unwrap());
        assert_eq!(opened.is_ok(), opens, "{host} {mode}: {opened:?}");
    }
}

#[test]
fn an_address_is_never_shown_and_a_server_that_is_gone_is_said() {
    let address = "postgres://me:hunter22@localhost/db?host=/nowhere/at/all";
    let place = HistoryPlace::from_url(address).unwrap();
    let error = History::open(&place).unwrap_err();
    for text in [format!("{place:?} {place}"), error.to_string(), format!("{error:?}")] {
        assert!(!text.contains("hunter22"), "{text}");
    }
    insta::assert_snapshot!(error, @"cannot connect: No such file or directory (os error 2)");
    for (url, fits) in [("mysql://x", false), ("", false), ("sqlite:///a/b", true)] {
        assert_eq!(HistoryPlace::from_url(url).is_ok(), fits, "{url}");
    }
    let file = HistoryPlace::from_url("sqlite:///a/b.db?mode=rwc").unwrap();
    assert_eq!(file, HistoryPlace::File("/a/b.db".into()));
}
