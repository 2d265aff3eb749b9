//! A lake of the catalogue, and the refresh of one of its brands.

use std::collections::BTreeSet;

use anyhow::Context;
use data_lake::{BrandRow, Lake, LakeConfig, LakeSnapshot, RunSummaryRow};
use data_model::{BrandRefresh, Clock};
use data_storage::Storage;
use futures::TryStreamExt;

use crate::setup::still;

pub(crate) fn row() -> anyhow::Result<RunSummaryRow> {
    Ok(RunSummaryRow::new("bench".parse()?, still().now()))
}

pub(crate) async fn open(root: Storage) -> anyhow::Result<Lake> {
    Ok(Lake::open(root.child("lake"), LakeConfig::default(), still()).await?)
}

/// Returns the brand as a crawl would find it after every price rose by one minor unit.
pub(crate) async fn changed(snapshot: &LakeSnapshot, row: &BrandRow) -> anyhow::Result<BrandRefresh> {
    let stores = BTreeSet::from([row.brand.store.clone()]);
    let mut products: Vec<_> = snapshot
        .products(&stores)
        .await?
        .try_collect()
        .await
        .context("products")?;
    for variant in products.iter_mut().flat_map(|product| &mut product.variants) {
        variant.price_minor += 1;
    }
    Ok(BrandRefresh {
        brand: row.brand.clone(),
        run: "bench".parse()?,
        read_since: still().now(),
        observed_at: still().now(),
        products,
        shipping: None,
        quarantined: Vec::new(),
    })
}
