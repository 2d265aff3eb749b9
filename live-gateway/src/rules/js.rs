mod wire;

use std::collections::HashSet;

use data_model::{CurrencyCode, StoredProduct, VariantId, read_store_json};

use self::wire::Product;
use super::money::{from_hundredths, list_price};
use super::reason::Nonsense;
use super::told::{ProductReply, Source, VariantReply, filled, title};

/// Maximum number of variants that the platform lists in the `.js` view. The platform has the same limit for
/// `/products.json`.
const VARIANTS_LISTED_MAX: usize = 250;

/// Parses a product's `.js` view. `stated` is the currency of the amounts, if the store states one. The view itself
/// contains no currency, and a store may choose the currency by the client's assumed location (platform: markets).
///
/// # Errors
/// Fails if the document has a different form, is about another product, or has an amount that cannot be converted
/// exactly to the stored currency.
pub(crate) fn read(
    bytes: &[u8],
    stored: &StoredProduct,
    stated: Option<CurrencyCode>,
) -> Result<ProductReply, Nonsense> {
    let product: Product = read_store_json(bytes).map_err(|error| Nonsense::Form(error.to_string()))?;
    if product.id != stored.platform_id {
        return Err(Nonsense::Another { what: "product" });
    }
    let currency = stored.currency;
    match stated {
        Some(answered) if answered == currency => {}
        Some(answered) => {
            return Err(Nonsense::Currency {
                answered: answered.to_string(),
                stored: currency,
            });
        }
        None => return Err(Nonsense::CurrencyUnstated),
    }
    if product.variants.is_empty() {
        return Err(Nonsense::Form("a product without variants".to_owned()));
    }
    let listed = product.variants.len();
    let variants = product.variants.into_iter().map(|variant| {
        let price_minor = from_hundredths(variant.price, currency)?;
        let compare_at_minor = variant
            .compare_at_price
            .map(|amount| from_hundredths(amount, currency))
            .transpose()?;
        Ok(VariantReply {
            id: VariantId(variant.id),
            title: title(variant.title),
            sku: filled(variant.sku),
            price_minor,
            compare_at_minor: list_price(compare_at_minor, price_minor),
            available: variant.available,
        })
    });
    let variants: Vec<VariantReply> = variants.collect::<Result<_, Nonsense>>()?;
    let here: HashSet<VariantId> = variants.iter().map(|variant| variant.id).collect();
    if here.len() != listed {
        return Err(Nonsense::Form("the answer lists a variant twice".to_owned()));
    }
    let gone: Vec<VariantId> = stored
        .variants
        .iter()
        .map(|variant| variant.id)
        .filter(|id| !here.contains(id))
        .collect();
    if !gone.is_empty() && listed >= VARIANTS_LISTED_MAX {
        // The list is incomplete, so a variant that is not listed may still exist.
        return Err(Nonsense::Form(
            "the product has more variants than the answer can list".to_owned(),
        ));
    }
    Ok(ProductReply {
        source: Source::Js,
        variants,
        gone,
    })
}
