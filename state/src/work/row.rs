use async_recursion::async_recursion as boxed;
use data_model::{BrandSlug, RunId, StoreHost, Timestamp};
use serde::Serialize;

use crate::database::{State, values};
use crate::error::StateError;

pub(super) const DAMAGED: StateError = StateError::Damaged {
    what: "store in the queue",
};

data_model::named! {
    /// The stage of a store in a run.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum WorkState {
        /// The store waits for a worker.
        Queued = "queued",
        /// A worker has the store, or was lost with it.
        Leased = "leased",
        /// The worker has finished; the result waits for the committer.
        Staged = "staged",
        /// The committer has processed the result.
        Done = "done",
        /// All attempts failed.
        Dead = "dead",
    }
}

impl WorkState {
    fn parse(text: &str) -> Result<Self, StateError> {
        Self::named(text).ok_or(DAMAGED)
    }
}

/// A run whose stores are in the queue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WorkRun {
    /// Id of the run.
    pub run: RunId,
    /// True if stores are read again even if they are unchanged.
    pub force: bool,
    /// Readable name of who requested the run.
    pub requested_by: String,
    /// Time of the request.
    pub created_at: Timestamp,
}

/// A store of a run, as it is listed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WorkItem {
    /// Id of the run.
    pub run: RunId,
    /// Host of the store.
    pub store: StoreHost,
    /// Slug of the store's brand.
    pub slug: BrandSlug,
    /// Current stage of the store.
    pub state: WorkState,
    /// Priority: higher priorities are taken first.
    pub priority: i64,
    /// Number of attempts.
    pub attempts: u32,
    /// Time from which the store may be taken.
    pub available_at: Timestamp,
    /// Time of the last change of stage.
    pub changed_at: Timestamp,
    /// Name of the worker that has the store.
    pub holder: Option<String>,
    /// End of the lease, unless the worker renews it.
    pub lease_until: Option<Timestamp>,
}

/// A store whose attempts all failed. Only an operator can retry the store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DeadLetter {
    /// Id of the run.
    pub run: RunId,
    /// Host of the store.
    pub store: StoreHost,
    /// Slug of the store's brand.
    pub slug: BrandSlug,
    /// Number of attempts.
    pub attempts: u32,
    /// Time since which the store is dead.
    pub since: Timestamp,
    /// The error of the last attempt.
    pub reason: String,
}

/// Statistics of the queue.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct WorkCounts {
    /// Number of stores that wait for a worker.
    pub queued: u64,
    /// Number of stores that a worker has.
    pub leased: u64,
    /// Number of leased stores whose lease has ended.
    pub lost: u64,
    /// Number of stores that wait for the committer.
    pub staged: u64,
    /// Number of dead letters.
    pub dead: u64,
    /// Number of open runs.
    pub runs: u64,
    /// Time at which the longest waiting store was put into the queue. `None` if no store waits.
    pub oldest_at: Option<Timestamp>,
}

pub(super) type ItemRow = (String, String, String, String, i64, i64, i64, i64, Option<String>, i64);

fn item(row: ItemRow) -> Result<WorkItem, StateError> {
    let (run, store, slug, state, priority, attempts, available_at, changed_at, holder, until) = row;
    let state = WorkState::parse(&state)?;
    let holder = holder.filter(|_| state == WorkState::Leased);
    Ok(WorkItem {
        run: run.parse().map_err(|_| DAMAGED)?,
        store: store.parse().map_err(|_| DAMAGED)?,
        slug: slug.parse().map_err(|_| DAMAGED)?,
        state,
        priority,
        attempts: u32::try_from(attempts).map_err(|_| DAMAGED)?,
        available_at: Timestamp::from_micros(available_at),
        changed_at: Timestamp::from_micros(changed_at),
        lease_until: holder.as_ref().map(|_| Timestamp::from_micros(until)),
        holder,
    })
}

impl State {
    /// Returns at most `limit` items of the queue that are not done, in the order in which they are taken.
    #[boxed]
    pub async fn work_items(&self, limit: u32) -> Result<Vec<WorkItem>, StateError> {
        let sql = "SELECT i.run, i.store, i.slug, i.state, i.priority, i.attempts, i.available_at, i.changed_at, \
                   l.holder, l.lease_until FROM work_items i JOIN work_leases l ON l.name = i.store \
                   WHERE i.state IN ('queued', 'leased', 'staged') \
                   ORDER BY i.priority DESC, i.available_at, i.store, i.run LIMIT $1";
        let rows: Vec<ItemRow> = self.rows(sql, values![limit]).await?;
        rows.into_iter().map(item).collect()
    }

    /// Returns the open runs, oldest first.
    #[boxed]
    pub async fn open_work_runs(&self) -> Result<Vec<WorkRun>, StateError> {
        let sql = "SELECT run, force, requested_by, created_at FROM work_runs WHERE closed_at IS NULL \
                   ORDER BY created_at, run";
        let rows: Vec<(String, i64, String, i64)> = self.rows(sql, vec![]).await?;
        let read = |(run, force, requested_by, created_at): (String, i64, String, i64)| {
            Ok(WorkRun {
                run: run.parse().map_err(|_| DAMAGED)?,
                force: force != 0,
                requested_by,
                created_at: Timestamp::from_micros(created_at),
            })
        };
        rows.into_iter().map(read).collect()
    }

    /// Returns statistics of the queue.
    #[boxed]
    pub async fn work_counts(&self, now: Timestamp) -> Result<WorkCounts, StateError> {
        let sql = "SELECT i.state, COUNT(*), CAST(SUM(CASE WHEN l.lease_until <= $1 THEN 1 ELSE 0 END) AS BIGINT), \
                   MIN(i.enqueued_at) FROM work_items i JOIN work_leases l ON l.name = i.store \
                   WHERE i.state <> 'done' GROUP BY i.state";
        let rows: Vec<(String, i64, i64, i64)> = self.rows(sql, values![now]).await?;
        let runs: Vec<(i64,)> = self
            .rows("SELECT COUNT(*) FROM work_runs WHERE closed_at IS NULL", vec![])
            .await?;
        let count = |number: i64| u64::try_from(number).unwrap_or(0);
        let mut counts = WorkCounts {
            runs: runs.first().map_or(0, |(runs,)| count(*runs)),
            ..WorkCounts::default()
        };
        let mut oldest: Option<i64> = None;
        for (state, items, over, since) in rows {
            let state = WorkState::parse(&state)?;
            match state {
                WorkState::Queued => counts.queued = count(items),
                WorkState::Leased => (counts.leased, counts.lost) = (count(items), count(over)),
                WorkState::Staged => counts.staged = count(items),
                WorkState::Dead => counts.dead = count(items),
                WorkState::Done => {}
            }
            if state != WorkState::Dead {
                oldest = Some(oldest.map_or(since, |oldest| oldest.min(since)));
            }
        }
        counts.oldest_at = oldest.map(Timestamp::from_micros);
        Ok(counts)
    }
}
