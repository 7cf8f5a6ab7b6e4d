//! The command line of `probity review`.

mod team;

use std::path::PathBuf;

use clap::{ArgMatches, Args, Command, Subcommand};
use probity_report::review::ReviewFormat;
use probity_review::Shard;

use self::team::{
    BadgeArgs, PUBLISH_EXAMPLES, PublishArgs, SERVE_EXAMPLES, ServeArgs, TrendArgs,
    VERDICT_EXAMPLES, VerdictArgs, VerdictsArgs,
};
use super::{flags, words};
use crate::{
    commands::{
        ListFormat,
        review::{
            self, AskCommand, ChosenHistory, CommitTo, FixCommand, HistoryOptions, MergeCommand,
            Options, ProveCommand,
        },
    },
    config::{
        ConfigError, Layer, ValueKind,
        bad_value::BadValue,
        key::{self, Key},
        setting::Setting as _,
        word::{UnknownWord, Word as _},
        words::FailRisk,
    },
    exit::Exit,
    name::Name,
};

pub(super) const EXAMPLES: &str = "Examples:
  probity review                                    this directory, with claude
  probity review --base main                        only what changed since main
  probity review --whole                            all of it, on a branch too
  probity review --agent 'cmd:my-agent --json'      any command that answers a prompt
  probity review --report-only && probity review gate review/review.json
  probity review history                            list earlier reviews
  probity review fix --commit                       apply the proven fixes, one commit each
  probity review ask                                only ask; prove and merge on other machines
  probity review publish                            comment on the pull request of this job

Exit codes: 0 pass, 1 fail, 2 no review.";

#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct ReviewArgs {
    #[command(subcommand)]
    command: Option<ReviewCommand>,
    #[command(flatten)]
    run: RunArgs,
    /// Review what was added since the last review of this branch, and prove its older issues again
    #[arg(long, value_name = "last", value_parser = ["last"], conflicts_with = "review.diff-only")]
    since: Option<String>,
}

#[derive(Args, Debug)]
struct RunArgs {
    /// Repository to review
    #[arg(long, value_name = "DIR", default_value = ".")]
    repo: PathBuf,
    /// Also write the review to this file, such as sarif=out.sarif; may be repeated
    #[arg(long = "report", value_name = "FORMAT=FILE", value_parser = report)]
    reports: Vec<(ReviewFormat, PathBuf)>,
}

/// Why the value of `--report` cannot be used.
#[derive(Debug, thiserror::Error)]
enum BadReport {
    #[error("expected FORMAT=FILE")]
    Shape,
    #[error(transparent)]
    Format(#[from] UnknownWord),
}

fn report(text: &str) -> Result<(ReviewFormat, PathBuf), BadReport> {
    let (format, file) = text.split_once('=').ok_or(BadReport::Shape)?;
    let format = ReviewFormat::from_word(format)
        .ok_or_else(|| UnknownWord::new(format, ReviewFormat::NAMES))?;
    if file.is_empty() { Err(BadReport::Shape) } else { Ok((format, file.into())) }
}

#[derive(Debug, Subcommand)]
enum ReviewCommand {
    /// Ask the agent, and write its claims to claims.json without proving them
    #[command(after_help = ASK_EXAMPLES)]
    Ask(AskArgs),
    /// Prove the claims of a claims.json, or one shard of them
    #[command(after_help = PROVE_EXAMPLES)]
    Prove(ProveArgs),
    /// Merge the parts of all shards into one review, store it and report it
    #[command(after_help = MERGE_EXAMPLES)]
    Merge(MergeArgs),
    /// Apply proven fixes to the working tree
    #[command(after_help = FIX_EXAMPLES)]
    Fix(FixArgs),
    /// Decide whether a written review passes
    #[command(
        after_help = "Examples:\n  probity review gate review/review.json --threshold 8 --fail-on-critical"
    )]
    Gate(GateArgs),
    /// List or delete earlier reviews
    #[command(
        after_help = "Examples:\n  probity review history\n  probity review history --keep 100 --days 365\n  probity review history --delete 12"
    )]
    History(HistoryArgs),
    /// Show an earlier review
    #[command(
        after_help = "Examples:\n  probity review show\n  probity review show 12 --format markdown"
    )]
    Show(ShowArgs),
    /// Publish a review in its pull request
    #[command(after_help = PUBLISH_EXAMPLES)]
    Publish(PublishArgs),
    /// Judge an issue: accurate, false-positive or wont-fix
    #[command(after_help = VERDICT_EXAMPLES)]
    Verdict(VerdictArgs),
    /// Show how often agents were right, by the verdicts of people
    #[command(
        after_help = "Examples:\n  probity review verdicts\n  probity review verdicts --all --format json"
    )]
    Verdicts(VerdictsArgs),
    /// Show scores and cost over time
    #[command(
        after_help = "Examples:\n  probity review trend\n  probity review trend --branch main --format json"
    )]
    Trend(TrendArgs),
    /// Write the score of a review as an SVG picture
    #[command(after_help = "Examples:\n  probity review badge review/review.json -o badge.svg")]
    Badge(BadgeArgs),
    /// Show the history in a browser
    #[command(after_help = SERVE_EXAMPLES)]
    Serve(ServeArgs),
    /// Convert a review to another format
    #[command(
        after_help = "Examples:\n  probity review report review/review.json --format sarif -o review.sarif"
    )]
    Report(ReportArgs),
}

