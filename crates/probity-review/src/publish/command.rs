//! What people say in a pull request: `/probity false-positive REASON`.

use super::{
    PublishError,
    forge::{Author, Forge, Pull},
    marker::Marker,
    plan::own_issue,
};
use crate::{clean::one_line, verdict::PersonVerdict};

const START: &str = "/probity ";
/// Of a reason.
const MOST_CHARS: usize = 500;

/// A person's word about an issue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PersonalVerdict {
    pub about: About,
    pub verdict: PersonVerdict,
    pub reason: String,
    /// Who said it.
    pub by: String,
    /// Whether that person may write to the repository. Nobody else's word counts.
    pub may_write: bool,
}

/// Which issue is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum About {
    /// That of the thread, by its identity.
    Identity(String),
    /// One that is named, by its id.
    Id(String),
}

pub(super) fn verdicts(
    forge: &dyn Forge,
    pull: &Pull,
) -> Result<Vec<PersonalVerdict>, PublishError> {
    let mut asked: Vec<(Author, bool)> = Vec::new();
    let mut found = Vec::new();
    for (about, comment) in comments(pull) {
        let Some((about, verdict, reason)) = read(about, &comment.body) else { continue };
        let known = asked.iter().find(|(author, _)| *author == comment.author);
        let may_write = match known {
            Some((_, may_write)) => *may_write,
            None => {
                let may_write = forge.may_write(&comment.author)?;
                asked.push((comment.author.clone(), may_write));
                may_write
            }
        };
        let by = comment.author.name.clone();
        found.push(PersonalVerdict { about, verdict, reason, by, may_write });
    }
    Ok(found)
}

/// What people wrote, each with the issue of its thread.
fn comments(pull: &Pull) -> impl Iterator<Item = (Option<String>, &super::forge::Comment)> {
    let threads = pull.threads.iter().filter_map(|thread| {
        let (identity, _) = own_issue(thread)?;
        Some(thread.comments.iter().map(move |comment| (Some(identity.clone()), comment)))
    });
    let alone = pull.comments.iter().map(|comment| (None, comment));
    threads.flatten().chain(alone).filter(|(_, comment)| {
        // Our own comments tell people how to answer.
        !comment.is_own && Marker::of(&comment.body).is_none()
    })
}

/// The first line that is a command.
fn read(thread: Option<String>, body: &str) -> Option<(About, PersonVerdict, String)> {
    let line = body.lines().find_map(|line| line.trim_end().strip_prefix(START))?;
    let (word, rest) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
    let verdict = PersonVerdict::from_word(word)?;
    let rest = rest.trim();
    let (first, after) = rest.split_once(' ').unwrap_or((rest, ""));
    let is_id = first.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("ISS-"));
    let (about, reason) = match thread {
        _ if is_id => (About::Id(first.to_ascii_uppercase()), after),
        Some(identity) => (About::Identity(identity), rest),
        None => return None,
    };
    // A word without a reason would be a button, and buttons are pressed.
    let reason = one_line(reason.trim(), MOST_CHARS);
    (!reason.is_empty()).then_some((about, verdict, reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_has_a_verdict_and_a_reason_and_names_its_issue_or_is_in_its_thread() {
        let identity = || Some("f00".to_owned());
        let of_thread = || About::Identity("f00".to_owned());
        let dismissed =
            |about, reason: &str| Some((about, PersonVerdict::FalsePositive, reason.to_owned()));
        for (thread, body, expected) in [
            (
                identity(),
                "/probity false-positive it is meant",
                dismissed(of_thread(), "it is meant"),
            ),
            (identity(), "Hm.\r\n/probity false-positive  so\r\nbye", dismissed(of_thread(), "so")),
            (
                None,
                "/probity false-positive iss-003 so",
                dismissed(About::Id("ISS-003".to_owned()), "so"),
            ),
            (None, "/probity false-positive so", None),
            (identity(), "/probity false-positive", None),
            (identity(), "/probity nonsense so", None),
            (identity(), "> /probity false-positive quoted", None),
            (identity(), "please /probity false-positive so", None),
        ] {
            assert_eq!(read(thread, body), expected, "{body:?}");
        }
    }
}
