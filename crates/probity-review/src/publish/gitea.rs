//! Gitea and Forgejo: reviews whose comments on one line of a file are a thread.

use std::collections::BTreeMap;

use reqwest::Method;
use serde_json::{Value, json};

use super::{
    PublishError, PullTarget,
    diff::DiffLines,
    forge::{
        Anchor, Author, CONTEXT, Comment, Conclusion, Forge, Pull, Resolution, ReviewStatus, Thread,
    },
    http::{Http, PageSize},
    marker::Marker,
};

/// The account of a job's own token, which may not ask who it is.
const ACTIONS: &str = "gitea-actions";
const STATUS_CHARS: usize = 140;
const PAGES: PageSize = PageSize::AtMost("limit", 50);

pub(super) struct Gitea {
    http: Http,
    project: String,
    number: u64,
}

impl Gitea {
    pub(super) fn new(http: Http, target: &PullTarget) -> Self {
        Self { http, project: target.project.clone(), number: target.number }
    }

    fn path(&self, rest: &str) -> String {
        format!("repos/{}/{rest}", self.project)
    }

    fn of_pull(&self, rest: &str) -> String {
        self.path(&format!("pulls/{}{rest}", self.number))
    }

    fn own_login(&self) -> Result<String, PublishError> {
        match self.http.get("read the token's account", "user") {
            Ok(user) => {
                let login = user.get("login").and_then(Value::as_str);
                login
                    .map(str::to_owned)
                    .ok_or_else(|| self.http.malformed("read the token's account"))
            }
            Err(error) if error.is_forbidden() => Ok(ACTIONS.to_owned()),
            Err(error) => Err(error),
        }
    }

    /// The comments of all reviews, by the file and line that they are about.
    fn threads(&self, own: &str) -> Result<Vec<Thread>, PublishError> {
        let mut places: BTreeMap<(String, u64), Vec<Value>> = BTreeMap::new();
        let reviews = self.http.list("read the reviews", &self.of_pull("/reviews"), PAGES)?;
        for review in reviews.iter().filter(|review| review["comments_count"] != 0) {
            let Some(id) = review.get("id").and_then(Value::as_u64) else { continue };
            let path = self.of_pull(&format!("/reviews/{id}/comments"));
            let Value::Array(comments) = self.http.get("read the comments", &path)? else {
                return Err(self.http.malformed("read the comments"));
            };
            for comment in comments {
                let file = comment.get("path").and_then(Value::as_str).unwrap_or_default();
                let line = ["position", "original_position"].iter().find_map(|name| {
                    comment.get(name).and_then(Value::as_u64).filter(|line| *line > 0)
                });
                places.entry((file.to_owned(), line.unwrap_or(0))).or_default().push(comment);
            }
        }
        let threads = places.into_iter().flat_map(|((_, line), mut comments)| {
            comments.sort_by_key(|comment| comment.get("id").and_then(Value::as_u64));
            split(&comments, own, line)
        });
        Ok(threads.collect())
    }

    /// Newer servers resolve threads; on others the comment itself says so.
    fn set_resolved(&self, thread: &Thread, word: &str) -> Result<(), PublishError> {
        let path = self.path(&format!("pulls/comments/{}/{word}", thread.id));
        match self.http.send("resolve a thread", Method::POST, &path, None) {
            Err(error) if !error.is_unknown_endpoint() => Err(error),
            _ => Ok(()),
        }
    }
}

/// Two issues may be on one line: a thread of ours goes on until the next one begins.
fn split(comments: &[Value], own: &str, line: u64) -> Vec<Thread> {
    let mut threads: Vec<Thread> = Vec::new();
    for value in comments {
        let Some(comment) = comment(value, own) else { continue };
        let marker = if comment.is_own { Marker::of(&comment.body) } else { None };
        let resolver = value.pointer("/resolver/login").and_then(Value::as_str);
        let resolution = match (resolver, &marker) {
            (Some(login), _) if login != own => Resolution::ByPerson,
            (Some(_), _) | (None, Some(Marker::DoneIssue(_))) => Resolution::ByUs,
            _ => Resolution::Open,
        };
        match threads.last_mut() {
            Some(thread) if marker.is_none() => thread.comments.push(comment),
            _ => threads.push(Thread {
                id: comment.id.clone(),
                lines: (line > 0).then_some((line, line)),
                resolution,
                comments: vec![comment],
            }),
        }
    }
    threads
}

