use std::collections::BTreeMap;

use data_model::{ErrorCode, ProductIdent, StoredBrand, StoredProduct, StoredVariant};

use super::Item;
use crate::carts::schema::CartProblem;
use crate::carts::{CartFailure, Carts};
use crate::rules::carts::answer::problem;

/// Most products that the catalogue is asked for at a time.
const IDENTS_MAX: usize = 20;

/// What is wanted of one brand.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    pub(super) brand: StoredBrand,
    /// Pieces by variant.
    pub(super) lines: BTreeMap<u64, u32>,
    /// Public ids of products by variant.
    pub(super) products: BTreeMap<u64, String>,
}

impl Carts {
    /// Finds out which store sells what, and which variant is meant. What is not sold stands in the problems.
    pub(super) async fn resolve(&self, items: &[Item]) -> Result<(Vec<Wanted>, Vec<CartProblem>), CartFailure> {
        let (mut wanted, mut problems) = (Vec::new(), Vec::new());
        for items in items.chunks(IDENTS_MAX) {
            let idents: Vec<ProductIdent> = items.iter().map(|item| item.product).collect();
            let resolved = self.0.catalogue.resolve(&idents).await?;
            for (item, product) in items.iter().zip(&resolved.products) {
                let Some(product) = product else {
                    let id = Some(item.product.to_string());
                    problems.push(problem(
                        None,
                        id,
                        ErrorCode::ProductNotFound,
                        "There is no such product.",
                    ));
                    continue;
                };
                let Some(brand) = resolved.brands.get(product.brand) else {
                    continue;
                };
                match variant(product, item) {
                    Some(variant) => put(&mut wanted, brand, (product, variant), item.quantity),
                    None => {
                        let id = Some(product.id.to_string());
                        let detail = "The product has no such variant.";
                        problems.push(problem(Some(brand), id, ErrorCode::ProductNotFound, detail));
                    }
                }
            }
        }
        Ok((wanted, problems))
    }
}

/// The variant that is meant: the one named, or the first one that can be bought, or the first one.
fn variant<'a>(product: &'a StoredProduct, item: &Item) -> Option<&'a StoredVariant> {
    let variants = &product.variants;
    match item.variant {
        Some(id) => variants.iter().find(|variant| variant.id == id),
        None => variants.iter().find(|variant| variant.available).or(variants.first()),
    }
}

fn put(wanted: &mut Vec<Wanted>, brand: &StoredBrand, of: (&StoredProduct, &StoredVariant), quantity: u32) {
    let at = wanted.iter().position(|one| one.brand.store == brand.store);
    let at = at.unwrap_or_else(|| {
        wanted.push(Wanted {
            brand: brand.clone(),
            lines: BTreeMap::new(),
            products: BTreeMap::new(),
        });
        wanted.len() - 1
    });
    let (product, variant) = of;
    let pieces = wanted[at].lines.entry(variant.id.0).or_default();
    *pieces = pieces.saturating_add(quantity);
    wanted[at].products.insert(variant.id.0, product.id.to_string());
}
