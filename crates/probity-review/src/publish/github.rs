//! GitHub: threads and comments by GraphQL, which tells what is our own; the rest by REST.

use reqwest::Method;
use serde_json::{Value, json};

use super::{
    PublishError, PullTarget,
    diff::DiffLines,
    forge::{
        Anchor, Author, CONTEXT, Comment, Conclusion, Forge, Pull, Resolution, ReviewStatus, Thread,
    },
    http::{Http, PageSize},
};

/// Everything about a pull request, one page of it.
const LOOK: &str = "query($owner:String!,$name:String!,$number:Int!,$comments:String,$threads:String){\
viewer{login} repository(owner:$owner,name:$name){pullRequest(number:$number){\
state headRefOid baseRefOid potentialMergeCommit{oid} \
comments(first:100,after:$comments){pageInfo{hasNextPage endCursor} \
nodes{databaseId body viewerDidAuthor author{login}}} \
reviewThreads(first:50,after:$threads){pageInfo{hasNextPage endCursor} \
nodes{id isResolved resolvedBy{login} line startLine \
comments(first:100){nodes{databaseId body viewerDidAuthor author{login}}}}}}}}";
const RESOLVE: &str = "mutation($id:ID!){resolveReviewThread(input:{threadId:$id}){thread{id}}}";
const REOPEN: &str = "mutation($id:ID!){unresolveReviewThread(input:{threadId:$id}){thread{id}}}";

const MOST_PAGES: usize = 50;
/// GitHub refuses longer descriptions of a status.
const STATUS_CHARS: usize = 140;
const PAGES: PageSize = PageSize::Exactly("per_page", 100);
/// GitHub refuses longer texts of a check run.
const SUMMARY_CHARS: usize = 60_000;

pub(super) struct Github {
    http: Http,
    owner: String,
    name: String,
    number: u64,
    graphql: String,
}

impl Github {
    pub(super) fn new(http: Http, target: &PullTarget) -> Result<Self, PublishError> {
        let bad = || PublishError::BadProject(target.project.chars().take(100).collect());
        let (owner, name) = target.project.split_once('/').ok_or_else(bad)?;
        // An enterprise server has both APIs beside each other.
        let graphql = match target.endpoint.trim_end_matches('/').strip_suffix("/api/v3") {
            Some(server) => format!("{server}/api/graphql"),
            None => "graphql".to_owned(),
        };
        let (owner, name) = (owner.to_owned(), name.to_owned());
        Ok(Self { http, owner, name, number: target.number, graphql })
    }

    fn path(&self, rest: &str) -> String {
        format!("repos/{}/{}/{rest}", self.owner, self.name)
    }

    fn query(
        &self,
        what: &'static str,
        query: &str,
        variables: &Value,
    ) -> Result<Value, PublishError> {
        let body = json!({ "query": query, "variables": variables });
        let answer = self.http.send(what, Method::POST, &self.graphql, Some(&body))?;
        let error = answer.pointer("/errors/0");
        let Some(error) = error else { return Ok(answer.get("data").cloned().unwrap_or_default()) };
        let text = |pointer: &str| error.pointer(pointer).and_then(Value::as_str);
        let status = match text("/type") {
            Some("FORBIDDEN" | "INSUFFICIENT_SCOPES") => 403,
            Some("NOT_FOUND") => 404,
            _ => 400,
        };
        let why = crate::clean::one_line(text("/message").unwrap_or("no reason"), 300);
        Err(PublishError::Rejected { what, host: self.http.host(), status, why })
    }

    fn diff(&self) -> Result<DiffLines, PublishError> {
        let path = self.path(&format!("pulls/{}/files", self.number));
        let mut diff = DiffLines::default();
        for file in self.http.list("read the diff", &path, PAGES)? {
            let text = |name: &str| file.get(name).and_then(Value::as_str);
            let Some(path) = text("filename") else { continue };
            // GitHub leaves the patch of large files out.
            diff.add(path, text("previous_filename").unwrap_or(path), text("patch").unwrap_or(""));
        }
        Ok(diff)
    }

