use std::collections::BTreeSet;
use std::time::Duration;

use async_recursion::async_recursion as boxed;
use data_model::{BrandSlug, RunId, StoreHost, Timestamp};

use super::lease::{LEASE_MS_MAX, WorkLease, lease_end};
use super::row::DAMAGED;
use super::{COMMITTER, LETTER_CHARS_MAX};
use crate::database::{State, WriteTransaction, values};
use crate::error::StateError;

/// A store that a worker has while its lease lasts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenWork {
    /// The run that requested the store.
    pub run: RunId,
    /// Host of the store. No other worker gets the store meanwhile.
    pub store: StoreHost,
    /// Slug of the store's brand.
    pub slug: BrandSlug,
    /// Fence of the lease, higher than that of every earlier holder.
    pub fence: i64,
    /// Number of attempts, including this one.
    pub attempt: u32,
}

impl TakenWork {
    /// Returns the lease of the store.
    #[must_use]
    pub fn lease(&self) -> WorkLease {
        WorkLease {
            name: self.store.to_string(),
            fence: self.fence,
        }
    }
}

/// Maximum delay of a retry: the longest time for which a store may refuse requests.
const RETRY_MS_MAX: i64 = 24 * 3_600_000;

/// Selects and locks stores in queue order, without those that another worker is about to take.
macro_rules! to_take {
    ($locking:literal) => {
        concat!(
            "SELECT i.run, i.store, i.slug, i.state, i.attempts, i.letter FROM work_items i \
             JOIN work_leases l ON l.name = i.store \
             WHERE i.state IN ('queued', 'leased') AND (i.available_at <= $1 OR i.available_at > $3) \
             AND (l.lease_until <= $1 OR l.lease_until > $4) \
             ORDER BY i.priority DESC, i.available_at, i.store, i.run LIMIT $2",
            $locking
        )
    };
}

type Row = (String, String, String, String, i64, Option<String>);

fn letter(reason: &str) -> String {
    reason.chars().take(LETTER_CHARS_MAX).collect()
}

/// The next state of an item. The update applies only under the fence of its holder.
struct ItemUpdate<'a> {
    run: &'a str,
    store: &'a str,
    fence: i64,
    at: Timestamp,
    letter: Option<String>,
}

impl ItemUpdate<'_> {
    async fn apply(self, writing: &mut WriteTransaction, sql: &'static str) -> Result<u64, StateError> {
        let values = values![self.run, self.store, self.fence, self.at, self.letter];
        writing.execute(sql, values).await
    }
}

impl State {
    /// Takes at most `limit` waiting stores without a lease, and leases them for `lease`. A store with which workers
    /// died `attempts_max` times is not taken again. For such a store, a dead letter with this reason is staged.
    ///
    /// # Errors
    /// [`StateError`]. After [`StateError::Unavailable`], stores may have been taken. Such stores are free again when
    /// the lease ends.
    #[boxed]
    pub async fn take_work(
        &self,
        holder: &str,
        limit: u32,
        lease: Duration,
        attempts_max: u32,
        now: Timestamp,
    ) -> Result<Vec<TakenWork>, StateError> {
        let mut writing = self.begin().await?;
        let sql = match writing {
            #[cfg(feature = "postgres")]
            WriteTransaction::Postgres(_) => to_take!(" FOR UPDATE SKIP LOCKED"),
            // SQLite has only one writer, so no rows need to be skipped.
            WriteTransaction::Sqlite(_) => to_take!(""),
        };
        let values = values![
            now,
            limit,
            now.latest_believed(RETRY_MS_MAX),
            now.latest_believed(LEASE_MS_MAX)
        ];
        let rows: Vec<Row> = writing.rows(sql, values).await?;
        let until = lease_end(now, lease);
        let (mut taken, mut seen) = (Vec::new(), BTreeSet::new());
        for (run, store, slug, state, attempts, last) in rows {
            // Two runs may contain the same store. The second run gets the store when the first is done with it.
            if !seen.insert(store.clone()) {
                continue;
            }
            let sql = "UPDATE work_leases SET fence = fence + 1, holder = $2, lease_until = $3 WHERE name = $1 \
                       RETURNING fence";
            let is_over = state == "leased" && attempts >= i64::from(attempts_max.max(1));
            let (by, end) = if is_over {
                (None, now)
            } else {
                (Some(holder.to_owned()), until)
            };
            let values = values![&store, by, end];
            let Some((fence,)): Option<(i64,)> = writing.row(sql, values).await? else {
                continue;
            };
            let update = |letter| ItemUpdate {
                run: &run,
                store: &store,
                fence,
                at: now,
                letter,
            };
            if is_over {
                let told = last.unwrap_or_else(|| format!("the store's worker was lost {attempts} times in a row"));
                let sql = "UPDATE work_items SET state = 'staged', fence = $3, changed_at = $4, letter = $5 \
                           WHERE run = $1 AND store = $2";
                update(Some(letter(&told))).apply(&mut writing, sql).await?;
                continue;
            }
            let sql = "UPDATE work_items SET state = 'leased', attempts = attempts + 1, fence = $3, changed_at = $4, \
                       letter = $5 WHERE run = $1 AND store = $2";
            update(None).apply(&mut writing, sql).await?;
            taken.push(TakenWork {
                run: run.parse().map_err(|_| DAMAGED)?,
                store: store.parse().map_err(|_| DAMAGED)?,
                slug: slug.parse().map_err(|_| DAMAGED)?,
                fence,
                attempt: u32::try_from(attempts + 1).map_err(|_| DAMAGED)?,
            });
        }
        writing.commit().await?;
        Ok(taken)
    }

