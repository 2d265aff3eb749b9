use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, PoisonError};

use data_model::{Observation, ProductId};

/// Maximum number of products whose last observation is remembered.
const PRODUCTS_MAX: usize = 200_000;

/// Last observation of each product. Equal observations are recorded only once. An observation that was forgotten or
/// made by another process is recorded again, which does not change the price history.
#[derive(Debug, Default)]
pub(crate) struct LastObservations(Mutex<HashMap<ProductId, u64>>);

impl LastObservations {
    /// True if an observation differs from the product's last one. Saves the new observation.
    pub(crate) fn is_news(&self, product: ProductId, observation: &Observation) -> bool {
        let mut hasher = DefaultHasher::new();
        observation.currency.as_str().hash(&mut hasher);
        for variant in &observation.variants {
            (
                variant.id,
                variant.price_minor,
                variant.compare_at_minor,
                variant.available,
            )
                .hash(&mut hasher);
        }
        observation.gone.hash(&mut hasher);
        let digest = hasher.finish();
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if last.len() >= PRODUCTS_MAX && !last.contains_key(&product) {
            last.clear();
        }
        last.insert(product, digest) != Some(digest)
    }
}
