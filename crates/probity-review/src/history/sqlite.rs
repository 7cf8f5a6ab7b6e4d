//! The history in a file.

use std::{path::Path, time::Duration};

use sqlx::{
    ConnectOptions as _, Connection as _, Executor as _, Row as _, SqliteConnection,
    sqlite::{SqliteConnectOptions, SqliteRow},
};

use super::{Entry, HistoryError, Retention, Row, database};

/// How long another writer is waited for.
const BUSY: Duration = Duration::from_secs(20);

/// One after another; the number of those that were carried out stands in `user_version`.
const MIGRATIONS: &[&str] = &["
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
"];

pub(super) struct Sqlite {
    connection: SqliteConnection,
}

impl Sqlite {
    pub(super) async fn open(path: &Path) -> Result<Self, HistoryError> {
        let options = SqliteConnectOptions::new()
            .filename(path)
            .create_if_missing(true)
            .busy_timeout(BUSY)
            .disable_statement_logging();
        let connection = options.connect().await.map_err(database("cannot open the history"))?;
        let mut store = Self { connection };
        store.migrate().await?;
        Ok(store)
    }

    async fn migrate(&mut self) -> Result<(), HistoryError> {
        let failed = || database("cannot prepare the history");
        // Taken at once: two that only read first would both want to write, and one would fail.
        let mut transaction =
            self.connection.begin_with("BEGIN IMMEDIATE").await.map_err(failed())?;
        let row = sqlx::query("PRAGMA user_version").fetch_one(&mut *transaction);
        let version: i64 = row.await.map_err(failed())?.get(0);
        let done = usize::try_from(version).unwrap_or(usize::MAX);
        let Some(missing) = MIGRATIONS.get(done..) else { return Err(HistoryError::Newer) };
        for migration in missing {
            transaction.execute(sqlx::raw_sql(*migration)).await.map_err(failed())?;
        }
        if !missing.is_empty() {
            let set = format!("PRAGMA user_version = {}", MIGRATIONS.len());
            let set = sqlx::raw_sql(sqlx::AssertSqlSafe(set));
            transaction.execute(set).await.map_err(failed())?;
        }
        transaction.commit().await.map_err(failed())
    }

    pub(super) async fn insert(&mut self, row: &Row) -> Result<i64, HistoryError> {
        let query = sqlx::query(
            "INSERT INTO reviews (repo, commit_sha, branch, score, pass, threshold, \
             proven_count, obs_count, review_json) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING id",
        )
        .bind(&row.repo)
        .bind(&row.commit)
        .bind(&row.branch)
        .bind(row.score)
        .bind(row.pass)
        .bind(row.threshold)
        .bind(row.proven)
        .bind(row.observations)
        .bind(&row.json);
        let row = query.fetch_one(&mut self.connection).await;
        Ok(row.map_err(database("cannot keep the review"))?.get(0))
    }

    pub(super) async fn by_commit(
        &mut self,
        repo: &str,
        commit: &str,
    ) -> Result<Option<(i64, String)>, HistoryError> {
        let query = sqlx::query(
            "SELECT id, review_json FROM reviews WHERE repo = $1 AND commit_sha = $2 \
             ORDER BY created_at DESC, id DESC LIMIT 1",
        );
        let row = query.bind(repo).bind(commit).fetch_optional(&mut self.connection).await;
        Ok(row.map_err(reading())?.map(|row| (row.get(0), row.get(1))))
    }

    pub(super) async fn by_id(&mut self, id: i64) -> Result<Option<(i64, String)>, HistoryError> {
        let query = sqlx::query("SELECT id, review_json FROM reviews WHERE id = $1");
        let row = query.bind(id).fetch_optional(&mut self.connection).await;
        Ok(row.map_err(reading())?.map(|row| (row.get(0), row.get(1))))
    }

    pub(super) async fn latest(
        &mut self,
        repo: &str,
        branch: &str,
    ) -> Result<Option<(i64, String)>, HistoryError> {
        let query = sqlx::query(
            "SELECT id, review_json FROM reviews WHERE repo = $1 AND coalesce(branch, '') = $2 \
             AND coalesce(json_extract(review_json, '$.status'), 'ok') = 'ok' \
             ORDER BY created_at DESC, id DESC LIMIT 1",
        );
        let row = query.bind(repo).bind(branch).fetch_optional(&mut self.connection).await;
        Ok(row.map_err(reading())?.map(|row| (row.get(0), row.get(1))))
    }

    pub(super) async fn list(
        &mut self,
        repo: Option<&str>,
        most: i64,
    ) -> Result<Vec<Entry>, HistoryError> {
        let query = sqlx::query(
            "SELECT id, repo, commit_sha, coalesce(branch, ''), score, pass, \
             threshold, proven_count, obs_count, created_at, coalesce(json_extract(review_json, '$.status'), 'ok') \
             FROM reviews WHERE $1 IS NULL OR repo = $1 \
             ORDER BY created_at DESC, id DESC LIMIT $2",
        );
        let rows = query.bind(repo).bind(most).fetch_all(&mut self.connection).await;
        Ok(rows.map_err(reading())?.iter().map(entry).collect())
    }

    pub(super) async fn prune(
        &mut self,
        repo: Option<&str>,
        retention: Retention,
    ) -> Result<u64, HistoryError> {
        let query = sqlx::query(
            "DELETE FROM reviews WHERE ($1 IS NULL OR repo = $1) AND id IN (\
             SELECT id FROM (SELECT id, created_at, row_number() OVER \
             (PARTITION BY repo ORDER BY created_at DESC, id DESC) AS nth FROM reviews) \
             AS numbered WHERE nth > $2 OR created_at < strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-' || $3 || ' days'))",
        )
        .bind(repo)
        .bind(retention.keep.map(i64::from))
        .bind(retention.days.map(i64::from));
        let done = query.execute(&mut self.connection).await;
        Ok(done.map_err(database("cannot prune the history"))?.rows_affected())
    }

    pub(super) async fn rename(&mut self, id: i64, repo: &str) -> Result<(), HistoryError> {
        let query = sqlx::query("UPDATE reviews SET repo = $1 WHERE id = $2").bind(repo).bind(id);
        let done = query.execute(&mut self.connection).await;
        done.map(drop).map_err(database("cannot rename a repository in the history"))
    }

    pub(super) async fn delete(&mut self, id: i64) -> Result<bool, HistoryError> {
        let query = sqlx::query("DELETE FROM reviews WHERE id = $1").bind(id);
        let done = query.execute(&mut self.connection).await;
        Ok(done.map_err(database("cannot delete the review"))?.rows_affected() > 0)
    }
}

fn entry(row: &SqliteRow) -> Entry {
    let status: String = row.get(10);
    Entry {
        id: row.get(0),
        repo: row.get(1),
        commit: row.get(2),
        branch: row.get(3),
        score: (status == "ok").then(|| row.get(4)),
        pass: row.get(5),
        threshold: row.get(6),
        proven: row.get(7),
        observations: row.get(8),
        created_at: row.get(9),
    }
}

fn reading() -> impl FnOnce(sqlx::Error) -> HistoryError {
    database("cannot read the history")
}
