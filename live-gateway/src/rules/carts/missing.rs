//! What was in a store's cart, or was to come into it, and is not there.

use std::collections::BTreeMap;

use data_model::{ErrorCode, ProductKey, StoredBrand};

use super::answer::problem;
use crate::carts::record::{Group, Target};
use crate::carts::schema::CartProblem;
use crate::store_cart::StoreCart;

/// One variant that a store's cart lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Missing {
    pub(crate) variant: u64,
    /// Public id of its product, where it is known.
    pub(crate) product: Option<String>,
    /// What the store called it, where it was in the cart before.
    title: Option<String>,
}

/// What a store's cart has no line of, though it had one before or was to get one, and nobody here took it out.
pub(crate) fn missing(before: Option<&Group>, target: &Target, cart: &StoreCart) -> Vec<Missing> {
    let mut expected = BTreeMap::new();
    if let Some(group) = before {
        for line in &group.seen.lines {
            let one = Missing {
                variant: line.variant.0,
                product: Some(product(&group.brand, line.product)),
                title: Some(line.title.clone()),
            };
            expected.insert(line.variant.0, one);
        }
    }
    for (variant, quantity) in &target.lines {
        if *quantity == 0 {
            expected.remove(variant);
            continue;
        }
        expected.entry(*variant).or_insert_with(|| Missing {
            variant: *variant,
            product: target.products.get(variant).cloned(),
            title: None,
        });
    }
    let is_there = |variant: u64| cart.lines.iter().any(|line| line.variant.0 == variant);
    expected.into_values().filter(|one| !is_there(one.variant)).collect()
}

/// The public id of a product of a brand's.
pub(crate) fn product(brand: &StoredBrand, platform_id: u64) -> String {
    let store = brand.store.clone();
    ProductKey { store, platform_id }.id().to_string()
}

impl Missing {
    /// How the caller is told.
    pub(crate) fn problem(self, brand: &StoredBrand) -> CartProblem {
        let detail = match self.title {
            Some(title) => format!(
                "The store's cart has no “{title}” any more: the store does not sell it now, or somebody took it out there."
            ),
            None => "The store did not put it into its cart, and did not say why.".to_owned(),
        };
        problem(Some(brand), self.product, ErrorCode::ProductNotFound, detail)
    }
}
