//! Earlier reviews: where they are kept, listed, shown and removed.

use std::{
    io::Write as _,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use probity_proof::{GitFacts, NO_COMMIT, directory_name, has_commit, is_shallow};
use probity_report::{
    Paint, Screen, Table,
    review::{ReviewFormat, render_for},
};
use probity_review::{
    Entry, History, HistoryError, HistoryPlace, Retention, ReviewOutput, Status, TrendPoint,
    VerdictRecord,
};
use probity_text::visible;
use serde_json::json;

use super::{
    print,
    settings::{Keep, Settings},
};
use crate::{
    ci::in_ci,
    commands::{ListFormat, print_json},
    config::{self, Layer, Origin, key},
    exit::Exit,
    failure::Failure,
    name::Name,
    screen,
    seats::state,
    streams,
};

/// What an empty history says.
pub(super) const NO_REVIEWS: &str =
    "no review has been stored yet; `probity review` stores each review\n";
const FILE: &str = "reviews.sqlite";
/// Reviews that are looked at for a chart, and those of the branch that it shows.
const TREND_ENTRIES: u32 = 500;
const TREND_POINTS: usize = 30;

/// The history of a running review. None of its failures is one of the review.
pub(super) struct ReviewHistory {
    history: Option<History>,
}

impl ReviewHistory {
    pub(super) fn open(settings: &Settings, notes: &mut Vec<String>) -> Self {
        let place = match &settings.history {
            Keep::Nowhere => return Self { history: None },
            Keep::StateDirectory => in_state_directory(),
            Keep::Database(url) => HistoryPlace::from_url(url).map_err(Into::into),
        };
        let opened = place.and_then(|place| Ok(History::open(&place)?));
        let history = opened.map_err(|error| {
            notes.push(said(&format!("the history cannot be used: {error:#}")));
        });
        Self { history: history.ok() }
    }

    /// The review that this one is compared with.
    pub(super) fn previous(
        &mut self,
        settings: &Settings,
        notes: &mut Vec<String>,
    ) -> Option<ReviewOutput> {
        let history = self.history.as_mut()?;
        let facts = GitFacts::of(&settings.repo);
        let old = directory_name(&settings.repo);
        // A shallow clone of a CI job has no earlier commits, and comes from where it says.
        let is_of_job = matches!(settings.history, Keep::Database(_)) || in_ci();
        let is_own = |commit: &str| {
            facts.commit == NO_COMMIT
                || has_commit(&settings.repo, commit)
                || is_of_job && is_shallow(&settings.repo)
        };
        let found = adopted(history, &old, &facts.identity, &settings.repo).and_then(|()| {
            // Another branch may have other defects, but this one came from its base.
            for branch in [facts.branch.as_str(), &settings.base] {
                let found = match branch {
                    "" => None,
                    branch => history.latest(&facts.identity, branch, &is_own)?,
                };
                if found.is_some() {
                    return Ok(found);
                }
            }
            Ok(None)
        });
        found.unwrap_or_else(|error| {
            notes.push(said(&format!("the history cannot be read: {error}")));
            None
        })
    }

    /// What people have said about issues of this repository.
    pub(super) fn verdicts(&mut self, repo: &str, notes: &mut Vec<String>) -> Vec<VerdictRecord> {
        let Some(history) = self.history.as_mut() else { return Vec::new() };
        history.verdicts(Some(repo)).unwrap_or_else(|error| {
            notes.push(said(&format!("the verdicts of people cannot be read: {error}")));
            Vec::new()
        })
    }

    /// The reviews of a branch up to this one, the oldest first. Without them a report has no chart,
    /// and nothing else is missing.
    pub(super) fn trend(&mut self, output: &ReviewOutput) -> Vec<TrendPoint> {
        let Some(history) = self.history.as_mut() else { return Vec::new() };
        let metadata = &output.metadata;
        let entries = history.list(Some(metadata.identity()), TREND_ENTRIES).unwrap_or_default();
        let of_branch = entries.iter().filter(|entry| entry.branch == metadata.branch);
        let mut points: Vec<TrendPoint> =
            of_branch.filter_map(trend_point).take(TREND_POINTS).collect();
        points.reverse();
        points
    }

    /// Whether there is a history to stand in.
    pub(super) fn is_open(&self) -> bool {
        self.history.is_some()
    }

    /// Keeps the review; if that fails, the review says so.
    pub(super) fn save(&mut self, output: &mut ReviewOutput) {
        let Some(history) = self.history.as_mut() else { return };
        if let Err(error) = history.save(output) {
            output.notes.push(said(&format!("the review was not kept: {error}")));
        }
    }
}

/// A review that did not happen has no score.
pub(super) fn trend_point(entry: &Entry) -> Option<TrendPoint> {
    Some(TrendPoint {
        commit: entry.commit.clone(),
        timestamp: entry.created_at.clone(),
        score: entry.score?,
        pass: entry.pass,
        proven: u64::try_from(entry.proven).unwrap_or(0),
        usd: entry.usd,
    })
}

/// Reviews that were kept by the name of the directory get the name that the repository has now.
fn adopted(history: &mut History, old: &str, new: &str, repo: &Path) -> Result<(), HistoryError> {
    if old == new {
        return Ok(());
    }
    history.adopt(old, new, &|commit| has_commit(repo, commit)).map(drop)
}

fn said(note: &str) -> String {
    tracing::warn!("{note}");
    note.to_owned()
}

fn in_state_directory() -> anyhow::Result<HistoryPlace> {
    Ok(HistoryPlace::File(state()?.directory.join(FILE)))
}

/// Which history, and of which repository.
#[derive(Debug)]
pub(crate) struct ChosenHistory {
    pub(crate) repo: PathBuf,
    pub(crate) database_url: Option<String>,
}

/// Which reviews are listed or removed.
#[derive(Debug)]
pub(crate) struct HistoryOptions {
    pub(crate) place: ChosenHistory,
    /// Those of every repository.
    pub(crate) all: bool,
    /// The most that are listed.
    pub(crate) limit: u32,
    /// Removes all but the newest of each repository.
    pub(crate) keep: Option<u32>,
    /// Removes what is older.
    pub(crate) days: Option<u32>,
    /// Removes this review.
    pub(crate) delete: Option<i64>,
    pub(crate) format: ListFormat,
}

pub(super) fn open(place: &ChosenHistory) -> anyhow::Result<History> {
    let mut flags = Layer::default();
    let origin = Origin::Flag { name: "--database-url".to_owned() };
    flags.set(&key::review::database_url, &place.database_url, origin);
    let settings = config::in_force(Name::Probity, &["review"], &place.repo, flags)?;
    let place = match settings.review.database_url.clone() {
        Some(url) => HistoryPlace::from_url(&url).with_context(|| {
            Failure::new("the history cannot be opened", "check --database-url or DATABASE_URL")
        })?,
        None => in_state_directory()?,
    };
    History::open(&place).with_context(|| {
        Failure::new(
            format!("cannot open {place}"),
            "check that it exists and that you may write it",
        )
    })
}

pub(crate) fn list(args: &HistoryOptions) -> anyhow::Result<Exit> {
    let mut history = open(&args.place)?;
    let repo = (!args.all).then(|| GitFacts::of(&args.place.repo).identity);
    if let Some(id) = args.delete {
        return if history.delete(id)? {
            Ok(Exit::Clean)
        } else {
            Err(missing(&id.to_string()).into())
        };
    }
    if args.keep.is_some() || args.days.is_some() {
        let retention = Retention { keep: args.keep, days: args.days };
        let removed = history.prune(repo.as_deref(), retention)?;
        writeln!(streams::stdout().lock(), "{removed} removed")?;
        return Ok(Exit::Clean);
    }
    let entries = history.list(repo.as_deref(), args.limit)?;
    let mut out = streams::stdout().lock();
    match args.format {
        ListFormat::Json => {
            let page: Vec<serde_json::Value> = entries.iter().map(as_json).collect();
            print_json(&json!({ "reviews": page }))?;
        }
        ListFormat::Text if entries.is_empty() => {
            let line = match (&repo, history.list(None, 1)?.is_empty()) {
                (Some(repo), false) => format!(
                    "no review of this repository ({}) is in the history; `--repo DIR` names another \
                     repository, and `--all` lists the reviews of all repositories\n",
                    visible::line(repo)
                ),
                _ => NO_REVIEWS.to_owned(),
            };
            write!(out, "{}", screen::stdout().folded(&line))?;
        }
        ListFormat::Text => {
            drop(out);
            screen::print(&as_table(&entries, screen::stdout()))?;
        }
    }
    Ok(Exit::Clean)
}

pub(crate) fn show(
    which: Option<&str>,
    place: &ChosenHistory,
    format: ReviewFormat,
) -> anyhow::Result<Exit> {
    let mut history = open(place)?;
    let facts = GitFacts::of(&place.repo);
    let found = match which {
        None => {
            let newest = history.list(Some(&facts.identity), 1)?;
            newest.first().map(|entry| history.by_id(entry.id)).transpose()?.flatten()
        }
        Some(which) => match which.parse() {
            Ok(id) => history.by_id(id)?,
            Err(_) => history.get(&facts.identity, which)?,
        },
    };
    let review = found.ok_or_else(|| missing(which.unwrap_or("newest")))?;
    print(format.syntax(), &render_for(screen::stdout(), format, &review)?)?;
    Ok(if review.status == Status::Error { Exit::Failure } else { Exit::Clean })
}

fn missing(which: &str) -> Failure {
    let what = format!("there is no review `{}`", visible::line(which));
    Failure::new(what, "`probity review history` lists them; `--all` those of other repositories")
}

pub(super) fn as_table(entries: &[Entry], screen: Screen) -> String {
    let mut table = Table::with_numbers(&[0, 2]);
    for entry in entries {
        let shown = |text: &str| visible::line(text).into_owned();
        let short: String = entry.commit.chars().take(10).collect();
        let (score, result) = result(entry, screen);
        table.row([
            entry.id.to_string(),
            shown(&entry.created_at),
            score,
            result,
            format!("{} proven, {} observed", entry.proven, entry.observations),
            shown(&short),
            shown(&entry.branch),
            shown(&entry.repo),
        ]);
    }
    table.text(0)
}

/// The score of a review, and whether it passes.
pub(super) fn result(entry: &Entry, screen: Screen) -> (String, String) {
    match (entry.score, entry.pass) {
        (None, _) => ("none".to_owned(), screen.painted(Paint::Doubtful, "no review")),
        (Some(score), true) => (score.to_string(), screen.painted(Paint::Good, "pass")),
        (Some(score), false) => (score.to_string(), screen.painted(Paint::Bad, "fail")),
    }
}

pub(super) fn as_json(entry: &Entry) -> serde_json::Value {
    json!({
        "id": entry.id,
        "repo": entry.repo,
        "commit": entry.commit,
        "branch": entry.branch,
        "status": if entry.score.is_some() { "ok" } else { "error" },
        "score": entry.score,
        "pass": entry.pass,
        "threshold": entry.threshold,
        "provenIssues": entry.proven,
        "observations": entry.observations,
        "createdAt": entry.created_at,
        "agent": entry.agent,
        "model": entry.model,
        "inputTokens": entry.input_tokens,
        "outputTokens": entry.output_tokens,
        "usd": entry.usd,
    })
}