fn comment(value: &Value, own: &str) -> Option<Comment> {
    let login = value.pointer("/user/login").and_then(Value::as_str).unwrap_or("ghost");
    Some(Comment {
        id: value.get("id")?.as_u64()?.to_string(),
        author: Author { id: login.to_owned(), name: login.to_owned() },
        is_own: login == own,
        body: value.get("body")?.as_str()?.to_owned(),
    })
}

impl Forge for Gitea {
    fn look(&self) -> Result<Pull, PublishError> {
        let what = "read the pull request";
        let facts = self.http.get(what, &self.of_pull(""))?;
        let own = self.own_login()?;
        let text = |pointer: &str| facts.pointer(pointer).and_then(Value::as_str);
        let head = text("/head/sha").ok_or_else(|| self.http.malformed(what))?.to_owned();
        let base = text("/merge_base").unwrap_or_default().to_owned();
        let path = self.path(&format!("issues/{}/comments", self.number));
        let Value::Array(comments) = self.http.get("read the comments", &path)? else {
            return Err(self.http.malformed("read the comments"));
        };
        Ok(Pull {
            head,
            merge: text("/merge_commit_sha").map(str::to_owned),
            start: base.clone(),
            base,
            is_open: text("/state") == Some("open"),
            diff: DiffLines::of_git(&self.http.text("read the diff", &self.of_pull(".diff"))?),
            comments: comments.iter().filter_map(|value| comment(value, &own)).collect(),
            threads: self.threads(&own)?,
        })
    }

    fn add_thread(&self, pull: &Pull, at: &Anchor<'_>, body: &str) -> Result<(), PublishError> {
        let comment = json!({ "path": at.file, "new_position": at.end, "body": body });
        let review = json!({ "event": "COMMENT", "commit_id": pull.head, "comments": [comment] });
        let path = self.of_pull("/reviews");
        self.http.send("add a comment", Method::POST, &path, Some(&review)).map(drop)
    }

    fn edit_in_thread(&self, comment: &Comment, body: &str) -> Result<(), PublishError> {
        self.edit_comment(comment, body)
    }

    fn resolve(&self, thread: &Thread, done_body: &str) -> Result<(), PublishError> {
        if let Some(first) = thread.first() {
            self.edit_comment(first, done_body)?;
        }
        self.set_resolved(thread, "resolve")
    }

    fn reopen(&self, thread: &Thread) -> Result<(), PublishError> {
        self.set_resolved(thread, "unresolve")
    }

    fn add_comment(&self, body: &str) -> Result<(), PublishError> {
        let path = self.path(&format!("issues/{}/comments", self.number));
        let body = json!({ "body": body });
        self.http.send("add the summary", Method::POST, &path, Some(&body)).map(drop)
    }

    fn edit_comment(&self, comment: &Comment, body: &str) -> Result<(), PublishError> {
        let path = self.path(&format!("issues/comments/{}", comment.id));
        let body = json!({ "body": body });
        self.http.send("edit a comment", Method::PATCH, &path, Some(&body)).map(drop)
    }

    fn set_status(&self, pull: &Pull, status: &ReviewStatus) -> Result<(), PublishError> {
        let state = match status.conclusion {
            Conclusion::Passed => "success",
            Conclusion::Failed => "failure",
            Conclusion::NoReview => "error",
        };
        let description: String = status.title.chars().take(STATUS_CHARS).collect();
        let path = self.path(&format!("commits/{}/statuses", pull.head));
        let before = self.http.list("read statuses", &path, PAGES)?;
        let newest = before
            .iter()
            .filter(|before| before["context"] == CONTEXT)
            .max_by_key(|before| before.get("id").and_then(Value::as_u64));
        if newest
            .is_some_and(|status| status["status"] == state && status["description"] == description)
        {
            return Ok(());
        }
        let body = json!({ "state": state, "context": CONTEXT, "description": description });
        let path = self.path(&format!("statuses/{}", pull.head));
        self.http.send("set the status", Method::POST, &path, Some(&body)).map(drop)
    }

    fn may_write(&self, author: &Author) -> Result<bool, PublishError> {
        let path = self.path(&format!("collaborators/{}/permission", author.id));
        match self.http.get("read a person's rights", &path) {
            Ok(found) => {
                let permission = found.get("permission").and_then(Value::as_str);
                Ok(matches!(permission, Some("owner" | "admin" | "write")))
            }
            Err(error) if error.is_unknown_endpoint() => Ok(false),
            Err(error) => Err(error),
        }
    }
}
