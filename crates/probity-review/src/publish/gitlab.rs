//! GitLab: merge requests, whose comments all are notes of discussions.

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

/// Developers may push to branches that are not protected.
const DEVELOPER: u64 = 30;
const STATUS_CHARS: usize = 140;
const PAGES: PageSize = PageSize::Exactly("per_page", 100);

pub(super) struct Gitlab {
    http: Http,
    project: String,
    number: u64,
}

impl Gitlab {
    pub(super) fn new(http: Http, target: &PullTarget) -> Self {
        let project = encoded(&target.project);
        Self { http, project, number: target.number }
    }

    fn path(&self, rest: &str) -> String {
        format!("projects/{}/{rest}", self.project)
    }

    fn of_request(&self, rest: &str) -> String {
        self.path(&format!("merge_requests/{}{rest}", self.number))
    }

    fn diff(&self) -> Result<DiffLines, PublishError> {
        let path = self.of_request("/diffs");
        let mut diff = DiffLines::default();
        for file in self.http.list("read the diff", &path, PAGES)? {
            let text = |name: &str| file.get(name).and_then(Value::as_str);
            let Some(path) = text("new_path") else { continue };
            diff.add(path, text("old_path").unwrap_or(path), text("diff").unwrap_or_default());
        }
        Ok(diff)
    }
}

impl Forge for Gitlab {
    fn look(&self) -> Result<Pull, PublishError> {
        let what = "read the merge request";
        let facts = self.http.get(what, &self.of_request(""))?;
        let own = self.http.get("read the token's account", "user")?;
        let own = own.get("id").and_then(Value::as_u64);
        let text = |pointer: &str| facts.pointer(pointer).and_then(Value::as_str);
        let head = text("/diff_refs/head_sha").or_else(|| text("/sha"));
        let head = head.ok_or_else(|| self.http.malformed(what))?.to_owned();
        let (mut comments, mut threads) = (Vec::new(), Vec::new());
        let path = self.of_request("/discussions");
        for discussion in self.http.list("read the discussions", &path, PAGES)? {
            let Some(thread) = thread(&discussion, own) else { continue };
            if thread.lines.is_none() && discussion["individual_note"] == true {
                comments.extend(thread.comments);
            } else {
                threads.push(thread);
            }
        }
        Ok(Pull {
            head,
            merge: text("/merge_commit_sha").map(str::to_owned),
            base: text("/diff_refs/base_sha").unwrap_or_default().to_owned(),
            start: text("/diff_refs/start_sha").unwrap_or_default().to_owned(),
            is_open: text("/state") == Some("opened"),
            diff: self.diff()?,
            comments,
            threads,
        })
    }

    fn add_thread(&self, pull: &Pull, at: &Anchor<'_>, body: &str) -> Result<(), PublishError> {
        let file = pull.diff.file(at.file);
        let mut position = json!({
            "position_type": "text",
            "base_sha": pull.base,
            "start_sha": pull.start,
            "head_sha": pull.head,
            "new_path": at.file,
            "old_path": file.map_or(at.file, |file| &file.old_path),
            "new_line": at.end,
        });
        // A line that the change does not touch has a number on both sides.
        if let Some(old) = file.and_then(|file| file.old_line(at.end)) {
            position["old_line"] = json!(old);
        }
        let body = json!({ "body": body, "position": position });
        let path = self.of_request("/discussions");
        self.http.send("add a comment", Method::POST, &path, Some(&body)).map(drop)
    }

    fn edit_in_thread(&self, comment: &Comment, body: &str) -> Result<(), PublishError> {
        self.edit_comment(comment, body)
    }

    fn resolve(&self, thread: &Thread, _done_body: &str) -> Result<(), PublishError> {
        let path = self.of_request(&format!("/discussions/{}", thread.id));
        let body = json!({ "resolved": true });
        self.http.send("resolve a thread", Method::PUT, &path, Some(&body)).map(drop)
    }

