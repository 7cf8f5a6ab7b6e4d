//! GitLab's side of the forge.

use serde_json::{Value, json};

use super::server::{Asked, BOT, ForgeThread, Note, Reply, State, refused, reply};

pub(super) fn answer(asked: &Asked<'_>, state: &mut State) -> Reply {
    let (method, path) = (asked.method, asked.path.as_slice());
    match (method, path) {
        ("GET", ["user"]) => return reply(json!({ "id": number(BOT), "username": BOT })),
        (_, ["projects", "o%2Fr", ..]) => {}
        _ => return refused(404, "404 Project Not Found"),
    }
    match (method, &path[2..]) {
        ("GET", ["merge_requests", "7"]) => reply(json!({
            "state": if state.is_open { "opened" } else { "closed" }, "sha": state.head,
            "diff_refs": { "base_sha": "base", "start_sha": "start", "head_sha": state.head },
        })),
        ("GET", ["merge_requests", "7", "diffs"]) => reply(json!([{
            "new_path": state.file, "old_path": state.file, "diff": state.hunks,
        }])),
        ("GET", ["merge_requests", "7", "discussions"]) => {
            let alone = state.comments.iter().map(|comment| {
                let notes = [note(comment, None)];
                json!({ "id": format!("n{}", comment.id), "individual_note": true, "notes": notes })
            });
            let system = json!({ "id": "s", "individual_note": true, "notes": [
                { "id": 1, "system": true, "body": "pushed", "author": { "id": 9, "username": "x" } },
            ] });
            let all: Vec<Value> =
                [system].into_iter().chain(alone).chain(state.threads.iter().map(thread)).collect();
            reply(json!(all))
        }
        ("POST", ["merge_requests", "7", "discussions"]) => {
            asked.only(&["body", "position"]);
            let position = &asked.body["position"];
            for (name, expected) in [
                ("position_type", "text"),
                ("base_sha", "base"),
                ("start_sha", "start"),
                ("head_sha", state.head.as_str()),
                ("old_path", state.file.as_str()),
            ] {
                assert_eq!(position[name], expected, "{position}");
            }
            let line = position["new_line"].as_u64().unwrap();
            // GitLab asks for both numbers of a line that the change does not touch.
            let is_added = added(&state.hunks).contains(&line);
            if position["old_line"].is_u64() == is_added {
                return refused(400, "line_code can't be blank");
            }
            let file = position["new_path"].as_str().unwrap().to_owned();
            state.thread(&file, line, line, asked.text("body"))
        }
        ("PUT", ["merge_requests", "7", "discussions", id]) => {
            asked.only(&["resolved"]);
            state.resolve(id, asked.body["resolved"].as_bool().unwrap())
        }
        ("POST", ["merge_requests", "7", "notes"]) => {
            asked.only(&["body"]);
            state.comment(asked.text("body"))
        }
        ("PUT", ["merge_requests", "7", "notes", id]) => {
            asked.only(&["body"]);
            state.edit(id, asked.text("body"))
        }
        ("GET", ["repository", "commits", commit, "statuses"]) => {
            let all: Vec<Value> = state
                .statuses
                .iter()
                .filter(|status| status.commit == *commit)
                .map(|status| {
                    json!({
                        "id": status.id, "status": status.state,
                        "description": status.description,
                    })
                })
                .collect();
            reply(json!(all))
        }
        ("POST", ["statuses", commit]) => {
            asked.only(&["state", "name", "description"]);
            let (word, description) = (asked.text("state"), asked.text("description"));
            state.status(commit, word, description)
        }
        ("GET", ["members", "all", id]) => {
            let level = |writer: &String| number(writer).to_string() == *id;
            if state.writers.iter().any(level) {
                reply(json!({ "access_level": 40 }))
            } else {
                refused(404, "404 Not found")
            }
        }
        (method, path) => refused(404, &format!("{method} {path:?}")),
    }
}

/// People have numbers.
fn number(login: &str) -> u64 {
    login.bytes().map(u64::from).sum()
}

fn added(hunks: &str) -> Vec<u64> {
    let header = hunks.lines().next().unwrap();
    let start: u64 = header.split('+').nth(1).unwrap().split(',').next().unwrap().parse().unwrap();
    let new = hunks.lines().skip(1).filter(|line| !line.starts_with('-'));
    (start..).zip(new).filter(|(_, line)| line.starts_with('+')).map(|(number, _)| number).collect()
}

fn note(note: &Note, thread: Option<&ForgeThread>) -> Value {
    let mut value = json!({
        "id": note.id, "body": note.body, "system": false,
        "author": { "id": number(&note.author), "username": note.author },
    });
    if let Some(thread) = thread {
        value["resolvable"] = json!(true);
        value["resolved"] = json!(thread.resolved_by.is_some());
        value["resolved_by"] =
            thread.resolved_by.as_ref().map_or(Value::Null, |login| json!({ "id": number(login) }));
        value["position"] = json!({ "new_path": thread.file, "new_line": thread.line });
    }
    value
}

fn thread(thread: &ForgeThread) -> Value {
    let notes: Vec<Value> = thread.notes.iter().map(|it| note(it, Some(thread))).collect();
    json!({ "id": thread.id.to_string(), "individual_note": false, "notes": notes })
}
