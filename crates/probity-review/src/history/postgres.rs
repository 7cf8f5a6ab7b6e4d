//! The history in PostgreSQL: schema `ci_agent`, table `reviews`.

mod address;
mod tls;

use std::{error::Error as _, future::Future};

use tokio::runtime::{Builder, Runtime};
use tokio_postgres::{Client, types::ToSql};

use super::{
    Entry, HistoryError, Kept, PATIENCE, Retention, Row, Store, VerdictRow, database, doing,
};
use crate::verdict::VerdictRecord;
use address::Address;

/// Any number will do, as long as all of us take the same.
const LOCK: i64 = 0x7072_6f62_6974_7901;

/// One after another. The first one finds the table that the original tool may have made.
const MIGRATIONS: &[&str] = &[
    "
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
",
    "
    CREATE TABLE IF NOT EXISTS ci_agent.verdicts (
        id SERIAL PRIMARY KEY,
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
        created_at TIMESTAMPTZ NOT NULL DEFAULT NOW()
    );
    CREATE INDEX IF NOT EXISTS verdicts_repo ON ci_agent.verdicts (repo);
",
];

pub(super) struct Postgres {
    /// The connection is a task of it, so it works while a call waits and rests between calls.
    runtime: Runtime,
    client: Client,
}

type Values<'value> = &'value [&'value (dyn ToSql + Sync)];

impl Postgres {
    pub(super) fn open(url: &str) -> Result<Self, HistoryError> {
        let address = Address::parse(url, &|name| std::env::var(name).ok())?;
        let connector = tls::Connector::new(&address.tls)?;
        let runtime =
            Builder::new_current_thread().enable_all().build().map_err(HistoryError::Runtime)?;
        let connecting = async {
            let (client, connection) = address.config.connect(connector).await?;
            // It ends with the runtime, and its errors are those of the calls.
            tokio::spawn(connection);
            Ok(client)
        };
        let client = in_time(&runtime, "cannot connect", connecting)?;
        let mut store = Self { runtime, client };
        store.migrate()?;
        Ok(store)
    }

    fn migrate(&mut self) -> Result<(), HistoryError> {
        let migrating = async {
            let transaction = self.client.transaction().await?;
            // Two that create a schema at once both find none; the lock ends with the transaction.
            transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await?;
            let query = "SELECT to_regclass('ci_agent.migrations') IS NOT NULL";
            let is_known: bool = transaction.query_one(query, &[]).await?.get(0);
            if !is_known {
                // Who may only write into tables that are there must not need the right to make them.
                let create = "CREATE SCHEMA IF NOT EXISTS ci_agent; \
                              CREATE TABLE ci_agent.migrations (version INTEGER PRIMARY KEY);";
                transaction.batch_execute(create).await?;
            }
            let query = "SELECT coalesce(max(version), 0) FROM ci_agent.migrations";
            let version: i32 = transaction.query_one(query, &[]).await?.get(0);
            let done = usize::try_from(version).unwrap_or(usize::MAX);
            let Some(missing) = MIGRATIONS.get(done..) else { return Ok(false) };
            for (number, migration) in (version + 1..).zip(missing) {
                transaction.batch_execute(migration).await?;
                let mark = "INSERT INTO ci_agent.migrations VALUES ($1)";
                transaction.execute(mark, &[&number]).await?;
            }
            transaction.commit().await?;
            Ok(true)
        };
        let is_ours = in_time(&self.runtime, doing::PREPARE, migrating)?;
        if is_ours { Ok(()) } else { Err(HistoryError::Newer) }
    }

    fn kept(&self, query: &str, values: Values<'_>) -> Kept {
        let found = in_time(&self.runtime, doing::READ, self.client.query_opt(query, values))?;
        Ok(found.map(|row| (row.get(0), row.get(1))))
    }

    fn changed(
        &self,
        what: &'static str,
        query: &str,
        values: Values<'_>,
    ) -> Result<u64, HistoryError> {
        in_time(&self.runtime, what, self.client.execute(query, values))
    }
}

impl Store for Postgres {
    fn insert(&mut self, row: &Row) -> Result<i64, HistoryError> {
        let query = "INSERT INTO ci_agent.reviews (repo, commit_sha, branch, score, pass, \
             threshold, proven_count, obs_count, review_json) VALUES ($1, $2, $3, \
             $4::float8::numeric, $5, $6::float8::numeric, $7, $8, $9::text::jsonb) \
             RETURNING id::bigint";
        let values: Values<'_> = &[
            &row.repo,
            &row.commit,
            &row.branch,
            &row.score,
            &row.pass,
            &row.threshold,
            &row.proven,
            &row.observations,
            &row.json,
        ];
        let row = in_time(&self.runtime, doing::KEEP, self.client.query_one(query, values))?;
        Ok(row.get(0))
    }

    fn by_commit(&mut self, repo: &str, commit: &str) -> Kept {
        let query = "SELECT id::bigint, review_json::text FROM ci_agent.reviews \
             WHERE repo = $1 AND commit_sha = $2 ORDER BY created_at DESC, id DESC LIMIT 1";
        self.kept(query, &[&repo, &commit])
    }

    fn by_id(&mut self, id: i64) -> Kept {
        let query =
            "SELECT id::bigint, review_json::text FROM ci_agent.reviews WHERE id::bigint = $1";
        self.kept(query, &[&id])
    }

    fn list(&mut self, repo: Option<&str>, most: i64) -> Result<Vec<Entry>, HistoryError> {
        let query = "SELECT id::bigint, repo, commit_sha, coalesce(branch, ''), score::float8, \
             pass, threshold::float8, proven_count::bigint, obs_count::bigint, \
             to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"'), \
             coalesce(review_json->>'status', 'ok'), \
             coalesce(review_json->'metadata'->>'agent_cli', ''), \
             coalesce(review_json->'metadata'->>'agent_model', ''), \
             coalesce((review_json->'cost'->>'input_tokens')::bigint, 0), \
             coalesce((review_json->'cost'->>'output_tokens')::bigint, 0), \
             (review_json->'cost'->>'usd')::float8 \
             FROM ci_agent.reviews WHERE $1::text IS NULL OR repo = $1 \
             ORDER BY created_at DESC, id DESC LIMIT $2";
        let values: Values<'_> = &[&repo, &most];
        let rows = in_time(&self.runtime, doing::READ, self.client.query(query, values))?;
        Ok(rows.iter().map(entry).collect())
    }

    fn prune(&mut self, repo: Option<&str>, retention: Retention) -> Result<u64, HistoryError> {
        let query = "DELETE FROM ci_agent.reviews WHERE ($1::text IS NULL OR repo = $1) AND id IN (\
             SELECT id FROM (SELECT id, created_at, row_number() OVER \
             (PARTITION BY repo ORDER BY created_at DESC, id DESC) AS nth FROM ci_agent.reviews) \
             AS numbered WHERE nth > $2::bigint \
             OR created_at < now() - make_interval(days => $3::int))";
        let keep = retention.keep.map(i64::from);
        let days = retention.days.map(|days| i32::try_from(days).unwrap_or(i32::MAX));
        self.changed(doing::PRUNE, query, &[&repo, &keep, &days])
    }

    fn rename(&mut self, id: i64, repo: &str) -> Result<(), HistoryError> {
        let query = "UPDATE ci_agent.reviews SET repo = $1 WHERE id::bigint = $2";
        self.changed(doing::RENAME, query, &[&repo, &id]).map(drop)
    }

    fn delete(&mut self, id: i64) -> Result<bool, HistoryError> {
        let query = "DELETE FROM ci_agent.reviews WHERE id::bigint = $1";
        Ok(self.changed(doing::DELETE, query, &[&id])? > 0)
    }

    fn record_verdict(&mut self, record: &VerdictRecord) -> Result<(), HistoryError> {
        let query = "INSERT INTO ci_agent.verdicts (repo, issue, lines, verdict, author, reason, \
             agent, model, category, title, file) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";
        let row = record.row();
        let values: Vec<&(dyn ToSql + Sync)> =
            row.iter().map(|value| value as &(dyn ToSql + Sync)).collect();
        self.changed(doing::JUDGE, query, &values).map(drop)
    }

    fn verdicts(&mut self, repo: Option<&str>) -> Result<Vec<VerdictRow>, HistoryError> {
        let query = "SELECT repo, issue, lines, verdict, author, reason, agent, model, category, \
             title, file, \
             to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"') \
             FROM ci_agent.verdicts WHERE $1::text IS NULL OR repo = $1 ORDER BY id DESC";
        let values: Values<'_> = &[&repo];
        let rows = in_time(&self.runtime, doing::READ, self.client.query(query, values))?;
        let words = |row: &tokio_postgres::Row| -> VerdictRow {
            std::array::from_fn(|index| row.get(index))
        };
        Ok(rows.iter().map(words).collect())
    }
}

fn entry(row: &tokio_postgres::Row) -> Entry {
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
        agent: row.get(11),
        model: row.get(12),
        input_tokens: row.get(13),
        output_tokens: row.get(14),
        usd: row.get(15),
    }
}

fn in_time<T>(
    runtime: &Runtime,
    what: &'static str,
    call: impl Future<Output = Result<T, tokio_postgres::Error>>,
) -> Result<T, HistoryError> {
    let limited = async { tokio::time::timeout(PATIENCE, call).await };
    let ended = runtime.block_on(limited).map_err(|_| HistoryError::TimedOut)?;
    ended.map_err(|error| database(what, &explained(&error)))
}

/// The error itself says only "db error" or "error connecting to server"; its cause has the words.
fn explained(error: &tokio_postgres::Error) -> String {
    match error.source() {
        Some(cause) => cause.to_string(),
        None => error.to_string(),
    }
}
