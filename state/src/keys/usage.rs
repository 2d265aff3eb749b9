use std::collections::BTreeMap;

use async_recursion::async_recursion as boxed;
use serde::Serialize;
use uuid::Uuid;

use crate::database::{State, Value};
use crate::day::Day;
use crate::error::StateError;
use crate::names::KeyId;

/// Days for which the ids of batches are remembered: a batch is sent again within minutes, never after days.
const BATCHES_KEPT_DAYS: i64 = 7;

/// On the first batch of a day: usage is kept of the 400 newest days that have any. They are counted, since a clock that is wrong
/// for a minute may name any day.
const FORGET: &str = "DELETE FROM usage WHERE NOT EXISTS (SELECT 1 FROM usage WHERE day >= $1) \
                      AND day < (SELECT MIN(day) FROM (SELECT DISTINCT day FROM usage ORDER BY day DESC LIMIT 400) AS kept)";

/// Requests of one key, on one of the market's days, to one route.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageEntry {
    /// The key.
    pub key: KeyId,
    /// The day.
    pub day: Day,
    /// The route's pattern, such as `/v1/search`.
    pub route: String,
    /// The number of requests.
    pub requests: u64,
}

/// Requests that a server counted since its last batch. The id makes it count once, however often it is sent.
#[derive(Debug, Clone)]
pub struct UsageBatch {
    id: Uuid,
    entries: Vec<UsageEntry>,
}

/// Requests that were counted of one key on one day on one route.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KeyUsage {
    /// The market's day.
    pub day: Day,
    /// The route's pattern.
    pub route: String,
    /// The number of requests.
    pub requests: u64,
}

impl UsageBatch {
    /// A batch of what was counted. Entries of the same key, day and route are added up; empty ones are left out.
    #[must_use]
    pub fn new(entries: impl IntoIterator<Item = UsageEntry>) -> Self {
        // In order, so that two servers that write at the same time take the rows in the same order and never wait for
        // each other in a ring.
        let mut sums: BTreeMap<(KeyId, Day, String), u64> = BTreeMap::new();
        for entry in entries {
            let sum = sums.entry((entry.key, entry.day, entry.route)).or_default();
            *sum = sum.saturating_add(entry.requests);
        }
        let entries = sums.into_iter().filter(|(_, requests)| *requests > 0);
        let entries = entries.map(|((key, day, route), requests)| UsageEntry {
            key,
            day,
            route,
            requests,
        });
        Self {
            id: Uuid::now_v7(),
            entries: entries.collect(),
        }
    }

    /// True where there is nothing to write.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Its entries.
    #[must_use]
    pub fn entries(&self) -> &[UsageEntry] {
        &self.entries
    }
}

impl State {
    /// Adds what a server counted, and notes the day of each key's last use. A batch that was written before, but whose
    /// acknowledgement was lost, changes nothing.
    ///
    /// # Errors
    /// [`StateError`]; send the same batch again.
    #[boxed]
    pub async fn add_usage(&self, batch: &UsageBatch) -> Result<(), StateError> {
        let Some(newest) = batch.entries.iter().map(|entry| entry.day).max() else {
            return Ok(());
        };
        let mut writing = self.begin().await?;
        let sql = "INSERT INTO usage_batches (id, day) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING";
        let values = vec![Value::text(batch.id.to_string()), Value::integer(newest.number())];
        if writing.execute(sql, values).await? == 0 {
            return Ok(());
        }
        writing.execute(FORGET, vec![Value::integer(newest.number())]).await?;
        let mut last_used: BTreeMap<&KeyId, Day> = BTreeMap::new();
        for entry in &batch.entries {
            let sql = "INSERT INTO usage (key_id, day, route, requests) VALUES ($1, $2, $3, $4) \
                       ON CONFLICT (key_id, day, route) DO UPDATE SET requests = usage.requests + excluded.requests";
            let values = vec![
                Value::text(entry.key.as_str()),
                Value::integer(entry.day.number()),
                Value::text(&entry.route),
                Value::integer(i64::try_from(entry.requests).unwrap_or(i64::MAX)),
            ];
            writing.execute(sql, values).await?;
            let last = last_used.entry(&entry.key).or_insert(entry.day);
            *last = entry.day.max(*last);
        }
        for (key, day) in last_used {
            // Once a day and key: a row that says so already is not written again.
            let sql = "UPDATE keys SET last_used_day = $2 \
                       WHERE id = $1 AND (last_used_day IS NULL OR last_used_day < $2)";
            let values = vec![Value::text(key.as_str()), Value::integer(day.number())];
            writing.execute(sql, values).await?;
        }
        let forgotten = Value::integer(newest.plus(-BATCHES_KEPT_DAYS).number());
        writing
            .execute("DELETE FROM usage_batches WHERE day < $1", vec![forgotten])
            .await?;
        writing.commit().await
    }

    /// Requests that were counted of a key from one day to another, both included, oldest first.
    ///
    /// # Errors
    /// [`StateError`].
    #[boxed]
    pub async fn usage_of_key(&self, key: &KeyId, from: Day, to: Day) -> Result<Vec<KeyUsage>, StateError> {
        let sql =
            "SELECT day, route, requests FROM usage WHERE key_id = $1 AND day BETWEEN $2 AND $3 ORDER BY day, route";
        let values = vec![
            Value::text(key.as_str()),
            Value::integer(from.number()),
            Value::integer(to.number()),
        ];
        let rows: Vec<(i64, String, i64)> = self.rows(sql, values).await?;
        let usage = rows.into_iter().map(|(day, route, requests)| KeyUsage {
            day: Day::from_number(day),
            route,
            requests: requests.unsigned_abs(),
        });
        Ok(usage.collect())
    }

    /// Requests of each key on one day, for a server that begins to count in the middle of it.
    ///
    /// # Errors
    /// [`StateError`].
    #[boxed]
    pub async fn usage_on(&self, day: Day) -> Result<Vec<(KeyId, u64)>, StateError> {
        let sql =
            "SELECT key_id, CAST(SUM(requests) AS BIGINT) FROM usage WHERE day = $1 GROUP BY key_id ORDER BY key_id";
        let rows: Vec<(String, i64)> = self.rows(sql, vec![Value::integer(day.number())]).await?;
        let read = |(id, requests): (String, i64)| {
            let id = id.parse().map_err(|_| StateError::Damaged { what: "key id" })?;
            Ok((id, requests.unsigned_abs()))
        };
        rows.into_iter().map(read).collect()
    }
}
