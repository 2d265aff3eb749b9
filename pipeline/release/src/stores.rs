use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use data_index::{BrandFacts, FileEntry, LakeStore, Manifest, write_delivery};
use data_lake::{LakeSnapshot, TableName};
use data_model::StoreHost;

use crate::error::ReleaseBuildError;
use crate::live::LiveChanges;

/// The lake's stores with all that a release tells of them besides their products. What is new of their delivery is
/// written to `files`.
pub(crate) async fn stores(
    snapshot: &LakeSnapshot,
    previous: Option<&Manifest>,
    files: &Path,
) -> Result<Vec<LakeStore>, ReleaseBuildError> {
    let rows = snapshot.brands().await.map_err(ReleaseBuildError::Brands)?;
    let all: BTreeSet<StoreHost> = rows.iter().map(|row| row.brand.store.clone()).collect();
    let terms = snapshot.shipping(&all).await;
    let mut terms = terms.map_err(ReleaseBuildError::Shipping)?;
    let mut delivery = delivery(snapshot, previous, files).await?;
    let live = LiveChanges::of(snapshot).await?;
    let store = |row: data_lake::BrandRow| LakeStore {
        product_count: row.product_count,
        facts: BrandFacts {
            shipping: terms.remove(&row.brand.store),
            delivery: delivery.remove(&row.brand.store),
            catalogue_hash: live.content_of(&row),
            brand: row.brand,
            refreshed_at: row.refreshed_at,
        },
    };
    Ok(rows.into_iter().map(store).collect())
}

/// The file of what is known of each store's delivery. The table is read only when it is another one than the release
/// before was built from: it changes seldom and can be large.
async fn delivery(
    snapshot: &LakeSnapshot,
    previous: Option<&Manifest>,
    files: &Path,
) -> Result<BTreeMap<StoreHost, FileEntry>, ReleaseBuildError> {
    let table = TableName::DeliveryMatrix.as_str();
    let (now, before) = (
        snapshot.versions().get(table),
        previous.and_then(|manifest| manifest.lake.get(table)),
    );
    if let Some(previous) = previous.filter(|_| now.is_some() && now == before) {
        let held = previous.brands.iter().map(|entry| &entry.facts);
        let held = held.filter_map(|facts| Some((facts.brand.store.clone(), facts.delivery.clone()?)));
        return Ok(held.collect());
    }
    let known = snapshot.delivery(None).await.map_err(ReleaseBuildError::Delivery)?;
    let files = files.to_owned();
    let write = move || {
        let mut written = BTreeMap::new();
        for (store, samples) in known {
            if let Some(file) = write_delivery(&files, &samples)? {
                written.insert(store, file);
            }
        }
        Ok(written)
    };
    let written = tokio::task::spawn_blocking(write).await;
    written
        .map_err(|_| ReleaseBuildError::BrokeOff)?
        .map_err(ReleaseBuildError::DeliveryFile)
}