    /// A check run of ours at this commit.
    fn check_run(&self, pull: &Pull) -> Result<Option<u64>, PublishError> {
        let path = self.path(&format!(
            "commits/{}/check-runs?check_name=probity%2Freview&per_page=100",
            pull.head
        ));
        let found = self.http.get("read check runs", &path)?;
        let runs = found.get("check_runs").and_then(Value::as_array);
        let newest = runs.and_then(|runs| runs.first());
        Ok(newest.and_then(|run| run.get("id")).and_then(Value::as_u64))
    }

    fn set_check_run(&self, pull: &Pull, status: &ReviewStatus) -> Result<(), PublishError> {
        let conclusion = match status.conclusion {
            Conclusion::Passed => "success",
            Conclusion::Failed | Conclusion::NoReview => "failure",
        };
        let summary: String = status.summary.chars().take(SUMMARY_CHARS).collect();
        let mut body = json!({
            "name": CONTEXT,
            "status": "completed",
            "conclusion": conclusion,
            "output": { "title": status.title, "summary": summary },
        });
        let what = "set the check run";
        match self.check_run(pull)? {
            Some(id) => {
                let path = self.path(&format!("check-runs/{id}"));
                self.http.send(what, Method::PATCH, &path, Some(&body)).map(drop)
            }
            None => {
                body["head_sha"] = json!(pull.head);
                let path = self.path("check-runs");
                self.http.send(what, Method::POST, &path, Some(&body)).map(drop)
            }
        }
    }

    fn set_commit_status(&self, pull: &Pull, status: &ReviewStatus) -> Result<(), PublishError> {
        let state = match status.conclusion {
            Conclusion::Passed => "success",
            Conclusion::Failed => "failure",
            Conclusion::NoReview => "error",
        };
        let description: String = status.title.chars().take(STATUS_CHARS).collect();
        let path = self.path(&format!("commits/{}/statuses", pull.head));
        let before = self.http.list("read statuses", &path, PAGES)?;
        let newest = before.iter().find(|before| before["context"] == CONTEXT);
        if newest
            .is_some_and(|status| status["state"] == state && status["description"] == description)
        {
            return Ok(());
        }
        let body = json!({ "state": state, "context": CONTEXT, "description": description });
        let path = self.path(&format!("statuses/{}", pull.head));
        self.http.send("set the status", Method::POST, &path, Some(&body)).map(drop)
    }
}

impl Forge for Github {
    fn look(&self) -> Result<Pull, PublishError> {
        let what = "read the pull request";
        let (mut comments, mut threads) = (Vec::new(), Vec::new());
        let (mut after_comments, mut after_threads) = (Value::Null, Value::Null);
        let mut facts = Value::Null;
        for _ in 0..MOST_PAGES {
            let variables = json!({
                "owner": self.owner, "name": self.name, "number": self.number,
                "comments": after_comments, "threads": after_threads,
            });
            let data = self.query(what, LOOK, &variables)?;
            let viewer = data.pointer("/viewer/login").and_then(Value::as_str).unwrap_or_default();
            let pull = data.pointer("/repository/pullRequest");
            let pull = pull.filter(|pull| pull.is_object()).ok_or_else(|| {
                let why = "there is no such pull request".to_owned();
                PublishError::Rejected { what, host: self.http.host(), status: 404, why }
            })?;
            for node in nodes(pull, "/comments/nodes") {
                comments.extend(comment(node));
            }
            for node in nodes(pull, "/reviewThreads/nodes") {
                threads.extend(thread(node, viewer));
            }
            facts = pull.clone();
            let more = [
                advance(pull, "/comments/pageInfo", &mut after_comments),
                advance(pull, "/reviewThreads/pageInfo", &mut after_threads),
            ];
            if !more.contains(&true) {
                break;
            }
        }
        let text = |pointer: &str| facts.pointer(pointer).and_then(Value::as_str);
        let head = text("/headRefOid").ok_or_else(|| self.http.malformed(what))?.to_owned();
        let base = text("/baseRefOid").unwrap_or_default().to_owned();
        Ok(Pull {
            head,
            merge: text("/potentialMergeCommit/oid").map(str::to_owned),
            start: base.clone(),
            base,
            is_open: text("/state") == Some("OPEN"),
            diff: self.diff()?,
            comments,
            threads,
        })
    }

