//! What stores answered about delivery to pincodes: it is asked for apart from crawls, and committed apart from them.

use std::collections::{BTreeMap, BTreeSet};

use data_model::{BrandSlug, DeliverySample, StoreHost};

use crate::plan::{self, bucket};
use crate::rows::delivery::samples;
use crate::tick::TickKind;
use crate::{CommitReport, Lake, LakeError, LakeSnapshot, TableName};

impl Lake {
    /// Makes these samples all that is known of delivery by each store; an empty list forgets what was known. A store
    /// whose samples are the stored ones is left out, as is one that is not in the lake; when all are, nothing is
    /// written. Of several samples of a pincode the last one asked for counts.
    ///
    /// # Errors
    /// As [`Lake::commit`].
    pub async fn commit_delivery(
        &self,
        sampled: Vec<(StoreHost, BrandSlug, Vec<DeliverySample>)>,
    ) -> Result<CommitReport, LakeError> {
        let buckets = self.inner.config.buckets;
        let sampled = sorted(sampled, buckets)?;
        let stores: BTreeSet<StoreHost> = sampled.iter().map(|(store, ..)| store.clone()).collect();
        let mut state = self.state().await;
        for _ in 0..self.inner.config.attempts_max.max(1) {
            self.settle(&mut state).await?;
            let known = self.stored(&mut state, &stores).await?;
            let held = self.snapshot().await?.delivery(Some(&stores)).await?;
            let changed = |(store, _, samples): &&(StoreHost, BrandSlug, Vec<DeliverySample>)| {
                known.contains_key(store) && held.get(store).map_or(&[][..], Vec::as_slice) != samples.as_slice()
            };
            let changed: Vec<_> = sampled.iter().filter(changed).cloned().collect();
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

/// By bucket and store, each store once, the samples of each by pincode.
fn sorted(
    mut sampled: Vec<(StoreHost, BrandSlug, Vec<DeliverySample>)>,
    buckets: u32,
) -> Result<Vec<(StoreHost, BrandSlug, Vec<DeliverySample>)>, LakeError> {
    sampled.sort_by_cached_key(|(store, ..)| (bucket(store, buckets), store.clone()));
    if let Some(pair) = sampled.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        return Err(LakeError::StoreTwice {
            store: pair[0].0.to_string(),
        });
    }
    for (_, _, samples) in &mut sampled {
        samples.sort_by_key(|sample| (sample.pincode.number(), std::cmp::Reverse(sample.sampled_at)));
        samples.dedup_by_key(|sample| sample.pincode);
    }
    Ok(sampled)
}

impl LakeSnapshot {
    /// What is known of delivery by those of the stores (by all when `None`) that were asked, by pincode.
    ///
    /// # Errors
    /// The storage fails or a file is not readable.
    pub async fn delivery(
        &self,
        stores: Option<&BTreeSet<StoreHost>>,
    ) -> Result<BTreeMap<StoreHost, Vec<DeliverySample>>, LakeError> {
        let mut known: BTreeMap<StoreHost, Vec<DeliverySample>> = BTreeMap::new();
        for (store, sample) in self.rows(TableName::DeliveryMatrix, stores, samples).await? {
            known.entry(store).or_default().push(sample);
        }
        for samples in known.values_mut() {
            samples.sort_by_key(|sample| (sample.pincode.number(), std::cmp::Reverse(sample.sampled_at)));
            samples.dedup_by_key(|sample| sample.pincode);
        }
        Ok(known)
    }
}
