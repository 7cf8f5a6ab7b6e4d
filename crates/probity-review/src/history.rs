//! Reviews that were kept: SQLite in a file, or PostgreSQL by its address.
//!
//! The calls block, each within a time limit, so that a database that does not answer cannot hold up
//! a review that is done.

mod postgres;
mod sqlite;
mod text;

use std::{path::PathBuf, time::Duration};

use crate::{
    output::{ReadError, ReviewOutput, read},
    verdict::{PersonVerdict, VerdictRecord},
};

/// For one call, connecting and migrating included.
const PATIENCE: Duration = Duration::from_secs(30);

/// Where reviews are kept.
#[derive(Clone, PartialEq, Eq)]
pub enum HistoryPlace {
    File(PathBuf),
    /// `postgres://…`; never shown, since it may hold a password.
    Postgres(String),
}

impl HistoryPlace {
    /// From a `DATABASE_URL`.
    pub fn from_url(url: &str) -> Result<Self, HistoryError> {
        let url = url.trim();
        match url.split_once(':') {
            Some(("postgres" | "postgresql", _)) => Ok(Self::Postgres(url.to_owned())),
            Some(("sqlite", path)) => {
                let path = path.trim_start_matches("//");
                let path = path.split('?').next().unwrap_or(path);
                Ok(Self::File(PathBuf::from(path)))
            }
            _ => Err(HistoryError::UnknownScheme),
        }
    }
}

impl std::fmt::Debug for HistoryPlace {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.to_string())
    }
}

impl std::fmt::Display for HistoryPlace {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File(path) => write!(formatter, "{}", path.display()),
            Self::Postgres(_) => formatter.write_str("the PostgreSQL database"),
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    #[error("a database address begins with postgres:, postgresql: or sqlite:")]
    UnknownScheme,
    #[error("the database address cannot be read")]
    BadAddress,
    #[error("no answer within {} s", PATIENCE.as_secs())]
    TimedOut,
    #[error("a runtime for the database cannot be started")]
    Runtime(#[source] std::io::Error),
    #[error("{what}: {why}")]
    Database { what: &'static str, why: String },
    #[error("review {id} cannot be read back: {source}")]
    Unreadable { id: i64, source: ReadError },
    #[error("the database is of a newer version of probity")]
    Newer,
}

/// One line of the history.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub id: i64,
    pub repo: String,
    pub commit: String,
    pub branch: String,
    /// Nothing where there was no review.
    pub score: Option<f64>,
    pub pass: bool,
    pub threshold: f64,
    pub proven: i64,
    pub observations: i64,
    pub created_at: String,
    pub agent: String,
    pub model: String,
    /// What the agent says that it used and cost.
    pub input_tokens: i64,
    pub output_tokens: i64,
    pub usd: Option<f64>,
}

/// What stays when the history is pruned. A limit that is not given does not limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retention {
    /// The newest of each repository.
    pub keep: Option<u32>,
    pub days: Option<u32>,
}

/// An open history.
pub struct History {
    store: Box<dyn Store>,
}

/// What each database must be able to do. A kept review is its number and its JSON.
/// Reviews among which the newest of a branch is looked for.
const MOST_LOOKED_AT: u32 = 500;

trait Store: Send {
    fn insert(&mut self, row: &Row) -> Result<i64, HistoryError>;
    fn by_commit(&mut self, repo: &str, commit: &str) -> Kept;
    fn by_id(&mut self, id: i64) -> Kept;
    fn list(&mut self, repo: Option<&str>, most: i64) -> Result<Vec<Entry>, HistoryError>;
    fn prune(&mut self, repo: Option<&str>, retention: Retention) -> Result<u64, HistoryError>;
    fn rename(&mut self, id: i64, repo: &str) -> Result<(), HistoryError>;
    fn delete(&mut self, id: i64) -> Result<bool, HistoryError>;
    fn record_verdict(&mut self, record: &VerdictRecord) -> Result<(), HistoryError>;
    /// The newest first, each as its words.
    fn verdicts(&mut self, repo: Option<&str>) -> Result<Vec<VerdictRow>, HistoryError>;
}

/// Repository, issue, lines, verdict, author, reason, agent, model, category, title, file and time.
type VerdictRow = [String; 12];

type Kept = Result<Option<(i64, String)>, HistoryError>;

impl History {
    /// Opens it, and brings its tables up to date.
    pub fn open(place: &HistoryPlace) -> Result<Self, HistoryError> {
        let store: Box<dyn Store> = match place {
            HistoryPlace::File(path) => Box::new(sqlite::Sqlite::open(path)?),
            HistoryPlace::Postgres(url) => Box::new(postgres::Postgres::open(url)?),
        };
        Ok(Self { store })
    }

    /// Keeps a review, and gives its number.
    pub fn save(&mut self, review: &ReviewOutput) -> Result<i64, HistoryError> {
        let json = text::storable(review);
        let metadata = &review.metadata;
        let row = Row {
            repo: text::without_nul(metadata.identity()),
            commit: text::without_nul(&metadata.commit),
            branch: text::without_nul(&metadata.branch),
            score: review.score.value,
            pass: review.score.pass,
            threshold: review.score.threshold,
            proven: i32::try_from(review.proven_issues.len()).unwrap_or(i32::MAX),
            observations: i32::try_from(review.observations.len()).unwrap_or(i32::MAX),
            json,
        };
        self.store.insert(&row)
    }