    /// Renews these leases, and returns those that another worker took. The caller must stop work on these at once.
    #[boxed]
    pub async fn renew_work(
        &self,
        leases: &[WorkLease],
        lease: Duration,
        now: Timestamp,
    ) -> Result<Vec<WorkLease>, StateError> {
        let until = lease_end(now, lease);
        let mut lost = Vec::new();
        let mut leases: Vec<_> = leases.iter().collect();
        // All code locks leases in this order, the committer's first, which prevents deadlocks.
        leases.sort_unstable_by_key(|lease| (lease.name != COMMITTER, lease.name.as_str()));
        let mut writing = self.begin().await?;
        for lease in leases {
            let sql = "UPDATE work_leases SET lease_until = $3 WHERE name = $1 AND fence = $2 AND holder IS NOT NULL";
            let values = values![&lease.name, lease.fence, until];
            if writing.execute(sql, values).await? == 0 {
                lost.push(lease.clone());
            }
        }
        writing.commit().await?;
        Ok(lost)
    }

    /// Stages a worker's result for the committer and ends the lease. With `letter`, the store becomes dead when the
    /// result is committed. Returns `false` and changes nothing if another worker took the store meanwhile.
    #[boxed]
    pub async fn stage_work(&self, work: &TakenWork, reason: Option<&str>, now: Timestamp) -> Result<bool, StateError> {
        let sql = "UPDATE work_items SET state = 'staged', changed_at = $4, letter = $5 \
                   WHERE run = $1 AND store = $2 AND fence = $3 AND state = 'leased'";
        self.end_lease(work, sql, now, reason.map(letter)).await
    }

    /// Returns a store that could not be refreshed to the queue and ends the lease. The store is due again at `at`.
    /// Returns `false` as [`State::stage_work`] does.
    #[boxed]
    pub async fn retry_work(&self, work: &TakenWork, reason: &str, at: Timestamp) -> Result<bool, StateError> {
        let sql = "UPDATE work_items SET state = 'queued', available_at = $4, changed_at = $4, letter = $5 \
                   WHERE run = $1 AND store = $2 AND fence = $3 AND state = 'leased'";
        self.end_lease(work, sql, at, Some(letter(reason))).await
    }

    /// Returns an unfinished store to the queue for the next worker, without counting an attempt. Returns `false` as
    /// [`State::stage_work`] does.
    #[boxed]
    pub async fn give_back_work(&self, work: &TakenWork, now: Timestamp) -> Result<bool, StateError> {
        let sql = "UPDATE work_items SET state = 'queued', attempts = attempts - 1, changed_at = $4, letter = $5 \
                   WHERE run = $1 AND store = $2 AND fence = $3 AND state = 'leased'";
        self.end_lease(work, sql, now, None).await
    }

    async fn end_lease(
        &self,
        work: &TakenWork,
        sql: &'static str,
        at: Timestamp,
        letter: Option<String>,
    ) -> Result<bool, StateError> {
        let mut writing = self.begin().await?;
        let freed = "UPDATE work_leases SET lease_until = 0, holder = NULL \
                     WHERE name = $1 AND fence = $2 AND holder IS NOT NULL";
        let is_held = writing.execute(freed, work.lease().values()).await? == 1;
        let update = ItemUpdate {
            run: work.run.as_str(),
            store: work.store.as_str(),
            fence: work.fence,
            at,
            letter,
        };
        if !is_held || update.apply(&mut writing, sql).await? != 1 {
            return Ok(false);
        }
        writing.commit().await?;
        Ok(true)
    }
}
