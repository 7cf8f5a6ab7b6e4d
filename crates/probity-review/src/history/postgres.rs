//! The history in PostgreSQL: schema `ci_agent`, table `reviews`.

use std::str::FromStr as _;

use sqlx::{
    ConnectOptions as _, Connection as _, Executor as _, PgConnection, Row as _,
    postgres::{PgConnectOptions, PgRow},
};

use super::{Entry, HistoryError, Retention, Row, database};

/// Any number will do, as long as all of us take the same.
const LOCK: i64 = 0x7072_6f62_6974_7901;

/// One after another. The first one finds the table that the original tool may have made.
const MIGRATIONS: &[&str] = &["
    CREATE TABLE IF NOT EXISTS ci_agent.reviews (
        id SERIAL PRIMARY KEY,
        repo TEXT NOT NULL,
        commit_sha TEXT NOT NULL,
        branch TEXT,
        score NUMERIC(4,2) NOT NULL,
        pass BOOLEAN NOT NULL,
        threshold NUMERIC(4,2) NOT NULL,
        proven_count INTEGER NOT NULL,
        obs_count INTEGER NOT NULL,
        review_json JSONB NOT NULL,
        created_at TIMESTAMPTZ NOT NULL DEFAULT NOW()
    );
    CREATE INDEX IF NOT EXISTS reviews_repo_commit ON ci_agent.reviews (repo, commit_sha);
    CREATE INDEX IF NOT EXISTS reviews_repo_created ON ci_agent.reviews (repo, created_at DESC);
"];

pub(super) struct Postgres {
    connection: PgConnection,
}

impl Postgres {
    pub(super) async fn open(url: &str) -> Result<Self, HistoryError> {
        // The error would repeat the address, and with it the password.
        let options = PgConnectOptions::from_str(url).map_err(|_| HistoryError::BadAddress)?;
        let options = options.application_name("probity").disable_statement_logging();
        let connection = options.connect().await.map_err(database("cannot connect"))?;
        let mut store = Self { connection };
        store.migrate().await?;
        Ok(store)
    }

    async fn migrate(&mut self) -> Result<(), HistoryError> {
        let failed = || database("cannot prepare the history");
        let mut transaction = self.connection.begin().await.map_err(failed())?;
        // Two that create a schema at once both find none; the lock ends with the transaction.
        let lock = sqlx::query("SELECT pg_advisory_xact_lock($1)").bind(LOCK);
        lock.execute(&mut *transaction).await.map_err(failed())?;
        let found = sqlx::query("SELECT to_regclass('ci_agent.migrations') IS NOT NULL");
        let known: bool = found.fetch_one(&mut *transaction).await.map_err(failed())?.get(0);
        if !known {
            // Who may only write into tables that are there must not need the right to make them.
            let create = "CREATE SCHEMA IF NOT EXISTS ci_agent; \
                          CREATE TABLE ci_agent.migrations (version INTEGER PRIMARY KEY);";
            transaction.execute(sqlx::raw_sql(create)).await.map_err(failed())?;
        }
        let query = sqlx::query("SELECT coalesce(max(version), 0) FROM ci_agent.migrations");
        let version: i32 = query.fetch_one(&mut *transaction).await.map_err(failed())?.get(0);
        let done = usize::try_from(version).unwrap_or(usize::MAX);
        let Some(missing) = MIGRATIONS.get(done..) else { return Err(HistoryError::Newer) };
        for (number, migration) in (version + 1..).zip(missing) {
            transaction.execute(sqlx::raw_sql(*migration)).await.map_err(failed())?;
            let mark = sqlx::query("INSERT INTO ci_agent.migrations VALUES ($1)").bind(number);
            mark.execute(&mut *transaction).await.map_err(failed())?;
        }
        transaction.commit().await.map_err(failed())
    }

    pub(super) async fn insert(&mut self, row: &Row) -> Result<i64, HistoryError> {
        let query = sqlx::query(
            "INSERT INTO ci_agent.reviews (repo, commit_sha, branch, score, pass, threshold, \
             proven_count, obs_count, review_json) VALUES ($1, $2, $3, $4::float8::numeric, $5, \
             $6::float8::numeric, $7, $8, $9::text::jsonb) RETURNING id::bigint",
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
            "SELECT id::bigint, review_json::text FROM ci_agent.reviews WHERE repo = $1 AND commit_sha = $2 \
             ORDER BY created_at DESC, id DESC LIMIT 1",
        );
        let row = query.bind(repo).bind(commit).fetch_optional(&mut self.connection).await;
        Ok(row.map_err(reading())?.map(|row| (row.get(0), row.get(1))))
    }

    pub(super) async fn by_id(&mut self, id: i64) -> Result<Option<(i64, String)>, HistoryError> {
        let query = sqlx::query(
            "SELECT id::bigint, review_json::text FROM ci_agent.reviews WHERE id::bigint = $1",
        );
        let row = query.bind(id).fetch_optional(&mut self.connection).await;
        Ok(row.map_err(reading())?.map(|row| (row.get(0), row.get(1))))
    }

    pub(super) async fn latest(
        &mut self,
        repo: &str,
        branch: &str,
    ) -> Result<Option<(i64, String)>, HistoryError> {
        let query = sqlx::query(
            "SELECT id::bigint, review_json::text FROM ci_agent.reviews WHERE repo = $1 \
             AND coalesce(branch, '') = $2 AND coalesce(review_json->>'status', 'ok') = 'ok' \
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
            "SELECT id::bigint, repo, commit_sha, coalesce(branch, ''), score::float8, pass, \
             threshold::float8, proven_count::bigint, obs_count::bigint, to_char(created_at AT TIME ZONE 'UTC', \
             'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"'), coalesce(review_json->>'status', 'ok') \
             FROM ci_agent.reviews WHERE $1::text IS NULL OR repo = $1 \
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
            "DELETE FROM ci_agent.reviews WHERE ($1::text IS NULL OR repo = $1) AND id IN (\
             SELECT id FROM (SELECT id, created_at, row_number() OVER \
             (PARTITION BY repo ORDER BY created_at DESC, id DESC) AS nth FROM ci_agent.reviews) \
             AS numbered WHERE nth > $2::bigint OR created_at < now() - make_interval(days => $3::int))",
        )
        .bind(repo)
        .bind(retention.keep.map(i64::from))
        .bind(retention.days.map(|days| i32::try_from(days).unwrap_or(i32::MAX)));
        let done = query.execute(&mut self.connection).await;
        Ok(done.map_err(database("cannot prune the history"))?.rows_affected())
    }

    pub(super) async fn rename(&mut self, id: i64, repo: &str) -> Result<(), HistoryError> {
        let query = sqlx::query("UPDATE ci_agent.reviews SET repo = $1 WHERE id::bigint = $2");
        let done = query.bind(repo).bind(id).execute(&mut self.connection).await;
        done.map(drop).map_err(database("cannot rename a repository in the history"))
    }

    pub(super) async fn delete(&mut self, id: i64) -> Result<bool, HistoryError> {
        let query = sqlx::query("DELETE FROM ci_agent.reviews WHERE id::bigint = $1").bind(id);
        let done = query.execute(&mut self.connection).await;
        Ok(done.map_err(database("cannot delete the review"))?.rows_affected() > 0)
    }
}

fn entry(row: &PgRow) -> Entry {
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
