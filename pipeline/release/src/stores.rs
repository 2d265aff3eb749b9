use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use data_index::{BrandFacts, FileEntry, Manifest};
use data_lake::{LakeSnapshot, TableName};
use data_model::StoreHost;
use data_release::{LakeStore, write_delivery};

use crate::error::ReleaseBuildError;
use crate::live::LiveChanges;
use crate::losses::Losses;
use crate::reviews::reviews;

/// Returns the lake's stores with all data that a release needs besides products. Stores in `losses` are returned as in
/// the previous release. New delivery data is written to `files`.
pub(crate) async fn stores(
    snapshot: &LakeSnapshot,
    previous: Option<&Manifest>,
    files: &Path,
    losses: &mut Losses,
) -> Result<Vec<LakeStore>, ReleaseBuildError> {
    // Until the lost files of `brands` are known, a lost file is an error, so that no brand is lost without a report.
    let rows = if losses.has_brands() {
        snapshot.readable_brands().await
    } else {
        snapshot.brands().await
    };
    let rows = rows.map_err(ReleaseBuildError::Brands)?;
    let (rows, unreadable): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| losses.spares(snapshot, row));
    let all: BTreeSet<StoreHost> = rows.iter().map(|row| row.brand.store.clone()).collect();
    let terms = snapshot.shipping(&all).await;
    let mut terms = terms.map_err(ReleaseBuildError::Shipping)?;
    let mut delivery = delivery(snapshot, previous, files, &all).await?;
    let mut reviews = reviews(snapshot, previous, files, &rows).await?;
    let live = LiveChanges::of(snapshot, Some(&all)).await?;
    let store = |row: data_lake::BrandRow| LakeStore {
        product_count: row.product_count,
        facts: BrandFacts {
            shipping: terms.remove(&row.brand.store),
            delivery: delivery.remove(&row.brand.store),
            reviews: reviews.remove(&row.brand.store),
            catalogue_hash: live.content_of(&row),
            brand: row.brand,
            refreshed_at: row.refreshed_at,
        },
    };
    let mut stores: Vec<LakeStore> = rows.into_iter().map(store).collect();
    stores.extend(losses.kept(snapshot, unreadable, previous));
    stores.sort_by(|left, right| left.facts.brand.store.cmp(&right.facts.brand.store));
    Ok(stores)
}

/// The tables change rarely and can be large, so that they are read only if they changed since the previous release.
async fn delivery(
    snapshot: &LakeSnapshot,
    previous: Option<&Manifest>,
    files: &Path,
    stores: &BTreeSet<StoreHost>,
) -> Result<BTreeMap<StoreHost, FileEntry>, ReleaseBuildError> {
    let is_as_before = |manifest: &&Manifest| {
        let told = |table: &TableName| snapshot.versions().get(table.as_str());
        told(&TableName::DeliveryMatrix).is_some()
            && [TableName::DeliveryMatrix, TableName::DeliveryZones]
                .iter()
                .all(|table| told(table) == manifest.lake.get(table.as_str()))
    };
    // A release has older data of brands that are held back.
    let held_none = |manifest: &&Manifest| !manifest.held.iter().any(|brand| stores.contains(&brand.store));
    if let Some(previous) = previous.filter(is_as_before).filter(held_none) {
        let held = previous.brands.iter().map(|entry| &entry.facts);
        let held = held.filter_map(|facts| Some((facts.brand.store.clone(), facts.delivery.clone()?)));
        return Ok(held.collect());
    }
    let samples = snapshot.delivery(Some(stores)).await;
    let samples = samples.map_err(ReleaseBuildError::Delivery)?;
    let zones = snapshot.delivery_zones(Some(stores)).await;
    let zones = zones.map_err(ReleaseBuildError::Delivery)?;
    let (files, wanted) = (files.to_owned(), stores.clone());
    let write = move || {
        let mut written = BTreeMap::new();
        let known: BTreeSet<&StoreHost> = samples.keys().chain(zones.keys()).collect();
        for store in known.into_iter().filter(|store| wanted.contains(*store)) {
            let samples = samples.get(store).map_or(&[][..], Vec::as_slice);
            let zones = zones.get(store).map_or(&[][..], Vec::as_slice);
            if let Some(file) = write_delivery(&files, samples, zones)? {
                written.insert(store.clone(), file);
            }
        }
        Ok(written)
    };
    let written = tokio::task::spawn_blocking(write).await;
    written
        .map_err(|_| ReleaseBuildError::BrokeOff)?
        .map_err(ReleaseBuildError::DeliveryFile)
}