    fn reopen(&self, thread: &Thread) -> Result<(), PublishError> {
        let path = self.of_request(&format!("/discussions/{}", thread.id));
        let body = json!({ "resolved": false });
        self.http.send("reopen a thread", Method::PUT, &path, Some(&body)).map(drop)
    }

    fn add_comment(&self, body: &str) -> Result<(), PublishError> {
        let body = json!({ "body": body });
        let path = self.of_request("/notes");
        self.http.send("add the summary", Method::POST, &path, Some(&body)).map(drop)
    }

    fn edit_comment(&self, comment: &Comment, body: &str) -> Result<(), PublishError> {
        let path = self.of_request(&format!("/notes/{}", comment.id));
        let body = json!({ "body": body });
        self.http.send("edit a comment", Method::PUT, &path, Some(&body)).map(drop)
    }

    fn set_status(&self, pull: &Pull, status: &ReviewStatus) -> Result<(), PublishError> {
        let state = match status.conclusion {
            Conclusion::Passed => "success",
            Conclusion::Failed | Conclusion::NoReview => "failed",
        };
        let description: String = status.title.chars().take(STATUS_CHARS).collect();
        let path =
            self.path(&format!("repository/commits/{}/statuses?name=probity%2Freview", pull.head));
        let before = self.http.list("read statuses", &path, PAGES)?;
        let newest = before.iter().max_by_key(|before| before.get("id").and_then(Value::as_u64));
        if newest
            .is_some_and(|status| status["status"] == state && status["description"] == description)
        {
            return Ok(());
        }
        let body = json!({ "state": state, "name": CONTEXT, "description": description });
        let path = self.path(&format!("statuses/{}", pull.head));
        self.http.send("set the status", Method::POST, &path, Some(&body)).map(drop)
    }

    fn may_write(&self, author: &Author) -> Result<bool, PublishError> {
        let path = self.path(&format!("members/all/{}", author.id));
        match self.http.get("read a person's rights", &path) {
            Ok(found) => {
                let level = found.get("access_level").and_then(Value::as_u64);
                Ok(level.is_some_and(|level| level >= DEVELOPER))
            }
            Err(error) if error.is_unknown_endpoint() => Ok(false),
            Err(error) => Err(error),
        }
    }
}

fn thread(discussion: &Value, own: Option<u64>) -> Option<Thread> {
    let notes = discussion.get("notes")?.as_array()?;
    let written: Vec<&Value> = notes.iter().filter(|note| note["system"] != true).collect();
    let first = written.first()?;
    let resolver = first.pointer("/resolved_by/id").and_then(Value::as_u64);
    let resolution = match first.get("resolved") {
        Some(Value::Bool(true)) if resolver.is_some() && resolver == own => Resolution::ByUs,
        Some(Value::Bool(true)) => Resolution::ByPerson,
        _ => Resolution::Open,
    };
    let line = first.pointer("/position/new_line").and_then(Value::as_u64);
    Some(Thread {
        id: discussion.get("id")?.as_str()?.to_owned(),
        lines: line.map(|line| (line, line)),
        resolution,
        comments: written.iter().filter_map(|note| comment(note, own)).collect(),
    })
}

fn comment(note: &Value, own: Option<u64>) -> Option<Comment> {
    let author = note.pointer("/author/id").and_then(Value::as_u64)?;
    let name = note.pointer("/author/username").and_then(Value::as_str).unwrap_or_default();
    Some(Comment {
        id: note.get("id")?.as_u64()?.to_string(),
        author: Author { id: author.to_string(), name: name.to_owned() },
        is_own: Some(author) == own,
        body: note.get("body")?.as_str()?.to_owned(),
    })
}

/// A path of a project as one part of a URL.
fn encoded(project: &str) -> String {
    url::form_urlencoded::byte_serialize(project.as_bytes()).collect()
}
