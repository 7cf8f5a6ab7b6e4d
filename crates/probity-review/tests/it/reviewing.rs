//! Whole reviews with an agent that is a function: what it is told, and what becomes of its answer.

use std::{
    fs,
    path::Path,
    process::Command,
    sync::{Arc, Mutex},
    time::Duration,
};

use probity_agent::{Agent, AgentError, Answer, Cancel, Limits, StopReason, Turn, Usage};
use probity_review::{
    AgentSeat, AskOptions, Bar, Checkout, FailureKind, ProveOptions, ReviewConfig, Reviewed,
    Status, TestPlace, Unopened, review,
};
use probity_sandbox::Backend;
use serde_json::{Value, json};
use tempfile::TempDir;

fn git(directory: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@example.org"])
        .args(["-c", "init.defaultBranch=main", "-c", "commit.gpgsign=false"])
        .args(arguments)
        .current_dir(directory)
        .output()
        .unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Answers the same whatever it is asked, and keeps what it was asked.
struct Scripted {
    answer: String,
    asked: Arc<Mutex<String>>,
}

impl Agent for Scripted {
    fn name(&self) -> &str {
        "scripted"
    }

    fn ask(&mut self, turn: &Turn, _: &Limits, _: &Cancel) -> Result<Answer, AgentError> {
        self.asked.lock().unwrap().clone_from(&turn.prompt);
        let usage =
            Usage { input_tokens: 10, output_tokens: 5, cost: Some(0.25), ..Usage::default() };
        Ok(Answer {
            text: self.answer.clone(),
            stop: StopReason::EndTurn,
            usage: Some(usage),
            denied: vec!["wanted to\nrun rm".to_owned()],
            requests: 1,
        })
    }
}

fn repository() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (path, text) in [
        ("go.mod", "module m\n"),
        ("a.go", "package m\n\nfunc A() int { return 1 }\n"),
        ("a_test.go", "package m\n"),
        ("web/package.json", "{\"devDependencies\":{\"vitest\":\"1\"}}"),
        ("web/b.ts", "export const b = 1;\n"),
        ("vendor/v.go", "package v\n"),
    ] {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    git(dir.path(), &["init", "-q"]);
    git(dir.path(), &["add", "."]);
    git(dir.path(), &["commit", "-qm", "first"]);
    dir
}

/// Reviews with this answer; gives the review and the prompt.
fn reviewed(
    repo: &Path,
    answer: &str,
    change: impl FnOnce(&mut AskOptions<'_>, &ProveOptions),
) -> (Reviewed, String) {
    let asked = Arc::new(Mutex::new(String::new()));
    let open = |copy: &Path| -> Result<Box<dyn Agent>, Unopened> {
        assert!(copy.join("a.go").exists() && !copy.join(".git").exists());
        fs::write(copy.join("a.go"), "the agent may write in its copy").unwrap();
        let (answer, asked) = (answer.to_owned(), Arc::clone(&asked));
        Ok(Box::new(Scripted { answer, asked }))
    };
    let checkout =
        Checkout { repo: repo.to_owned(), output: None, hidden: vec!["sesame-key".to_owned()] };
    let mut options = AskOptions {
        config: ReviewConfig::profile("default").unwrap(),
        profile: "default".to_owned(),
        bar: Bar::DEFAULT,
        diff_base: None,
        agent: AgentSeat {
            name: "scripted".to_owned(),
            model: String::new(),
            isolation: "nothing".to_owned(),
            timeout: Duration::from_secs(5),
            budget: Some(1.0),
            open: &open,
        },
        max_findings: 3,
        max_fix_rounds: 1,
        suite_timeout: Duration::from_secs(60),
        proof_timeout: None,
        previous: None,
        prove_all_known: false,
        cancel: Cancel::new(),
    };
    let proving = ProveOptions {
        runners: Vec::new(),
        jobs: 1,
        tests: TestPlace { sandbox: Backend::None, environment: Vec::new(), caches: None },
        stop: Arc::default(),
    };
    change(&mut options, &proving);
    let reviewed = review(&checkout, &options, &proving, &|_| {});
    reviewed.output.validate().unwrap();
    assert!(fs::read_to_string(repo.join("a.go")).unwrap().starts_with("package m"));
    let asked = asked.lock().unwrap().clone();
    (reviewed, asked)
}

fn finding(title: &str, file: &str, line: u64, category: &str) -> Value {
    json!({ "title": title, "file": file, "line": line, "severity_hint": "low",
            "category": category })
}

#[test]
fn findings_about_nothing_under_review_are_dropped_each_with_its_reason() {
    let repo = repository();
    let answer = json!([
        finding("kept", "./a.go", 3, "correctness"),
        finding("kept", "a.go", 3, "correctness"),
        finding("outside", "../a.go", 1, "correctness"),
        finding("absolute", "/etc/passwd", 1, "correctness"),
        finding("vendored", "vendor/v.go", 1, "correctness"),
        finding("disabled", "a.go", 1, "testing"),
        finding("behind the end", "a.go", 99, "security"),
        finding("third with sesame-key", "web/b.ts", 1, "performance"),
        finding("one too many", "a.go", 1, "security"),
        { "title": "no place" },
    ]);
    let (Reviewed { output, .. }, _) = reviewed(repo.path(), &answer.to_string(), |options, _| {
        let yml = "categories: { correctness: { enabled: true }, security: { enabled: true }, \
                   performance: { enabled: true } }";
        options.config = options.config.over(yml).unwrap();
    });
    let kept: Vec<(&str, u64)> =
        output.observations.iter().map(|it| (it.title.as_str(), it.line)).collect();
    assert_eq!(kept, [("kept", 3), ("behind the end", 3), ("third with [key]", 1)]);
    let dropped: Vec<(&str, &str)> =
        output.discarded.iter().map(|it| (it.title.as_str(), it.reason.as_str())).collect();
    assert_eq!(
        dropped,
        [
            ("kept", "it was said before"),
            ("outside", "there is no such file in the repository"),
            ("absolute", "there is no such file in the repository"),
            ("vendored", "its file is not under review"),
            ("disabled", "the category testing is not enabled"),
            ("one too many", "there are more than 3 findings"),
            ("no place", "it is not a finding: file is missing"),
        ]
    );
    assert_eq!((output.score.value, output.metadata.files_reviewed), (10.0, 2));
    insta::assert_snapshot!(output.notes.join("\n"), @"
    `behind the end` was said to be on line 99 of a.go, which has 3
    the agent was denied: wanted to run rm
    ");
    let cost = output.cost.unwrap();
    assert_eq!((cost.input_tokens, cost.usd, cost.budget_usd), (10, Some(0.25), Some(1.0)));
    let prints: std::collections::HashSet<&str> =
        output.observations.iter().map(|it| it.fingerprint.as_str()).collect();
    assert_eq!(prints.len(), 3, "each has an identity of its own");
}

#[test]
fn one_test_is_one_issue_however_often_it_is_told() {
    let repo = repository();
    let with = |title: &str, line: u64, code: &str| {
        let mut finding = finding(title, "a.go", line, "correctness");
        finding["test_code"] = json!(code);
        finding
    };
    let answer = json!([with("one", 1, "x"), with("two", 3, "\nx \n"), with("three", 3, "y")]);
    let (Reviewed { output, .. }, _) = reviewed(repo.path(), &answer.to_string(), |_, _| {});
    let dropped: Vec<(&str, &str)> =
        output.discarded.iter().map(|it| (it.title.as_str(), it.reason.as_str())).collect();
    assert_eq!(dropped, [("two", "it is a duplicate: another finding has the same test")]);
    assert_eq!(output.observations.len(), 2);
}

#[test]
fn claims_that_this_machine_cannot_try_are_no_review() {
    let repo = repository();
    let mut claim = finding("wrong", "a.go", 3, "correctness");
    claim["test_code"] = json!("package m\n");
    let (Reviewed { output, tests }, _) =
        reviewed(repo.path(), &json!([claim]).to_string(), |_, _| {});
    assert_eq!((output.status, output.score.pass), (Status::Error, false));
    let error = output.error.unwrap();
    assert_eq!(error.kind, FailureKind::Machine);
    insta::assert_snapshot!(error.message, @"the one test for .go files could not be run: Go is not installed");
    // What was claimed is still there to be read.
    assert_eq!((tests.len(), output.test_summary.error), (1, 1));
    assert_eq!(output.observations[0].reason, "the test could not be run: Go is not installed");
    // A concern without a test needs nothing of the machine.
    let untested = json!([finding("wrong", "a.go", 3, "correctness")]).to_string();
    let (Reviewed { output, .. }, _) = reviewed(repo.path(), &untested, |_, _| {});
    assert_eq!(
        (output.status, output.notes.iter().any(|it| it.contains("Go is"))),
        (Status::Ok, false)
    );
}

#[test]
fn the_prompt_knows_the_repository_and_the_configuration() {
    let repo = repository();
    let (_, whole) = reviewed(repo.path(), "[]", |options, _| {
        options.config = options.config.clone().narrowed(&["web".to_owned()]).unwrap();
    });
    for says in [
        "Go (2 files), tested with go test",
        "TypeScript (1 file), tested with vitest",
        "Tests like these are there: a_test.go",
        "Categories: security, correctness, performance, maintainability, testing.",
        "**/*.go",
        "Excluded: vendor/**",
        "Of these only: web.",
        "At most 3 findings",
        "\"fix_patch\"",
        "Style, naming and taste are not defects",
    ] {
        assert!(whole.contains(says), "{says}:\n{whole}");
    }
    assert!(!whole.contains("Only a change"));
    assert!(whole.contains("1 file is under review"), "{whole}");
    assert!(!whole.contains("\\\n"), "no line ends with what joins lines in a program: {whole}");
    git(repo.path(), &["checkout", "-qb", "topic"]);
    fs::write(repo.path().join("web/b.ts"), "export const b = 2;\n").unwrap();
    git(repo.path(), &["commit", "-qam", "second"]);
    let (Reviewed { output, .. }, diff) =
        reviewed(repo.path(), "[]", |options, _| options.diff_base = Some("main".to_owned()));
    for says in ["against `main`", "- web/b.ts 1-1", "-export const b = 1;\n+export const b = 2;"] {
        assert!(diff.contains(says), "{says}:\n{diff}");
    }
    assert_eq!(output.metadata.files_reviewed, 1);
    assert_eq!(output.metadata.base_ref.as_deref(), Some("main"));
}

#[test]
fn a_review_that_cannot_be_is_complete_and_says_why() {
    let repo = repository();
    fs::write(repo.path().join("web/b.ts"), "export const b = 3;\n").unwrap();
    for (answer, base, kind) in [
        ("I see nothing.", None, FailureKind::Agent),
        ("[{\"title\":", None, FailureKind::Agent),
        ("", None, FailureKind::Agent),
        ("[]", Some("nobody"), FailureKind::Repository),
    ] {
        let (Reviewed { output, tests }, _) = reviewed(repo.path(), answer, |options, _| {
            options.diff_base = base.map(str::to_owned);
        });
        assert_eq!(output.status, Status::Error, "{answer}");
        assert_eq!(output.error.unwrap().kind, kind, "{answer}");
        assert_eq!((output.score.value, output.score.pass, tests.len()), (0.0, false, 0));
        assert!(!output.notes.iter().any(|note| note.contains("reviewed")), "{:?}", output.notes);
    }
    let (Reviewed { output, .. }, asked) = reviewed(repo.path(), "[]", |options, _| {
        options.config = options.config.clone().narrowed(&["nothing".to_owned()]).unwrap();
    });
    assert_eq!(
        (output.status, asked.as_str()),
        (Status::Error, ""),
        "nobody is asked about nothing"
    );
    assert_eq!(output.error.unwrap().message, "no file matches nothing");
    let (Reviewed { output, .. }, asked) = reviewed(repo.path(), "[]", |options, _| {
        options.diff_base = Some("HEAD".to_owned());
    });
    assert_eq!((output.status, asked.as_str()), (Status::Ok, ""), "an empty change is no mistake");
    // Called off while the agent was answering.
    let (Reviewed { output, .. }, _) = reviewed(repo.path(), "[]", |_, proving| {
        proving.stop.store(true, std::sync::atomic::Ordering::SeqCst);
    });
    assert_eq!(output.error.unwrap().kind, FailureKind::Cancelled);
}
