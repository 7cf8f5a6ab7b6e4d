//! `review publish`: a written review in its pull request.

mod suggestion;
mod target;

use std::{
    io::Write as _,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use probity_report::{
    counts::plural,
    review::pull_request::{self, Offer},
};
use probity_review::{
    CommentPlace, Conclusion, ForgeKind, IssueComment, OpenPull, ProvenIssue, Publication,
    PublishError, Published, Redactor, ReviewOutput, ReviewStatus, Status,
};
use probity_text::visible;
use secrecy::ExposeSecret as _;

use self::{suggestion::Suggestion, target::CiPull};
use super::{files, history::ChosenHistory, settings, verdict};
use crate::{exit::Exit, failure::Failure, streams};

/// What `publish` is told.
#[derive(Debug)]
pub(crate) struct PublishCommand {
    pub(crate) review: PathBuf,
    pub(crate) forge: Option<ForgeKind>,
    pub(crate) endpoint: Option<String>,
    pub(crate) project: Option<String>,
    pub(crate) pull: Option<u64>,
    pub(crate) max_comments: usize,
    /// Whether verdicts of people in the pull request count.
    pub(crate) sync: bool,
    /// The checkout that was reviewed, for suggestions, and the history.
    pub(crate) place: ChosenHistory,
}

pub(crate) fn publish(command: &PublishCommand) -> anyhow::Result<Exit> {
    let CiPull { target, commits } = CiPull::find(command)?;
    let mut review = files::read_review(&command.review, files::NAME_REVIEW)?;
    check(&command.review, &review, &target.project)?;
    let mut hidden = settings::secrets_of_environment();
    hidden.push(target.token.expose_secret().to_owned());
    let redactor = Redactor::new(&hidden).context("cannot look for secrets")?;
    let forge = target.forge;
    let pull = OpenPull::look(&target).map_err(failure)?;
    pull.check_commit(&review.metadata.commit, &commits).map_err(failure)?;
    if command.sync {
        verdict::sync(&pull, &mut review, &command.place)?;
    }
    let shown = review.redacted(&redactor);
    let offers = offers(&command.place.repo, &shown, &redactor);
    let issues = offers.iter().map(|(issue, offer)| comment(&shown, issue, offer.as_ref(), forge));
    let publication = Publication {
        commit: &review.metadata.commit,
        same_commits: commits,
        issues: issues.collect(),
        done: done(&shown),
        summary: &|with_thread| pull_request::summary(&shown, with_thread),
        status: status(&shown),
        max_comments: command.max_comments,
    };
    let published = pull.publish(&publication).map_err(failure)?;
    told(&published, target.number)
}

/// Refuses a review that nobody should see: it contradicts itself, or is of another project.
fn check(path: &Path, review: &ReviewOutput, project: &str) -> anyhow::Result<()> {
    review.validate().with_context(|| {
        let what = format!("{} contradicts itself", path.display());
        Failure::new(what, "run `probity review` again, which writes a new review.json")
    })?;
    // Without an origin a repository has a name of its own, which tells nothing.
    let repo = &review.metadata.repo;
    let name = repo.split_once('/').map(|(_, name)| name).filter(|name| name.contains('/'));
    let is_foreign = name.is_some_and(|name| !name.eq_ignore_ascii_case(project));
    if is_foreign {
        let what = format!("the review is of {}, not of {project}", visible::line(repo));
        return Err(Failure::new(what, "name the review.json of this project").into());
    }
    Ok(())
}

/// The issues, the gravest first, each with the lines that its fix replaces.
fn offers<'a>(
    repo: &Path,
    review: &'a ReviewOutput,
    redactor: &Redactor,
) -> Vec<(&'a ProvenIssue, Option<Suggestion>)> {
    let mut issues: Vec<&ProvenIssue> = review.proven_issues.iter().collect();
    issues.sort_by_key(|issue| {
        probity_review::Risk::ALL.iter().position(|risk| *risk == issue.severity)
    });
    let offered = |issue: &'a ProvenIssue| {
        let offer = suggestion::of(repo, issue);
        // The checkout may have what the review does not show.
        let is_clean = |offer: &Suggestion| {
            let all = [offer.before.join("\n"), offer.after.join("\n")];
            // Nobody may apply what nobody can see.
            all.iter().all(|lines| redactor.is_clean(lines) && visible::block(lines) == *lines)
        };
        (issue, offer.filter(is_clean))
    };
    issues.into_iter().map(offered).collect()
}

