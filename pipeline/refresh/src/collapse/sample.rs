//! Sample of the products that a crawl would add or remove. It shows if two crawls would change the same products.

use serde::{Deserialize, Serialize};

/// Maximum number of products in a sample.
const PRODUCTS_MAX: usize = 1000;

/// Shopify ids of added and removed products: those whose mixed ids are smallest, in that order. Two samples therefore
/// choose among the same products.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct ChangedSample(Vec<u64>);

/// Spreads ids, because a part of a listing has neighbouring ids.
const fn mixed(id: u64) -> u64 {
    id.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

impl ChangedSample {
    pub(crate) fn new(changed: impl IntoIterator<Item = u64>) -> Self {
        let mut ids: Vec<u64> = changed.into_iter().collect();
        ids.sort_unstable_by_key(|id| mixed(*id));
        ids.truncate(PRODUCTS_MAX);
        Self(ids)
    }

    /// Returns true if nearly all of these changes are among those of `earlier`.
    pub(crate) fn repeats(&self, earlier: &Self, tolerance: f64) -> bool {
        // A full sample says nothing about products after its last one.
        let end = match earlier.0.last() {
            Some(last) if earlier.0.len() == PRODUCTS_MAX => mixed(*last),
            _ => u64::MAX,
        };
        let comparable = self.0.iter().filter(|id| mixed(**id) <= end).count();
        let is_new = |id: &&u64| earlier.0.binary_search_by_key(&mixed(**id), |one| mixed(*one)).is_err();
        let new = self.0.iter().filter(|id| mixed(**id) <= end).filter(is_new).count();
        new as f64 <= (comparable as f64 * tolerance).max(1.0)
    }
}
