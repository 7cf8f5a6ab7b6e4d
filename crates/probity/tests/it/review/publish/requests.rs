//! The descriptions of the APIs refuse wrong requests, and GitHub's GraphQL schema allows our queries.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    process::{Command, Stdio},
};

use serde_json::{Value, json};

use super::{
    FILE, HUNKS, Stage, review,
    server::{Api, Forge, TOKEN},
};
use crate::binary::tools;

/// Sends a request that probity would not send.
fn send(forge: &Forge, method: &str, path: &str, body: &Value) {
    let address = forge.address();
    let (host, prefix) = match address.trim_start_matches("http://").split_once('/') {
        Some((host, prefix)) => (host, format!("/{prefix}")),
        None => (address.trim_start_matches("http://"), String::new()),
    };
    let header = match forge.api {
        Api::Github => "authorization: Bearer",
        Api::Gitlab => "private-token:",
        Api::Gitea => "authorization: token",
    };
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let mut stream = TcpStream::connect(host).unwrap();
    let length = body.len();
    write!(
        stream,
        "{method} {prefix}/{path} HTTP/1.1\r\n{header} {TOKEN}\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    stream.read_to_string(&mut String::new()).unwrap();
}

#[test]
fn a_wrong_path_method_parameter_or_body_is_a_fault_that_fails_the_test() {
    let status = |state: &str| json!({ "state": state, "description": "x" });
    let comment =
        json!({ "body": "x", "commit_id": "c1", "path": FILE, "line": 4, "side": "RIGHT" });
    let with = |name: &str, value: Value| {
        let mut comment = comment.clone();
        comment[name] = value;
        comment
    };
    let run = json!({
        "name": "n", "head_sha": "c1", "status": "completed", "conclusion": "success",
        "output": { "title": "t", "summary": "s" },
    });
    let mut wrong_run = run.clone();
    wrong_run["conclusion"] = json!("passed");
    let review = |comment: Value| json!({ "event": "COMMENT", "comments": [comment] });
    let (pulls, mine) = ("repos/o/r/pulls/7", "projects/o%2Fr/merge_requests/7");
    let none = Value::Null;
    for (api, method, path, body, expected) in [
        (Api::Github, "POST", format!("{pulls}/comments"), comment.clone(), None),
        (Api::Github, "POST", format!("{pulls}/remarks"), comment.clone(), Some("no such path")),
        (Api::Github, "PUT", format!("{pulls}/comments"), comment.clone(), Some("this method")),
        (Api::Github, "POST", format!("{pulls}/comments"), with("line", json!("4")), Some("/line")),
        (
            Api::Github,
            "POST",
            format!("{pulls}/comments"),
            with("side", json!("LINKS")),
            Some("/side"),
        ),
        (Api::Github, "POST", format!("{pulls}/comments"), with("row", json!(4)), Some("'row'")),
        (
            Api::Github,
            "POST",
            format!("{pulls}/comments"),
            json!({ "body": "x" }),
            Some("commit_id"),
        ),
        (Api::Github, "POST", format!("{pulls}/comments"), none.clone(), Some("null")),
        (
            Api::Github,
            "POST",
            "repos/o/r/pulls/x/comments".to_owned(),
            comment.clone(),
            Some("pull_number"),
        ),
        (Api::Github, "POST", "repos/o/r/check-runs".to_owned(), run, None),
        (Api::Github, "POST", "repos/o/r/check-runs".to_owned(), wrong_run, Some("/conclusion")),
        (
            Api::Github,
            "GET",
            format!("{pulls}/files?limit=5"),
            none.clone(),
            Some("`limit` is not"),
        ),
        (Api::Github, "GET", format!("{pulls}/files?per_page=x"), none.clone(), Some("`per_page`")),
        (Api::Gitlab, "POST", "projects/o%2Fr/statuses/c1".to_owned(), status("success"), None),
        (
            Api::Gitlab,
            "POST",
            "projects/o%2Fr/statuses/c1".to_owned(),
            status("failure"),
            Some("/state"),
        ),
        (Api::Gitlab, "POST", format!("{mine}/notes"), json!({ "text": "x" }), Some("'text'")),
        (
            Api::Gitlab,
            "PATCH",
            format!("{mine}/notes/1"),
            json!({ "body": "x" }),
            Some("this method"),
        ),
        (Api::Gitea, "GET", format!("{pulls}.diff"), none.clone(), None),
        (Api::Gitea, "GET", format!("{pulls}.page"), none, Some("diffType")),
        (
            Api::Gitea,
            "POST",
            format!("{pulls}/reviews"),
            review(json!({ "path": 1 })),
            Some("/path"),
        ),
        (
            Api::Gitea,
            "POST",
            format!("{pulls}/reviews"),
            review(json!({ "line": 1 })),
            Some("'line'"),
        ),
    ] {
        let forge = Forge::start(api, "c1", FILE, HUNKS);
        send(&forge, method, &path, &body);
        let faults = forge.take_faults();
        match (expected, faults.as_slice()) {
            (None, []) => {}
            (Some(part), [fault]) if fault.contains(part) => {}
            _ => panic!("{api:?} {method} {path} {body}: expected {expected:?}: {faults:#?}"),
        }
    }
    let failed = std::panic::catch_unwind(|| {
        let forge = Forge::start(Api::Github, "c1", FILE, HUNKS);
        send(&forge, "POST", "repos/o/r/statuses/c1", &status("failed"));
    });
    assert!(failed.is_err(), "a fault that nobody takes fails the test");
}

const CHECK_QUERIES: &str = r#"
const [tools, input] = process.argv.slice(1);
const { createRequire } = require("module");
const from = createRequire(tools + "/forges/node_modules/@octokit/graphql-schema/index.js");
const { buildSchema, parse, validate } = from("graphql");
const { getVariableValues } = from("graphql/execution/values");
const text = require("fs").readFileSync(from.resolve("./schema.graphql"), "utf8");
const schema = buildSchema(text, { assumeValid: true });
for (const { query, variables } of JSON.parse(input)) {
  const document = parse(query);
  const [operation] = document.definitions;
  const given = getVariableValues(schema, operation.variableDefinitions ?? [], variables);
  for (const error of [...validate(schema, document), ...(given.errors ?? [])]) console.log(error.message);
}
"#;

fn query_faults(queries: &[Value]) -> String {
    let output = Command::new("node")
        .args(["-e", CHECK_QUERIES])
        .arg(tools())
        .arg(json!(queries).to_string())
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn githubs_schema_allows_every_query_that_we_send() {
    let stage = Stage::new(Api::Github);
    stage.publish(&review("c1"), &[]).code(0);
    let mut fixed = review("c1");
    let second = fixed["proven_issues"][1].take();
    let mut fixed = super::with_issues("c1", &[second]);
    fixed["changes"] = json!({ "fixed": [{ "fingerprint": "a".repeat(32), "severity": "high",
        "title": "the average is wrong", "file": FILE, "how": "its test passes now" }] });
    stage.publish(&fixed, &[]).code(0);
    stage.publish(&review("c1"), &[]).code(0);
    let queries = stage.forge.queries();
    for part in ["query(", "{resolveReviewThread", "{unresolveReviewThread"] {
        let is_sent = |query: &Value| query["query"].as_str().unwrap().contains(part);
        assert!(queries.iter().any(is_sent), "{part}: {queries:#?}");
    }
    assert_eq!(query_faults(&queries), "");
    let wrong = json!({ "query": "query($n:Int!){viewer{login,mood} rateLimit{cost(a:$n)}}", "variables": { "n": "x" } });
    let faults = query_faults(&[wrong]);
    insta::assert_snapshot!(faults, @r#"
    Cannot query field "mood" on type "User".
    Unknown argument "a" on field "RateLimit.cost".
    Variable "$n" got invalid value "x"; Int cannot represent non-integer value: "x"
    "#);
}
