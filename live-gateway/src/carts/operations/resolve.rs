use std::collections::BTreeMap;

use data_model::{CurrencyCode, ErrorCode, ProductIdent, StoredBrand, StoredProduct, VariantId};

use super::Item;
use crate::cart_failure::CartFailure;
use crate::carts::Carts;
use crate::rules::carts::record::ShownPrice;
use crate::schema::carts::CartProblem;

/// Maximum number of products in one catalogue request.
const IDENTS_MAX: usize = 20;

#[derive(Debug, Clone)]
pub(super) struct WantedPieces {
    pub(super) brand: StoredBrand,
    pub(super) lines: BTreeMap<u64, u32>,
    /// Public product id by variant.
    pub(super) products: BTreeMap<u64, String>,
    /// Price shown to the buyer, by variant.
    pub(super) shown: BTreeMap<u64, ShownPrice>,
}

#[derive(Debug, Clone)]
pub(super) struct ItemVariant {
    pub(super) brand: StoredBrand,
    pub(super) variant: u64,
    pub(super) product: String,
    /// Currency in which the product's prices are shown.
    pub(super) currency: CurrencyCode,
}

impl Carts {
    /// Finds the store and the variant of each item. Items that are not available are returned as problems.
    pub(super) async fn resolve(&self, items: &[Item]) -> Result<(Vec<WantedPieces>, Vec<CartProblem>), CartFailure> {
        let (mut wanted, mut problems) = (Vec::new(), Vec::new());
        for (item, meant) in items.iter().zip(self.meant(items).await?) {
            match meant {
                Ok(meant) => put(&mut wanted, meant, item)?,
                Err(problem) => problems.push(problem),
            }
        }
        Ok((wanted, problems))
    }

    /// Resolves each item separately. Results are in the order of the items.
    pub(super) async fn meant(&self, items: &[Item]) -> Result<Vec<Result<ItemVariant, CartProblem>>, CartFailure> {
        let mut all = Vec::with_capacity(items.len());
        for items in items.chunks(IDENTS_MAX) {
            let idents: Vec<ProductIdent> = items.iter().map(|item| item.product).collect();
            let resolved = self.context.catalogue.resolve(&idents).await?;
            let found = items.iter().zip(&resolved.products);
            all.extend(found.map(|(item, product)| meant(item, product.as_ref(), &resolved.brands)));
        }
        Ok(all)
    }
}

fn meant(item: &Item, product: Option<&StoredProduct>, brands: &[StoredBrand]) -> Result<ItemVariant, CartProblem> {
    let sold = product.and_then(|product| Some((product, brands.get(product.brand)?)));
    let (product, brand) = sold.ok_or_else(|| {
        let id = Some(item.product.to_string());
        let detail = format!("The product {} does not exist.", item.product);
        CartProblem::new(None, id, ErrorCode::ProductNotFound, detail)
    })?;
    let variant = variant(product, item).ok_or_else(|| {
        let id = Some(product.id.to_string());
        let named = item.variant.map(|variant| format!(" {variant}")).unwrap_or_default();
        let detail = format!("The product has no variant{named}.");
        CartProblem::new(Some(brand), id, ErrorCode::ProductNotFound, detail)
    })?;
    Ok(ItemVariant {
        brand: brand.clone(),
        variant,
        product: product.id.to_string(),
        currency: product.currency,
    })
}

/// Returns the variant of an item: the named one, else the first that can be bought, else the first. If some variants
/// of the product are not listed, its store decides if it has the named one.
fn variant(product: &StoredProduct, item: &Item) -> Option<u64> {
    let variants = &product.variants;
    let is_listed = |id: VariantId| variants.iter().any(|variant| variant.id == id);
    match item.variant {
        Some(id) => (is_listed(id) || !product.variants_complete).then_some(id.0),
        None => {
            let first = variants.iter().find(|variant| variant.available);
            first.or(variants.first()).map(|variant| variant.id.0)
        }
    }
}

/// Adds an item to the wanted items of its brand. A store has one line for all items of a variant, so all of them must
/// state the same price.
pub(super) fn put(wanted: &mut Vec<WantedPieces>, meant: ItemVariant, item: &Item) -> Result<(), CartFailure> {
    let at = wanted.iter().position(|one| one.brand.store == meant.brand.store);
    let at = at.unwrap_or_else(|| {
        wanted.push(WantedPieces {
            brand: meant.brand,
            lines: BTreeMap::new(),
            products: BTreeMap::new(),
            shown: BTreeMap::new(),
        });
        wanted.len() - 1
    });
    let pieces = wanted[at].lines.entry(meant.variant).or_default();
    *pieces = pieces.saturating_add(item.quantity);
    wanted[at].products.insert(meant.variant, meant.product);
    if let Some(price) = item.shown.clone() {
        let currency = price.currency.or(Some(meant.currency));
        let price = ShownPrice { currency, ..price };
        let known = wanted[at].shown.entry(meant.variant).or_insert_with(|| price.clone());
        if (known.minor, known.currency) != (price.minor, price.currency) {
            return Err(CartFailure::Bound(
                "items",
                "items of the same variant state different prices",
            ));
        }
        if known.quote.is_none() {
            *known = price;
        }
    }
    Ok(())
}
