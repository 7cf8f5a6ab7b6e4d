//! Files, tokens and pull requests that are not what they seem.

use serde_json::{Value, json};

use super::{
    Stage, issue, review, seen,
    server::{APIS, Api},
    with_issues,
};

#[test]
fn a_forged_review_is_refused_and_nothing_is_asked_of_the_forge() {
    let change = |change: &dyn Fn(&mut Value)| {
        let mut forged = review("c1");
        change(&mut forged);
        forged
    };
    let cases: [(&str, Value, &str); 7] = [
        (
            "issues that cost nothing",
            change(&|it| {
                it["score"]["deductions"] = json!([]);
                it["score"]["value"] = json!(10.0);
            }),
            "the deductions are not those of the proven issues",
        ),
        (
            "points that are given",
            change(&|it| {
                it["score"]["deductions"][0]["points"] = json!(-1.0);
                it["score"]["value"] = json!(10.0);
            }),
            "10 is not 10 minus 0",
        ),
        (
            "a critical issue that passes",
            change(&|it| {
                it["score"]["fail_on_critical"] = json!(true);
                it["proven_issues"][0]["severity"] = json!("critical");
                it["score"]["deductions"][0]["severity"] = json!("critical");
            }),
            "pass is true, and should be false",
        ),
        (
            "one id twice",
            change(&|it| {
                it["proven_issues"][1]["id"] = json!("ISS-001");
                it["score"]["deductions"][1]["issue_id"] = json!("ISS-001");
            }),
            "two entries have the id ISS-001",
        ),
        ("another maximum", change(&|it| it["score"]["max"] = json!(1000.0)), "max is 1000"),
        (
            "no commit",
            change(&|it| it["metadata"]["commit"] = json!(" ")),
            "metadata.commit is empty",
        ),
        (
            "an error that passes",
            change(&|it| {
                it["status"] = json!("error");
            }),
            "status is error, and something was proven",
        ),
    ];
    let stage = Stage::new(Api::Github);
    for (name, forged, why) in cases {
        let output = stage.publish(&forged, &[]).code(2);
        assert!(output.stderr.contains("review.json contradicts itself"), "{name}: {output:?}");
        assert!(output.stderr.contains(why), "{name}: {output:?}");
    }
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
    for (api, part) in [
        (Api::Github, "pulls/7/comments"),
        (Api::Gitlab, "discussions"),
        (Api::Gitea, "pulls/7/reviews"),
    ] {
        let stage = Stage::new(api);
        stage.forge.refuse_writes_to(part, 403);
        let output = stage.publish(&review("c1"), &[]).code(0);
        assert!(output.stderr.contains("warning: cannot add a comment: "), "{api:?}: {output:?}");
        assert!(output.stderr.contains("give the token the right to write"), "{api:?}: {output:?}");
        assert!(output.stdout.starts_with("pull request 7: 1 comment added, "), "{output:?}");
        let state = stage.forge.state();
        assert_eq!((state.threads.len(), state.statuses.len()), (0, 1), "{api:?}");
        let [summary] = state.comments.as_slice() else { panic!("{:?}", state.comments) };
        // An issue without a thread is in the summary.
        assert!(summary.body.contains("### `ISS-001` the average is wrong"), "{summary:?}");
    }
}

#[test]
fn a_pull_request_that_is_not_there_or_not_for_this_token_is_named_in_the_answer() {
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
        assert!(missing.contains("nothing was published") && missing.contains(" 404"), "{missing}");
        assert!(missing.contains("check --project and --pull"), "{missing}");
        let stale = run("7", "an-old-token");
        assert!(stale.contains("the token is not valid: set a new one"), "{stale}");
        assert!(!stale.contains("an-old-token"), "{stale}");
        assert_eq!(stage.forge.writes(), 0, "{api:?}");
    }
}
