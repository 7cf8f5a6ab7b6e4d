//! Pages of reviews: one file, a browser that looks at it, and a server that only shows.

mod refused;
mod strangers;

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Child, Command, Stdio},
};

use serde_json::{Value, json};

use super::{again::Stage, findings, probity, root};
use crate::binary::tools;

/// Text that a page must not obey.
const HOSTILE: &str = "</pre><script>alert(1)</script><img src=x onerror=alert(2)> \u{202e}right";

/// A review with issues of two severities, and hostile words in every place.
fn review() -> Value {
    let issue = |id: &str, severity: &str| {
        json!({
            "id": id, "severity": severity, "title": format!("a {severity} defect {HOSTILE}"),
            "description": HOSTILE, "file": "src/numbers.js", "line": 4,
            "test_file": format!("review/tests/{id}_t.test.js"), "test_name": "averages",
            "test_output": format!("6 !== 3 {HOSTILE}"), "category": "correctness",
            "fingerprint": id.bytes().map(|byte| format!("{byte:02x}")).collect::<String>(),
            "test_code": format!("assert.equal(average([2, 4]), 3); // {HOSTILE} {}", "x".repeat(300)),
            "code": "  return sum / (numbers.length - 1);",
            "fix_patch": "--- a/src/numbers.js\n+++ b/src/numbers.js\n@@ -4 +4 @@\n-  old\n+  new\n",
            "proof": { "level": "P3", "outcome": "failed", "reason": "It passes with the fix.",
                "flips_with_fix": true, "runs": [{ "outcome": "failed", "milliseconds": 5 }] },
        })
    };
    let point = |score: f64, day: u32| {
        json!({ "commit": "c0ffee", "timestamp": format!("2026-11-{day:02}T00:00:00Z"),
            "score": score, "pass": score >= 7.0, "proven": 1 })
    };
    json!({
        "schema_version": "1.0.0", "status": "ok",
        "metadata": { "repo": "example.org/o/r", "commit": "c0ffee", "branch": "main",
            "timestamp": "2026-11-15T09:00:00Z", "duration_seconds": 3, "agent_cli": "claude",
            "agent_model": "", "files_reviewed": 2, "tests_generated": 2, "tests_failing": 2 },
        "score": { "value": 8.0, "max": 10.0, "pass": true, "threshold": 7.0, "deductions": [] },
        "proven_issues": [issue("ISS-001", "high"), issue("ISS-002", "low")],
        "observations": [{ "id": "OBS-001", "title": HOSTILE, "file": "b.js", "line": 1,
            "category": "performance", "reason": HOSTILE }],
        "test_summary": { "total_generated": 2, "passing": 0, "failing": 2, "error": 0 },
        "trend": [point(4.0, 1), point(6.5, 2), point(8.0, 3)],
        "cost": { "input_tokens": 1200, "output_tokens": 300, "usd": 0.12 },
        "summary": "Score 8 of 10.", "notes": [HOSTILE],
    })
}

fn page() -> (tempfile::TempDir, String) {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("review.json"), review().to_string()).unwrap();
    let arguments = ["review", "report", "review.json", "--format", "html", "-o", "review.html"];
    probity().args(arguments).dir(place.path()).run().code(0);
    let html = fs::read_to_string(place.path().join("review.html")).unwrap();
    (place, html)
}

#[test]
fn a_page_needs_no_other_file_no_script_and_shows_hostile_words_as_words() {
    let (_, html) = page();
    for never in ["<script", "<img", "@import", "url(", "\u{202e}"] {
        assert!(!html.contains(never), "{never}: {html}");
    }
    assert!(html.contains("&lt;script&gt;alert(1)") && html.contains("&lt;U+202E&gt;"), "{html}");
    for part in [
        "<strong class=\"pass\">8</strong>",
        "aria-label=\"Scores, the oldest first: 4, 6.5, 8\"",
        "<span class=\"added\">+  new</span>",
        "    4    return sum",
        "1200 input and 300 output tokens, 0.12 US dollars",
        "<strong>P3</strong>",
    ] {
        assert!(html.contains(part), "{part}: {html}");
    }
}

