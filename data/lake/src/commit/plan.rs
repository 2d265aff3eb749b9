//! Computes the changes of a commit batch from refreshes and the tables' current rows.

use std::collections::{BTreeMap, HashSet};

use arrow::record_batch::RecordBatch;
use data_model::{
    Brand, BrandRefresh, DeliveryProbe, DeliverySample, DeliveryZone, KnownDelivery, ShippingPolicy, StoreHost,
    Timestamp,
};

use super::hash::HashedRefresh;
use super::prior::PriorCatalogues;
use super::store_update::StoreUpdate;
use crate::files::bucket;
use crate::rows::brands::BrandRows;
use crate::rows::build::TableRows;
use crate::rows::catalogue::StoreRows;
use crate::rows::delivery::StoreRecords;
use crate::rows::history::{HistoryRows, ObservationContext, first_seen};
use crate::rows::live::LiveRows;
use crate::rows::offers::StoreOffers;
use crate::rows::product_history::{self, ListedProducts, product_events};
use crate::rows::quarantine::QuarantineRows;
use crate::rows::reviews::ReviewRows;
use crate::rows::runs::TickCounts;
use crate::rows::shipping::ShippingRows;
use crate::ticks::Rows;
use crate::{LakeError, TableName};

#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(crate) stores: Vec<StoreHost>,
    pub(crate) counts: TickCounts,
    pub(crate) rows: Rows,
    /// Keys of single rows to be removed: see [`crate::ticks::TickRecord::gone`].
    pub(crate) gone: BTreeMap<String, Vec<(StoreHost, String)>>,
    /// Versions to which tables are restored: see [`crate::ticks::TickRecord::restored`].
    pub(crate) restored: BTreeMap<String, u64>,
    /// Lost files to be removed from tables: see [`crate::ticks::TickRecord::dropped`].
    pub(crate) dropped: BTreeMap<String, Vec<String>>,
}

/// A commit batch that landed, with the plan that it carried out.
#[derive(Debug)]
pub(crate) struct LandedTick {
    pub(crate) tick: u64,
    pub(crate) plan: Plan,
}

/// Changes made by one commit call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommitReport {
    /// Numbers of the commit batches: none if nothing changed, and several if the data was too large for one batch.
    pub ticks: Vec<u64>,
    /// Stores whose content changed or was removed.
    pub changed: Vec<StoreHost>,
    /// Stores whose content was already stored.
    pub unchanged: Vec<StoreHost>,
    /// Stores that were skipped, because the lake has content that was read after this crawl of them began.
    pub overtaken: Vec<StoreHost>,
    /// Numbers of changed items.
    pub counts: TickCounts,
}

impl CommitReport {
    pub(crate) fn add(&mut self, landed: LandedTick) {
        let LandedTick { tick, plan } = landed;
        self.ticks.push(tick);
        self.changed.extend(plan.stores);
        let (sum, more) = (&mut self.counts, plan.counts);
        sum.brands_unchanged += more.brands_unchanged;
        sum.brands_changed += more.brands_changed;
        sum.products += more.products;
        sum.products_added += more.products_added;
        sum.products_removed += more.products_removed;
        sum.variants += more.variants;
        sum.price_changes += more.price_changes;
        sum.quarantined += more.quarantined;
    }
}

/// `changed` must be sorted by bucket and store.
pub(crate) fn refresh(
    changed: &[HashedRefresh],
    brands_unchanged: usize,
    before: &PriorCatalogues,
    tick: u64,
    buckets: u32,
) -> Result<Plan, LakeError> {
    let (mut products, mut variants, mut history) = (Vec::new(), Vec::new(), Vec::new());
    let mut product_history = Vec::new();
    let mut reviews = ReviewRows::default();
    let (mut shipping, mut quarantine) = (ShippingRows::default(), QuarantineRows::default());
    let (mut brands, mut live) = (BrandRows::default(), LiveRows::default());
    let mut counts = TickCounts {
        brands_unchanged: wide(brands_unchanged),
        ..TickCounts::default()
    };
    let (nothing, none) = (StoreOffers::default(), ListedProducts::default());
    for HashedRefresh { refresh, hash } in changed {
        let (brand, store) = (&refresh.brand, &refresh.brand.store);
        let bucket = bucket(store, buckets);
        let listing = refresh.products.products(brand, bucket)?;
        let offering = refresh.products.variants(brand, bucket)?;
        for (id, rated) in &refresh.products.rated {
            reviews.push(bucket, brand, *id, &rated.reviews);
        }
        if let Some(policy) = &refresh.shipping {
            shipping.push(bucket, store, &brand.slug, policy);
        }
        quarantine.push(bucket, refresh);
        brands.push(bucket, refresh, hash);
        let old = before.offered.get(store.as_str()).unwrap_or(&nothing);
        let listed = before.listed.get(store.as_str()).unwrap_or(&none);
        let observed = ObservationContext {
            since: refresh.read_since.min(refresh.observed_at),
            at: refresh.observed_at,
            run: Some(&refresh.run),
            tick,
        };
        history.extend(observations(brand, old, &offering, observed)?);
        let newer = old.live_after(Some(observed.since));
        live.push(bucket, store, brand.slug.as_str(), &newer);
        variants.extend(offering);
        product_history.extend(sightings(brand, listed, &listing, observed)?);
        products.extend(listing);
        count(&mut counts, refresh, old);
    }
    counts.price_changes = wide(history.iter().map(RecordBatch::num_rows).sum());
    let rows = vec![
        (TableName::PriceHistory, history),
        (TableName::ProductHistory, product_history),
        (TableName::LivePrices, vec![live.finish()?]),
        (TableName::Variants, variants),
        (TableName::Products, products),
        (TableName::Reviews, vec![reviews.finish()?]),
        (TableName::ShippingPolicies, vec![shipping.finish()?]),
        (TableName::Quarantine, vec![quarantine.finish()?]),
        (TableName::Brands, vec![brands.finish()?]),
    ];
    Ok(Plan {
        stores: changed
            .iter()
            .map(|hashed| hashed.refresh.brand.store.clone())
            .collect(),
        counts,
        rows,
        ..Plan::default()
    })
}