const ASK_EXAMPLES: &str = "Examples:
  probity review ask --base main
  probity review prove review/claims.json --shard 1/2   on one machine
  probity review prove review/claims.json --shard 2/2   on another machine
  probity review ask --continue review/part-*.json      optional: asks once for better fixes
  probity review merge review/part-*.json

`prove` and `merge` never start an agent. If a proof fails, the claim becomes an observation. \
`ask --continue` asks the agent for better fixes, and writes a new claims.json: prove it, then merge \
its parts. `--max-fix-rounds` limits how often `ask --continue` asks.";

const PROVE_EXAMPLES: &str = "Examples:
  probity review prove review/claims.json
  probity review prove review/claims.json --shard 2/5 --out part-2.json

The checkout must have the same commit and the same files as the one that `ask` saw.";

const MERGE_EXAMPLES: &str = "Examples:
  probity review merge review/part-*.json

Exit codes: 0 pass, 1 fail, 2 no review, or a part that is missing, repeated or from another review.";

const FIX_EXAMPLES: &str = "Examples:
  probity review fix --dry-run                  show what would change
  probity review fix ISS-001                    apply one fix
  probity review fix --commit                   apply all fixes, one commit each with its test
  probity review fix --branch fix/review        the same, on a new branch

probity proves each fix again on the current code and applies it. After each fix, it runs the tests \
of all fixes so far. It refuses a fix whose code has changed since the review. Hooks and filters of \
the repository do not run.

Exit codes: 0 all fixes applied, 1 at least one was refused, 2 failure.";

#[derive(Args, Debug)]
struct FixArgs {
    /// Issues to fix, such as ISS-001 [default: all that have a proven fix]
    #[arg(value_name = "ISSUE")]
    issues: Vec<String>,
    /// Review to read [default: review.json in the output directory]
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Repository to fix
    #[arg(long, value_name = "DIR", default_value = ".")]
    repo: PathBuf,
    /// Print the changes as a diff, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Make one commit for each issue, with its test next to the code
    #[arg(long)]
    commit: bool,
    /// Make a new branch for the commits and switch to it; implies --commit
    #[arg(long, value_name = "NAME")]
    branch: Option<String>,
    /// Apply fixes even if tracked files have uncommitted changes
    #[arg(long, conflicts_with_all = ["commit", "branch"])]
    allow_dirty: bool,
}

#[derive(Args, Debug)]
struct AskArgs {
    /// Repository to review
    #[arg(long, value_name = "DIR", default_value = ".")]
    repo: PathBuf,
    /// Ask for better fixes of claims that fail in these parts and are not proven; name all parts
    #[arg(long = "continue", value_name = "PART", num_args = 1..)]
    parts: Vec<PathBuf>,
    /// File for the claims [default: claims.json in the output directory]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Review what was added since the last review of this branch, and prove its older issues again
    #[arg(long, value_name = "last", value_parser = ["last"], conflicts_with = "review.diff-only")]
    since: Option<String>,
}

#[derive(Args, Debug)]
struct ProveArgs {
    /// File that `probity review ask` wrote
    #[arg(value_name = "CLAIMS", default_value = "review/claims.json")]
    claims: PathBuf,
    /// Shard to prove, counted from 1
    #[arg(long, value_name = "I/N", default_value = "1/1")]
    shard: Shard,
    /// File for the results [default: part-I-of-N.json next to the claims]
    #[arg(long, value_name = "PART")]
    out: Option<PathBuf>,
    /// Repository that the claims are about
    #[arg(long, value_name = "DIR", default_value = ".")]
    repo: PathBuf,
}

