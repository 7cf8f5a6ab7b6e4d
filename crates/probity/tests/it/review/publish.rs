//! A review in a pull request, on a forge that remembers.

mod gitea;
mod github;
mod gitlab;
mod hostile;
mod openapi;
mod requests;
pub(crate) mod server;

use std::{fs, path::Path};

use serde_json::{Value, json};
use tempfile::TempDir;

use self::server::{APIS, Api, Forge, ForgeThread, Note, TOKEN};
use super::{CODE, FIX};
use crate::binary::{Output, directory, probity};

/// The change that the pull request shows: the function with the defect.
pub(crate) const HUNKS: &str = "@@ -1,3 +1,5 @@\n export function average(numbers) {\n   let sum = 0;\n+  for (const number of numbers) sum += number;\n+  return sum / (numbers.length - 1);\n }\n";
pub(crate) const FILE: &str = "src/numbers.js";

fn issue(id: &str, severity: &str, line: u64, title: &str, print: char) -> Value {
    json!({
        "id": id, "severity": severity, "title": title, "description": "/close\n@everyone look",
        "file": FILE, "line": line, "test_file": format!("review/tests/{id}_t.test.js"),
        "test_name": "averages", "test_output": "6 !== 3", "category": "correctness",
        "fingerprint": print.to_string().repeat(32), "test_code": "assert.equal(average([2, 4]), 3);\n",
        "code": CODE.lines().nth(usize::try_from(line).unwrap() - 1).unwrap(),
        "proof": { "level": "P3", "outcome": "failed", "reason": "It passes with the fix." },
    })
}

/// A defect whose fix is proven, and one on a line that the change does not show.
fn review(commit: &str) -> Value {
    let mut proven = issue("ISS-001", "high", 4, "the average is wrong", 'a');
    proven["fix_patch"] = json!(FIX);
    proven["proof"]["flips_with_fix"] = json!(true);
    proven["proof"]["fix"] = json!({ "result": "flips" });
    let other = issue("ISS-002", "low", 8, "clamp loses numbers", 'b');
    with_issues(commit, &[proven, other])
}

fn with_issues(commit: &str, issues: &[Value]) -> Value {
    let deductions: Vec<Value> = issues
        .iter()
        .map(|issue| json!({ "issue_id": issue["id"], "severity": issue["severity"], "points": 1.0 }))
        .collect();
    let value = 10.0 - deductions.len() as f64;
    json!({
        "schema_version": "1.0.0", "status": "ok",
        "metadata": { "repo": "forge.example/o/r", "commit": commit, "branch": "b",
            "timestamp": "2026-11-16T00:00:00Z", "duration_seconds": 1, "agent_cli": "claude",
            "agent_model": "", "files_reviewed": 1, "tests_generated": 2, "tests_failing": 2 },
        "score": { "value": value, "max": 10.0, "pass": true, "threshold": 7.0,
            "deductions": deductions },
        "proven_issues": issues, "observations": [],
        "test_summary": { "total_generated": 2, "passing": 0, "failing": 2, "error": 0 },
        "summary": format!("Score {value} of 10."),
    })
}

/// A forge, and the checkout whose review is published there.
struct Stage {
    forge: Forge,
    place: TempDir,
}

impl Stage {
    fn new(api: Api) -> Self {
        let place = directory(&[(FILE, CODE)]);
        Self { forge: Forge::start(api, "c1", FILE, HUNKS), place }
    }

    fn publish(&self, review: &Value, more: &[&str]) -> Output {
        let file = self.place.path().join("review.json");
        fs::write(&file, review.to_string()).unwrap();
        self.publish_file(&file, more)
    }

    fn publish_file(&self, file: &Path, more: &[&str]) -> Output {
        let (flag, variable) = match self.forge.api {
            Api::Github => ("--github", "GITHUB_TOKEN"),
            Api::Gitlab => ("--gitlab", "GITLAB_TOKEN"),
            Api::Gitea => ("--gitea", "GITEA_TOKEN"),
        };
        probity()
            .args(["review", "publish", file.to_str().unwrap(), flag, "--project", "o/r"])
            .args(["--pull", "7", "--endpoint", &self.forge.address()])
            .args(more)
            .env(variable, TOKEN)
            .dir(self.place.path())
            .run()
    }
}

/// What a reader sees of a thread: where, what the first comment begins with, whether it is done.
fn seen(thread: &ForgeThread) -> (u64, String, usize, Option<&str>) {
    let first = thread.notes[0].body.lines().next().unwrap().to_owned();
    (thread.line, first, thread.notes.len(), thread.resolved_by.as_deref())
}

