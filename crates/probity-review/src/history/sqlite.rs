//! The history in a file.

use std::{path::Path, time::Duration};

use rusqlite::{Connection, OptionalExtension as _, Params, TransactionBehavior, params};

use super::{Entry, HistoryError, Kept, Retention, Row, Store, VerdictRow, database, doing};
use crate::verdict::VerdictRecord;

/// How long another writer is waited for.
const BUSY: Duration = Duration::from_secs(20);

/// One after another; the number of those that were carried out stands in `user_version`.
const MIGRATIONS: &[&str] = &[
    "
    CREATE TABLE reviews (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        repo TEXT NOT NULL,
        commit_sha TEXT NOT NULL,
        branch TEXT,
        score REAL NOT NULL,
        pass INTEGER NOT NULL,
        threshold REAL NOT NULL,
        proven_count INTEGER NOT NULL,
        obs_count INTEGER NOT NULL,
        review_json TEXT NOT NULL,
        created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
    );
    CREATE INDEX reviews_repo_commit ON reviews (repo, commit_sha);
    CREATE INDEX reviews_repo_created ON reviews (repo, created_at DESC);
",
    "
    CREATE TABLE verdicts (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        repo TEXT NOT NULL,
        issue TEXT NOT NULL,
        lines TEXT NOT NULL,
        verdict TEXT NOT NULL,
        author TEXT NOT NULL,
        reason TEXT NOT NULL,
        agent TEXT NOT NULL,
        model TEXT NOT NULL,
        category TEXT NOT NULL,
        title TEXT NOT NULL,
        file TEXT NOT NULL,
        created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
    );
    CREATE INDEX verdicts_repo ON verdicts (repo);
",
];

pub(super) struct Sqlite {
    connection: Connection,
}

impl Sqlite {
    pub(super) fn open(path: &Path) -> Result<Self, HistoryError> {
        let connection = Connection::open(path).map_err(failed("cannot open the history"))?;
        connection.busy_timeout(BUSY).map_err(failed(doing::PREPARE))?;
        let mut store = Self { connection };
        store.migrate()?;
        Ok(store)
    }

    fn migrate(&mut self) -> Result<(), HistoryError> {
        let prepare = || failed(doing::PREPARE);
        // Taken at once: two that only read first would both want to write, and one would fail.
        let behavior = TransactionBehavior::Immediate;
        let transaction = self.connection.transaction_with_behavior(behavior).map_err(prepare())?;
        let version = transaction.pragma_query_value(None, "user_version", |row| row.get(0));
        let version: i64 = version.map_err(prepare())?;
        let done = usize::try_from(version).unwrap_or(usize::MAX);
        let Some(missing) = MIGRATIONS.get(done..) else { return Err(HistoryError::Newer) };
        for migration in missing {
            transaction.execute_batch(migration).map_err(prepare())?;
        }
        if !missing.is_empty() {
            let newest = i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX);
            transaction.pragma_update(None, "user_version", newest).map_err(prepare())?;
        }
        transaction.commit().map_err(prepare())
    }

    fn kept(&self, query: &str, values: impl Params) -> Kept {
        let found = self.connection.query_row(query, values, |row| Ok((row.get(0)?, row.get(1)?)));
        found.optional().map_err(failed(doing::READ))
    }
}

impl Store for Sqlite {
    fn insert(&mut self, row: &Row) -> Result<i64, HistoryError> {
        let query = "INSERT INTO reviews (repo, commit_sha, branch, score, pass, threshold, \
                     proven_count, obs_count, review_json) \
                     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING id";
        let values = params![
            row.repo,
            row.commit,
            row.branch,
            row.score,
            row.pass,
            row.threshold,
            row.proven,
            row.observations,
            row.json
        ];
        let id = self.connection.query_row(query, values, |row| row.get(0));
        id.map_err(failed(doing::KEEP))
    }

    fn by_commit(&mut self, repo: &str, commit: &str) -> Kept {
        let query = "SELECT id, review_json FROM reviews WHERE repo = $1 AND commit_sha = $2 \
                     ORDER BY created_at DESC, id DESC LIMIT 1";
        self.kept(query, [repo, commit])
    }

    fn by_id(&mut self, id: i64) -> Kept {
        self.kept("SELECT id, review_json FROM reviews WHERE id = $1", [id])
    }

