//! A review in a pull request: one summary, comments on lines of the diff, and a status.
//!
//! What is there already is read first, and only the difference is written, so publishing twice adds
//! nothing. Comments are recognized by a hidden marker, and only if the token's own account wrote them.

mod command;
mod diff;
mod error;
mod forge;
mod gitea;
mod github;
mod gitlab;
mod http;
mod marker;
mod plan;

use secrecy::SecretString;

pub use self::{
    command::{About, PersonalVerdict},
    error::PublishError,
    forge::{Conclusion, ReviewStatus},
    plan::{CommentPlace, IssueComment},
};
use self::{
    forge::{Forge, Pull},
    http::Http,
    marker::Marker,
};

/// Where pull requests are discussed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForgeKind {
    Github,
    Gitlab,
    Gitea,
}

/// One pull request, and who writes to it.
#[derive(Clone, Debug)]
pub struct PullTarget {
    pub forge: ForgeKind,
    /// Where the API begins.
    pub endpoint: String,
    pub token: SecretString,
    /// `OWNER/NAME`.
    pub project: String,
    pub number: u64,
}

/// What is to be found in the pull request afterwards.
#[expect(missing_debug_implementations, reason = "a function that makes text has nothing to show")]
pub struct Publication<'a> {
    /// The commit that was reviewed.
    pub commit: &'a str,
    /// Other commits that the CI system has for the same pull request.
    pub same_commits: Vec<String>,
    /// What is proven, the gravest first.
    pub issues: Vec<IssueComment>,
    /// Identities of issues whose threads are done: fixed, or dismissed by a person.
    pub done: Vec<String>,
    /// The text of the summary; gets the identities of issues that have a thread.
    pub summary: &'a dyn Fn(&[String]) -> String,
    pub status: ReviewStatus,
    /// The most threads of ours in one pull request.
    pub max_comments: usize,
}

/// What was written, and what could not be.
#[derive(Debug, Default)]
pub struct Published {
    pub added: usize,
    pub edited: usize,
    pub resolved: usize,
    pub reopened: usize,
    /// What failed after something else had succeeded.
    pub problems: Vec<PublishError>,
    /// Whether anything is in the pull request as it should be.
    is_any_done: bool,
}

/// A pull request as it is now.
pub struct OpenPull {
    forge: Box<dyn Forge>,
    pull: Pull,
}

impl OpenPull {
    /// Reads a pull request.
    ///
    /// # Errors
    ///
    /// When the forge does not answer, the token has no rights, or the pull request is closed.
    pub fn look(target: &PullTarget) -> Result<Self, PublishError> {
        let http = Http::new(target)?;
        let forge: Box<dyn Forge> = match target.forge {
            ForgeKind::Github => Box::new(github::Github::new(http, target)?),
            ForgeKind::Gitlab => Box::new(gitlab::Gitlab::new(http, target)),
            ForgeKind::Gitea => Box::new(gitea::Gitea::new(http, target)),
        };
        let pull = forge.look()?;
        if !pull.is_open {
            return Err(PublishError::Closed { number: target.number });
        }
        Ok(Self { forge, pull })
    }

    /// Refuses a review of other code than that of the pull request.
    ///
    /// # Errors
    ///
    /// When the reviewed commit is not the one that the pull request has now.
    pub fn check_commit(&self, commit: &str, same: &[String]) -> Result<(), PublishError> {
        let head = &self.pull.head;
        // A CI system names its merge of the branch, which counts while the branch is the same.
        let is_same =
            same.iter().any(|known| known == head) && same.iter().any(|known| known == commit);
        if commit == head || self.pull.merge.as_deref() == Some(commit) || is_same {
            return Ok(());
        }
        Err(PublishError::Moved { review: commit.to_owned(), head: head.clone() })
    }

    /// What people said about issues, and who may not.
    ///
    /// # Errors
    ///
    /// When the forge does not tell who has write access.
    pub fn verdicts(&self) -> Result<Vec<PersonalVerdict>, PublishError> {
        command::verdicts(&*self.forge, &self.pull)
    }

    /// Brings the pull request up to date.
    ///
    /// # Errors
    ///
    /// When nothing at all could be published.
    pub fn publish(self, publication: &Publication<'_>) -> Result<Published, PublishError> {
        self.check_commit(publication.commit, &publication.same_commits)?;
        let Self { forge, mut pull } = self;
        let mut published = Published::default();
        let planned = plan::plan(&mut pull, publication);
        let mut with_thread = planned.with_thread;
        for step in planned.steps {
            let done = step.carry_out(&*forge, &pull);
            match done {
                Ok(()) => {
                    step.count(&mut published);
                    with_thread.extend(step.added_identity());
                }
                Err(error) => {
                    let ends = error.ends_everything();
                    published.problems.push(error);
                    if ends {
                        break;
                    }
                }
            }
        }
        with_thread.sort_unstable();
        let summary = (publication.summary)(&with_thread);
        let done = summarize(&*forge, &pull, &summary, &mut published);
        published.note(done);
        let done = forge.set_status(&pull, &publication.status);
        published.note(done);
        if published.is_any_done || published.problems.is_empty() {
            return Ok(published);
        }
        Err(published.problems.swap_remove(0))
    }
}

/// Writes the one comment that sums the review up.
fn summarize(
    forge: &dyn Forge,
    pull: &Pull,
    summary: &str,
    published: &mut Published,
) -> Result<(), PublishError> {
    let body = Marker::Summary.mark(summary);
    let own = pull.comments.iter().filter(|comment| comment.is_own);
    let mut own = own.filter(|comment| Marker::of(&comment.body) == Some(Marker::Summary));
    let before = own.next();
    match before {
        Some(before) if before.says(&body) => {
            published.is_any_done = true;
            Ok(())
        }
        Some(before) => {
            forge.edit_comment(before, &body)?;
            published.edited += 1;
            Ok(())
        }
        None => {
            forge.add_comment(&body)?;
            published.added += 1;
            Ok(())
        }
    }
}

impl Published {
    fn note(&mut self, done: Result<(), PublishError>) {
        match done {
            Ok(()) => self.is_any_done = true,
            Err(error) => self.problems.push(error),
        }
    }
}

impl std::fmt::Debug for OpenPull {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("OpenPull").field("head", &self.pull.head).finish_non_exhaustive()
    }
}
