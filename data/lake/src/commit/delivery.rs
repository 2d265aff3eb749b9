//! The answers of stores about delivery to pincodes: they are asked for apart from crawls, and committed apart from
//! them.

use std::collections::BTreeSet;

use async_recursion::async_recursion as boxed;
use data_model::{BrandSlug, DeliverySample, KnownDelivery, StoreHost};

use super::plan::{self};
use crate::files::bucket;
use crate::snapshot::order;
use crate::ticks::TickKind;
use crate::{CommitReport, Lake, LakeError};

type DeliveryUpdate = (StoreHost, BrandSlug, KnownDelivery);

impl Lake {
    /// Makes these samples all that is known of delivery by each store, as [`Lake::commit_known_delivery`] does.
    ///
    /// # Errors
    /// As [`Lake::commit`].
    #[boxed]
    pub async fn commit_delivery(
        &self,
        sampled: Vec<(StoreHost, BrandSlug, Vec<DeliverySample>)>,
    ) -> Result<CommitReport, LakeError> {
        let known = |(store, slug, samples)| {
            let samples_alone = KnownDelivery {
                samples,
                ..KnownDelivery::default()
            };
            (store, slug, samples_alone)
        };
        self.commit_known_delivery(sampled.into_iter().map(known).collect())
            .await
    }

    /// Makes this all that is known of delivery by each store; an empty one forgets what was known. A store of which the
    /// same is stored is left out, as is one that is not in the lake; when all are, nothing is written. Of several
    /// samples of a pincode the last one asked for counts.
    ///
    /// # Errors
    /// As [`Lake::commit`].
    #[boxed]
    pub async fn commit_known_delivery(&self, known: Vec<DeliveryUpdate>) -> Result<CommitReport, LakeError> {
        let buckets = self.inner.config.buckets;
        let asked = sorted(known, buckets)?;
        let stores: BTreeSet<StoreHost> = asked.iter().map(|(store, ..)| store.clone()).collect();
        let mut state = self.state().await;
        for _ in 0..self.inner.config.attempts_max.max(1) {
            self.recover(&mut state).await?;
            let stored = self.stored(&mut state, &stores).await?;
            let held = self.snapshot().await?.known_delivery(Some(&stores)).await?;
            let nothing = KnownDelivery::default();
            let is_changed = |(store, _, known): &&DeliveryUpdate| {
                stored.contains_key(store) && held.get(store).unwrap_or(&nothing) != known
            };
            let changed: Vec<DeliveryUpdate> = asked.iter().filter(is_changed).cloned().collect();
            let mut report = CommitReport::default();
            let unchanged = |store: &&StoreHost| !changed.iter().any(|(one, ..)| one == *store);
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

/// By bucket and store, each store once, and what is known of each in the order in which it is read back.
fn sorted(mut known: Vec<DeliveryUpdate>, buckets: u32) -> Result<Vec<DeliveryUpdate>, LakeError> {
    known.sort_by_cached_key(|(store, ..)| (bucket(store, buckets), store.clone()));
    if let Some(pair) = known.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        return Err(LakeError::StoreTwice {
            store: pair[0].0.to_string(),
        });
    }
    known.iter_mut().for_each(|(_, _, known)| order(known));
    Ok(known)
}
