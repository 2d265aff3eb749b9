//! Commits stores' responses about delivery to pincodes. Delivery data is queried and committed separately from crawls.

use std::collections::BTreeSet;

use async_recursion::async_recursion as boxed;
use data_model::{KnownDelivery, StoreHost};

use super::attempts::Attempts;
use super::plan;
use super::store_update::{StoreUpdate, sorted};
use crate::snapshot::order;
use crate::ticks::TickKind;
use crate::{CommitReport, Lake, LakeError};

impl Lake {
    /// Replaces all stored delivery data of each store. An empty update deletes it. Stores whose data is unchanged or
    /// that are not in the lake are skipped. If all are skipped, nothing is written. The latest of several samples of a
    /// pincode counts.
    ///
    /// # Errors
    /// The errors of [`Lake::commit`].
    #[boxed]
    pub async fn commit_delivery(&self, known: Vec<StoreUpdate<KnownDelivery>>) -> Result<CommitReport, LakeError> {
        let buckets = self.inner.config.buckets;
        let mut asked = sorted(known, buckets)?;
        // The data is read back in this order.
        asked.iter_mut().for_each(|update| order(&mut update.known));
        let stores: BTreeSet<StoreHost> = asked.iter().map(|update| update.store.clone()).collect();
        let mut state = self.state().await;
        let mut attempts = Attempts::default();
        loop {
            attempts.next(self, &mut state).await?;
            let stored = self.stored(&mut state, &stores).await?;
            let held = self.snapshot().await?.known_delivery(Some(&stores)).await?;
            let nothing = KnownDelivery::default();
            let is_changed = |StoreUpdate { store, known, .. }: &&StoreUpdate<KnownDelivery>| {
                stored.contains_key(store) && held.get(store).unwrap_or(&nothing) != known
            };
            let plan = plan::delivery(asked.iter().filter(is_changed), buckets)?;
            if let Some(report) = self.commit_some(&mut state, TickKind::Delivery, &stores, plan).await? {
                return Ok(report);
            }
        }
    }
}