    fn list(&mut self, repo: Option<&str>, most: i64) -> Result<Vec<Entry>, HistoryError> {
        let query = "SELECT id, repo, commit_sha, coalesce(branch, ''), score, pass, threshold, \
                     proven_count, obs_count, created_at, \
                     coalesce(json_extract(review_json, '$.status'), 'ok'), \
                     coalesce(json_extract(review_json, '$.metadata.agent_cli'), ''), \
                     coalesce(json_extract(review_json, '$.metadata.agent_model'), ''), \
                     coalesce(json_extract(review_json, '$.cost.input_tokens'), 0), \
                     coalesce(json_extract(review_json, '$.cost.output_tokens'), 0), \
                     json_extract(review_json, '$.cost.usd') \
                     FROM reviews WHERE $1 IS NULL OR repo = $1 \
                     ORDER BY created_at DESC, id DESC LIMIT $2";
        let mut statement = self.connection.prepare(query).map_err(failed(doing::READ))?;
        let entries = statement.query_map(params![repo, most], entry);
        entries.and_then(Iterator::collect).map_err(failed(doing::READ))
    }

    fn prune(&mut self, repo: Option<&str>, retention: Retention) -> Result<u64, HistoryError> {
        let query = "DELETE FROM reviews WHERE ($1 IS NULL OR repo = $1) AND id IN (\
             SELECT id FROM (SELECT id, created_at, row_number() OVER \
             (PARTITION BY repo ORDER BY created_at DESC, id DESC) AS nth FROM reviews) \
             AS numbered WHERE nth > $2 \
             OR created_at < strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-' || $3 || ' days'))";
        let values = params![repo, retention.keep, retention.days];
        let removed = self.connection.execute(query, values).map_err(failed(doing::PRUNE))?;
        Ok(removed as u64)
    }

    fn rename(&mut self, id: i64, repo: &str) -> Result<(), HistoryError> {
        let query = "UPDATE reviews SET repo = $1 WHERE id = $2";
        let renamed = self.connection.execute(query, params![repo, id]);
        renamed.map(drop).map_err(failed(doing::RENAME))
    }

    fn delete(&mut self, id: i64) -> Result<bool, HistoryError> {
        let deleted = self.connection.execute("DELETE FROM reviews WHERE id = $1", [id]);
        Ok(deleted.map_err(failed(doing::DELETE))? > 0)
    }

    fn record_verdict(&mut self, record: &VerdictRecord) -> Result<(), HistoryError> {
        let query = "INSERT INTO verdicts (repo, issue, lines, verdict, author, reason, agent, \
                     model, category, title, file) \
                     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";
        let values = rusqlite::params_from_iter(record.row());
        self.connection.execute(query, values).map(drop).map_err(failed(doing::JUDGE))
    }

    fn verdicts(&mut self, repo: Option<&str>) -> Result<Vec<VerdictRow>, HistoryError> {
        let query = "SELECT repo, issue, lines, verdict, author, reason, agent, model, category, \
                     title, file, created_at FROM verdicts WHERE $1 IS NULL OR repo = $1 \
                     ORDER BY id DESC";
        let mut statement = self.connection.prepare(query).map_err(failed(doing::READ))?;
        let rows = statement.query_map([repo], |row| {
            let mut words = VerdictRow::default();
            for (index, word) in words.iter_mut().enumerate() {
                *word = row.get(index)?;
            }
            Ok(words)
        });
        rows.and_then(Iterator::collect).map_err(failed(doing::READ))
    }
}

fn entry(row: &rusqlite::Row<'_>) -> rusqlite::Result<Entry> {
    let status: String = row.get(10)?;
    let score = row.get(4)?;
    Ok(Entry {
        id: row.get(0)?,
        repo: row.get(1)?,
        commit: row.get(2)?,
        branch: row.get(3)?,
        score: (status == "ok").then_some(score),
        pass: row.get(5)?,
        threshold: row.get(6)?,
        proven: row.get(7)?,
        observations: row.get(8)?,
        created_at: row.get(9)?,
        agent: row.get(11)?,
        model: row.get(12)?,
        input_tokens: row.get(13)?,
        output_tokens: row.get(14)?,
        usd: row.get(15)?,
    })
}

fn failed(what: &'static str) -> impl FnOnce(rusqlite::Error) -> HistoryError {
    move |error| database(what, &error.to_string())
}