    /// The newest review of a commit.
    pub fn get(&mut self, repo: &str, commit: &str) -> Result<Option<ReviewOutput>, HistoryError> {
        parsed(self.store.by_commit(repo, commit)?)
    }

    pub fn by_id(&mut self, id: i64) -> Result<Option<ReviewOutput>, HistoryError> {
        parsed(self.store.by_id(id)?)
    }

    /// The newest review of this branch that happened, of a commit that `is_own` knows. A repository
    /// says itself where it comes from, and anybody can say the same.
    pub fn latest(
        &mut self,
        repo: &str,
        branch: &str,
        is_own: &dyn Fn(&str) -> bool,
    ) -> Result<Option<ReviewOutput>, HistoryError> {
        let mut entries = self.list(Some(repo), MOST_LOOKED_AT)?.into_iter();
        let found = entries
            .find(|entry| entry.branch == branch && entry.score.is_some() && is_own(&entry.commit));
        found.map_or(Ok(None), |entry| self.by_id(entry.id))
    }

    /// Gives reviews that were kept under another name of a repository the name that it has now.
    /// Only those of commits that `is_own` knows: two repositories may have had one name.
    pub fn adopt(
        &mut self,
        old: &str,
        new: &str,
        is_own: &dyn Fn(&str) -> bool,
    ) -> Result<u64, HistoryError> {
        let entries = self.list(Some(old), u32::MAX)?;
        let own: Vec<&Entry> = entries.iter().filter(|entry| is_own(&entry.commit)).collect();
        for entry in &own {
            self.store.rename(entry.id, new)?;
        }
        Ok(own.len() as u64)
    }

    /// The newest first.
    pub fn list(&mut self, repo: Option<&str>, most: u32) -> Result<Vec<Entry>, HistoryError> {
        self.store.list(repo, i64::from(most))
    }

    /// How many were removed. Without a limit nothing is.
    pub fn prune(&mut self, repo: Option<&str>, retention: Retention) -> Result<u64, HistoryError> {
        if retention == Retention::default() {
            return Ok(0);
        }
        self.store.prune(repo, retention)
    }

    /// Keeps a person's verdict.
    pub fn record_verdict(&mut self, record: &VerdictRecord) -> Result<(), HistoryError> {
        self.store.record_verdict(record)
    }

    /// What people said, the newest first.
    pub fn verdicts(&mut self, repo: Option<&str>) -> Result<Vec<VerdictRecord>, HistoryError> {
        // A word of a newer version says nothing to this one.
        Ok(self.store.verdicts(repo)?.into_iter().filter_map(VerdictRecord::from_row).collect())
    }

    /// Whether there was such a review.
    pub fn delete(&mut self, id: i64) -> Result<bool, HistoryError> {
        self.store.delete(id)
    }
}

impl std::fmt::Debug for History {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("History")
    }
}

impl VerdictRecord {
    fn row(&self) -> [String; 11] {
        let category = self.category.to_string();
        [
            &self.repo,
            &self.issue,
            &self.lines,
            self.verdict.word(),
            &self.by,
            &self.reason,
            &self.agent,
            &self.model,
            &category,
            &self.title,
            &self.file,
        ]
        .map(text::without_nul)
    }

    fn from_row(row: VerdictRow) -> Option<Self> {
        let [repo, issue, lines, word, by, reason, agent, model, category, title, file, time] = row;
        Some(Self {
            repo,
            issue,
            lines,
            verdict: PersonVerdict::from_word(&word)?,
            by,
            reason,
            agent,
            model,
            category: category.parse().ok()?,
            title,
            file,
            created_at: time,
        })
    }
}

/// The columns of one review.
struct Row {
    repo: String,
    commit: String,
    branch: String,
    score: f64,
    pass: bool,
    threshold: f64,
    proven: i32,
    observations: i32,
    json: String,
}

fn parsed(found: Option<(i64, String)>) -> Result<Option<ReviewOutput>, HistoryError> {
    let Some((id, json)) = found else { return Ok(None) };
    read(&json).map(Some).map_err(|source| HistoryError::Unreadable { id, source })
}

/// What a database says is a stranger's text, and one line is enough.
fn database(what: &'static str, why: &str) -> HistoryError {
    HistoryError::Database { what, why: crate::clean::one_line(why, 300) }
}

/// What is being done when a database fails.
mod doing {
    pub(super) const PREPARE: &str = "cannot prepare the history";
    pub(super) const KEEP: &str = "cannot keep the review";
    pub(super) const READ: &str = "cannot read the history";
    pub(super) const PRUNE: &str = "cannot prune the history";
    pub(super) const JUDGE: &str = "cannot keep the verdict";
    pub(super) const RENAME: &str = "cannot rename a repository in the history";
    pub(super) const DELETE: &str = "cannot delete the review";
}
