//! Leases that do not belong to an item of the queue: the committer's lease, and leases of processes that query a store
//! outside of all queue runs.

use std::time::Duration;

use async_recursion::async_recursion as boxed;
use data_model::{StoreHost, Timestamp};

use super::COMMITTER;
use super::lease::{LEASE_MS_MAX, WorkLease, lease_end};
use crate::database::{State, WriteTransaction, values};
use crate::error::StateError;

/// The result of a request for a store's lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreRight {
    /// The caller has the lease.
    Given(WorkLease),
    /// Another process has the lease on the store, or a worker's result for the store waits for the committer.
    AtWork {
        /// Readable name of the holder. `None` if there is no holder.
        holder: Option<String>,
    },
}

async fn take(
    writing: &mut WriteTransaction,
    name: &str,
    holder: &str,
    lease: Duration,
    now: Timestamp,
) -> Result<Option<WorkLease>, StateError> {
    let sql = "INSERT INTO work_leases (name, fence, folded, lease_until) VALUES ($1, 0, 0, 0) ON CONFLICT DO NOTHING";
    writing.execute(sql, values![name]).await?;
    let sql = "UPDATE work_leases SET fence = fence + 1, holder = $2, lease_until = $3 \
               WHERE name = $1 AND (lease_until <= $4 OR lease_until > $5) RETURNING fence";
    // A lease that ends too late is taken over; the fence stops its holder from changing anything.
    let latest = now.latest_believed(LEASE_MS_MAX);
    let values = values![name, holder, lease_end(now, lease), now, latest];
    let row: Option<(i64,)> = writing.row(sql, values).await?;
    let name = name.to_owned();
    Ok(row.map(|(fence,)| WorkLease { name, fence }))
}

impl State {
    /// Takes the committer's lease. The committer writes staged results to the lake. Returns `None` if another process
    /// has the lease.
    #[boxed]
    pub async fn take_committer(
        &self,
        holder: &str,
        lease: Duration,
        now: Timestamp,
    ) -> Result<Option<WorkLease>, StateError> {
        let mut writing = self.begin().await?;
        let taken = take(&mut writing, COMMITTER, holder, lease, now).await?;
        writing.commit().await?;
        Ok(taken)
    }

    /// Gives back the lease of the committer.
    #[boxed]
    pub async fn give_back_committer(&self, lease: &WorkLease) -> Result<bool, StateError> {
        self.give_back(lease).await
    }

    /// Raises the committer's fence to `newest`, the fence in the lake. The lake's fence is higher if the state was
    /// restored from a backup that is older than the lake. The next lease gets a higher fence. Returns `false` and
    /// changes nothing if another process is the committer by now.
    #[boxed]
    pub async fn raise_committer(&self, lease: &WorkLease, newest: i64) -> Result<bool, StateError> {
        let sql = "UPDATE work_leases SET fence = $3, lease_until = 0, holder = NULL \
                   WHERE name = $1 AND fence = $2 AND holder IS NOT NULL";
        self.changed(sql, values![&lease.name, lease.fence, newest.max(lease.fence)])
            .await
    }

    /// Takes the lease of a store for a crawl outside of all queue runs. No worker gets the store until the lease is
    /// given back or expires. [`State::renew_work`] renews the lease for `lease`.
    #[boxed]
    pub async fn take_store(
        &self,
        store: &StoreHost,
        holder: &str,
        lease: Duration,
        now: Timestamp,
    ) -> Result<StoreRight, StateError> {
        let mut writing = self.begin().await?;
        // A staged result is older than the results of this crawl, and must not be committed after them. The check for
        // staged results comes after the lease, because taking the lease waits for a worker that stages its result and
        // returns its lease.
        let given = take(&mut writing, store.as_str(), holder, lease, now).await?;
        let sql = "SELECT store FROM work_items WHERE store = $1 AND state = 'staged' LIMIT 1";
        let staged: Option<(String,)> = writing.row(sql, values![store.as_str()]).await?;
        if staged.is_some() {
            // The transaction is not committed, so the lease stays free.
            return Ok(StoreRight::AtWork { holder: None });
        }
        if let Some(lease) = given {
            writing.commit().await?;
            return Ok(StoreRight::Given(lease));
        }
        let sql = "SELECT holder FROM work_leases WHERE name = $1";
        let holder: Option<(Option<String>,)> = writing.row(sql, values![store.as_str()]).await?;
        Ok(StoreRight::AtWork {
            holder: holder.and_then(|(holder,)| holder),
        })
    }

    /// Gives back a lease of [`State::take_store`]. Returns `false` if another process has the lease by now.
    #[boxed]
    pub async fn give_back_store(&self, lease: &WorkLease) -> Result<bool, StateError> {
        self.give_back(lease).await
    }

    async fn give_back(&self, lease: &WorkLease) -> Result<bool, StateError> {
        let sql = "UPDATE work_leases SET lease_until = 0, holder = NULL WHERE name = $1 AND fence = $2";
        self.changed(sql, lease.values()).await
    }
}
