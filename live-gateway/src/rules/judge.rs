use std::collections::HashMap;

use data_model::{Observation, ObservedVariant, StoredBrand, StoredProduct, StoredVariant, Timestamp, VariantId};

use super::reason::Unverified;
use super::{ProductReply, VariantReply};
use crate::schema::{LivePrice, LiveVariant, PriceChanges, UnverifiedCode, VariantChange, VariantOffer};

/// Returns the entry with the store's own response and the differences from the snapshot.
///
/// A product without variants is not verified, because it has no price.
pub(crate) fn verified(
    stored: &StoredProduct,
    brand: &StoredBrand,
    told: &ProductReply,
    as_of: Timestamp,
) -> LivePrice {
    if told.is_gone() {
        let gone = Unverified::new(UnverifiedCode::ProductGone, "the store no longer has this product");
        let mut last = snapshot(stored, brand, &gone);
        // The last known prices stay, but it is certain that nothing can be bought.
        last.in_stock = Some(false);
        last.variants.iter_mut().for_each(|variant| variant.available = false);
        return last;
    }
    let known: HashMap<VariantId, &StoredVariant> = stored.variants.iter().map(|one| (one.id, one)).collect();
    let variants: Vec<LiveVariant> = told
        .variants
        .iter()
        .map(|variant| LiveVariant {
            variant_id: variant.id.to_string(),
            title: variant.title.clone(),
            // If the interface does not state SKUs, the SKU counts as unchanged.
            sku: variant
                .sku
                .clone()
                .or_else(|| known.get(&variant.id).and_then(|known| known.sku.clone())),
            amount_minor: variant.price_minor,
            compare_at_minor: variant.compare_at_minor,
            available: variant.available,
        })
        .collect();
    LivePrice {
        verified: true,
        as_of: Some(as_of),
        source: Some(told.source.as_str()),
        changes: Some(changes(stored, brand, told, &known)),
        ..priced(stored, brand, variants)
    }
}

/// Returns the stored snapshot for a product whose price the store did not confirm.
pub(crate) fn snapshot(stored: &StoredProduct, brand: &StoredBrand, why: &Unverified) -> LivePrice {
    let variants = stored.variants.iter().map(|variant| LiveVariant {
        variant_id: variant.id.to_string(),
        title: variant.title.clone(),
        sku: variant.sku.clone(),
        amount_minor: variant.price_minor,
        compare_at_minor: variant.compare_at_minor,
        available: variant.available,
    });
    LivePrice {
        as_of: Some(brand.refreshed_at),
        snapshot_at: Some(brand.refreshed_at),
        code: Some(why.code),
        detail: Some(why.detail.clone()),
        ..priced(stored, brand, variants.collect())
    }
}

/// Returns the entry of an ident that is not in the release.
pub(crate) fn unknown(ident: &str, as_of: Timestamp) -> LivePrice {
    LivePrice {
        product_id: ident.to_owned(),
        product_uid: None,
        brand_slug: None,
        title: None,
        verified: false,
        as_of: Some(as_of),
        snapshot_at: None,
        code: Some(UnverifiedCode::ProductNotFound),
        detail: Some("no such product".to_owned()),
        source: None,
        currency: None,
        price_min_minor: None,
        price_max_minor: None,
        in_stock: None,
        variants_complete: false,
        variants: Vec::new(),
        changes: None,
        quote: None,
    }
}

pub(crate) fn observation(
    stored: &StoredProduct,
    brand: &StoredBrand,
    told: &ProductReply,
    as_of: Timestamp,
) -> Observation {
    let variants = told.variants.iter().map(|variant| ObservedVariant {
        id: variant.id,
        price_minor: variant.price_minor,
        compare_at_minor: variant.compare_at_minor,
        available: variant.available,
    });
    Observation {
        store: brand.store.clone(),
        product: stored.platform_id,
        observed_at: as_of,
        currency: stored.currency,
        variants: variants.collect(),
        gone: told.gone.clone(),
    }
}

fn priced(stored: &StoredProduct, brand: &StoredBrand, variants: Vec<LiveVariant>) -> LivePrice {
    // The product may have other variants that are cheaper, dearer or in stock.
    let is_whole = stored.variants_complete;
    let amounts = || variants.iter().map(|variant| variant.amount_minor).filter(|_| is_whole);
    let in_stock = variants.iter().any(|variant| variant.available);
    LivePrice {
        product_id: stored.id.to_string(),
        product_uid: Some(stored.product_uid.to_string()),
        brand_slug: Some(brand.slug.to_string()),
        title: Some(stored.title.clone()),
        verified: false,
        as_of: None,
        snapshot_at: None,
        code: None,
        detail: None,
        source: None,
        currency: Some(stored.currency.to_string()),
        // A price of 0 is used only if no variant has a higher price, because free variants come with a purchase.
        price_min_minor: amounts().min_by_key(|amount| (*amount <= 0, *amount)),
        price_max_minor: amounts().max(),
        in_stock: Some(in_stock).filter(|in_stock| is_whole || *in_stock),
        variants_complete: stored.variants_complete,
        variants,
        changes: None,
        quote: None,
    }
}

fn changes(
    stored: &StoredProduct,
    brand: &StoredBrand,
    told: &ProductReply,
    known: &HashMap<VariantId, &StoredVariant>,
) -> PriceChanges {
    let mut changes = PriceChanges {
        since: brand.refreshed_at,
        price: false,
        stock: false,
        variants: Vec::new(),
    };
    for variant in &told.variants {
        let (before, now) = (known.get(&variant.id).map(|known| was(known)), is(variant));
        if before.as_ref() == Some(&now) {
            continue;
        }
        let price_of = |offer: &VariantOffer| (offer.amount_minor, offer.compare_at_minor);
        match &before {
            Some(before) => {
                changes.price |= price_of(before) != price_of(&now);
                changes.stock |= before.available != now.available;
            }
            None => changes.stock = true,
        }
        changes.variants.push(VariantChange {
            variant_id: variant.id.to_string(),
            before,
            now: Some(now),
        });
    }
    // Changes are listed in the stored order, because the store's order may vary.
    for variant in stored.variants.iter().filter(|variant| told.gone.contains(&variant.id)) {
        changes.stock = true;
        let before = Some(was(variant));
        changes.variants.push(VariantChange {
            variant_id: variant.id.to_string(),
            before,
            now: None,
        });
    }
    changes
}

fn was(variant: &StoredVariant) -> VariantOffer {
    VariantOffer {
        amount_minor: variant.price_minor,
        compare_at_minor: variant.compare_at_minor,
        available: variant.available,
    }
}

fn is(variant: &VariantReply) -> VariantOffer {
    VariantOffer {
        amount_minor: variant.price_minor,
        compare_at_minor: variant.compare_at_minor,
        available: variant.available,
    }
}