    fn add_thread(&self, pull: &Pull, at: &Anchor<'_>, body: &str) -> Result<(), PublishError> {
        let mut comment = json!({
            "commit_id": pull.head, "path": at.file, "line": at.end, "side": "RIGHT", "body": body,
        });
        if at.start < at.end {
            comment["start_line"] = json!(at.start);
            comment["start_side"] = json!("RIGHT");
        }
        let path = self.path(&format!("pulls/{}/comments", self.number));
        self.http.send("add a comment", Method::POST, &path, Some(&comment)).map(drop)
    }

    fn edit_in_thread(&self, comment: &Comment, body: &str) -> Result<(), PublishError> {
        let path = self.path(&format!("pulls/comments/{}", comment.id));
        let body = json!({ "body": body });
        self.http.send("edit a comment", Method::PATCH, &path, Some(&body)).map(drop)
    }

    fn resolve(&self, thread: &Thread, _done_body: &str) -> Result<(), PublishError> {
        self.query("resolve a thread", RESOLVE, &json!({ "id": thread.id })).map(drop)
    }

    fn reopen(&self, thread: &Thread) -> Result<(), PublishError> {
        self.query("reopen a thread", REOPEN, &json!({ "id": thread.id })).map(drop)
    }

    fn add_comment(&self, body: &str) -> Result<(), PublishError> {
        let path = self.path(&format!("issues/{}/comments", self.number));
        let body = json!({ "body": body });
        self.http.send("add the summary", Method::POST, &path, Some(&body)).map(drop)
    }

    fn edit_comment(&self, comment: &Comment, body: &str) -> Result<(), PublishError> {
        let path = self.path(&format!("issues/comments/{}", comment.id));
        let body = json!({ "body": body });
        self.http.send("edit the summary", Method::PATCH, &path, Some(&body)).map(drop)
    }

    fn set_status(&self, pull: &Pull, status: &ReviewStatus) -> Result<(), PublishError> {
        match self.set_check_run(pull, status) {
            // Only apps may make check runs; a person's token can set a status.
            Err(error) if error.is_forbidden() => self.set_commit_status(pull, status),
            done => done,
        }
    }

    fn may_write(&self, author: &Author) -> Result<bool, PublishError> {
        let path = self.path(&format!("collaborators/{}/permission", author.id));
        let found = self.http.get("read a person's rights", &path);
        match found {
            Ok(found) => {
                let permission = found.get("permission").and_then(Value::as_str);
                Ok(matches!(permission, Some("admin" | "write" | "maintain")))
            }
            Err(error) if error.is_unknown_endpoint() => Ok(false),
            Err(error) => Err(error),
        }
    }
}

fn nodes<'a>(value: &'a Value, pointer: &str) -> &'a [Value] {
    value.pointer(pointer).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Moves to the next page, if there is one.
fn advance(pull: &Value, pointer: &str, after: &mut Value) -> bool {
    let Some(page) = pull.pointer(pointer) else { return false };
    let is_more = page["hasNextPage"] == true;
    if page["endCursor"].is_string() {
        *after = page["endCursor"].clone();
    }
    is_more
}

fn comment(node: &Value) -> Option<Comment> {
    // The account of a person who is gone is null.
    let login = node.pointer("/author/login").and_then(Value::as_str).unwrap_or("ghost");
    Some(Comment {
        id: node.get("databaseId")?.as_u64()?.to_string(),
        author: Author { id: login.to_owned(), name: login.to_owned() },
        is_own: node.get("viewerDidAuthor") == Some(&Value::Bool(true)),
        body: node.get("body")?.as_str()?.to_owned(),
    })
}

fn thread(node: &Value, viewer: &str) -> Option<Thread> {
    // An app's account is called NAME in one place and NAME[bot] in another.
    let plain = |login: &str| login.trim_end_matches("[bot]").to_owned();
    let resolver = node.pointer("/resolvedBy/login").and_then(Value::as_str).map(plain);
    let resolution = match node.get("isResolved") {
        Some(Value::Bool(true)) if resolver == Some(plain(viewer)) => Resolution::ByUs,
        Some(Value::Bool(true)) => Resolution::ByPerson,
        _ => Resolution::Open,
    };
    let line = node.get("line").and_then(Value::as_u64);
    let start = node.get("startLine").and_then(Value::as_u64);
    Some(Thread {
        id: node.get("id")?.as_str()?.to_owned(),
        lines: line.map(|line| (start.unwrap_or(line), line)),
        resolution,
        comments: nodes(node, "/comments/nodes").iter().filter_map(comment).collect(),
    })
}
