use async_recursion::async_recursion as boxed;
use data_model::Timestamp;

use super::row::{NewWatchEvent, WatchCells, WatchRow, watch, watch_columns};
use crate::database::{State, Value, WriteTransaction};
use crate::error::StateError;

/// A new reading of a watch, and the events that follow from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgedWatch {
    /// The watch.
    pub watch: String,
    /// The moment of the reading that it was judged against.
    pub before_at: Timestamp,
    /// The moment of the reading.
    pub seen_at: Timestamp,
    /// The reading.
    pub seen: String,
    /// The events, each new unless there is one of its id.
    pub events: Vec<NewWatchEvent>,
}

async fn add_event(writing: &mut WriteTransaction, event: &NewWatchEvent, now: Timestamp) -> Result<bool, StateError> {
    // Only for a watch that is there: one that was deleted a moment ago has no events.
    let sql = "INSERT INTO watch_events (id, watch, body, state, attempts, created_at, due_at) \
               SELECT $1, id, $3, 'waiting', 0, $4, $4 FROM watches WHERE id = $2 ON CONFLICT (id) DO NOTHING";
    let values = vec![
        Value::text(&event.id),
        Value::text(&event.watch),
        Value::text(&event.body),
        Value::integer(now.micros()),
    ];
    Ok(writing.execute(sql, values).await? == 1)
}

impl State {
    /// Watches that are not paused, in the order of their ids, after this one.
    ///
    /// # Errors
    /// [`StateError`].
    #[boxed]
    pub async fn active_watches(&self, after: &str, limit: u32) -> Result<Vec<WatchRow>, StateError> {
        let sql = concat!(
            "SELECT ",
            watch_columns!(),
            " FROM watches WHERE id > $1 AND paused_at IS NULL ORDER BY id LIMIT $2"
        );
        let values = vec![Value::text(after), Value::integer(i64::from(limit))];
        let rows: Vec<WatchCells> = self.rows(sql, values).await?;
        Ok(rows.into_iter().map(watch).collect())
    }

    /// Watches of a product that are not paused, so many at most.
    ///
    /// # Errors
    /// [`StateError`].
    #[boxed]
    pub async fn watches_of_product(&self, product: &str, limit: u32) -> Result<Vec<WatchRow>, StateError> {
        let sql = concat!(
            "SELECT ",
            watch_columns!(),
            " FROM watches WHERE product = $1 AND paused_at IS NULL ORDER BY id LIMIT $2"
        );
        let values = vec![Value::text(product), Value::integer(i64::from(limit))];
        let rows: Vec<WatchCells> = self.rows(sql, values).await?;
        Ok(rows.into_iter().map(watch).collect())
    }

    /// Keeps readings with their events, each pair whole or not at all. A watch that somebody else judged meanwhile keeps what
    /// they found. Answers how many events are new.
    ///
    /// # Errors
    /// [`StateError`]; the same call may be made again.
    #[boxed]
    pub async fn note_judged_watches(&self, judged: &[JudgedWatch], now: Timestamp) -> Result<u64, StateError> {
        // Always in one order, so that two servers never wait for each other in a ring.
        let mut judged: Vec<&JudgedWatch> = judged.iter().collect();
        judged.sort_unstable_by(|one, other| one.watch.cmp(&other.watch));
        let mut writing = self.begin().await?;
        let mut added = 0;
        for one in judged {
            let sql = "UPDATE watches SET seen_at = $2, seen = $3 WHERE id = $1 AND seen_at = $4 AND paused_at IS NULL";
            let values = vec![
                Value::text(&one.watch),
                Value::integer(one.seen_at.micros()),
                Value::text(&one.seen),
                Value::integer(one.before_at.micros()),
            ];
            if writing.execute(sql, values).await? == 0 {
                continue;
            }
            for event in &one.events {
                added += u64::from(add_event(&mut writing, event, now).await?);
            }
        }
        writing.commit().await?;
        Ok(added)
    }

    /// Keeps an event that no reading brought. Answers `false` where there is one of its id, or its watch is gone.
    ///
    /// # Errors
    /// [`StateError`]; the same call may be made again.
    #[boxed]
    pub async fn add_watch_event(&self, event: &NewWatchEvent, now: Timestamp) -> Result<bool, StateError> {
        let mut writing = self.begin().await?;
        let is_new = add_event(&mut writing, event, now).await?;
        writing.commit().await?;
        Ok(is_new)
    }
}
