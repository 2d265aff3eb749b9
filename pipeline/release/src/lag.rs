use std::collections::BTreeMap;

use data_index::Manifest;
use data_lake::Lake;
use data_model::{BrandSlug, StoreHost, Timestamp};
use serde::Serialize;

use crate::error::ReleaseBuildError;

/// How far a release is behind the lake: which brands differ between the two.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Lag {
    /// Brands that the lake has and the release has not, sorted.
    pub added: Vec<BrandSlug>,
    /// Brands whose catalogue is another one in the lake, sorted.
    pub changed: Vec<BrandSlug>,
    /// Brands that the release has and the lake has no longer, sorted.
    pub removed: Vec<BrandSlug>,
    /// Products of the lake; what the release has is in its counts.
    pub lake_products: u64,
    /// When a crawl brought the oldest catalogue that the release lacks; `None` where it lacks none.
    pub since: Option<Timestamp>,
}

impl Lag {
    /// Whether a build would find nothing new.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.added.is_empty() && self.changed.is_empty() && self.removed.is_empty()
    }
}

/// Compares a release with the lake, brand by brand, by the hash of the catalogue. It reads the lake's table of brands
/// and nothing else. Versions of tables tell less: they change with every crawl and compaction that changes no brand.
///
/// # Errors
/// The lake cannot be read.
pub async fn lag(lake: &Lake, manifest: &Manifest) -> Result<Lag, ReleaseBuildError> {
    let snapshot = lake.snapshot().await.map_err(ReleaseBuildError::Snapshot)?;
    let rows = snapshot.brands().await.map_err(ReleaseBuildError::Brands)?;
    let facts = manifest.brands.iter().map(|entry| &entry.facts);
    let mut released: BTreeMap<&StoreHost, _> = facts.map(|facts| (&facts.brand.store, facts)).collect();
    let mut lag = Lag::default();
    for row in &rows {
        lag.lake_products += row.product_count;
        let behind = match released.remove(&row.brand.store) {
            Some(facts) if facts.catalogue_hash == row.catalogue_hash => continue,
            Some(_) => &mut lag.changed,
            None => &mut lag.added,
        };
        behind.push(row.brand.slug.clone());
        let since = lag.since.map_or(row.refreshed_at, |since| since.min(row.refreshed_at));
        lag.since = Some(since);
    }
    lag.removed = released.into_values().map(|facts| facts.brand.slug.clone()).collect();
    for slugs in [&mut lag.added, &mut lag.changed, &mut lag.removed] {
        slugs.sort_unstable();
    }
    Ok(lag)
}
