//! Live changes of brands, as far as they affect releases. A history row from a live observation gives the brand a new
//! state, even without a crawl, because a release contains the price history.

use std::collections::{BTreeMap, BTreeSet};

use data_lake::{BrandRow, LakeSnapshot};
use data_model::{StoreHost, Timestamp};

use crate::error::ReleaseBuildError;

/// Time at which the price history of each brand last received a row from a live observation.
#[derive(Debug, Default)]
pub(crate) struct LiveChanges(BTreeMap<StoreHost, Timestamp>);

impl LiveChanges {
    /// Reads the live changes of the given stores, or of all stores.
    pub(crate) async fn of(
        snapshot: &LakeSnapshot,
        stores: Option<&BTreeSet<StoreHost>>,
    ) -> Result<Self, ReleaseBuildError> {
        let changes = snapshot.live_changes(stores).await.map_err(ReleaseBuildError::Live)?;
        Ok(Self(changes))
    }

    pub(crate) fn at(&self, store: &StoreHost) -> Option<Timestamp> {
        self.0.get(store).copied()
    }

    /// Returns the content id of the brand: the catalogue hash and the time of the last live change. Two states with
    /// the same id have the same products and the same price history.
    pub(crate) fn content_of(&self, row: &BrandRow) -> String {
        match self.at(&row.brand.store) {
            Some(at) => format!("{}-live-{}", row.catalogue_hash, at.micros()),
            None => row.catalogue_hash.clone(),
        }
    }
}
