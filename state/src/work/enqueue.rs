use std::collections::BTreeSet;

use async_recursion::async_recursion as boxed;
use data_model::{BrandSlug, RunId, StoreHost, Timestamp};

use super::{WORK_RUNS_MAX, WORK_STORES_MAX};
use crate::database::{State, WriteTransaction, values};
use crate::error::StateError;

/// A run whose stores are put into the queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewWorkRun {
    /// Id of the run.
    pub run: RunId,
    /// True if stores are read again even if they are unchanged.
    pub force: bool,
    /// Priority: higher priorities are taken first.
    pub priority: i64,
    /// Readable name of who requested the run.
    pub by: String,
}

/// A store to refresh.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct WorkStore {
    /// Host of the store.
    pub store: StoreHost,
    /// Slug of the store's brand.
    pub slug: BrandSlug,
}

/// The result of adding stores to the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EnqueueOutcome {
    /// Number of added stores. Other stores were in the queue already.
    Added(u64),
    /// The run has ended, and nothing was added.
    Over,
    /// There are too many stores or too many open runs, and nothing was added.
    Full,
}

const AT_ONCE: usize = 500;

impl State {
    /// Puts stores into the queue. A store that is in this run already is not changed. A failed call may be repeated.
    #[boxed]
    pub async fn enqueue_work(
        &self,
        run: &NewWorkRun,
        stores: &[WorkStore],
        now: Timestamp,
    ) -> Result<EnqueueOutcome, StateError> {
        if stores.len() > WORK_STORES_MAX {
            return Ok(EnqueueOutcome::Full);
        }
        // Two calls that write the stores in this order cannot deadlock.
        let stores: Vec<&WorkStore> = stores.iter().collect::<BTreeSet<_>>().into_iter().collect();
        let mut writing = self.begin().await?;
        match open(&mut writing, run, now).await? {
            EnqueueOutcome::Added(_) => writing.commit().await?,
            refused => return Ok(refused),
        }
        let mut added = 0;
        for some in stores.chunks(AT_ONCE) {
            let mut writing = self.begin().await?;
            for store in some {
                added += add(&mut writing, run, store, now).await?;
            }
            writing.commit().await?;
        }
        Ok(EnqueueOutcome::Added(added))
    }

    /// Returns the stores in the queue that are not done yet, over all runs.
    #[boxed]
    pub async fn stores_at_work(&self) -> Result<BTreeSet<StoreHost>, StateError> {
        let sql = "SELECT DISTINCT store FROM work_items WHERE state IN ('queued', 'leased', 'staged')";
        let rows: Vec<(String,)> = self.rows(sql, vec![]).await?;
        let parsed = rows.into_iter().map(|(store,)| store.parse());
        parsed.collect::<Result<_, _>>().map_err(|_| super::row::DAMAGED)
    }
}

async fn open(writing: &mut WriteTransaction, run: &NewWorkRun, now: Timestamp) -> Result<EnqueueOutcome, StateError> {
    let sql = "SELECT run, CASE WHEN closed_at IS NULL THEN 1 ELSE 0 END FROM work_runs \
               WHERE run = $1 OR closed_at IS NULL";
    let known: Vec<(String, i32)> = writing.rows(sql, values![run.run.as_str()]).await?;
    match known.iter().find(|(name, _)| name == run.run.as_str()) {
        Some((_, 0)) => return Ok(EnqueueOutcome::Over),
        Some(_) => return Ok(EnqueueOutcome::Added(0)),
        None if known.len() >= WORK_RUNS_MAX as usize => return Ok(EnqueueOutcome::Full),
        None => {}
    }
    let sql = "INSERT INTO work_runs (run, force, requested_by, created_at) VALUES ($1, $2, $3, $4) \
               ON CONFLICT DO NOTHING";
    let values = values![run.run.as_str(), run.force, &run.by, now];
    writing.execute(sql, values).await?;
    Ok(EnqueueOutcome::Added(0))
}

async fn add(
    writing: &mut WriteTransaction,
    run: &NewWorkRun,
    store: &WorkStore,
    now: Timestamp,
) -> Result<u64, StateError> {
    let sql = "INSERT INTO work_leases (name, fence, folded, lease_until) VALUES ($1, 0, 0, 0) ON CONFLICT DO NOTHING";
    writing.execute(sql, values![store.store.as_str()]).await?;
    let sql = "INSERT INTO work_items (run, store, slug, priority, state, attempts, available_at, enqueued_at, changed_at, \
               fence) VALUES ($1, $2, $3, $4, 'queued', 0, $5, $5, $5, 0) ON CONFLICT DO NOTHING";
    let values = values![
        run.run.as_str(),
        store.store.as_str(),
        store.slug.as_str(),
        run.priority,
        now
    ];
    writing.execute(sql, values).await
}
