//! Gitea's side of the forge, as of a version that cannot resolve threads.

use serde_json::{Value, json};

use super::server::{Asked, BOT, Reply, State, refused, reply};

pub(super) fn answer(asked: &Asked<'_>, state: &mut State) -> Reply {
    match (asked.method, asked.path.as_slice()) {
        ("GET", ["user"]) => reply(json!({ "login": BOT })),
        ("GET", ["repos", "o", "r", "pulls", "7"]) => reply(json!({
            "state": if state.is_open { "open" } else { "closed" },
            "head": { "sha": state.head }, "merge_base": "base",
        })),
        ("GET", ["repos", "o", "r", "pulls", "7.diff"]) => {
            let file = &state.file;
            let diff = format!(
                "diff --git a/{file} b/{file}\nindex 1..2 100644\n--- a/{file}\n+++ b/{file}\n{}",
                state.hunks
            );
            Reply { status: 200, body: diff.into_bytes(), headers: String::new() }
        }
        ("GET", ["repos", "o", "r", "issues", "7", "comments"]) => {
            let all: Vec<Value> = state
                .comments
                .iter()
                .map(|comment| {
                    json!({
                        "id": comment.id, "body": comment.body,
                        "user": { "login": comment.author },
                    })
                })
                .collect();
            reply(json!(all))
        }
        // Each thread is one review; a reply is a comment at the same place.
        ("GET", ["repos", "o", "r", "pulls", "7", "reviews"]) => {
            let all = state.threads.iter();
            let all =
                all.map(|thread| json!({ "id": thread.id, "comments_count": thread.notes.len() }));
            reply(page(asked, all))
        }
        ("GET", ["repos", "o", "r", "pulls", "7", "reviews", id, "comments"]) => {
            let thread = state.threads.iter().find(|thread| thread.id.to_string() == *id).unwrap();
            let all: Vec<Value> = thread
                .notes
                .iter()
                .map(|note| {
                    json!({
                        "id": note.id, "body": note.body, "user": { "login": note.author },
                        "path": thread.file, "position": thread.line, "resolver": null,
                    })
                })
                .collect();
            reply(json!(all))
        }
        ("POST", ["repos", "o", "r", "pulls", "7", "reviews"]) => {
            asked.only(&["event", "commit_id", "comments"]);
            assert_eq!((asked.text("event"), asked.text("commit_id")), ("COMMENT", &*state.head));
            let [comment] = asked.body["comments"].as_array().unwrap().as_slice() else {
                return refused(422, "one comment");
            };
            let (line, text) = (comment["new_position"].as_u64().unwrap(), |name: &str| {
                comment[name].as_str().unwrap().to_owned()
            });
            state.thread(&text("path"), line, line, &text("body"))
        }
        ("POST", ["repos", "o", "r", "issues", "7", "comments"]) => {
            asked.only(&["body"]);
            state.comment(asked.text("body"))
        }
        ("PATCH", ["repos", "o", "r", "issues", "comments", id]) => {
            asked.only(&["body"]);
            state.edit(id, asked.text("body"))
        }
        ("GET", ["repos", "o", "r", "commits", commit, "statuses"]) => {
            let all = state.statuses.iter().filter(|status| status.commit == *commit);
            let all = all.map(|status| {
                let description = &status.description;
                json!({ "id": status.id, "context": "probity/review", "status": status.state,
                    "description": description })
            });
            reply(page(asked, all))
        }
        ("POST", ["repos", "o", "r", "statuses", commit]) => {
            asked.only(&["state", "context", "description"]);
            let (word, description) = (asked.text("state"), asked.text("description"));
            state.status(commit, word, description)
        }
        ("GET", ["repos", "o", "r", "collaborators", login, "permission"]) => {
            let may_write = state.writers.contains(*login);
            reply(json!({ "permission": if may_write { "write" } else { "read" } }))
        }
        (method, path) => refused(404, &format!("{method} {path:?}")),
    }
}

/// An administrator has allowed two entries a page, whatever a request asks for.
fn page(asked: &Asked<'_>, all: impl Iterator<Item = Value>) -> Value {
    all.skip((asked.page() - 1) * 2).take(2).collect()
}
