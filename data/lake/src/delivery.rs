//! The answers of stores about delivery to pincodes: they are asked for apart from crawls, and committed apart from
//! them.

use std::collections::{BTreeMap, BTreeSet};

use arrow::record_batch::RecordBatch;
use async_recursion::async_recursion as boxed;
use data_model::{BrandSlug, DeliverySample, DeliveryZone, KnownDelivery, StoreHost, VariantId};

use crate::plan::{self, bucket};
use crate::rows::columns::{Columns, some_int};
use crate::rows::delivery::samples;
use crate::rows::delivery_probes::probes;
use crate::rows::delivery_zones::zones;
use crate::rows::id_from_column;
use crate::tick::TickKind;
use crate::{CommitReport, Lake, LakeError, LakeSnapshot, TableName};

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

fn order(known: &mut KnownDelivery) {
    by_pincode(&mut known.samples);
    known
        .zones
        .sort_by(|one, other| (&one.zone, one.confidence).cmp(&(&other.zone, other.confidence)));
    known.probes.sort_by_key(|probe| {
        let cart = (probe.variant, probe.quantity, probe.goods_minor);
        (probe.asked_at, probe.pincode, cart)
    });
}

fn by_pincode(samples: &mut Vec<DeliverySample>) {
    samples.sort_by_key(|sample| (sample.pincode.number(), std::cmp::Reverse(sample.sampled_at)));
    samples.dedup_by_key(|sample| sample.pincode);
}

impl LakeSnapshot {
    /// The known delivery by those of the stores (by all when `None`) that were asked, by pincode.
    ///
    /// # Errors
    /// The storage fails or a file is not readable.
    #[boxed]
    pub async fn delivery(
        &self,
        stores: Option<&BTreeSet<StoreHost>>,
    ) -> Result<BTreeMap<StoreHost, Vec<DeliverySample>>, LakeError> {
        let mut known: BTreeMap<StoreHost, Vec<DeliverySample>> = BTreeMap::new();
        for (store, sample) in self.rows(TableName::DeliveryMatrix, stores, samples).await? {
            known.entry(store).or_default().push(sample);
        }
        known.values_mut().for_each(by_pincode);
        Ok(known)
    }

    /// The zones of those of the stores (of all when `None`) that were asked, by name and confidence.
    ///
    /// # Errors
    /// The storage fails or a file is not readable.
    #[boxed]
    pub async fn delivery_zones(
        &self,
        stores: Option<&BTreeSet<StoreHost>>,
    ) -> Result<BTreeMap<StoreHost, Vec<DeliveryZone>>, LakeError> {
        let mut known: BTreeMap<StoreHost, Vec<DeliveryZone>> = BTreeMap::new();
        for (store, zone) in self.rows(TableName::DeliveryZones, stores, zones).await? {
            known.entry(store).or_default().push(zone);
        }
        let by_name = |zones: &mut Vec<DeliveryZone>| {
            zones.sort_by(|one, other| (&one.zone, one.confidence).cmp(&(&other.zone, other.confidence)));
        };
        known.values_mut().for_each(by_name);
        Ok(known)
    }

    /// All that is known of delivery by those of the stores (by all when `None`) that were asked.
    ///
    /// # Errors
    /// The storage fails or a file is not readable.
    #[boxed]
    pub async fn known_delivery(
        &self,
        stores: Option<&BTreeSet<StoreHost>>,
    ) -> Result<BTreeMap<StoreHost, KnownDelivery>, LakeError> {
        let mut known: BTreeMap<StoreHost, KnownDelivery> = BTreeMap::new();
        for (store, samples) in self.delivery(stores).await? {
            known.entry(store).or_default().samples = samples;
        }
        for (store, zones) in self.delivery_zones(stores).await? {
            known.entry(store).or_default().zones = zones;
        }
        for (store, probe) in self.rows(TableName::DeliveryProbes, stores, probes).await? {
            known.entry(store).or_default().probes.push(probe);
        }
        known.values_mut().for_each(order);
        Ok(known)
    }
}

/// A variant that a store would sell now: its id, price in minor units, and weight in grams where stated.
pub type OnSale = (VariantId, i64, Option<i64>);

impl LakeSnapshot {
    /// The variants of a store that are available, in the order of the table.
    ///
    /// # Errors
    /// The storage fails or a file is not readable.
    #[boxed]
    pub async fn on_sale(&self, store: &StoreHost) -> Result<Vec<OnSale>, LakeError> {
        let stores = BTreeSet::from([store.clone()]);
        self.rows(TableName::Variants, Some(&stores), on_sale).await
    }
}

fn on_sale(batch: &RecordBatch) -> Result<Vec<OnSale>, LakeError> {
    let columns = Columns::new(TableName::Variants, batch);
    let (variant, price) = (columns.int("variant_id")?, columns.int("price_minor")?);
    let (available, grams) = (columns.flag("available")?, columns.int("grams")?);
    let rows = (0..batch.num_rows()).filter(|row| available.value(*row));
    let one = |row| {
        let id = VariantId(id_from_column(variant.value(row)));
        (id, price.value(row), some_int(grams, row))
    };
    Ok(rows.map(one).collect())
}
