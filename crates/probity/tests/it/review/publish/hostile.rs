//! Files, tokens and pull requests that are not what they seem.

use std::{
    io::Write as _,
    path::Path,
    process::{Command, Stdio},
};

use serde_json::{Value, json};

use super::{
    Stage, issue, listed, review, seen,
    server::{APIS, Api},
    with_issues,
};
use crate::binary::{stable, tools};

#[test]
fn a_forged_review_is_refused_and_nothing_is_asked_of_the_forge() {
    let change = |change: &dyn Fn(&mut Value)| {
        let mut forged = review("c1");
        change(&mut forged);
        forged
    };
    let cases: [(&str, Value); 7] = [
        (
            "issues that cost nothing",
            change(&|review| {
                review["score"]["deductions"] = json!([]);
                review["score"]["value"] = json!(10.0);
            }),
        ),
        (
            "points that are given",
            change(&|review| {
                review["score"]["deductions"][0]["points"] = json!(-1.0);
                review["score"]["value"] = json!(10.0);
            }),
        ),
        (
            "a critical issue that passes",
            change(&|review| {
                review["score"]["fail_on_critical"] = json!(true);
                review["proven_issues"][0]["severity"] = json!("critical");
                review["score"]["deductions"][0]["severity"] = json!("critical");
            }),
        ),
        (
            "one id twice",
            change(&|review| {
                review["proven_issues"][1]["id"] = json!("ISS-001");
                review["score"]["deductions"][1]["issue_id"] = json!("ISS-001");
            }),
        ),
        ("another maximum", change(&|review| review["score"]["max"] = json!(1000.0))),
        ("no commit", change(&|review| review["metadata"]["commit"] = json!(" "))),
        (
            "an error that passes",
            change(&|review| {
                review["status"] = json!("error");
            }),
        ),
    ];
    let stage = Stage::new(Api::Github);
    let refusals = cases.map(|(name, forged)| {
        let output = stage.publish(&forged, &[]).code(2);
        format!("{name}\n{}", output.stderr)
    });
    insta::assert_snapshot!(stable(&refusals.join("\n")), @"
    issues that cost nothing
    error: [dir]/review.json contradicts itself
      cause: score: the deductions are not those of the proven issues
      help: run `probity review` again, which writes a new review.json

    points that are given
    error: [dir]/review.json contradicts itself
      cause: score: 10 is not 10 minus 0
      help: run `probity review` again, which writes a new review.json

    a critical issue that passes
    error: [dir]/review.json contradicts itself
      cause: score: pass is true, and should be false
      help: run `probity review` again, which writes a new review.json

    one id twice
    error: [dir]/review.json contradicts itself
      cause: two entries have the id ISS-001
      help: run `probity review` again, which writes a new review.json

    another maximum
    error: [dir]/review.json contradicts itself
      cause: score: max is 1000
      help: run `probity review` again, which writes a new review.json

    no commit
    error: [dir]/review.json contradicts itself
      cause: metadata.commit is empty
      help: run `probity review` again, which writes a new review.json

    an error that passes
    error: [dir]/review.json contradicts itself
      cause: status is error, and something was proven
      help: run `probity review` again, which writes a new review.json
    ");
    assert_eq!(stage.forge.queries().len(), 0);
}

#[test]
fn issues_with_one_identity_have_one_thread() {
    for api in APIS {
        let stage = Stage::new(api);
        let twins = [
            issue("ISS-001", "high", 4, "the average is wrong", 'a'),
            issue("ISS-002", "high", 3, "the loop is slow", 'a'),
        ];
        for _ in 0..2 {
            stage.publish(&with_issues("c1", &twins), &[]).code(0);
            let lines: Vec<u64> =
                stage.forge.state().threads.iter().map(|thread| seen(thread).0).collect();
            assert_eq!(lines, [4], "{api:?}");
        }
    }
}

/// Each forge gives its lists in pages, and the threads are spread over several of them.
#[test]
fn threads_on_later_pages_are_found_and_not_posted_again() {
    for api in APIS {
        let stage = Stage::new(api);
        let issues: Vec<Value> = "abc"
            .chars()
            .zip(1..)
            .map(|(print, line)| {
                let title = format!("defect {print}");
                issue(&format!("ISS-00{line}"), "low", line, &title, print)
            })
            .collect();
        for _ in 0..2 {
            stage.publish(&with_issues("c1", &issues), &[]).code(0);
            assert_eq!(stage.forge.state().threads.len(), 3, "{api:?}");
        }
    }
}

#[test]
fn a_token_with_some_rights_publishes_what_it_may_and_warns_about_the_rest() {
    let mut printed = Vec::new();
    for (api, part) in [
        (Api::Github, "pulls/7/comments"),
        (Api::Gitlab, "discussions"),
        (Api::Gitea, "pulls/7/reviews"),
    ] {
        let stage = Stage::new(api);
        stage.forge.refuse_writes_to(part, 403);
        let output = stage.publish(&review("c1"), &[]).code(0);
        printed.push(format!("{api:?}\n{}{}", output.stdout, output.stderr));
        let state = stage.forge.state();
        assert_eq!((state.threads.len(), state.statuses.len()), (0, 1), "{api:?}");
        let [summary] = state.comments.as_slice() else { panic!("{:?}", state.comments) };
        // An issue without a thread is in the summary.
        let issues = ["### `ISS-001` the average is wrong", "### `ISS-002` clamp loses numbers"];
        assert_eq!(listed(summary), issues, "{summary:?}");
    }
    insta::assert_snapshot!(printed.join("\n"), @"
    Github
    pull request 7: 1 comment added, 0 updated, 0 threads resolved, 0 reopened
    warning: cannot add a comment: 127.0.0.1 answers 403: Resource not accessible by integration; help: give the token the right to write to pull requests and statuses

    Gitlab
    pull request 7: 1 comment added, 0 updated, 0 threads resolved, 0 reopened
    warning: cannot add a comment: 127.0.0.1 answers 403: Resource not accessible by integration; help: give the token the right to write to pull requests and statuses

    Gitea
    pull request 7: 1 comment added, 0 updated, 0 threads resolved, 0 reopened
    warning: cannot add a comment: 127.0.0.1 answers 403: Resource not accessible by integration; help: give the token the right to write to pull requests and statuses
    ");
}

#[test]
fn a_pull_request_that_is_not_there_or_not_for_this_token_is_named_in_the_answer() {
    let mut refusals = Vec::new();
    for api in APIS {
        let stage = Stage::new(api);
        let file = stage.place.path().join("review.json");
        std::fs::write(&file, review("c1").to_string()).unwrap();
        let (flag, variable) = match api {
            Api::Github => ("--github", "GITHUB_TOKEN"),
            Api::Gitlab => ("--gitlab", "GITLAB_TOKEN"),
            Api::Gitea => ("--gitea", "GITEA_TOKEN"),
        };
        let run = |pull: &str, token: &str| {
            let output = crate::binary::probity()
                .args(["review", "publish", "review.json", flag, "--project", "o/r"])
                .args(["--pull", pull, "--endpoint", &stage.forge.address()])
                .env(variable, token)
                .dir(stage.place.path())
                .run();
            output.code(2).stderr
        };
        let missing = run("8", super::TOKEN);
        let stale = run("7", "an-old-token");
        assert!(!stale.contains("an-old-token"), "{stale}");
        refusals.push(format!("{api:?}\n{missing}{stale}"));
        assert_eq!(stage.forge.writes(), 0, "{api:?}");
    }
    insta::assert_snapshot!(refusals.join("\n"), @r#"
    Github
    error: nothing was published: cannot read the pull request: 127.0.0.1 answers 404: Could not resolve to a PullRequest
      help: check --project and --pull, and that the token may read the project
    error: nothing was published: cannot read the pull request: 127.0.0.1 answers 401: Bad credentials
      help: the token is not valid: set a new one

    Gitlab
    error: nothing was published: cannot read the merge request: 127.0.0.1 answers 404: GET ["merge_requests", "8"]
      help: check --project and --pull, and that the token may read the project
    error: nothing was published: cannot read the merge request: 127.0.0.1 answers 401: Bad credentials
      help: the token is not valid: set a new one

    Gitea
    error: nothing was published: cannot read the pull request: 127.0.0.1 answers 404: GET ["repos", "o", "r", "pulls", "8"]
      help: check --project and --pull, and that the token may read the project
    error: nothing was published: cannot read the pull request: 127.0.0.1 answers 401: Bad credentials
      help: the token is not valid: set a new one
    "#);
}

/// What an agent or a repository can write in any place of a review.
const LIVE: &str = "see https://evil.example/x?y=1#z, www.evil.example (evil.com/login) or me@evil.example; \
    //evil.example 'ftp://evil.example' <https://evil.example> [here](https://evil.example) \
    ![](https://evil.example/i.png) <a href=\"//evil.example\">x</a> <b>x</b> @everyone @o/team \
    fixes #1, closes o/r#12 o/r!7 !8 $9 &10 %\"next\" ~bug ~\"a b\" ^alert#5 GH-6 AB#7 ABC-8 \
    1a2b3c4 o/r@1a2b3c4 1a2b3c4...5d6e7f8 `https://evil.example`|#1|@everyone \\https://evil.example \
    https\\://evil.example \\@everyone \\#1 &#64;everyone &commat;everyone $https://evil.example$ \
    [x]: https://evil.example *@everyone* _#1_ ~~https://evil.example~~";

/// What is live in a comment, as forges see it.
fn live_in(comment: &str) -> Value {
    let reader = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/readers/live_markdown.py");
    let mut python = Command::new(tools().join("python/bin/python"));
    let python = python.arg(reader).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = python.spawn().unwrap();
    child.stdin.take().unwrap().write_all(comment.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{comment}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn nothing_that_a_stranger_wrote_is_a_link_a_mention_or_a_reference() {
    assert!(live_in(LIVE).as_array().unwrap().len() > 5, "the reader sees nothing");
    for api in APIS {
        let stage = Stage::new(api);
        let mut issues =
            [issue("ISS-001", "high", 4, LIVE, 'a'), issue("ISS-002", "low", 8, LIVE, 'b')];
        for issue in &mut issues {
            issue["description"] = json!(format!("{LIVE}\n/close\n---\n===\n- {LIVE}"));
            issue["proof"]["reason"] = json!(LIVE);
        }
        let mut review = with_issues("c1", &issues);
        review["observations"] = json!([{ "id": "OBS-001", "title": LIVE, "file": "b.js", "line": 1,
            "category": "performance", "reason": LIVE }]);
        review["notes"] = json!([LIVE]);
        review["summary"] = json!(LIVE);
        stage.publish(&review, &[]).code(0);
        let state = stage.forge.state();
        let threads = state.threads.iter().flat_map(|thread| &thread.notes);
        let bodies: Vec<&str> =
            threads.chain(&state.comments).map(|note| note.body.as_str()).collect();
        assert!(bodies.len() >= 2, "{api:?}: {bodies:?}");
        for body in bodies {
            assert!(
                body.contains("`https://evil.example/x?y=1#z,`"),
                "{api:?}: still readable: {body}"
            );
            assert_eq!(live_in(body), json!([]), "{api:?}: {body}");
        }
    }
}