fn comment(
    review: &ReviewOutput,
    issue: &ProvenIssue,
    offer: Option<&Suggestion>,
    forge: ForgeKind,
) -> IssueComment {
    let body = pull_request::issue(review, issue, None);
    let mut places = Vec::new();
    if let Some(offer) = offer {
        let (above, lines) = ((offer.end - offer.start), offer.after.clone());
        let native = match forge {
            ForgeKind::Github => Some(Offer::Github { lines }),
            ForgeKind::Gitlab => Some(Offer::Gitlab { lines, above }),
            ForgeKind::Gitea => None,
        };
        if let Some(native) = native {
            // GitLab's comment is on the last line, and its suggestion reaches up from there.
            let start = if forge == ForgeKind::Gitlab { offer.end } else { offer.start };
            let skipped = usize::try_from(start - offer.start).unwrap_or(usize::MAX);
            places.push(CommentPlace {
                start,
                end: offer.end,
                lines: offer.before.iter().skip(skipped).cloned().collect(),
                body: pull_request::issue(review, issue, Some(&native)),
            });
        }
    }
    places.push(CommentPlace {
        start: issue.line,
        end: issue.line,
        lines: issue.code.lines().take(1).map(str::to_owned).collect(),
        body: body.clone(),
    });
    IssueComment { identity: issue.identity(), file: issue.file.clone(), places, body }
}

/// Issues whose threads are done: their tests pass now, or a person has dismissed them.
fn done(review: &ReviewOutput) -> Vec<String> {
    let changes = review.changes.iter();
    let fixed = changes.clone().flat_map(|changes| &changes.fixed);
    let closed = changes.flat_map(|changes| &changes.closed);
    let fixed = fixed.map(|gone| gone.fingerprint.clone());
    let closed = closed.map(|closed| closed.issue.identity());
    let dismissed = review.dismissed.iter().map(|dismissed| dismissed.issue.identity());
    fixed.chain(closed).chain(dismissed).collect()
}

fn status(review: &ReviewOutput) -> ReviewStatus {
    let conclusion = match (review.status, review.score.pass) {
        (Status::Error, _) => Conclusion::NoReview,
        (Status::Ok, true) => Conclusion::Passed,
        (Status::Ok, false) => Conclusion::Failed,
    };
    let title = match conclusion {
        Conclusion::NoReview => "There was no review".to_owned(),
        Conclusion::Passed | Conclusion::Failed => {
            let score = &review.score;
            let proven = review.proven_issues.len();
            format!("Score {} of {}, {}", score.value, score.max, plural(proven, "proven issue"))
        }
    };
    // GitHub shows it as markdown.
    ReviewStatus { conclusion, title, summary: pull_request::spoken(&review.summary) }
}

fn told(published: &Published, number: u64) -> anyhow::Result<Exit> {
    let Published { added, edited, resolved, reopened, problems, .. } = published;
    for problem in problems {
        tracing::warn!("{problem}; help: {}", problem.help());
    }
    writeln!(
        streams::stdout().lock(),
        "pull request {number}: {} added, {edited} updated, {} resolved, {reopened} reopened",
        plural(*added, "comment"),
        plural(*resolved, "thread")
    )
    .context("cannot write the result")?;
    Ok(Exit::Clean)
}

pub(super) fn failure(error: PublishError) -> anyhow::Error {
    let help = error.help();
    Failure::new(format!("nothing was published: {error}"), help).into()
}
