//! Variants that were in a store's cart or were added to it, and are missing now.

use std::collections::BTreeMap;

use data_model::{ErrorCode, StoredBrand};

use super::ids::product_id;
use super::own::CartComparison;
use super::record::{Group, Target};
use crate::schema::carts::CartProblem;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MissingVariant {
    pub(crate) variant: u64,
    pub(crate) product: Option<String>,
    /// Store's title of the variant, if the variant was in the cart before.
    title: Option<String>,
}

/// Returns the wanted variants that have no line in the store's cart and are not merged into another line.
pub(crate) fn missing(known: Option<&Group>, target: &Target, holding: CartComparison<'_>) -> Vec<MissingVariant> {
    let absent = holding.wanted.keys().filter(|variant| !holding.has(**variant));
    let one = |variant: &u64| {
        let line = known.and_then(|group| group.line(*variant).map(|line| (group, line)));
        let product_before = || line.map(|(group, line)| product_id(&group.brand, line.product));
        MissingVariant {
            variant: *variant,
            product: target.products.get(variant).cloned().or_else(product_before),
            title: line.map(|(_, line)| line.title.clone()),
        }
    };
    absent.map(one).collect()
}

impl MissingVariant {
    pub(crate) fn problem(self, brand: &StoredBrand) -> CartProblem {
        let detail = match self.title {
            Some(title) => format!(
                "The store's cart no longer has “{title}”: the store has stopped selling it, or somebody removed it \
                 at the store."
            ),
            None => "The store did not add the item to its cart, and did not state why.".to_owned(),
        };
        CartProblem::new(Some(brand), self.product, ErrorCode::ProductNotFound, detail)
    }
}

/// Returns the wanted quantities by variant, reduced by the quantities in `done`.
pub(crate) fn wanted_after(wanted: &BTreeMap<u64, u32>, done: &BTreeMap<u64, u32>) -> BTreeMap<u64, u32> {
    let mut wanted = wanted.clone();
    wanted.extend(done);
    wanted.retain(|_, quantity| *quantity > 0);
    wanted
}
