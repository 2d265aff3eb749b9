//! Commits stores' responses about delivery to pincodes. Delivery data is queried and committed separately from crawls.

use std::collections::BTreeSet;

use async_recursion::async_recursion as boxed;
use data_model::{DeliverySample, KnownDelivery, StoreHost};

use super::plan::{self};
use super::store_update::{StoreUpdate, sorted};
use crate::snapshot::order;
use crate::ticks::TickKind;
use crate::{CommitReport, Lake, LakeError};

impl Lake {
    /// Replaces the stored delivery samples of each store, as [`Lake::commit_known_delivery`] does.
    ///
    /// # Errors
    /// The errors of [`Lake::commit`].
    #[boxed]
    pub async fn commit_delivery(
        &self,
        sampled: Vec<StoreUpdate<Vec<DeliverySample>>>,
    ) -> Result<CommitReport, LakeError> {
        let known = |sampled: StoreUpdate<Vec<DeliverySample>>| {
            let samples_alone = KnownDelivery {
                samples: sampled.known,
                ..KnownDelivery::default()
            };
            StoreUpdate::new(sampled.store, sampled.slug, samples_alone)
        };
        self.commit_known_delivery(sampled.into_iter().map(known).collect())
            .await
    }

    /// Replaces all stored delivery data of each store. An empty update deletes it. Stores whose data is unchanged or
    /// that are not in the lake are skipped. If all are skipped, nothing is written. The latest of several samples of a
    /// pincode counts.
    ///
    /// # Errors
    /// The errors of [`Lake::commit`].
    #[boxed]
    pub async fn commit_known_delivery(
        &self,
        known: Vec<StoreUpdate<KnownDelivery>>,
    ) -> Result<CommitReport, LakeError> {
        let buckets = self.inner.config.buckets;
        let mut asked = sorted(known, buckets)?;
        // The data is read back in this order.
        asked.iter_mut().for_each(|update| order(&mut update.known));
        let stores: BTreeSet<StoreHost> = asked.iter().map(|update| update.store.clone()).collect();
        let mut state = self.state().await;
        for _ in 0..self.inner.config.attempts_max.max(1) {
            self.recover(&mut state).await?;
            let stored = self.stored(&mut state, &stores).await?;
            let held = self.snapshot().await?.known_delivery(Some(&stores)).await?;
            let nothing = KnownDelivery::default();
            let is_changed = |StoreUpdate { store, known, .. }: &&StoreUpdate<KnownDelivery>| {
                stored.contains_key(store) && held.get(store).unwrap_or(&nothing) != known
            };
            let changed: Vec<_> = asked.iter().filter(is_changed).cloned().collect();
            let mut report = CommitReport::default();
            let unchanged = |store: &&StoreHost| !changed.iter().any(|update| update.store == **store);
            report.unchanged.extend(stores.iter().filter(unchanged).cloned());
            if changed.is_empty() {
                return Ok(report);
            }
            let (tick, plan) = (state.ended + 1, plan::delivery(&changed, buckets)?);
            if let Some((tick, plan)) = self.run_tick(&mut state, tick, TickKind::Delivery, None, plan).await? {
                report.add(tick, plan);
                return Ok(report);
            }
        }
        Err(LakeError::Contended {
            attempts: self.inner.config.attempts_max,
        })
    }
}
