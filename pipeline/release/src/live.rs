//! Changes of brands that were seen live, as far as releases follow them: a brand's price history is part of the release, so
//! that a row which no crawl of its catalogue brought makes it another state of the brand.

use std::collections::{BTreeMap, BTreeSet};

use data_lake::{BrandRow, LakeSnapshot};
use data_model::{StoreHost, Timestamp};

use crate::error::ReleaseBuildError;

/// The moment at which the price history of each brand last got such a row.
#[derive(Debug, Default)]
pub(crate) struct LiveChanges(BTreeMap<StoreHost, Timestamp>);

impl LiveChanges {
    /// Of these stores, or of all.
    pub(crate) async fn of(
        snapshot: &LakeSnapshot,
        stores: Option<&BTreeSet<StoreHost>>,
    ) -> Result<Self, ReleaseBuildError> {
        let changes = snapshot.live_changes(stores).await.map_err(ReleaseBuildError::Live)?;
        Ok(Self(changes))
    }

    /// The moment at which it last did so of this brand.
    pub(crate) fn at(&self, store: &StoreHost) -> Option<Timestamp> {
        self.0.get(store).copied()
    }

    /// The release's name of the brand's content: the hash of its catalogue, and of changes that were seen live the moment. Two
    /// states of one name are of equal products and of an equal price history.
    pub(crate) fn content_of(&self, row: &BrandRow) -> String {
        match self.at(&row.brand.store) {
            Some(at) => format!("{}-live-{}", row.catalogue_hash, at.micros()),
            None => row.catalogue_hash.clone(),
        }
    }
}
