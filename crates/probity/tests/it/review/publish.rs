//! A review in a pull request, on a forge that remembers.

mod gitea;
mod github;
mod gitlab;
mod hostile;
mod openapi;
mod requests;
mod reviews;
pub(crate) mod server;
mod stage;

use std::{fs, path::Path};

use serde_json::{Value, json};

use self::{
    reviews::{issue, review, with_issues},
    server::{APIS, Api, ForgeThread, Note, TOKEN},
    stage::Stage,
};
use super::{CODE, FIX, probity};
use crate::binary::stable;

/// The change that the pull request shows: the function with the defect.
pub(crate) const HUNKS: &str = "@@ -1,3 +1,5 @@\n export function average(numbers) {\n   let sum = 0;\n+  for (const number of numbers) sum += number;\n+  return sum / (numbers.length - 1);\n }\n";
pub(crate) const FILE: &str = "src/numbers.js";

/// What a reader sees of a thread: where, what the first comment begins with, whether it is done.
fn seen(thread: &ForgeThread) -> (u64, String, usize, Option<&str>) {
    let first = thread.notes[0].body.lines().next().unwrap().to_owned();
    (thread.line, first, thread.notes.len(), thread.resolved_by.as_deref())
}

/// The issues that a summary describes, by their headings.
fn listed(summary: &Note) -> Vec<&str> {
    summary.body.lines().filter(|line| line.starts_with("### ")).collect()
}

