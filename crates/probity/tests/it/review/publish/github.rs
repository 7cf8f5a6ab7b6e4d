//! GitHub's side of the forge.

use serde_json::{Value, json};

use super::server::{Asked, BOT, ForgeThread, Note, Reply, State, refused, reply};

pub(super) fn answer(asked: &Asked<'_>, state: &mut State) -> Reply {
    match (asked.method, asked.path.as_slice()) {
        ("POST", ["graphql"]) => graphql(asked, state),
        ("GET", ["repos", "o", "r", "pulls", "7", "files"]) => {
            if asked.is_later_page() {
                reply(json!([]))
            } else {
                reply(json!([{ "filename": state.file, "patch": state.hunks }]))
            }
        }
        ("POST", ["repos", "o", "r", "pulls", "7", "comments"]) => {
            asked.only(&["commit_id", "path", "line", "side", "start_line", "start_side", "body"]);
            if asked.text("commit_id") != state.head || asked.text("side") != "RIGHT" {
                return refused(422, "Validation Failed");
            }
            let line = asked.body["line"].as_u64().unwrap();
            let start = asked.body["start_line"].as_u64().unwrap_or(line);
            state.thread(asked.text("path"), start, line, asked.text("body"))
        }
        ("PATCH", ["repos", "o", "r", "pulls" | "issues", "comments", id]) => {
            asked.only(&["body"]);
            state.edit(id, asked.text("body"))
        }
        ("POST", ["repos", "o", "r", "issues", "7", "comments"]) => {
            asked.only(&["body"]);
            state.comment(asked.text("body"))
        }
        ("POST", ["repos", "o", "r", "check-runs"]) if !state.is_app => {
            refused(403, "You must authenticate via a GitHub App.")
        }
        ("GET", ["repos", "o", "r", "commits", commit, "statuses"]) => {
            let all: Vec<Value> = state
                .statuses
                .iter()
                .rev()
                .filter(|status| status.commit == *commit)
                .map(|status| {
                    let description = &status.description;
                    json!({ "context": "probity/review", "state": status.state,
                        "description": description })
                })
                .collect();
            reply(json!(all))
        }
        ("POST", ["repos", "o", "r", "statuses", commit]) => {
            asked.only(&["state", "context", "description"]);
            let (word, description) = (asked.text("state"), asked.text("description"));
            state.status(commit, word, description)
        }
        ("GET", ["repos", "o", "r", "commits", commit, "check-runs"]) => {
            assert_eq!(asked.query, "check_name=probity%2Freview&per_page=100");
            let runs: Vec<Value> = state
                .statuses
                .iter()
                .filter(|status| status.commit == *commit && state.is_app)
                .map(|status| json!({ "id": status.id, "name": "probity/review" }))
                .collect();
            reply(json!({ "total_count": runs.len(), "check_runs": runs }))
        }
        ("POST", ["repos", "o", "r", "check-runs"]) => {
            asked.only(&["name", "status", "conclusion", "output", "head_sha"]);
            let title = asked.body["output"]["title"].as_str().unwrap();
            state.status(asked.text("head_sha"), asked.text("conclusion"), title)
        }
        ("PATCH", ["repos", "o", "r", "check-runs", id]) => {
            asked.only(&["name", "status", "conclusion", "output"]);
            let run = state.statuses.iter_mut().find(|run| run.id.to_string() == *id).unwrap();
            asked.text("conclusion").clone_into(&mut run.state);
            asked.body["output"]["title"].as_str().unwrap().clone_into(&mut run.description);
            reply(json!({ "id": run.id }))
        }
        ("GET", ["repos", "o", "r", "collaborators", login, "permission"]) => {
            let may_write = state.writers.contains(*login);
            reply(json!({ "permission": if may_write { "write" } else { "read" } }))
        }
        (method, path) => refused(404, &format!("{method} {path:?}")),
    }
}

fn graphql(asked: &Asked<'_>, state: &mut State) -> Reply {
    let variables = &asked.body["variables"];
    let query = asked.text("query");
    let id = || variables["id"].as_str().unwrap().trim_start_matches("T_").to_owned();
    if query.contains("unresolveReviewThread") {
        return data(state.resolve(&id(), false));
    }
    if query.contains("resolveReviewThread") {
        return data(state.resolve(&id(), true));
    }
    if (&variables["owner"], &variables["name"]) != (&json!("o"), &json!("r"))
        || variables["number"] != 7
    {
        let error = json!({ "type": "NOT_FOUND", "message": "Could not resolve to a PullRequest" });
        return reply(json!({ "data": null, "errors": [error] }));
    }
    // One comment and one thread a page: whoever reads only the first page misses the others.
    let (comments, info) = page(&state.comments, &variables["comments"]);
    let comments: Vec<Value> = comments.iter().map(note).collect();
    let (threads, thread_info) = page(&state.threads, &variables["threads"]);
    let threads: Vec<Value> = threads.iter().map(thread).collect();
    reply(json!({ "data": { "viewer": { "login": BOT }, "repository": { "pullRequest": {
        "state": if state.is_open { "OPEN" } else { "CLOSED" },
        "headRefOid": state.head, "baseRefOid": "base", "potentialMergeCommit": { "oid": "merge" },
        "comments": { "pageInfo": info, "nodes": comments },
        "reviewThreads": { "pageInfo": thread_info, "nodes": threads },
    } } } }))
}

fn data(done: Reply) -> Reply {
    if done.status == 200 { reply(json!({ "data": {} })) } else { done }
}

fn page<'a, T>(all: &'a [T], after: &Value) -> (&'a [T], Value) {
    let from = after.as_str().map_or(0, |cursor| cursor.parse::<usize>().unwrap());
    let to = (from + 1).min(all.len());
    let end = if to > from { json!(to.to_string()) } else { Value::Null };
    (&all[from.min(all.len())..to], json!({ "hasNextPage": to < all.len(), "endCursor": end }))
}

fn note(note: &Note) -> Value {
    json!({
        "databaseId": note.id, "body": note.body, "viewerDidAuthor": note.author == BOT,
        "author": { "login": note.author },
    })
}

fn thread(thread: &ForgeThread) -> Value {
    let start = (thread.start < thread.line).then_some(thread.start);
    json!({
        "id": format!("T_{}", thread.id), "isResolved": thread.resolved_by.is_some(),
        "resolvedBy": thread.resolved_by.as_ref().map(|login| json!({ "login": login })),
        "line": thread.line, "startLine": start,
        "comments": { "nodes": thread.notes.iter().map(note).collect::<Vec<_>>() },
    })
}
