//! What a forge can do, and a pull request as we see it.

use super::{PublishError, diff::DiffLines};

/// One API of a forge. The calls block.
pub(super) trait Forge {
    /// Everything that publishing needs to know.
    fn look(&self) -> Result<Pull, PublishError>;
    /// Begins a thread at lines that the diff shows.
    fn add_thread(&self, pull: &Pull, at: &Anchor<'_>, body: &str) -> Result<(), PublishError>;
    /// Replaces a comment of a thread.
    fn edit_in_thread(&self, comment: &Comment, body: &str) -> Result<(), PublishError>;
    /// `done_body` replaces the first comment where threads cannot be resolved.
    fn resolve(&self, thread: &Thread, done_body: &str) -> Result<(), PublishError>;
    fn reopen(&self, thread: &Thread) -> Result<(), PublishError>;
    fn add_comment(&self, body: &str) -> Result<(), PublishError>;
    fn edit_comment(&self, comment: &Comment, body: &str) -> Result<(), PublishError>;
    fn set_status(&self, pull: &Pull, status: &ReviewStatus) -> Result<(), PublishError>;
    /// Whether somebody may write to the repository.
    fn may_write(&self, author: &Author) -> Result<bool, PublishError>;
}

/// A pull request, with everything in it that may be ours.
#[derive(Debug)]
pub(super) struct Pull {
    pub(super) head: String,
    /// The forge's own merge of it.
    pub(super) merge: Option<String>,
    /// Where the change begins, for forges that want to know.
    pub(super) base: String,
    pub(super) start: String,
    pub(super) is_open: bool,
    pub(super) diff: DiffLines,
    /// Those that belong to no line.
    pub(super) comments: Vec<Comment>,
    pub(super) threads: Vec<Thread>,
}

#[derive(Clone, Debug)]
pub(super) struct Comment {
    pub(super) id: String,
    pub(super) author: Author,
    /// Whether the token's account wrote it.
    pub(super) is_own: bool,
    pub(super) body: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Author {
    /// As the forge asks for it.
    pub(super) id: String,
    pub(super) name: String,
}

#[derive(Clone, Debug)]
pub(super) struct Thread {
    pub(super) id: String,
    /// The lines that it is about now, if the diff still shows them.
    pub(super) lines: Option<(u64, u64)>,
    pub(super) resolution: Resolution,
    /// At least one.
    pub(super) comments: Vec<Comment>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Resolution {
    Open,
    ByUs,
    ByPerson,
}

/// Where a thread begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Anchor<'a> {
    pub(super) file: &'a str,
    pub(super) start: u64,
    pub(super) end: u64,
}

/// What is said about the commit.
#[derive(Clone, Debug)]
pub struct ReviewStatus {
    pub conclusion: Conclusion,
    /// In a few words, such as the score.
    pub title: String,
    /// Where the forge has room for it.
    pub summary: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conclusion {
    Passed,
    Failed,
    /// There was no review.
    NoReview,
}

/// The name of the status.
pub(super) const CONTEXT: &str = "probity/review";

impl Comment {
    /// Whether it has this text already. Forges change newlines and spaces at the end.
    pub(super) fn says(&self, body: &str) -> bool {
        let plain = |text: &str| text.replace("\r\n", "\n").trim().to_owned();
        plain(&self.body) == plain(body)
    }
}

impl Thread {
    pub(super) fn first(&self) -> Option<&Comment> {
        self.comments.first()
    }

    /// Whether a person has answered.
    pub(super) fn is_answered(&self) -> bool {
        self.comments.iter().any(|comment| !comment.is_own)
    }
}