#[test]
fn a_review_becomes_a_summary_comments_on_the_diff_and_a_status_and_publishing_twice_adds_nothing()
{
    for api in APIS {
        let stage = Stage::new(api);
        let output = stage.publish(&review("c1"), &[]).code(0);
        let added = "pull request 7: 2 comments added, 0 updated, 0 threads resolved, 0 reopened\n";
        assert_eq!(output.stdout, added, "{api:?}");
        let state = stage.forge.state();
        let headline = "**high** `ISS-001` correctness, the average is wrong";
        assert_eq!(
            state.threads.iter().map(seen).collect::<Vec<_>>(),
            [(4, headline.to_owned(), 1, None)],
            "{api:?}"
        );
        let body = &state.threads[0].notes[0].body;
        let fixed = "  return sum / numbers.length;\n";
        let suggestion = match api {
            Api::Github => format!("```suggestion\n{fixed}```\n"),
            Api::Gitlab => format!("```suggestion:-0+0\n{fixed}```\n"),
            Api::Gitea => {
                format!(
                    "<details><summary>Proven fix</summary>\n\n```diff\n{FIX}```\n\n</details>\n"
                )
            }
        };
        assert_eq!(body.matches(&suggestion).count(), 1, "{api:?}: {body}");
        // Neither a command nor a mention, for any of the forges.
        let body = body.replace(&suggestion, "[suggestion]\n");
        insta::allow_duplicates! { insta::assert_snapshot!(body, @"
        **high** `ISS-001` correctness, the average is wrong

        > &#47;close
        > `@everyone` look

        P3: It passes with the fix.

        [suggestion]

        <details><summary>Failing test</summary>

        ```
        assert.equal(average([2, 4]), 3);
        ```

        </details>

        <details><summary>Output of the test</summary>

        ```text
        6 !== 3
        ```

        </details>

        To dismiss this issue, reply `/probity false-positive REASON` or `/probity wont-fix REASON`.

        <!-- probity:issue aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa -->
        ") }
        let [summary] = state.comments.as_slice() else { panic!("{:?}", state.comments) };
        // The first issue has a thread, and is not in the summary.
        insta::allow_duplicates! { insta::assert_snapshot!(summary.body, @"
        ## probity review: 8 of 10, passes

        Score 8 of 10.

        | Issue | Severity | Where | What |
        | --- | --- | --- | --- |
        | `ISS-001` | high | `src/numbers.js:4` | the average is wrong |
        | `ISS-002` | low | `src/numbers.js:8` | clamp loses numbers |

        ### `ISS-002` clamp loses numbers

        `src/numbers.js:8`

        > &#47;close
        > `@everyone` look

        P3: It passes with the fix.

        <details><summary>Failing test</summary>

        ```
        assert.equal(average([2, 4]), 3);
        ```

        </details>

        <details><summary>Output of the test</summary>

        ```text
        6 !== 3
        ```

        </details>


        Reviewed `c1` with `claude`.

        <!-- probity:review -->
        ") }
        let statuses: Vec<(&str, &str)> =
            state.statuses.iter().map(|status| (&*status.state, &*status.description)).collect();
        assert_eq!(statuses, [("success", "Score 8 of 10, 2 proven issues")], "{api:?}");

        let writes = stage.forge.writes();
        let again = stage.publish(&review("c1"), &[]).code(0);
        assert_eq!(again.stdout, added.replace("2 comments", "0 comments"), "{api:?}");
        assert_eq!(stage.forge.state(), state, "{api:?}");
        // A check run has no way to ask for its text, so it is written again.
        let expected = if api == Api::Github { 1 } else { 0 };
        assert_eq!(stage.forge.writes() - writes, expected, "{api:?}");
    }
}

#[test]
fn threads_follow_the_review_through_edits_answers_force_pushes_fixes_and_relapses() {
    for api in APIS {
        let stage = Stage::new(api);
        let two = |commit: &str, title: &str| {
            let mut second = issue("ISS-003", "medium", 3, "the loop is slow", 'c');
            second["title"] = json!(title);
            let mut review = review(commit);
            let first = review["proven_issues"][0].take();
            with_issues(commit, &[first, second])
        };
        stage.publish(&two("c1", "the loop is slow"), &[]).code(0);
        // A new title is an edit of the same comment.
        stage.publish(&two("c1", "the loop is too slow"), &[]).code(0);
        let state = stage.forge.state();
        let titles: Vec<String> = state.threads.iter().map(|thread| seen(thread).1).collect();
        let slow = "**medium** `ISS-003` correctness, the loop is too slow";
        assert_eq!(
            titles,
            ["**high** `ISS-001` correctness, the average is wrong", slow],
            "{api:?}"
        );

        // After an answer the comment stays as it was, and somebody else's marker is no thread of ours.
        stage.forge.change(|state| {
            let id = state.next_id();
            let note = Note { id, author: "reader".to_owned(), body: "Is it?".to_owned() };
            state.threads[1].notes.push(note);
            let id = state.next_id();
            let body = "forged\n\n<!-- probity:review -->".to_owned();
            state.comments.insert(0, Note { id, author: "reader".to_owned(), body });
        });
        // A force-push: the change has another commit, and its lines have moved.
        stage.forge.change(|state| {
            state.head = "c2".to_owned();
            state.hunks =
                format!("@@ -1,4 +1,6 @@\n // moved\n{}", HUNKS.split_once('\n').unwrap().1);
            for thread in &mut state.threads {
                (thread.start, thread.line) = (thread.start + 1, thread.line + 1);
            }
        });
        fs::write(stage.place.path().join(FILE), format!("// moved\n{CODE}")).unwrap();
        let moved = |title: &str| {
            let mut review = two("c2", title);
            for issue in review["proven_issues"].as_array_mut().unwrap() {
                issue["line"] = json!(issue["line"].as_u64().unwrap() + 1);
            }
            review
        };
        stage.publish(&moved("the loop is slow again"), &[]).code(0);
        let state = stage.forge.state();
        let ours = state.comments.iter().filter(|comment| comment.author == server::BOT).count();
        assert_eq!((state.threads.len(), ours), (2, 1), "{api:?}: {state:#?}");
        assert_eq!(seen(&state.threads[1]).1, slow, "{api:?}");
        let heads: Vec<&str> = state.statuses.iter().map(|status| status.commit.as_str()).collect();
        assert_eq!(heads, ["c1", "c2"], "{api:?}");

        // The first issue is fixed, and comes back.
        let mut fixed = moved("the loop is slow");
        let second = fixed["proven_issues"][1].take();
        let mut fixed = with_issues("c2", &[second]);
        fixed["changes"] = json!({ "fixed": [{ "fingerprint": "a".repeat(32), "severity": "high",
            "title": "the average is wrong", "file": FILE, "how": "its test passes now" }] });
        for _ in 0..2 {
            stage.publish(&fixed, &[]).code(0);
            let state = stage.forge.state();
            let first = seen(&state.threads[0]);
            match api {
                Api::Gitea => assert_eq!((first.1.as_str(), first.2), ("**Resolved.**", 1)),
                Api::Github | Api::Gitlab => assert_eq!(first.3, Some(server::BOT), "{api:?}"),
            }
            assert_eq!(seen(&state.threads[1]).3, None);
        }
        stage.publish(&moved("the loop is slow"), &[]).code(0);
        let state = stage.forge.state();
        let first = seen(&state.threads[0]);
        assert_eq!(first.1, titles[0], "{api:?}");
        assert_eq!((first.3, state.threads.len()), (None, 2), "{api:?}");

        // What a person has resolved stays resolved.
        if api != Api::Gitea {
            stage.forge.change(|state| state.threads[0].resolved_by = Some("reader".to_owned()));
            stage.publish(&moved("the loop is slow"), &[]).code(0);
            assert_eq!(seen(&stage.forge.state().threads[0]).3, Some("reader"), "{api:?}");
        }
    }
}

#[test]
fn a_token_of_a_person_sets_a_status_because_it_may_not_make_check_runs() {
    let stage = Stage::new(Api::Github);
    stage.forge.change(|state| state.is_app = false);
    for _ in 0..2 {
        let output = stage.publish(&review("c1"), &[]).code(0);
        assert_eq!(output.stderr, "", "{output:?}");
        let state = stage.forge.state();
        let statuses: Vec<(&str, &str)> =
            state.statuses.iter().map(|status| (&*status.state, &*status.description)).collect();
        assert_eq!(statuses, [("success", "Score 8 of 10, 2 proven issues")]);
    }
}

#[test]
fn what_must_not_be_published_is_refused_with_a_reason_and_nothing_is_posted() {
    for api in APIS {
        let stage = Stage::new(api);
        let mut foreign = review("c1");
        foreign["metadata"]["repo"] = json!("forge.example/o/other");
        let mut forged = review("c1");
        forged["score"]["value"] = json!(10.0);
        let mut refusals = Vec::new();
        for review in [review("gone"), foreign, forged, json!({ "schema_version": "1.0.0" })] {
            refusals.push(stage.publish(&review, &[]).code(2).stderr);
        }
        refusals.push(stage.publish_file(Path::new("nowhere.json"), &[]).code(2).stderr);
        let output = stage.publish(&review("c1"), &["--pull", "8"]);
        assert_eq!(output.code, Some(2), "given twice: {output:?}");
        stage.forge.change(|state| state.is_open = false);
        refusals.push(stage.publish(&review("c1"), &[]).code(2).stderr);
        stage.forge.change(|state| state.is_open = true);
        stage.forge.refuse_writes(403);
        refusals.push(stage.publish(&review("c1"), &[]).code(2).stderr);
        assert_eq!(stage.forge.writes(), 0, "{api:?}");
        insta::allow_duplicates! { insta::assert_snapshot!(stable(&refusals.concat()), @"
        error: nothing was published: the review is of commit gone, and the pull request is at c1
          help: review the pull request as it is now, and publish that
        error: the review is of forge.example/o/other, not of o/r
          help: name the review.json of this project
        error: [dir]/review.json contradicts itself
          cause: score: 10 is not 10 minus 2
          help: run `probity review` again, which writes a new review.json
        error: [dir]/review.json cannot be used
          cause: it is not a review: missing field `metadata` at line 1 column 26
          help: run `probity review` again, which writes a new review.json
        error: cannot read nowhere.json
          cause: No such file or directory (os error 2)
          help: run `probity review` first, or pass the review.json that it wrote
        error: nothing was published: pull request 7 is closed
          help: open the pull request again, or leave the review as a file
        error: nothing was published: cannot add a comment: 127.0.0.1 answers 403: Resource not accessible by integration
          help: give the token the right to write to pull requests and statuses
        ") }
    }
}

#[test]
fn limits_are_kept_the_gravest_issues_come_first_and_a_forge_that_is_busy_is_waited_for() {
    let mut refusals = Vec::new();
    for api in APIS {
        let stage = Stage::new(api);
        let many = |count: usize| {
            let issues: Vec<Value> = (0..count)
                .map(|number| {
                    let (severity, print) =
                        [("low", '1'), ("critical", '2'), ("medium", '3')][number];
                    issue(&format!("ISS-00{}", number + 1), severity, 4, severity, print)
                })
                .collect();
            with_issues("c1", &issues)
        };
        stage.forge.limit(2, 0);
        stage.publish(&many(3), &["--max-comments", "1"]).code(0);
        let state = stage.forge.state();
        let titles: Vec<String> = state.threads.iter().map(|thread| seen(thread).1).collect();
        assert_eq!(titles, ["**critical** `ISS-002` correctness, critical"], "{api:?}");
        assert_eq!(listed(&state.comments[0]), ["### `ISS-001` low", "### `ISS-003` medium"]);
        // Longer than anybody waits.
        stage.forge.limit(u32::MAX, 86_400);
        refusals.push(stage.publish(&many(3), &[]).code(2).stderr);
    }
    insta::assert_snapshot!(refusals.concat(), @"
    error: nothing was published: cannot read the pull request: 127.0.0.1 allows no more requests for 86400 s
      help: publish again later; what is there is not repeated
    error: nothing was published: cannot read the merge request: 127.0.0.1 allows no more requests for 86400 s
      help: publish again later; what is there is not repeated
    error: nothing was published: cannot read the pull request: 127.0.0.1 allows no more requests for 86400 s
      help: publish again later; what is there is not repeated
    ");
}

#[test]
fn secrets_are_not_posted_whoever_wrote_them_into_the_review() {
    let key = "AKIAIOSFODNN7EXAMPLQ";
    for api in APIS {
        let stage = Stage::new(api);
        let mut review = review("c1");
        for number in 0..2 {
            let issue = &mut review["proven_issues"][number];
            for field in ["title", "description", "test_output", "test_code", "fix_patch", "code"] {
                let text = issue[field].as_str().unwrap_or_default().to_owned();
                issue[field] = json!(format!("{text} {key} {TOKEN}"));
            }
        }
        review["notes"] = json!([format!("{key} and {TOKEN}")]);
        stage.publish(&review, &[]).code(0);
        let state = stage.forge.state();
        let all = format!("{state:?}");
        assert!(!state.comments.is_empty());
        assert!(!all.contains(key) && !all.contains(TOKEN), "{api:?}: {all}");
    }
}

#[test]
fn people_with_write_access_dismiss_issues_in_their_threads() {
    let title = |stage: &Stage| {
        let body = &stage.forge.state().comments[0].body;
        body.lines().next().unwrap().to_owned()
    };
    for api in APIS {
        let stage = Stage::new(api);
        let state = stage.place.path().join("state");
        fs::create_dir(&state).unwrap();
        let database = format!("sqlite:{}", state.join("h.sqlite").display());
        let sync = ["--sync", "--database-url", &database];
        stage.publish(&review("c1"), &sync).code(0);
        let say = |author: &str, body: &str| {
            let (author, body) = (author.to_owned(), body.to_owned());
            stage.forge.change(|state| {
                let id = state.next_id();
                state.threads[0].notes.push(Note { id, author, body });
            });
        };
        say("stranger", "/probity false-positive trust me");
        let output = stage.publish(&review("c1"), &sync).code(0);
        let ignored =
            "warning: a verdict of stranger does not count: stranger has no write access\n";
        assert_eq!(output.stderr, ignored, "{api:?}");
        assert_eq!(title(&stage), "## probity review: 8 of 10, passes", "{api:?}");

        say("maintainer", "I see.\r\n/probity false-positive it is meant");
        // Without --sync nobody's word is read.
        stage.publish(&review("c1"), &[]).code(0);
        assert_eq!(title(&stage), "## probity review: 8 of 10, passes", "{api:?}");
        for _ in 0..2 {
            stage.publish(&review("c1"), &sync).code(0);
            let state = stage.forge.state();
            let summary = &state.comments[0].body;
            insta::allow_duplicates! { insta::assert_snapshot!(summary, @r"
            ## probity review: 9 of 10, passes

            Score 9 of 10: 1 proven issue \(1 low\), 0 observations, 0 discarded, 1 dismissed; reaches the threshold of 7.

            | Issue | Severity | Where | What |
            | --- | --- | --- | --- |
            | `ISS-002` | low | `src/numbers.js:8` | clamp loses numbers |

            ### `ISS-002` clamp loses numbers

            `src/numbers.js:8`

            > &#47;close
            > `@everyone` look

            P3: It passes with the fix.

            <details><summary>Failing test</summary>

            ```
            assert.equal(average([2, 4]), 3);
            ```

            </details>

            <details><summary>Output of the test</summary>

            ```text
            6 !== 3
            ```

            </details>

            - Dismissed: `ISS-001` the average is wrong: false-positive by maintainer: it is meant

            Reviewed `c1` with `claude`.

            <!-- probity:review -->
            ") }
            let first = seen(&state.threads[0]);
            match api {
                Api::Gitea => assert_eq!(first.1, "**Resolved.**"),
                Api::Github | Api::Gitlab => assert_eq!(first.3, Some(server::BOT), "{api:?}"),
            }
        }
        let known = probity()
            .args(["review", "verdicts", "--all", "--format", "json", "--database-url", &database])
            .dir(stage.place.path())
            .run()
            .code(0);
        let known: Value = serde_json::from_str(&known.stdout).unwrap();
        assert_eq!(known["verdicts"].as_array().unwrap().len(), 1, "{known:#}");

        // A database that is down costs a warning.
        let down = format!("sqlite:{}/x", stage.place.path().join("review.json").display());
        let output = stage.publish(&review("c1"), &["--sync", "--database-url", &down]);
        let output = output.code(0);
        insta::allow_duplicates! { insta::assert_snapshot!(stable(&output.stderr), @"
        warning: a verdict of stranger does not count: stranger has no write access
        warning: the verdicts of the pull request were not stored: cannot open [dir]/review.json/x: cannot open the history: unable to open database file: [dir]/review.json/x
        ") }
    }
}

#[test]
fn a_job_for_a_pull_request_needs_no_flags() {
    let stage = Stage::new(Api::Github);
    let (review_file, event) =
        (stage.place.path().join("review.json"), stage.place.path().join("event"));
    // The job has the merge of the branch, not its head.
    fs::write(&review_file, review("merged").to_string()).unwrap();
    let head = json!({ "pull_request": { "number": 7, "head": { "sha": "c1" } } });
    fs::write(&event, head.to_string()).unwrap();
    let run = || {
        probity()
            .args(["review", "publish", "review.json"])
            .env("GITHUB_ACTIONS", "true")
            .env("GITHUB_API_URL", &stage.forge.address())
            .env("GITHUB_REPOSITORY", "o/r")
            .env("GITHUB_SHA", "merged")
            .env("GITHUB_EVENT_PATH", event.to_str().unwrap())
            .dir(stage.place.path())
    };
    let output = run().run().code(2);
    insta::assert_snapshot!(output.stderr, @"
    error: there is no token to publish with: GITHUB_TOKEN is not set
      help: set GITHUB_TOKEN to a token that may write to pull requests
    ");
    run().env("GITHUB_TOKEN", "another").run().code(2);
    run().env("GITHUB_TOKEN", TOKEN).run().code(0);
    assert_eq!(stage.forge.state().threads.len(), 1);
    let output = probity().args(["review", "publish", "review.json"]).dir(stage.place.path()).run();
    insta::assert_snapshot!(output.code(2).stderr, @"
    error: probity does not know where the pull request is
      help: add --github, --gitlab or --gitea
    ");
    let insecure = ["--endpoint", "http://forge.example/api"];
    let output = run().env("GITHUB_TOKEN", TOKEN).args(insecure).run().code(2);
    insta::assert_snapshot!(output.stderr, @"
    error: nothing was published: `http://forge.example/api` is not encrypted, and the token would be visible on the way
      help: name an https URL with --endpoint, such as https://api.github.com
    ");
}
