use std::collections::BTreeSet;

use async_recursion::async_recursion as boxed;
use data_model::{BrandSlug, RunId, StoreHost, Timestamp};

use super::RUNS_KEPT;
use super::lease::WorkLease;
use super::row::DAMAGED;
use crate::database::{State, WriteTransaction, values};
use crate::error::StateError;

/// A store whose worker has finished.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct StagedWork {
    /// Host of the store.
    pub store: StoreHost,
    /// Slug of the store's brand.
    pub slug: BrandSlug,
    /// Fence of the worker that staged the result.
    pub fence: i64,
    /// True if the lake already has the result of a later worker.
    pub is_outdated: bool,
    /// Reason for which the store becomes a dead letter. `None` if it does not.
    pub letter: Option<String>,
    /// Time of staging, by the clock of the worker.
    pub staged_at: Timestamp,
}

type Row = (String, String, i64, i64, Option<String>, i64);

/// Returns true if the committer still has its lease. The locked row keeps this true until the transaction ends.
async fn is_held(writing: &mut WriteTransaction, committer: &WorkLease) -> Result<bool, StateError> {
    let sql = "UPDATE work_leases SET folded = folded WHERE name = $1 AND fence = $2 AND holder IS NOT NULL";
    Ok(writing.execute(sql, committer.values()).await? == 1)
}

impl State {
    /// Returns at most `limit` staged stores of a run, in the order of staging.
    #[boxed]
    pub async fn staged_work(&self, run: &RunId, limit: u32) -> Result<Vec<StagedWork>, StateError> {
        let sql = "SELECT i.store, i.slug, i.fence, CAST(CASE WHEN l.folded > i.fence THEN 1 ELSE 0 END AS BIGINT), i.letter, \
                   i.changed_at FROM work_items i JOIN work_leases l ON l.name = i.store WHERE i.run = $1 AND i.state = 'staged' \
                   ORDER BY i.changed_at, i.store LIMIT $2";
        let values = values![run.as_str(), limit];
        let rows: Vec<Row> = self.rows(sql, values).await?;
        let read = |(store, slug, fence, outdated, letter, staged_at): Row| {
            Ok(StagedWork {
                store: store.parse().map_err(|_| DAMAGED)?,
                slug: slug.parse().map_err(|_| DAMAGED)?,
                fence,
                is_outdated: outdated != 0,
                letter,
                staged_at: Timestamp::from_micros(staged_at),
            })
        };
        rows.into_iter().map(read).collect()
    }

    /// Returns the number of stores of a run that no worker has finished.
    #[boxed]
    pub async fn work_left(&self, run: &RunId) -> Result<u64, StateError> {
        let sql = "SELECT COUNT(*) FROM work_items WHERE run = $1 AND state IN ('queued', 'leased')";
        let rows: Vec<(i64,)> = self.rows(sql, values![run.as_str()]).await?;
        Ok(rows.first().map_or(0, |(left,)| u64::try_from(*left).unwrap_or(0)))
    }

    /// Marks staged stores as committed: done, or dead if they have a letter. Returns `false` and changes nothing if
    /// another process is the committer by now.
    #[boxed]
    pub async fn fold_work(
        &self,
        run: &RunId,
        staged: &[StagedWork],
        committer: &WorkLease,
        now: Timestamp,
    ) -> Result<bool, StateError> {
        let mut writing = self.begin().await?;
        if !is_held(&mut writing, committer).await? {
            return Ok(false);
        }
        // All code locks stores in this order, which prevents deadlocks.
        for one in staged.iter().collect::<BTreeSet<_>>() {
            let sql = "UPDATE work_leases SET folded = CASE WHEN folded < $2 THEN $2 ELSE folded END WHERE name = $1";
            let values = values![one.store.as_str(), one.fence];
            writing.execute(sql, values).await?;
            // A store has at most one dead letter, the latest.
            let sql = "DELETE FROM work_items WHERE store = $1 AND state = 'dead' AND run <> $2";
            let values = values![one.store.as_str(), run.as_str()];
            writing.execute(sql, values).await?;
            let sql = "UPDATE work_items SET state = CASE WHEN letter IS NULL THEN 'done' ELSE 'dead' END, changed_at = $4 \
                       WHERE run = $1 AND store = $2 AND fence = $3 AND state = 'staged'";
            let values = values![run.as_str(), one.store.as_str(), one.fence, now];
            writing.execute(sql, values).await?;
        }
        writing.commit().await?;
        Ok(true)
    }

    /// Returns a store to the queue because its staged result was lost. Returns `false` as [`State::fold_work`] does.
    #[boxed]
    pub async fn unstage_work(
        &self,
        run: &RunId,
        staged: &StagedWork,
        committer: &WorkLease,
        now: Timestamp,
    ) -> Result<bool, StateError> {
        let mut writing = self.begin().await?;
        if !is_held(&mut writing, committer).await? {
            return Ok(false);
        }
        let sql = "UPDATE work_items SET state = 'queued', available_at = $4, changed_at = $4 \
                   WHERE run = $1 AND store = $2 AND fence = $3 AND state = 'staged'";
        let values = values![run.as_str(), staged.store.as_str(), staged.fence, now];
        writing.execute(sql, values).await?;
        writing.commit().await?;
        Ok(true)
    }

    /// Closes a run without remaining work. Returns `false` if work remains, or another process is the committer by
    /// now.
    #[boxed]
    pub async fn close_work_run(&self, run: &RunId, committer: &WorkLease, now: Timestamp) -> Result<bool, StateError> {
        let mut writing = self.begin().await?;
        if !is_held(&mut writing, committer).await? {
            return Ok(false);
        }
        let sql = "UPDATE work_runs SET closed_at = $2 WHERE run = $1 AND closed_at IS NULL AND NOT EXISTS \
                   (SELECT 1 FROM work_items WHERE run = $1 AND state IN ('queued', 'leased', 'staged'))";
        let values = values![run.as_str(), now];
        if writing.execute(sql, values).await? != 1 {
            return Ok(false);
        }
        let sql = "DELETE FROM work_items WHERE run = $1 AND state = 'done'";
        writing.execute(sql, values![run.as_str()]).await?;
        let sql = "DELETE FROM work_runs WHERE closed_at IS NOT NULL AND run NOT IN \
                   (SELECT run FROM work_runs WHERE closed_at IS NOT NULL ORDER BY closed_at DESC, run LIMIT $1)";
        writing.execute(sql, values![RUNS_KEPT]).await?;
        writing.commit().await?;
        Ok(true)
    }
}