#[test]
fn a_review_becomes_a_summary_comments_on_the_diff_and_a_status_and_publishing_twice_adds_nothing()
{
    for api in APIS {
        let stage = Stage::new(api);
        let output = stage.publish(&review("c1"), &[]).code(0);
        assert!(
            output.stdout.starts_with("pull request 7: 2 comments added, 0 updated"),
            "{output:?}"
        );
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
            Api::Gitea => format!("+{fixed}"),
        };
        assert!(body.contains(&suggestion), "{api:?}: {body}");
        assert!(
            body.contains("<details><summary>Failing test</summary>\n\n```\nassert.equal"),
            "{body}"
        );
        // Neither a command nor a mention, for any of the forges.
        assert!(body.contains("> &#47;close\n> &#64;everyone look"), "{body}");
        let [summary] = state.comments.as_slice() else { panic!("{:?}", state.comments) };
        assert!(summary.body.starts_with("## probity review: 8 of 10, passes\n"), "{summary:?}");
        assert!(summary.body.contains("### `ISS-002` clamp loses numbers"), "{summary:?}");
        assert!(!summary.body.contains("### `ISS-001`"), "its thread has it: {summary:?}");
        let statuses: Vec<(&str, &str)> =
            state.statuses.iter().map(|it| (&*it.state, &*it.description)).collect();
        assert_eq!(statuses, [("success", "Score 8 of 10, 2 proven issues")], "{api:?}");

        let writes = stage.forge.writes();
        let again = stage.publish(&review("c1"), &[]).code(0);
        assert!(
            again.stdout.starts_with("pull request 7: 0 comments added, 0 updated"),
            "{again:?}"
        );
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
        assert!(titles[1].ends_with("the loop is too slow"), "{api:?}: {titles:?}");
        assert_eq!(titles.len(), 2, "{titles:?}");

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
        let ours = state.comments.iter().filter(|it| it.author == server::BOT).count();
        assert_eq!((state.threads.len(), ours), (2, 1), "{api:?}: {state:#?}");
        assert!(seen(&state.threads[1]).1.ends_with("the loop is too slow"), "{api:?}");
        let heads: Vec<&str> = state.statuses.iter().map(|it| it.commit.as_str()).collect();
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
        assert!(first.1.ends_with("the average is wrong"), "{api:?}: {first:?}");
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
            state.statuses.iter().map(|it| (&*it.state, &*it.description)).collect();
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
        let cases: [(Value, &str); 4] = [
            (review("gone"), "the review is of commit gone, and the pull request is at c1"),
            (foreign, "the review is of forge.example/o/other, not of o/r"),
            (forged, "contradicts itself"),
            (json!({ "schema_version": "1.0.0" }), "cannot be used"),
        ];
        for (review, why) in cases {
            let output = stage.publish(&review, &[]).code(2);
            assert!(output.stderr.contains(why), "{api:?} {why}: {output:?}");
        }
        let output = stage.publish_file(Path::new("nowhere.json"), &[]).code(2);
        assert!(output.stderr.contains("cannot read nowhere.json"), "{output:?}");
        let output = stage.publish(&review("c1"), &["--pull", "8"]);
        assert_eq!(output.code, Some(2), "given twice: {output:?}");
        stage.forge.change(|state| state.is_open = false);
        let output = stage.publish(&review("c1"), &[]).code(2);
        assert!(output.stderr.contains("pull request 7 is closed"), "{output:?}");
        stage.forge.change(|state| state.is_open = true);
        stage.forge.refuse_writes(403);
        let output = stage.publish(&review("c1"), &[]).code(2);
        assert!(output.stderr.contains("nothing was published"), "{api:?}: {output:?}");
        assert!(output.stderr.contains("give the token the right to write"), "{api:?}: {output:?}");
        assert_eq!(stage.forge.writes(), 0, "{api:?}");
    }
}

#[test]
fn limits_are_kept_the_gravest_issues_come_first_and_a_forge_that_is_busy_is_waited_for() {
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
        assert!(state.comments[0].body.contains("### `ISS-003` medium"), "{api:?}");
        // Longer than anybody waits.
        stage.forge.limit(u32::MAX, 86_400);
        let output = stage.publish(&many(3), &[]).code(2);
        assert!(output.stderr.contains("allows no more requests for 86400 s"), "{output:?}");
    }
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
        assert!(output.stderr.contains("stranger has no write access"), "{api:?}: {output:?}");
        assert!(stage.forge.state().comments[0].body.contains("8 of 10"), "{api:?}");

        say("maintainer", "I see.\r\n/probity false-positive it is meant");
        // Without --sync nobody's word is read.
        stage.publish(&review("c1"), &[]).code(0);
        assert!(stage.forge.state().comments[0].body.contains("8 of 10"), "{api:?}");
        for _ in 0..2 {
            stage.publish(&review("c1"), &sync).code(0);
            let state = stage.forge.state();
            let summary = &state.comments[0].body;
            assert!(
                summary.starts_with("## probity review: 9 of 10, passes"),
                "{api:?}: {summary}"
            );
            let listed = "- Dismissed: `ISS-001` the average is wrong: false-positive by maintainer: it is meant";
            assert!(summary.contains(listed), "{api:?}: {summary}");
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
        assert!(output.stderr.contains("were not stored"), "{api:?}: {output:?}");
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
    assert!(output.stderr.contains("GITHUB_TOKEN is not set"), "{output:?}");
    run().env("GITHUB_TOKEN", "another").run().code(2);
    run().env("GITHUB_TOKEN", TOKEN).run().code(0);
    assert_eq!(stage.forge.state().threads.len(), 1);
    let output = probity().args(["review", "publish", "review.json"]).dir(stage.place.path()).run();
    assert!(output.code(2).stderr.contains("add --github, --gitlab or --gitea"));
    let insecure = ["--endpoint", "http://forge.example/api"];
    let output = run().env("GITHUB_TOKEN", TOKEN).args(insecure).run().code(2);
    assert!(output.stderr.contains("is not encrypted"), "{output:?}");
}
