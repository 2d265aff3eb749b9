use std::collections::{BTreeMap, BTreeSet};

use async_recursion::async_recursion as boxed;
use data_index::Manifest;
use data_lake::Lake;
use data_model::{BrandSlug, StoreHost, Timestamp};
use serde::Serialize;

use crate::error::ReleaseBuildError;
use crate::live::LiveChanges;

/// Differences between a release and the lake, by brand.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Lag {
    /// Brands that are in the lake but not in the release, sorted.
    pub added: Vec<BrandSlug>,
    /// Brands whose catalogue in the lake differs, or with live price changes, sorted.
    pub changed: Vec<BrandSlug>,
    /// Brands that are in the release but no longer in the lake, sorted.
    pub removed: Vec<BrandSlug>,
    /// Number of products in the lake.
    pub lake_products: u64,
    /// Observation time of the oldest data that the release lacks. `None` if it lacks nothing.
    pub since: Option<Timestamp>,
}

impl Lag {
    /// Returns true if a build would find nothing new.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.added.is_empty() && self.changed.is_empty() && self.removed.is_empty()
    }
}

/// Compares a release with the lake, brand by brand, by catalogue hash and live changes. Brands that are held back are
/// left out. Only the lake's tables of brands and of live prices are read. Table versions do not suffice, because they
/// also change with crawls and compactions that change no brand.
///
/// # Errors
/// The lake cannot be read.
#[boxed]
pub async fn lag(lake: &Lake, manifest: &Manifest) -> Result<Lag, ReleaseBuildError> {
    let snapshot = lake.snapshot().await.map_err(ReleaseBuildError::Snapshot)?;
    let rows = snapshot.brands().await.map_err(ReleaseBuildError::Brands)?;
    let live = LiveChanges::of(&snapshot, None).await?;
    let facts = manifest.brands.iter().map(|entry| &entry.facts);
    let held: BTreeSet<&StoreHost> = manifest.held.iter().map(|brand| &brand.store).collect();
    let mut released: BTreeMap<&StoreHost, _> = facts.map(|facts| (&facts.brand.store, facts)).collect();
    let mut lag = Lag::default();
    for row in &rows {
        lag.lake_products += row.product_count;
        let (behind, at) = match released.remove(&row.brand.store) {
            Some(facts) if facts.catalogue_hash == live.content_of(row) => continue,
            _ if held.contains(&row.brand.store) => continue,
            // The catalogue is the same, so that only a live change can be new.
            Some(facts) if facts.refreshed_at == row.refreshed_at => {
                (&mut lag.changed, live.at(&row.brand.store).unwrap_or(row.refreshed_at))
            }
            Some(_) => (&mut lag.changed, row.refreshed_at),
            None => (&mut lag.added, row.refreshed_at),
        };
        behind.push(row.brand.slug.clone());
        let since = lag.since.map_or(at, |since| since.min(at));
        lag.since = Some(since);
    }
    lag.removed = released.into_values().map(|facts| facts.brand.slug.clone()).collect();
    for slugs in [&mut lag.added, &mut lag.changed, &mut lag.removed] {
        slugs.sort_unstable();
    }
    Ok(lag)
}
