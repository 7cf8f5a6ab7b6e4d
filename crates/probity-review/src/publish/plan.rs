//! What has to be written, given what is there.

use super::{
    Publication, PublishError, Published,
    forge::{Anchor, Comment, Forge, Pull, Resolution, Thread},
    marker::Marker,
};

/// An issue as a comment.
#[derive(Clone, Debug)]
pub struct IssueComment {
    /// The same in every review.
    pub identity: String,
    pub file: String,
    /// The best first; the first that the diff shows is taken.
    pub places: Vec<CommentPlace>,
    /// The text where none of the places applies.
    pub body: String,
}

/// Lines, and the text of a comment there.
#[derive(Clone, Debug)]
pub struct CommentPlace {
    pub start: u64,
    pub end: u64,
    /// The lines as they were reviewed, as far as they are known.
    pub lines: Vec<String>,
    pub body: String,
}

#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) steps: Vec<Step>,
    /// Identities of issues that have a thread already.
    pub(super) with_thread: Vec<String>,
}

#[derive(Debug)]
pub(super) enum Step {
    Add { identity: String, file: String, start: u64, end: u64, body: String },
    Edit { comment: Comment, body: String },
    Resolve { thread: Thread, body: String },
    Reopen { thread: Thread },
}

/// The steps, in the order in which they are taken.
pub(super) fn plan(pull: &mut Pull, publication: &Publication<'_>) -> Plan {
    let mut plan = Plan::default();
    let mut known = Vec::new();
    for thread in &pull.threads {
        let Some((identity, first)) = own_issue(thread) else { continue };
        if known.contains(&identity) {
            continue;
        }
        known.push(identity.clone());
        let issue = publication.issues.iter().find(|issue| issue.identity == identity);
        if let Some(issue) = issue {
            plan.with_thread.push(identity.clone());
            keep(&mut plan.steps, thread, first, issue);
        } else if publication.done.contains(&identity) && thread.resolution == Resolution::Open {
            let words = first.body.rsplit_once("\n\n").map_or("", |(words, _)| words);
            let body = Marker::DoneIssue(identity).mark(&format!("**Resolved.**\n\n{words}"));
            plan.steps.push(Step::Resolve { thread: thread.clone(), body });
        }
    }
    let mut room = publication.max_comments.saturating_sub(plan.with_thread.len());
    for issue in &publication.issues {
        if room == 0 {
            break;
        }
        let is_shown = |place: &&CommentPlace| {
            pull.diff.shows(&issue.file, place.start, place.end, &place.lines)
        };
        if known.contains(&issue.identity) {
            continue;
        }
        let Some(place) = issue.places.iter().find(is_shown) else { continue };
        plan.steps.push(Step::Add {
            identity: issue.identity.clone(),
            file: issue.file.clone(),
            start: place.start,
            end: place.end,
            body: Marker::Issue(issue.identity.clone()).mark(&place.body),
        });
        // Two issues with one identity could not be told apart the next time.
        known.push(issue.identity.clone());
        room -= 1;
    }
    plan
}

/// An issue that is still there and has its thread.
fn keep(steps: &mut Vec<Step>, thread: &Thread, first: &Comment, issue: &IssueComment) {
    match thread.resolution {
        // A person has the last word.
        Resolution::ByPerson => return,
        Resolution::ByUs => steps.push(Step::Reopen { thread: thread.clone() }),
        Resolution::Open => {}
    }
    // What people talk about stays as it was when they did.
    if thread.is_answered() && thread.resolution == Resolution::Open {
        return;
    }
    let at = |place: &&CommentPlace| thread.lines == Some((place.start, place.end));
    let body = issue.places.iter().find(at).map_or(&issue.body, |place| &place.body);
    let body = Marker::Issue(issue.identity.clone()).mark(body);
    if !first.says(&body) {
        steps.push(Step::Edit { comment: first.clone(), body });
    }
}

/// The issue that a thread of ours is about.
pub(super) fn own_issue(thread: &Thread) -> Option<(String, &Comment)> {
    let first = thread.first().filter(|first| first.is_own)?;
    match Marker::of(&first.body)? {
        Marker::Issue(identity) | Marker::DoneIssue(identity) => Some((identity, first)),
        Marker::Summary => None,
    }
}

impl Step {
    pub(super) fn carry_out(&self, forge: &dyn Forge, pull: &Pull) -> Result<(), PublishError> {
        match self {
            Self::Add { file, start, end, body, .. } => {
                let at = Anchor { file, start: *start, end: *end };
                forge.add_thread(pull, &at, body)
            }
            Self::Edit { comment, body } => forge.edit_in_thread(comment, body),
            Self::Resolve { thread, body } => forge.resolve(thread, body),
            Self::Reopen { thread } => forge.reopen(thread),
        }
    }

    pub(super) fn count(&self, published: &mut Published) {
        published.is_any_done = true;
        match self {
            Self::Add { .. } => published.added += 1,
            Self::Edit { .. } => published.edited += 1,
            Self::Resolve { .. } => published.resolved += 1,
            Self::Reopen { .. } => published.reopened += 1,
        }
    }

    /// Of the issue that has a thread now.
    pub(super) fn added_identity(self) -> Option<String> {
        match self {
            Self::Add { identity, .. } => Some(identity),
            Self::Edit { .. } | Self::Resolve { .. } | Self::Reopen { .. } => None,
        }
    }
}
