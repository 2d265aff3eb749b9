use async_recursion::async_recursion as boxed;
use data_model::Timestamp;

use super::row::{NewWatchEvent, WatchCells, WatchRow, watch, watch_columns};
use crate::database::{State, WriteTransaction, values};
use crate::error::StateError;

/// A new reading of a watch, with the resulting events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgedWatch {
    /// Id of the watch.
    pub watch: String,
    /// Time of the reading that the new one was compared with.
    pub before_at: Timestamp,
    /// Time of the new reading.
    pub seen_at: Timestamp,
    /// The new reading.
    pub seen: String,
    /// The resulting events. An event whose id exists already is not stored again.
    pub events: Vec<NewWatchEvent>,
}

async fn add_event(writing: &mut WriteTransaction, event: &NewWatchEvent, now: Timestamp) -> Result<bool, StateError> {
    // A watch deleted meanwhile gets no events.
    let sql = "INSERT INTO watch_events (id, watch, body, state, attempts, created_at, due_at) \
               SELECT $1, id, $3, 'waiting', 0, $4, $4 FROM watches WHERE id = $2 ON CONFLICT (id) DO NOTHING";
    let values = values![&event.id, &event.watch, &event.body, now];
    Ok(writing.execute(sql, values).await? == 1)
}

impl State {
    /// Returns watches that are not paused, sorted by id, starting after the given id.
    #[boxed]
    pub async fn active_watches(&self, after: &str, limit: u32) -> Result<Vec<WatchRow>, StateError> {
        let sql = concat!(
            "SELECT ",
            watch_columns!(),
            " FROM watches WHERE id > $1 AND paused_at IS NULL ORDER BY id LIMIT $2"
        );
        let values = values![after, limit];
        let rows: Vec<WatchCells> = self.rows(sql, values).await?;
        Ok(rows.into_iter().map(watch).collect())
    }

    /// Returns the watches of a product that are not paused, up to a limit.
    #[boxed]
    pub async fn watches_of_product(&self, product: &str, limit: u32) -> Result<Vec<WatchRow>, StateError> {
        let sql = concat!(
            "SELECT ",
            watch_columns!(),
            " FROM watches WHERE product = $1 AND paused_at IS NULL ORDER BY id LIMIT $2"
        );
        let values = values![product, limit];
        let rows: Vec<WatchCells> = self.rows(sql, values).await?;
        Ok(rows.into_iter().map(watch).collect())
    }

    /// Stores readings with their events, each reading atomically. A reading is skipped if another server stored a
    /// newer one of the same watch. Returns the number of new events.
    ///
    /// # Errors
    /// [`StateError`]. The call may be repeated.
    #[boxed]
    pub async fn note_judged_watches(&self, judged: &[JudgedWatch], now: Timestamp) -> Result<u64, StateError> {
        // A fixed order prevents deadlocks between two servers.
        let mut judged: Vec<&JudgedWatch> = judged.iter().collect();
        judged.sort_unstable_by(|one, other| one.watch.cmp(&other.watch));
        let mut writing = self.begin().await?;
        let mut added = 0;
        for one in judged {
            let sql = "UPDATE watches SET seen_at = $2, seen = $3 WHERE id = $1 AND seen_at = $4 AND paused_at IS NULL";
            let values = values![&one.watch, one.seen_at, &one.seen, one.before_at];
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

    /// Stores an event that does not come from a reading. Returns `false` if its id exists already, or the watch is
    /// deleted.
    ///
    /// # Errors
    /// [`StateError`]. The call may be repeated.
    #[boxed]
    pub async fn add_watch_event(&self, event: &NewWatchEvent, now: Timestamp) -> Result<bool, StateError> {
        let mut writing = self.begin().await?;
        let is_new = add_event(&mut writing, event, now).await?;
        writing.commit().await?;
        Ok(is_new)
    }
}