#[derive(Args, Debug)]
struct MergeArgs {
    /// Files that `probity review prove` wrote, one for each shard
    #[arg(value_name = "PART", required = true)]
    parts: Vec<PathBuf>,
    #[command(flatten)]
    run: RunArgs,
}

#[derive(Args, Debug)]
struct GateArgs {
    /// Review to read
    #[arg(value_name = "FILE", default_value = "review/review.json")]
    review: PathBuf,
    /// Lowest score that passes [default: SCORE_THRESHOLD, otherwise the threshold of the review]
    #[arg(long, value_name = "SCORE", value_parser = threshold)]
    threshold: Option<f64>,
    /// Fail if a critical issue is proven [default: FAIL_ON_CRITICAL, otherwise as in the review]
    #[arg(long)]
    fail_on_critical: bool,
    /// Fail if an issue of this severity or above is proven: low, medium, high, critical or none
    /// [default: as in the review]
    #[arg(long, value_name = "SEVERITY", value_parser = words::<FailRisk>())]
    fail_on: Option<FailRisk>,
}

#[derive(Args, Debug)]
struct HistoryArgs {
    #[command(flatten)]
    place: PlaceArgs,
    /// List the reviews of every repository
    #[arg(long)]
    all: bool,
    /// Maximum number of reviews to list
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20, value_parser = crate::cli::whole::<u32>)]
    limit: u32,
    /// Delete all but the newest N reviews of each repository
    #[arg(long, value_name = "N", value_parser = crate::cli::whole::<u32>)]
    keep: Option<u32>,
    /// Delete reviews older than this many days
    #[arg(long, value_name = "DAYS", value_parser = crate::cli::whole::<u32>)]
    days: Option<u32>,
    /// Delete this review
    #[arg(long, value_name = "ID", conflicts_with_all = ["keep", "days"], value_parser = crate::cli::whole::<i64>)]
    delete: Option<i64>,
    /// Output format
    #[arg(short, long, default_value = "text", value_parser = words::<ListFormat>())]
    format: ListFormat,
}

#[derive(Args, Debug)]
struct ShowArgs {
    /// Number or commit of the review [default: the newest]
    #[arg(value_name = "REVIEW")]
    which: Option<String>,
    #[command(flatten)]
    place: PlaceArgs,
    /// Output format
    #[arg(short, long, default_value = "text", value_parser = words::<ReviewFormat>())]
    format: ReviewFormat,
}

