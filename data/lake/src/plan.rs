//! The changes of a tick, computed from refreshes and the tables' present rows.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use arrow::record_batch::RecordBatch;
use bytes::Bytes;
use data_model::{Brand, BrandRefresh, BrandSlug, KnownDelivery, ShippingPolicy, StoreHost, Timestamp};

use crate::files::Wanted;
use crate::hash::HashedRefresh;
use crate::prior::PriorCatalogues;
use crate::replace::{load, store_runs};
use crate::rows::brands::BrandRows;
use crate::rows::catalogue::StoreRows;
use crate::rows::columns::Columns;
use crate::rows::delivery::DeliveryRows;
use crate::rows::delivery_probes::ProbeRows;
use crate::rows::delivery_zones::ZoneRows;
use crate::rows::history::{HistoryRows, ObservationContext, first_seen};
use crate::rows::live::LiveRows;
use crate::rows::offers::StoreOffers;
use crate::rows::product_history::{self, ListedProducts, product_events};
use crate::rows::quarantine::QuarantineRows;
use crate::rows::reviews::ReviewRows;
use crate::rows::runs::TickCounts;
use crate::rows::shipping::ShippingRows;
use crate::tick::Rows;
use crate::{LakeError, TableName};

/// The work of a tick.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(crate) stores: Vec<StoreHost>,
    pub(crate) counts: TickCounts,
    pub(crate) rows: Rows,
    /// Rows that go one by one, see [`crate::tick::TickRecord::gone`].
    pub(crate) gone: BTreeMap<String, Vec<(StoreHost, String)>>,
    /// Versions that tables go back to, see [`crate::tick::TickRecord::restored`].
    pub(crate) restored: BTreeMap<String, u64>,
    /// Files that tables give up, see [`crate::tick::TickRecord::dropped`].
    pub(crate) dropped: BTreeMap<String, Vec<String>>,
}

/// The columns of `variants` that the history follows.
const FOLLOWED: &[&str] = &[
    "store",
    "brand_slug",
    "platform_product_id",
    "variant_id",
    "currency",
    "price_minor",
    "compare_at_minor",
    "available",
];

/// Products by their stores' hosts.
pub(crate) type Products = HashMap<String, HashSet<u64>>;

/// The offers of each of `stores` for the wanted products, or for all, by the files of `variants` that hold them.
pub(crate) fn offered(
    files: Vec<(String, Bytes)>,
    stores: &BTreeSet<StoreHost>,
    products: Option<&Products>,
) -> Result<HashMap<String, StoreOffers>, LakeError> {
    let mut offered: HashMap<String, StoreOffers> = HashMap::with_capacity(stores.len());
    let names: HashSet<&str> = stores.iter().map(StoreHost::as_str).collect();
    let wanted = Wanted {
        stores: Some(stores),
        columns: Some(FOLLOWED),
    };
    for batch in load(TableName::Variants, files, wanted)? {
        let store = Columns::new(TableName::Variants, &batch).text("store")?;
        for rows in store_runs(store) {
            let name = store.value(rows.start);
            if !names.contains(name) {
                continue;
            }
            let of_store = products.map(|products| products.get(name));
            let is_wanted = |product: u64| match of_store {
                Some(products) => products.is_some_and(|products| products.contains(&product)),
                None => true,
            };
            offered
                .entry(name.to_owned())
                .or_default()
                .add(&batch, rows, is_wanted)?;
        }
    }
    Ok(offered)
}

/// Plans the replacement of each refresh's store; `changed` is sorted by bucket and store.
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

/// The rows of history of a store that offered `old` and offers `now`.
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

/// The rows of history of a store's products beside their prices.
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

/// Plans that `stores` go; each with the moment by which it went.
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

/// The stores of each bucket.
pub(crate) fn by_bucket<'a>(
    stores: impl IntoIterator<Item = &'a StoreHost>,
    buckets: u32,
) -> BTreeMap<i32, BTreeSet<StoreHost>> {
    let mut map: BTreeMap<i32, BTreeSet<StoreHost>> = BTreeMap::new();
    for store in stores {
        map.entry(bucket(store, buckets)).or_default().insert(store.clone());
    }
    map
}

pub(crate) fn bucket(store: &StoreHost, buckets: u32) -> i32 {
    store.bucket(buckets).cast_signed()
}

/// Plans that each store's shipping terms are those; the stores are sorted by bucket.
pub(crate) fn shipping(
    told: &[(StoreHost, BrandSlug, Option<ShippingPolicy>)],
    buckets: u32,
) -> Result<Plan, LakeError> {
    let mut rows = ShippingRows::default();
    for (store, slug, policy) in told {
        if let Some(policy) = policy {
            rows.push(bucket(store, buckets), store, slug, policy);
        }
    }
    Ok(Plan {
        stores: told.iter().map(|(store, ..)| store.clone()).collect(),
        rows: vec![(TableName::ShippingPolicies, vec![rows.finish()?])],
        ..Plan::default()
    })
}

/// Plans that this is what is known of each store's delivery; the stores are sorted by bucket.
pub(crate) fn delivery(known: &[(StoreHost, BrandSlug, KnownDelivery)], buckets: u32) -> Result<Plan, LakeError> {
    let (mut samples, mut zones, mut probes) = (DeliveryRows::default(), ZoneRows::default(), ProbeRows::default());
    for (store, slug, known) in known {
        let bucket = bucket(store, buckets);
        let of_store = known.samples.iter();
        of_store.for_each(|sample| samples.push(bucket, store, slug, sample));
        known
            .zones
            .iter()
            .for_each(|zone| zones.push(bucket, store, slug, zone));
        let of_store = known.probes.iter();
        of_store.for_each(|probe| probes.push(bucket, store, slug, probe));
    }
    Ok(Plan {
        stores: known.iter().map(|(store, ..)| store.clone()).collect(),
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
