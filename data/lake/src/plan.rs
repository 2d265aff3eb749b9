//! What a tick will change, computed from refreshes and the tables' present rows.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use bytes::Bytes;
use data_model::{BrandRefresh, BrandSlug, DeliverySample, StoreHost, Timestamp};

use crate::files::Wanted;
use crate::hash::HashedRefresh;
use crate::replace::{load, store_runs};
use crate::rows::Room;
use crate::rows::brands::BrandRows;
use crate::rows::columns::Columns;
use crate::rows::delivery::DeliveryRows;
use crate::rows::history::{HistoryRows, Observed, Offered};
use crate::rows::products::ProductRows;
use crate::rows::quarantine::QuarantineRows;
use crate::rows::reviews::ReviewRows;
use crate::rows::runs::TickCounts;
use crate::rows::shipping::ShippingRows;
use crate::rows::variants::VariantRows;
use crate::tick::Rows;
use crate::{LakeError, TableName};

/// What a tick is to do.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) stores: Vec<StoreHost>,
    pub(crate) counts: TickCounts,
    pub(crate) rows: Rows,
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

/// What each of `stores` offers, by the files of `variants` that hold them.
pub(crate) fn offered(
    files: Vec<Vec<(String, Bytes)>>,
    stores: &BTreeSet<StoreHost>,
) -> Result<HashMap<String, Offered>, LakeError> {
    let mut offered: HashMap<String, Offered> = HashMap::with_capacity(stores.len());
    let names: HashSet<&str> = stores.iter().map(StoreHost::as_str).collect();
    for files in files {
        for batch in load(
            TableName::Variants,
            files,
            Wanted {
                stores: Some(stores),
                columns: Some(FOLLOWED),
            },
        )? {
            let store = Columns::new(TableName::Variants, &batch).text("store")?;
            for rows in store_runs(store) {
                let name = store.value(rows.start);
                if names.contains(name) {
                    offered.entry(name.to_owned()).or_default().add(&batch, rows)?;
                }
            }
        }
    }
    Ok(offered)
}

/// Plans the replacement of each refresh's store; `changed` is sorted by bucket and store.
pub(crate) fn refresh(
    changed: &[HashedRefresh],
    brands_unchanged: usize,
    before: &HashMap<String, Offered>,
    tick: u64,
    buckets: u32,
) -> Result<Plan, LakeError> {
    let mut room = Room::default();
    changed.iter().for_each(|hashed| room.add(&hashed.refresh));
    let (mut products, mut variants) = (ProductRows::with_room(&room), VariantRows::with_room(&room));
    let mut reviews = ReviewRows::default();
    let (mut shipping, mut quarantine) = (ShippingRows::default(), QuarantineRows::default());
    let (mut brands, mut history) = (BrandRows::default(), HistoryRows::default());
    let mut counts = TickCounts {
        brands_unchanged: wide(brands_unchanged),
        ..TickCounts::default()
    };
    let nothing = Offered::default();
    for HashedRefresh { refresh, hash } in changed {
        let (brand, store) = (&refresh.brand, &refresh.brand.store);
        let bucket = bucket(store, buckets);
        let ids: Vec<String> = refresh
            .products
            .iter()
            .map(|product| product.key.id().to_string())
            .collect();
        for (product, id) in refresh.products.iter().zip(&ids) {
            products.push(bucket, brand, id, product);
            variants.push(bucket, brand, id, product);
            reviews.push(bucket, brand, id, product);
        }
        if let Some(policy) = &refresh.shipping {
            shipping.push(bucket, brand, policy);
        }
        quarantine.push(bucket, refresh);
        brands.push(bucket, refresh, hash);
        let old = before.get(store.as_str()).unwrap_or(&nothing);
        let observed = Observed {
            at: refresh.observed_at,
            run: Some(&refresh.run),
            tick,
        };
        let now = refresh.products.iter().zip(&ids);
        history.push(store, Some(brand.slug.as_str()), old, now, observed);
        count(&mut counts, refresh, old);
    }
    let history = history.finish()?;
    counts.price_changes = wide(history.num_rows());
    let rows = vec![
        (TableName::PriceHistory, history),
        (TableName::Variants, variants.finish()?),
        (TableName::Products, products.finish()?),
        (TableName::Reviews, reviews.finish()?),
        (TableName::ShippingPolicies, shipping.finish()?),
        (TableName::Quarantine, quarantine.finish()?),
        (TableName::Brands, brands.finish()?),
    ];
    Ok(Plan {
        stores: changed
            .iter()
            .map(|hashed| hashed.refresh.brand.store.clone())
            .collect(),
        counts,
        rows,
    })
}

fn count(counts: &mut TickCounts, refresh: &BrandRefresh, old: &Offered) {
    let now: HashSet<u64> = refresh.products.iter().map(|product| product.key.platform_id).collect();
    counts.brands_changed += 1;
    counts.products += wide(refresh.products.len());
    counts.products_added += wide(now.difference(&old.products).count());
    counts.products_removed += wide(old.products.difference(&now).count());
    counts.variants += wide(refresh.products.iter().map(|product| product.variants.len()).sum());
    counts.quarantined += wide(refresh.quarantined.len());
}

/// Plans that `stores` go.
pub(crate) fn removal(
    stores: &BTreeSet<StoreHost>,
    before: &HashMap<String, Offered>,
    tick: u64,
    now: Timestamp,
) -> Result<Plan, LakeError> {
    let mut history = HistoryRows::default();
    let mut counts = TickCounts {
        brands_changed: wide(stores.len()),
        ..TickCounts::default()
    };
    for (store, old) in stores
        .iter()
        .filter_map(|store| Some((store, before.get(store.as_str())?)))
    {
        history.push(
            store,
            None,
            old,
            std::iter::empty(),
            Observed {
                at: now,
                run: None,
                tick,
            },
        );
        counts.products_removed += wide(old.products.len());
    }
    let history = history.finish()?;
    counts.price_changes = wide(history.num_rows());
    Ok(Plan {
        stores: stores.iter().cloned().collect(),
        counts,
        rows: vec![(TableName::PriceHistory, history)],
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

/// Plans that each store's samples are those; the stores are sorted by bucket.
pub(crate) fn delivery(
    sampled: &[(StoreHost, BrandSlug, Vec<DeliverySample>)],
    buckets: u32,
) -> Result<Plan, LakeError> {
    let mut rows = DeliveryRows::default();
    for (store, slug, samples) in sampled {
        let bucket = bucket(store, buckets);
        samples.iter().for_each(|sample| rows.push(bucket, store, slug, sample));
    }
    Ok(Plan {
        stores: sampled.iter().map(|(store, ..)| store.clone()).collect(),
        counts: TickCounts::default(),
        rows: vec![(TableName::DeliveryMatrix, rows.finish()?)],
    })
}

fn wide(number: usize) -> u64 {
    number as u64
}
