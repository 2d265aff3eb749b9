//! Measures the refresh of one brand in a lake with all other brands, compared with the same refresh in an empty lake.

use std::collections::BTreeSet;

use anyhow::Context;
use data_lake::{BrandRow, Lake, LakeConfig, LakeSnapshot, RunSummaryRow};
use data_model::{BrandRefresh, Clock};
use data_storage::Storage;
use futures::TryStreamExt;

use crate::meter::{Figure, of_self, quantile};
use crate::setup::{Bench, still};

const BRANDS: usize = 9;

pub(crate) fn run(bench: &Bench) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?;
    let full = runtime.block_on(open(Storage::from_path(bench.home())?))?;
    let snapshot = runtime.block_on(full.snapshot())?;
    let brands = runtime.block_on(snapshot.brands())?;
    let middle: Vec<&BrandRow> = brands.iter().skip(brands.len() / 3).take(BRANDS + 1).collect();
    let (mut costs, mut alone, mut rows) = (Vec::new(), Vec::new(), Vec::new());
    for (round, brand) in middle.into_iter().enumerate() {
        let refresh = runtime.block_on(changed(&snapshot, brand))?;
        let products = refresh.products.len();
        let empty = runtime.block_on(open(Storage::from_path(tempfile::tempdir()?.path())?))?;
        let (_, cost) = of_self(|| Ok(runtime.block_on(full.commit(vec![refresh.clone()], row()?))?))?;
        let (_, floor) = of_self(|| Ok(runtime.block_on(empty.commit(vec![refresh], row()?))?))?;
        // The first round does not count, because it reads the tables' logs, which a long-running committer reads only
        // once.
        if round > 0 {
            costs.push(cost.cpu.as_secs_f64() * 1e3);
            alone.push(floor.cpu.as_secs_f64() * 1e3);
            rows.push(f64::from(u32::try_from(products)?));
        }
    }
    Figure::alone("refresh.products_of_the_brand", quantile(&mut rows, 0.5), "products").print()?;
    Figure::alone("refresh.one_brand_cpu_ms", quantile(&mut costs, 0.5), "ms")
        .beside(quantile(&mut alone, 0.5), "the same brand into an empty lake")
        .print()
}

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
