use async_recursion::async_recursion as boxed;
use data_model::{BrandSlug, Timestamp};

use super::row::{DAMAGED, DeadLetter};
use crate::database::{State, values};
use crate::error::StateError;

type Row = (String, String, String, i64, i64, Option<String>);

fn read((run, store, slug, attempts, since, letter): Row) -> Result<DeadLetter, StateError> {
    Ok(DeadLetter {
        run: run.parse().map_err(|_| DAMAGED)?,
        store: store.parse().map_err(|_| DAMAGED)?,
        slug: slug.parse().map_err(|_| DAMAGED)?,
        attempts: u32::try_from(attempts).map_err(|_| DAMAGED)?,
        since: Timestamp::from_micros(since),
        reason: letter.unwrap_or_default(),
    })
}

impl State {
    /// Returns at most `limit` dead letters, newest first. A store has at most one, from the last run in which it
    /// failed.
    #[boxed]
    pub async fn dead_letters(&self, limit: u32) -> Result<Vec<DeadLetter>, StateError> {
        let sql = "SELECT run, store, slug, attempts, changed_at, letter FROM work_items WHERE state = 'dead' \
                   ORDER BY changed_at DESC, store LIMIT $1";
        let rows: Vec<Row> = self.rows(sql, values![limit]).await?;
        rows.into_iter().map(read).collect()
    }

    /// Removes and returns the dead letters of these brands. The caller may put them into the queue again.
    #[boxed]
    pub async fn drop_dead_letters(&self, slugs: &[BrandSlug]) -> Result<Vec<DeadLetter>, StateError> {
        let mut writing = self.begin().await?;
        let mut dropped = Vec::new();
        for slug in slugs {
            let sql = "DELETE FROM work_items WHERE slug = $1 AND state = 'dead' \
                       RETURNING run, store, slug, attempts, changed_at, letter";
            let rows: Vec<Row> = writing.rows(sql, values![slug.as_str()]).await?;
            for row in rows {
                dropped.push(read(row)?);
            }
        }
        writing.commit().await?;
        Ok(dropped)
    }
}
