//! Partitions (buckets) of tables by store.

use std::collections::{BTreeMap, BTreeSet};

use data_model::StoreHost;

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
