//! Rights that are not taken with an item of the queue: the committer's, and that of whoever asks a store outside of any
//! run of the queue.

use std::time::Duration;

use async_recursion::async_recursion as boxed;
use data_model::{StoreHost, Timestamp};

use super::COMMITTER;
use super::lease::{LEASE_MS_MAX, WorkLease, lease_end};
use crate::database::{State, Value, WriteTransaction};
use crate::error::StateError;

/// The answer to a request for the right to a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreRight {
    /// It is given.
    Given(WorkLease),
    /// Somebody has it, or what a worker found of the store waits for the committer.
    AtWork {
        /// The one who has it, for people to read; `None` where nobody does.
        holder: Option<String>,
    },
}

/// Takes a right of which there is one at a time, if it is free.
async fn take(
    writing: &mut WriteTransaction,
    name: &str,
    holder: &str,
    lease: Duration,
    now: Timestamp,
) -> Result<Option<WorkLease>, StateError> {
    let sql = "INSERT INTO work_leases (name, fence, folded, lease_until) VALUES ($1, 0, 0, 0) ON CONFLICT DO NOTHING";
    writing.execute(sql, vec![Value::text(name)]).await?;
    let sql = "UPDATE work_leases SET fence = fence + 1, holder = $2, lease_until = $3 \
               WHERE name = $1 AND (lease_until <= $4 OR lease_until > $5) RETURNING fence";
    let values = vec![
        Value::text(name),
        Value::text(holder),
        Value::integer(lease_end(now, lease).micros()),
        Value::integer(now.micros()),
        // The fence keeps its holder from changing anything.
        Value::integer(now.latest_believed(LEASE_MS_MAX).micros()),
    ];
    let row: Option<(i64,)> = writing.row(sql, values).await?;
    let name = name.to_owned();
    Ok(row.map(|(fence,)| WorkLease { name, fence }))
}

impl State {
    /// Asks for the right to bring what is staged to the lake. One has it at a time; `None`: somebody else.
    ///
    /// # Errors
    /// [`StateError`].
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

    /// Gives the right of the committer up.
    ///
    /// # Errors
    /// [`StateError`].
    #[boxed]
    pub async fn give_back_committer(&self, lease: &WorkLease) -> Result<bool, StateError> {
        self.give_back(lease).await
    }

    /// Takes note that the lake knows a later right to commit than this one, which is still its holder's: the state is older
    /// than the lake, a backup of it was restored. The next right is later than that. Answers `false` where somebody else is
    /// the committer by now: then nothing is changed.
    ///
    /// # Errors
    /// [`StateError`].
    #[boxed]
    pub async fn raise_committer(&self, lease: &WorkLease, newest: i64) -> Result<bool, StateError> {
        let sql = "UPDATE work_leases SET fence = $3, lease_until = 0, holder = NULL \
                   WHERE name = $1 AND fence = $2 AND holder IS NOT NULL";
        let mut values = lease.values();
        values.push(Value::integer(newest.max(lease.fence)));
        self.changed(sql, values).await
    }

    /// Asks for the right to ask a store, for a crawl that is no run of the queue: no worker is given the store until it is
    /// given back, or not renewed ([`State::renew_work`]) for as long as `lease`.
    ///
    /// # Errors
    /// [`StateError`].
    #[boxed]
    pub async fn take_store(
        &self,
        store: &StoreHost,
        holder: &str,
        lease: Duration,
        now: Timestamp,
    ) -> Result<StoreRight, StateError> {
        let mut writing = self.begin().await?;
        // Staged work is older than what would be found now, and is not to be brought to the lake after it. It is looked for
        // under the right: where a worker stages what it found and gives its right back, this waits for it.
        let given = take(&mut writing, store.as_str(), holder, lease, now).await?;
        let sql = "SELECT store FROM work_items WHERE store = $1 AND state = 'staged' LIMIT 1";
        let staged: Option<(String,)> = writing.row(sql, vec![Value::text(store.as_str())]).await?;
        if staged.is_some() {
            // The transaction is not committed, so that the right is free again.
            return Ok(StoreRight::AtWork { holder: None });
        }
        if let Some(lease) = given {
            writing.commit().await?;
            return Ok(StoreRight::Given(lease));
        }
        let sql = "SELECT holder FROM work_leases WHERE name = $1";
        let holder: Option<(Option<String>,)> = writing.row(sql, vec![Value::text(store.as_str())]).await?;
        Ok(StoreRight::AtWork {
            holder: holder.and_then(|(holder,)| holder),
        })
    }

    /// Gives a right of [`State::take_store`] back. Answers `false` where somebody else has it by now.
    ///
    /// # Errors
    /// [`StateError`].
    #[boxed]
    pub async fn give_back_store(&self, lease: &WorkLease) -> Result<bool, StateError> {
        self.give_back(lease).await
    }

    async fn give_back(&self, lease: &WorkLease) -> Result<bool, StateError> {
        let sql = "UPDATE work_leases SET lease_until = 0, holder = NULL WHERE name = $1 AND fence = $2";
        self.changed(sql, lease.values()).await
    }
}
