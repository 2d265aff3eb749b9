use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, PoisonError};

use data_model::{Observation, ProductId};

/// Products whose last observation is remembered.
const PRODUCTS_MAX: usize = 200_000;

/// The last observation of each product, so that the same is not recorded again and again. One that is forgotten, or was made
/// by another process, is recorded once more: the lake sees that nothing is new.
#[derive(Debug, Default)]
pub(crate) struct LastObservations(Mutex<HashMap<ProductId, u64>>);

impl LastObservations {
    /// True where an observation says something else than the last one of the product; remembers it.
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