/// Returns the `price_history` rows of a store whose offers change from `old` to `now`.
fn observations(
    brand: &Brand,
    old: &StoreOffers,
    now: &[RecordBatch],
    observed: ObservationContext<'_>,
) -> Result<Vec<RecordBatch>, LakeError> {
    if old.is_empty() {
        let first: Option<Vec<RecordBatch>> = now
            .iter()
            .map(|variants| first_seen(brand, variants, observed))
            .collect::<Result<_, _>>()?;
        if let Some(first) = first {
            return Ok(first);
        }
    }
    let mut history = HistoryRows::default();
    history.push(&brand.store, Some(brand.slug.as_str()), old, now, observed)?;
    Ok(vec![history.finish()?])
}

/// Returns the `product_history` rows of a store's products.
fn sightings(
    brand: &Brand,
    listed: &ListedProducts,
    now: &[RecordBatch],
    observed: ObservationContext<'_>,
) -> Result<Vec<RecordBatch>, LakeError> {
    if listed.is_unknown() {
        let first = now
            .iter()
            .map(|products| product_history::first_seen(products, observed));
        return first.collect();
    }
    let rows = product_events(&brand.store, Some(brand.slug.as_str()), listed, now, observed)?;
    Ok(rows.into_iter().collect())
}

fn count(counts: &mut TickCounts, refresh: &BrandRefresh<StoreRows>, old: &StoreOffers) {
    let now: HashSet<u64> = refresh.products.ids.iter().copied().collect();
    counts.brands_changed += 1;
    counts.products += wide(now.len());
    counts.products_added += wide(now.difference(&old.products).count());
    counts.products_removed += wide(old.products.difference(&now).count());
    counts.variants += wide(refresh.products.counts.variants);
    counts.quarantined += wide(refresh.quarantined.len());
}

/// Each of `stores` has the time by which it was gone.
pub(crate) fn removal(
    stores: &BTreeMap<StoreHost, Timestamp>,
    before: &PriorCatalogues,
    tick: u64,
) -> Result<Plan, LakeError> {
    let (mut history, mut product_history) = (HistoryRows::default(), Vec::new());
    let mut counts = TickCounts {
        brands_changed: wide(stores.len()),
        ..TickCounts::default()
    };
    for (store, at) in stores {
        let (run, at) = (None, *at);
        let since = at;
        let observed = ObservationContext { since, at, run, tick };
        if let Some(listed) = before.listed.get(store.as_str()) {
            product_history.extend(product_events(store, None, listed, &[], observed)?);
        }
        if let Some(old) = before.offered.get(store.as_str()) {
            history.push(store, None, old, &[], observed)?;
            counts.products_removed += wide(old.products.len());
        }
    }
    let history = history.finish()?;
    counts.price_changes = wide(history.num_rows());
    Ok(Plan {
        stores: stores.keys().cloned().collect(),
        counts,
        rows: vec![
            (TableName::PriceHistory, vec![history]),
            (TableName::ProductHistory, product_history),
        ],
        ..Plan::default()
    })
}

/// Plans that each store's shipping terms are replaced by these. The stores must be sorted by bucket.
pub(crate) fn shipping<'a>(
    told: impl Iterator<Item = &'a StoreUpdate<Option<ShippingPolicy>>>,
    buckets: u32,
) -> Result<Plan, LakeError> {
    let (mut stores, mut rows) = (Vec::new(), ShippingRows::default());
    for StoreUpdate { store, slug, known } in told {
        if let Some(policy) = known {
            rows.push(bucket(store, buckets), store, slug, policy);
        }
        stores.push(store.clone());
    }
    Ok(Plan {
        stores,
        rows: vec![(TableName::ShippingPolicies, vec![rows.finish()?])],
        ..Plan::default()
    })
}

/// Plans that each store's delivery data is replaced by this. The stores must be sorted by bucket.
pub(crate) fn delivery<'a>(
    known: impl Iterator<Item = &'a StoreUpdate<KnownDelivery>>,
    buckets: u32,
) -> Result<Plan, LakeError> {
    let mut stores = Vec::new();
    let mut samples = StoreRecords::<DeliverySample>::default();
    let mut zones = StoreRecords::<DeliveryZone>::default();
    let mut probes = StoreRecords::<DeliveryProbe>::default();
    for StoreUpdate { store, slug, known } in known {
        let bucket = bucket(store, buckets);
        samples.push(bucket, store, slug, &known.samples);
        zones.push(bucket, store, slug, &known.zones);
        probes.push(bucket, store, slug, &known.probes);
        stores.push(store.clone());
    }
    Ok(Plan {
        stores,
        rows: vec![
            (TableName::DeliveryMatrix, vec![samples.finish()?]),
            (TableName::DeliveryZones, vec![zones.finish()?]),
            (TableName::DeliveryProbes, vec![probes.finish()?]),
        ],
        ..Plan::default()
    })
}

fn wide(number: usize) -> u64 {
    number as u64
}
