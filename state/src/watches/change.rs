use async_recursion::async_recursion as boxed;
use data_model::Timestamp;

use super::row::{WatchCells, WatchCreation, WatchRow, values, watch, watch_columns};
use crate::database::{State, WriteTransaction, values};
use crate::error::StateError;

async fn find(writing: &mut WriteTransaction, caller: &str, id: &str) -> Result<Option<WatchRow>, StateError> {
    let sql = concat!(
        "SELECT ",
        watch_columns!(),
        " FROM watches WHERE caller = $1 AND id = $2"
    );
    let found: Option<WatchCells> = writing.row(sql, values![caller, id]).await?;
    Ok(found.map(watch))
}

impl State {
    /// Stores a watch, unless the caller has `watches_max` already or the id exists. The limit also holds for
    /// concurrent calls.
    ///
    /// # Errors
    /// [`StateError`]. The call may be repeated.
    #[boxed]
    pub async fn create_watch(&self, row: &WatchRow, watches_max: u32) -> Result<WatchCreation, StateError> {
        let mut writing = self.begin().await?;
        // This update locks the row, which serialises creations by one caller.
        writing.execute("UPDATE key_revision SET value = value", vec![]).await?;
        if let Some(existing) = find(&mut writing, &row.caller, &row.id).await? {
            return Ok(WatchCreation::Existing(Box::new(existing)));
        }
        let sql = "SELECT COUNT(*) FROM watches WHERE caller = $1";
        let has: Option<(i64,)> = writing.row(sql, values![&row.caller]).await?;
        if has.is_some_and(|(has,)| has >= i64::from(watches_max)) {
            return Ok(WatchCreation::TooMany);
        }
        let sql = concat!(
            "INSERT INTO watches (",
            watch_columns!(),
            ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"
        );
        writing.execute(sql, values(row)).await?;
        writing.commit().await?;
        Ok(WatchCreation::Created)
    }

    /// Returns the watches of a caller, oldest first.
    #[boxed]
    pub async fn watches(&self, caller: &str) -> Result<Vec<WatchRow>, StateError> {
        let sql = concat!(
            "SELECT ",
            watch_columns!(),
            " FROM watches WHERE caller = $1 ORDER BY created_at, id"
        );
        let rows: Vec<WatchCells> = self.rows(sql, values![caller]).await?;
        Ok(rows.into_iter().map(watch).collect())
    }

    /// Returns a caller's watch with this id.
    #[boxed]
    pub async fn watch(&self, caller: &str, id: &str) -> Result<Option<WatchRow>, StateError> {
        let sql = concat!(
            "SELECT ",
            watch_columns!(),
            " FROM watches WHERE caller = $1 AND id = $2"
        );
        let rows: Vec<WatchCells> = self.rows(sql, values![caller, id]).await?;
        Ok(rows.into_iter().next().map(watch))
    }

    /// Pauses or resumes a caller's watch. Returns `false` if there is no such watch.
    ///
    /// # Errors
    /// [`StateError`]. The call may be repeated.
    #[boxed]
    pub async fn pause_watch(&self, caller: &str, id: &str, paused_at: Option<Timestamp>) -> Result<bool, StateError> {
        let sql = "UPDATE watches SET paused_at = $3 WHERE caller = $1 AND id = $2";
        let values = values![caller, id, paused_at];
        let mut writing = self.begin().await?;
        let changed = writing.execute(sql, values).await?;
        writing.commit().await?;
        Ok(changed == 1)
    }

    /// Replaces the target of a caller's watch, unless the target changed since it was read.
    ///
    /// # Errors
    /// [`StateError`]. The call may be repeated.
    #[boxed]
    pub async fn replace_watch_target(&self, read: &WatchRow, target: Vec<u8>) -> Result<bool, StateError> {
        let sql = "UPDATE watches SET target = $3 WHERE caller = $1 AND id = $2 AND target = $4";
        let values = values![&read.caller, &read.id, target, read.target.clone()];
        let mut writing = self.begin().await?;
        let changed = writing.execute(sql, values).await?;
        writing.commit().await?;
        Ok(changed == 1)
    }

    /// Deletes a caller's watch with its events, and returns the watch.
    ///
    /// # Errors
    /// [`StateError`]. The call may be repeated.
    #[boxed]
    pub async fn delete_watch(&self, caller: &str, id: &str) -> Result<Option<WatchRow>, StateError> {
        let mut writing = self.begin().await?;
        let Some(found) = find(&mut writing, caller, id).await? else {
            return Ok(None);
        };
        let of_watch = || values![id];
        writing.execute("DELETE FROM watches WHERE id = $1", of_watch()).await?;
        writing
            .execute("DELETE FROM watch_events WHERE watch = $1", of_watch())
            .await?;
        writing.commit().await?;
        Ok(Some(found))
    }
}
