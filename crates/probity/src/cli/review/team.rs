//! Flags of the commands that share reviews with a team: publish, judge, and look back.

use std::path::PathBuf;

use clap::Args;
use probity_review::{ForgeKind, PersonVerdict};

use super::{PlaceArgs, words};
use crate::{
    commands::{
        ListFormat,
        review::{ChosenHistory, PublishCommand, TrendCommand, VerdictCommand},
    },
    config::word::UnknownWord,
};

pub(super) const PUBLISH_EXAMPLES: &str = "Examples:
  probity review publish                              in a job for a pull request
  probity review publish review/review.json --gitlab
  probity review publish --gitea --endpoint https://git.example.org/api/v1 --project o/r --pull 7

probity writes one summary comment, a comment for each proven issue on a line of the diff, and a \
check run or commit status. If you publish again, probity updates these comments. It resolves the \
threads of fixed issues, but not a thread that a person has answered or resolved.

The token comes from GITHUB_TOKEN, GITLAB_TOKEN or GITEA_TOKEN.

Exit codes: 0 published, 2 nothing could be published.";

pub(super) const VERDICT_EXAMPLES: &str = "Examples:
  probity review verdict ISS-003 false-positive --reason 'an empty list is not allowed here'
  probity review verdict ISS-004 wont-fix --reason 'the module is removed in May'
  probity review verdict ISS-001 accurate --reason 'it was in production'

An issue with the verdict false-positive or wont-fix does not lower the score. Reports list it with \
your name and the reason. The verdict ends if the lines of the issue change. probity updates \
review.json and its reports.";

pub(super) const SERVE_EXAMPLES: &str = "Examples:
  probity review serve
  probity review serve --port 8080 --database-url postgres://localhost/reviews

probity prints the URL and serves pages until you press Ctrl-C. The URL contains a random token: \
other users of this machine cannot read the history without it. probity listens on 127.0.0.1 only, \
changes nothing, and refuses requests with another Host header.";

#[derive(Args, Debug)]
pub(super) struct PublishArgs {
    /// Review to publish
    #[arg(value_name = "FILE", default_value = "review/review.json")]
    review: PathBuf,
    /// Publish to GitHub [default: the forge that runs this job]
    #[arg(long, group = "forge")]
    github: bool,
    /// Publish to GitLab
    #[arg(long, group = "forge")]
    gitlab: bool,
    /// Publish to Gitea or Forgejo
    #[arg(long, group = "forge")]
    gitea: bool,
    /// URL of the API [default: that of the job, otherwise the public one]
    #[arg(long, value_name = "URL")]
    endpoint: Option<String>,
    /// Project on the forge, such as OWNER/NAME [default: that of the job]
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,
    /// Number of the pull request [default: that of the job]
    #[arg(long, value_name = "N", value_parser = crate::cli::whole::<u64>)]
    pull: Option<u64>,
    /// Maximum number of issues that get a comment of their own; the summary has the others
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = crate::cli::whole::<usize>)]
    max_comments: usize,
    /// Read `/probity false-positive REASON` and other verdicts from people with write access
    #[arg(long)]
    sync: bool,
    /// Checkout that was reviewed; probity needs it to suggest fixes
    #[arg(long, value_name = "DIR", default_value = ".")]
    repo: PathBuf,
    /// Database for verdicts [default: DATABASE_URL, otherwise a file in the state directory]
    #[arg(long, value_name = "URL")]
    database_url: Option<String>,
}

#[derive(Args, Debug)]
pub(super) struct VerdictArgs {
    /// Issue to judge, such as ISS-003
    #[arg(value_name = "ISSUE")]
    issue: String,
    /// accurate, false-positive or wont-fix
    #[arg(value_name = "VERDICT", value_parser = person_verdict)]
    verdict: PersonVerdict,
    /// Reason for the verdict
    #[arg(long, value_name = "TEXT")]
    reason: String,
    /// Name to store with the verdict [default: USER]
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
    /// Review that has the issue
    #[arg(long, value_name = "FILE", default_value = "review/review.json")]
    report: PathBuf,
    #[command(flatten)]
    place: PlaceArgs,
}

#[derive(Args, Debug)]
pub(super) struct VerdictsArgs {
    #[command(flatten)]
    pub(super) place: PlaceArgs,
    /// Count the verdicts of every repository
    #[arg(long)]
    pub(super) all: bool,
    /// Output format
    #[arg(short, long, default_value = "text", value_parser = words::<ListFormat>())]
    pub(super) format: ListFormat,
}

#[derive(Args, Debug)]
pub(super) struct TrendArgs {
    #[command(flatten)]
    place: PlaceArgs,
    /// Show every repository
    #[arg(long)]
    all: bool,
    /// Show only this branch
    #[arg(long, value_name = "NAME")]
    branch: Option<String>,
    /// Maximum number of reviews to read
    #[arg(short = 'n', long, value_name = "N", default_value_t = 100, value_parser = crate::cli::whole::<u32>)]
    limit: u32,
    /// Output format
    #[arg(short, long, default_value = "text", value_parser = words::<ListFormat>())]
    format: ListFormat,
}

#[derive(Args, Debug)]
pub(super) struct BadgeArgs {
    /// Review to read
    #[arg(value_name = "FILE", default_value = "review/review.json")]
    pub(super) review: PathBuf,
    /// File to write [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(super) struct ServeArgs {
    #[command(flatten)]
    pub(super) place: PlaceArgs,
    /// Port to listen on; 0 takes a free one
    #[arg(long, value_name = "PORT", default_value_t = 0, value_parser = port)]
    pub(super) port: u16,
}

#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("not a whole number from 0 to 65535")]
struct NotPort;

fn port(text: &str) -> Result<u16, NotPort> {
    text.parse().map_err(|_| NotPort)
}

fn person_verdict(text: &str) -> Result<PersonVerdict, UnknownWord> {
    let names = PersonVerdict::ALL.map(PersonVerdict::word);
    PersonVerdict::from_word(text).ok_or_else(|| UnknownWord::new(text, &names))
}

impl From<PublishArgs> for PublishCommand {
    fn from(args: PublishArgs) -> Self {
        let chosen = [
            (args.github, ForgeKind::Github),
            (args.gitlab, ForgeKind::Gitlab),
            (args.gitea, ForgeKind::Gitea),
        ];
        Self {
            review: args.review,
            forge: chosen.into_iter().find(|(is_chosen, _)| *is_chosen).map(|(_, forge)| forge),
            endpoint: args.endpoint,
            project: args.project,
            pull: args.pull,
            max_comments: args.max_comments,
            sync: args.sync,
            place: ChosenHistory { repo: args.repo, database_url: args.database_url },
        }
    }
}

impl From<VerdictArgs> for VerdictCommand {
    fn from(args: VerdictArgs) -> Self {
        Self {
            issue: args.issue,
            verdict: args.verdict,
            reason: args.reason,
            by: args.by,
            report: args.report,
            place: args.place.into(),
        }
    }
}

impl From<TrendArgs> for TrendCommand {
    fn from(args: TrendArgs) -> Self {
        Self {
            place: args.place.into(),
            all: args.all,
            branch: args.branch,
            limit: args.limit,
            format: args.format,
        }
    }
}