/// What a browser sees of a page.
fn looked_at(url: &str) -> Value {
    let script = root("crates/probity/tests/it/review/page/browser.mjs");
    let mut node = Command::new("node");
    node.arg(script).arg(tools().join("browser")).arg(url);
    // Somebody who wants to look, too, gets pictures.
    node.args(std::env::var_os("PROBITY_TEST_SCREENSHOTS"));
    let output = node.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[track_caller]
fn readable(seen: &Value) {
    assert_eq!(seen["console"], json!([]), "{seen:#}");
    assert_eq!(seen["requests"], json!([]), "{seen:#}");
    for width in ["wide", "narrow"] {
        assert_eq!(seen["overflow"][width], 0, "{width}: {seen:#}");
    }
    for scheme in ["light", "dark"] {
        assert!(seen["contrast"][scheme]["ratio"].as_f64().unwrap() >= 4.5, "{scheme}: {seen:#}");
    }
    for focus in seen["focus"].as_array().unwrap() {
        assert_ne!(focus["outline"], "none", "{focus}");
    }
}

#[test]
fn a_browser_shows_the_page_in_both_schemes_at_any_width_with_the_keyboard_alone() {
    let (place, _) = page();
    let seen = looked_at(&format!("file://{}", place.path().join("review.html").display()));
    readable(&seen);
    let counts = ["before", "after", "again"].map(|name| seen[name].as_u64().unwrap());
    assert_eq!(counts, [2, 1, 2], "the first filter hides one of two issues: {seen:#}");
    let reached =
        |tag: &str| seen["focus"].as_array().unwrap().iter().any(|focus| focus["tag"] == tag);
    assert!(reached("PRE") && reached("SUMMARY"), "{seen:#}");
    assert_eq!(seen["print"], "none", "{seen:#}");
    assert!(seen["text"].as_str().unwrap().contains("a high defect </pre><script>"), "{seen:#}");
}

/// A server of pages, which ends with the test.
struct Server {
    child: Child,
    address: String,
    token: String,
}

impl Server {
    fn start(stage: &Stage) -> Self {
        let state = stage.place.path().join("state");
        let run =
            probity().args(["review", "serve"]).env("XDG_STATE_HOME", state.to_str().unwrap());
        let mut command = run.dir(stage.repo()).into_command();
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let (address, token) = line.trim().split_once("/?token=").unwrap();
        let address = address.strip_prefix("http://").unwrap().to_owned();
        Self { child, address, token: token.to_owned() }
    }

    /// Asks as a browser does that has opened the printed URL before.
    fn ask(&self, method: &str, path: &str, host: &str) -> String {
        self.ask_with(method, path, host, &self.cookie(&self.token))
    }

    fn cookie(&self, token: &str) -> String {
        let port = self.address.rsplit(':').next().unwrap();
        format!("Cookie: theme=dark; probity-review-{port}={token}\r\n")
    }

    fn ask_with(&self, method: &str, path: &str, host: &str, headers: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(stream, "{method} {path} HTTP/1.1\r\nHost: {host}\r\n{headers}\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// The URL of a page, as somebody without a cookie has to call it.
    fn url(&self, path: &str) -> String {
        let mark = if path.contains('?') { '&' } else { '?' };
        format!("http://{}{path}{mark}token={}", self.address, self.token)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

#[test]
fn the_history_is_shown_over_time_as_text_as_a_badge_and_by_a_server_that_checks_the_host() {
    let stage = Stage::new();
    stage.review(&json!([findings()[0]]), &[]);
    let (_, page) = stage.review(&json!([]), &[]);
    assert_eq!(page["trend"].as_array().unwrap().len(), 2, "{page:#}");
    let state = stage.place.path().join("state");
    let ask = |arguments: &[&str]| {
        let run = probity().args(["review"]).args(arguments).dir(stage.repo());
        run.env("XDG_STATE_HOME", state.to_str().unwrap()).run().code(0).stdout
    };
    let text = ask(&["trend"]);
    let trend: Value = serde_json::from_str(&ask(&["trend", "--format", "json"])).unwrap();
    let scores: Vec<&Value> = trend["branches"][0]["reviews"]
        .as_array()
        .unwrap()
        .iter()
        .map(|review| &review["score"])
        .collect();
    assert_eq!(scores, [8.5, 8.5], "{trend:#}");
    let head = super::git(stage.repo(), &["rev-parse", "HEAD"]);
    let line = |review: &Value| {
        let time = review["createdAt"].as_str().unwrap();
        let (day, minute, commit) = (&time[..10], &time[11..16], &head[..10]);
        format!("  {day} {minute}  {commit}  8.5  pass  1 proven\n")
    };
    let reviews = &trend["branches"][0]["reviews"];
    let month = &line(&reviews[1])[2..9];
    let expected = format!(
        "{head} main  ▇▇\n{}{}\
         cost {month}  replay of agent.ndjson: 2 reviews, 0 input and 0 output tokens\n",
        line(&reviews[0]),
        line(&reviews[1])
    );
    assert_eq!(text, expected);
    let file = stage.place.path().join("out/review.json");
    let badge = ask(&["badge", file.to_str().unwrap()]);
    insta::assert_snapshot!(badge, @r##"<svg xmlns="http://www.w3.org/2000/svg" width="185" height="20" role="img" aria-label="probity review: 8.5 of 10"><title>probity review: 8.5 of 10</title><rect width="110" height="20" fill="#33383e"/><rect x="110" width="75" height="20" fill="#0b6b36"/><g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11"><text x="55" y="14">probity review</text><text x="147" y="14">8.5 of 10</text></g></svg>"##);

    let server = Server::start(&stage);
    let own = server.address.clone();
    let home = server.ask("GET", "/", &own);
    assert!(home.starts_with("HTTP/1.1 200 OK") && home.contains("▇▇"), "{home}");
    let link = home.split("href=\"").find_map(|rest| rest.strip_prefix("/repo?")).unwrap();
    let repo = format!("/repo?{}", link.split('"').next().unwrap());
    let shown = server.ask("GET", &repo, &own);
    assert!(shown.contains("Branch main") && shown.contains("/review?id=2"), "{shown}");
    assert!(server.ask("GET", "/review?id=2", &own).contains("the average is wrong"));
    for (method, path, host, status) in [
        ("GET", "/", "evil.example", "403"),
        ("GET", "/", "evil.example:80", "403"),
        ("POST", "/", own.as_str(), "405"),
        ("GET", "/review?id=99", own.as_str(), "404"),
        ("GET", "/../../etc/passwd", own.as_str(), "404"),
        ("GET", "/repo?name=unknown", own.as_str(), "404"),
    ] {
        let answer = server.ask(method, path, host);
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status} ")),
            "{method} {path} {host}: {answer}"
        );
    }
    for path in ["/", &repo, "/review?id=2"] {
        readable(&looked_at(&server.url(path)));
    }
}
