//! Content of a store's cart that must be created or rebuilt.

use std::collections::BTreeMap;

use data_model::VariantId;

use super::plan::with_attributes;
use super::record::Target;
use crate::rules::store_cart::{Buyer, CartAddress, CartDraft, StoreCart, VariantQuantity};

/// Returns a draft of a brand's cart with all requested items and settings and the changes in `target`. Returns `None`
/// if no item is left. The draft has no lines that the store itself added, because the store adds them again.
pub(crate) fn draft(
    seen: Option<&StoreCart>,
    wanted: &BTreeMap<u64, u32>,
    target: &Target,
    address: Option<&CartAddress>,
    buyer: Buyer,
) -> Option<CartDraft> {
    let mut lines = wanted.clone();
    lines.extend(&target.lines);
    lines.retain(|_, quantity| *quantity > 0);
    if lines.is_empty() {
        return None;
    }
    let codes = || seen.map(|seen| seen.codes.iter().map(|code| code.code.clone()).collect());
    let attributes = seen.map(|seen| seen.attributes.as_slice()).unwrap_or_default();
    Some(CartDraft {
        lines: lines
            .into_iter()
            .map(|(variant, quantity)| VariantQuantity {
                variant: VariantId(variant),
                quantity,
            })
            .collect(),
        codes: target.codes.clone().or_else(codes).unwrap_or_default(),
        buyer,
        address: target.address.as_ref().or(address).cloned(),
        attributes: with_attributes(attributes, &target.attributes),
    })
}