#[derive(Args, Debug)]
struct ReportArgs {
    /// Review to read
    #[arg(value_name = "FILE", default_value = "review/review.json")]
    review: PathBuf,
    /// Output format
    #[arg(short, long, default_value = "markdown", value_parser = words::<ReviewFormat>())]
    format: ReviewFormat,
    /// File to write [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Which history, and of which repository.
#[derive(Args, Debug)]
struct PlaceArgs {
    /// Repository whose reviews to read
    #[arg(long, value_name = "DIR", default_value = ".")]
    repo: PathBuf,
    /// Database of the history [default: DATABASE_URL, otherwise a file in the state directory]
    #[arg(long, value_name = "URL")]
    database_url: Option<String>,
}

/// A score from 0 to 10; 0 is one too.
fn threshold(text: &str) -> Result<f64, BadValue> {
    let value = ValueKind::Score.parse(text)?;
    f64::from_value(&value).ok_or_else(|| ValueKind::Score.not_expected(text))
}

/// Adds the flags of settings.
pub(super) fn with_flags(command: Command) -> Command {
    let either = |command: Command| {
        command.mut_arg("no-history", |argument| argument.conflicts_with("review.database-url"))
    };
    let subject = |command: Command| {
        command.mut_arg("review.whole", |argument| argument.conflicts_with("review.diff-only"))
    };
    let with = |is_wanted| move |command| flags::with_flags(command, Name::Probity, is_wanted);
    subject(either(with(is_of_review)(command)))
        .mut_subcommand("ask", |ask| subject(either(with(is_of_asking)(ask))))
        .mut_subcommand("fix", with(is_of_fixing))
        .mut_subcommand("prove", with(is_of_proving))
        .mut_subcommand("merge", |merge| either(with(is_of_merging)(merge)))
}

fn is_of_review(key: &Key) -> bool {
    key.section() == "review"
}

fn is_of_asking(key: &Key) -> bool {
    is_of_review(key) && key.path != key::review::jobs.key.path
}

fn is_of_proving(key: &Key) -> bool {
    [key::review::jobs.key.path, key::review::sandbox.key.path].contains(&key.path)
}

fn is_of_fixing(key: &Key) -> bool {
    is_of_proving(key) || key.path == key::review::output.key.path
}

fn is_of_merging(key: &Key) -> bool {
    let wanted = [
        key::review::output.key.path,
        key::review::format.key.path,
        key::review::report_only.key.path,
        key::review::database_url.key.path,
        key::review::history.key.path,
    ];
    wanted.contains(&key.path)
}

pub(super) fn run(args: ReviewArgs, matches: &ArgMatches, quiet: bool) -> anyhow::Result<Exit> {
    match args.command {
        None => {
            let (RunArgs { repo, reports }, since_last) = (args.run, args.since.is_some());
            let flags = flags::layer(matches, is_of_review)?;
            review::run(Options { repo, reports, quiet, since_last, flags })
        }
        Some(ReviewCommand::Ask(AskArgs { repo, parts, out, since })) => {
            let flags = nested(matches, "ask", is_of_asking)?;
            let since_last = since.is_some();
            let options = Options { repo, reports: Vec::new(), quiet, since_last, flags };
            review::ask(AskCommand { options, parts, out })
        }
        Some(ReviewCommand::Prove(ProveArgs { claims, shard, out, repo })) => {
            let flags = nested(matches, "prove", is_of_proving)?;
            let options = plain(repo, quiet, flags);
            review::prove(ProveCommand { options, claims, shard, out })
        }
        Some(ReviewCommand::Merge(MergeArgs { parts, run: RunArgs { repo, reports } })) => {
            let flags = nested(matches, "merge", is_of_merging)?;
            let options = Options { reports, ..plain(repo, quiet, flags) };
            review::merge(MergeCommand { options, parts })
        }
        Some(ReviewCommand::Fix(args)) => {
            let FixArgs { issues, report, repo, dry_run, commit, branch, allow_dirty } = args;
            let flags = nested(matches, "fix", is_of_fixing)?;
            let commit = match branch {
                Some(name) => Some(CommitTo::NewBranch(name)),
                None => commit.then_some(CommitTo::Head),
            };
            let options = plain(repo, quiet, flags);
            review::fix(FixCommand { options, issues, report, dry_run, allow_dirty, commit })
        }
        Some(ReviewCommand::Gate(GateArgs {
            review: file,
            threshold,
            fail_on_critical,
            fail_on,
        })) => review::gate(&file, threshold, fail_on_critical, fail_on),
        Some(ReviewCommand::History(args)) => review::history(&HistoryOptions {
            place: args.place.into(),
            all: args.all,
            limit: args.limit,
            keep: args.keep,
            days: args.days,
            delete: args.delete,
            format: args.format,
        }),
        Some(ReviewCommand::Show(ShowArgs { which, place, format })) => {
            review::show(which.as_deref(), &place.into(), format)
        }
        Some(ReviewCommand::Publish(args)) => review::publish(&args.into()),
        Some(ReviewCommand::Trend(args)) => review::trend(&args.into()),
        Some(ReviewCommand::Badge(BadgeArgs { review: file, output })) => {
            review::badge(&file, output.as_ref())
        }
        Some(ReviewCommand::Serve(ServeArgs { place, port })) => review::serve(&place.into(), port),
        Some(ReviewCommand::Verdict(args)) => review::verdict(&args.into()),
        Some(ReviewCommand::Verdicts(VerdictsArgs { place, all, format })) => {
            review::verdicts(&place.into(), all, format)
        }
        Some(ReviewCommand::Report(ReportArgs { review: file, format, output })) => {
            review::report(&file, format, output.as_deref())
        }
    }
}

fn plain(repo: PathBuf, quiet: bool, flags: Layer) -> Options {
    Options { repo, reports: Vec::new(), quiet, since_last: false, flags }
}

/// What the flags of a command below `review` say.
fn nested(
    matches: &ArgMatches,
    name: &str,
    is_wanted: fn(&Key) -> bool,
) -> Result<Layer, ConfigError> {
    let matches = matches.subcommand_matches(name);
    matches.map_or_else(|| Ok(Layer::default()), |matches| flags::layer(matches, is_wanted))
}

impl From<PlaceArgs> for ChosenHistory {
    fn from(PlaceArgs { repo, database_url }: PlaceArgs) -> Self {
        Self { repo, database_url }
    }
}
