use std::collections::BTreeMap;

use async_recursion::async_recursion as boxed;
use serde::Serialize;
use uuid::Uuid;

use crate::database::{State, values};
use crate::day::Day;
use crate::error::StateError;
use crate::names::KeyId;

/// Days for which batch ids are stored. A batch is sent again within minutes, never after days.
const BATCHES_KEPT_DAYS: i64 = 7;

/// Deletes old usage on the first batch of a day. The newest 400 days with usage stay. Only days with usage count,
/// because a wrong clock may produce any date.
const FORGET: &str = "DELETE FROM usage WHERE NOT EXISTS (SELECT 1 FROM usage WHERE day >= $1) \
                      AND day < (SELECT MIN(day) FROM (SELECT DISTINCT day FROM usage ORDER BY day DESC LIMIT 400) AS kept)";

/// Requests of one key to one route on one day of the market.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageEntry {
    /// Id of the key.
    pub key: KeyId,
    /// Day of the requests.
    pub day: Day,
    /// Pattern of the route, such as `/v1/search`.
    pub route: String,
    /// Number of requests.
    pub requests: u64,
}

/// Requests that a server counted since its last batch. The batch id makes a repeated batch count once.
#[derive(Debug, Clone)]
pub struct UsageBatch {
    id: Uuid,
    entries: Vec<UsageEntry>,
}

/// Counted requests of one key to one route on one day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KeyUsage {
    /// Day, in the market's time zone.
    pub day: Day,
    /// Pattern of the route.
    pub route: String,
    /// Number of requests.
    pub requests: u64,
}

impl UsageBatch {
    /// Creates a batch. Entries with the same key, day and route are summed, and empty ones are left out.
    #[must_use]
    pub fn new(entries: impl IntoIterator<Item = UsageEntry>) -> Self {
        // Two servers that lock the rows in this order cannot deadlock.
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

    /// Returns true if there is nothing to write.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the entries of the batch.
    #[must_use]
    pub fn entries(&self) -> &[UsageEntry] {
        &self.entries
    }
}

impl State {
    /// Adds the requests that a server counted, and records the day of each key's last use. A batch that was written
    /// but not acknowledged counts once.
    ///
    /// # Errors
    /// [`StateError`]. The same batch must then be sent again.
    #[boxed]
    pub async fn add_usage(&self, batch: &UsageBatch) -> Result<(), StateError> {
        let Some(newest) = batch.entries.iter().map(|entry| entry.day).max() else {
            return Ok(());
        };
        let mut writing = self.begin().await?;
        let sql = "INSERT INTO usage_batches (id, day) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING";
        let values = values![batch.id.to_string(), newest.number()];
        if writing.execute(sql, values).await? == 0 {
            return Ok(());
        }
        writing.execute(FORGET, values![newest.number()]).await?;
        let mut last_used: BTreeMap<&KeyId, Day> = BTreeMap::new();
        for entry in &batch.entries {
            let sql = "INSERT INTO usage (key_id, day, route, requests) VALUES ($1, $2, $3, $4) \
                       ON CONFLICT (key_id, day, route) DO UPDATE SET requests = usage.requests + excluded.requests";
            let values = values![
                entry.key.as_str(),
                entry.day.number(),
                &entry.route,
                i64::try_from(entry.requests).unwrap_or(i64::MAX)
            ];
            writing.execute(sql, values).await?;
            let last = last_used.entry(&entry.key).or_insert(entry.day);
            *last = entry.day.max(*last);
        }
        for (key, day) in last_used {
            let sql = "UPDATE keys SET last_used_day = $2 \
                       WHERE id = $1 AND (last_used_day IS NULL OR last_used_day < $2)";
            let values = values![key.as_str(), day.number()];
            writing.execute(sql, values).await?;
        }
        let forgotten = values![newest.plus(-BATCHES_KEPT_DAYS).number()];
        writing
            .execute("DELETE FROM usage_batches WHERE day < $1", forgotten)
            .await?;
        writing.commit().await
    }

    /// Returns the counted requests of a key from `from` to `to`, both included, oldest first.
    #[boxed]
    pub async fn usage_of_key(&self, key: &KeyId, from: Day, to: Day) -> Result<Vec<KeyUsage>, StateError> {
        let sql =
            "SELECT day, route, requests FROM usage WHERE key_id = $1 AND day BETWEEN $2 AND $3 ORDER BY day, route";
        let values = values![key.as_str(), from.number(), to.number()];
        let rows: Vec<(i64, String, i64)> = self.rows(sql, values).await?;
        let usage = rows.into_iter().map(|(day, route, requests)| KeyUsage {
            day: Day::from_number(day),
            route,
            requests: requests.unsigned_abs(),
        });
        Ok(usage.collect())
    }

    /// Returns the requests of each key on one day, for a server that starts to count during that day.
    #[boxed]
    pub async fn usage_on(&self, day: Day) -> Result<Vec<(KeyId, u64)>, StateError> {
        let sql =
            "SELECT key_id, CAST(SUM(requests) AS BIGINT) FROM usage WHERE day = $1 GROUP BY key_id ORDER BY key_id";
        let rows: Vec<(String, i64)> = self.rows(sql, values![day.number()]).await?;
        let read = |(id, requests): (String, i64)| {
            let id = id.parse().map_err(|_| StateError::Damaged { what: "key id" })?;
            Ok((id, requests.unsigned_abs()))
        };
        rows.into_iter().map(read).collect()
    }
}
