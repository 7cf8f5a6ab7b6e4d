//! Pages of `review serve` that have no review to show: each says why, and leads to one that exists.

use serde_json::json;

use super::{Server, looked_at, readable};
use crate::review::again::Stage;

#[test]
fn pages_without_a_review_say_why_and_lead_home() {
    let stage = Stage::new();
    let server = Server::start(&stage);
    let own = server.address.clone();
    let empty = "<h1>Reviews</h1>\n<p>The history has no reviews yet. Run <code>probity \
                 review</code> in a repository, then reload this page.</p>";
    let hosts = format!(
        "<code>{own}</code> or <code>localhost:{}</code>.",
        own.rsplit(':').next().unwrap()
    );
    let home = "<a href=\"/\">All repositories</a>";
    let absolute = format!("<a href=\"http://{own}/\">All repositories</a>");
    for (method, path, host, status, says, link) in [
        ("GET", "/", own.as_str(), "200 OK", empty, ""),
        ("GET", "/?from=mail", &own, "200 OK", empty, ""),
        ("GET", "/nothing", &own, "404 Not Found", "<h1>Page not found</h1>", home),
        ("GET", "/repo", &own, "404 Not Found", "<h1>Page not found</h1>", home),
        (
            "GET",
            "/repo?name=a/%3Cb%3E",
            &own,
            "404 Not Found",
            "The history has no review of <code>a/<wbr>&lt;b&gt;</code>.",
            home,
        ),
        ("GET", "/review?id=%3Cb%3E", &own, "404 Not Found", "<code>&lt;b&gt;</code>", home),
        ("GET", "/", "evil.example", "403 Forbidden", &hosts, &absolute),
        ("POST", "/", &own, "405 Method Not Allowed", "accepts only GET and HEAD", home),
    ] {
        let answer = server.ask(method, path, host);
        assert_eq!(answer.lines().next(), Some(&*format!("HTTP/1.1 {status}")), "{path}: {answer}");
        assert!(answer.contains(says) && answer.contains(link), "{path}: {answer}");
    }

    readable(&looked_at(&server.url("/")));
    let name = "a-name-without-a-place-to-break".repeat(5);
    let mut seen = looked_at(&server.url(&format!("/repo?name={name}")));
    // A browser notes the status of the page itself, once for each time that it opens it.
    let notes = seen["console"].as_array_mut().unwrap();
    notes.retain(|note| !note.as_str().unwrap().ends_with("404 (Not Found)"));
    readable(&seen);
    assert_eq!(seen["focus"].as_array().unwrap().len(), 1, "{seen:#}");
    assert_eq!(seen["focus"][0]["tag"], json!("A"), "{seen:#}");
}
