//! What a store's cart is made of when there is none (any more).

use std::collections::BTreeMap;

use data_model::VariantId;

use super::plan::with_attributes;
use crate::cart_client::{Buyer, CartAddress, CartDraft};
use crate::carts::record::{Group, Target};

/// All that is known of a brand's part of a cart, and what it is to become; `None` where no line is left.
pub(crate) fn draft(
    group: Option<&Group>,
    target: &Target,
    address: Option<&CartAddress>,
    buyer: Buyer,
) -> Option<CartDraft> {
    let mut lines: BTreeMap<u64, u32> = BTreeMap::new();
    for line in group.iter().flat_map(|group| &group.seen.lines) {
        // A store gave fewer than asked for, or none: the new cart asks for as many as were asked for then.
        let wanted = group.and_then(|group| group.wanted.get(&line.variant.0)).copied();
        *lines.entry(line.variant.0).or_default() += wanted.unwrap_or(line.quantity);
    }
    lines.extend(&target.lines);
    lines.retain(|_, quantity| *quantity > 0);
    if lines.is_empty() {
        return None;
    }
    let seen = group.map(|group| &group.seen);
    let codes = || seen.map(|seen| seen.codes.iter().map(|code| code.code.clone()).collect());
    let attributes = seen.map(|seen| seen.attributes.as_slice()).unwrap_or_default();
    Some(CartDraft {
        lines: lines
            .into_iter()
            .map(|(variant, quantity)| (VariantId(variant), quantity))
            .collect(),
        codes: target.codes.clone().or_else(codes).unwrap_or_default(),
        buyer,
        address: target.address.as_ref().or(address).cloned(),
        attributes: with_attributes(attributes, &target.attributes),
    })
}
