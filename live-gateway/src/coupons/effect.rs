//! Effect of a code on a cart of one item, derived from the store's amounts. The module is pure (no I/O, no clock).

use data_model::{CouponEffect, CouponKind};

use crate::rules::store_cart::{DiscountKind, StoreCart, StoreCode, StoreDelivery};

/// Returns the effect of a code. The cart must have no other code.
pub(crate) fn effect(cart: &StoreCart, code: &StoreCode) -> CouponEffect {
    let takes_goods = code.discount_minor > code.shipping_minor;
    let kind = match code.stated {
        _ if !takes_goods && (code.is_for_shipping || can_only_be_for_shipping(cart, code)) => CouponKind::Shipping,
        Some(DiscountKind::Percentage) if takes_goods => CouponKind::Percentage,
        Some(DiscountKind::Amount) if takes_goods => CouponKind::Fixed,
        _ => kind(code.discount_minor, cart.subtotal_minor, cart.currency.exponent()),
    };
    CouponEffect {
        kind,
        discount_minor: code.discount_minor,
        subtotal_minor: cart.subtotal_minor,
        total_minor: cart.total_minor,
        currency: cart.currency,
    }
}

/// True if the code can only be a shipping code. A code discounts either goods or shipping, so a code that applies
/// without a discount on goods is for shipping. The discount is 0 if shipping is free anyway.
fn can_only_be_for_shipping(cart: &StoreCart, code: &StoreCode) -> bool {
    let is_free = |delivery: &StoreDelivery| {
        let mut chosen = delivery.options.iter();
        chosen.any(|option| Some(&option.handle) == delivery.selected.as_ref() && option.amount_minor == 0)
    };
    let delivers_free = !cart.deliveries.is_empty() && cart.deliveries.iter().all(is_free);
    code.discount_minor == 0 && cart.subtotal_minor > 0 && delivers_free
}

/// Returns the kind of a discount: a whole percentage of the subtotal, or a round amount. The kind is unknown if both
/// fit, as with 50.00 off 500.00. The kind is also unknown if the discount equals the subtotal, which limits every
/// discount.
fn kind(discount_minor: i64, subtotal_minor: i64, exponent: u32) -> CouponKind {
    if discount_minor <= 0 || discount_minor >= subtotal_minor {
        return CouponKind::Unknown;
    }
    let (discount, subtotal) = (i128::from(discount_minor), i128::from(subtotal_minor));
    let percent = (discount * 200 + subtotal) / (subtotal * 2);
    // Stores round to the minor unit, up or down.
    let is_percentage = (1..100).contains(&percent) && (percent * subtotal - discount * 100).abs() < 100;
    // Merchants choose whole units, or multiples of ten if the currency has no smaller unit.
    let unit = match exponent {
        0 => 10,
        2 => 100,
        _ => 10_i64.pow(exponent - 1),
    };
    match (is_percentage, discount_minor % unit == 0) {
        (true, false) => CouponKind::Percentage,
        (false, true) => CouponKind::Fixed,
        _ => CouponKind::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn kinds_are_told_where_the_arithmetic_tells_them() {
        for (discount, subtotal, exponent, told) in [
            (4_990, 49_900, 2, CouponKind::Percentage),
            (10_000, 49_900, 2, CouponKind::Fixed),
            // This discount equals both 10 percent and 50 rupees.
            (5_000, 50_000, 2, CouponKind::Unknown),
            (49_900, 49_900, 2, CouponKind::Unknown),
            (0, 49_900, 2, CouponKind::Unknown),
            (198, 1_980, 0, CouponKind::Percentage),
            (500, 1_980, 0, CouponKind::Fixed),
            (1_250, 9_990, 3, CouponKind::Unknown),
            (-5, 100, 2, CouponKind::Unknown),
            (i64::MAX - 1, i64::MAX, 2, CouponKind::Unknown),
        ] {
            assert_eq!(kind(discount, subtotal, exponent), told, "{discount} of {subtotal}");
        }
    }

    proptest! {
        #[test]
        fn a_percentage_is_never_called_an_amount(percent in 1_i64..100, subtotal in 1_000_i64..10_000_000, up in any::<bool>()) {
            let exact = subtotal * percent;
            let discount = if up { (exact + 99) / 100 } else { exact / 100 };
            prop_assert_ne!(kind(discount, subtotal, 2), CouponKind::Fixed);
        }

        #[test]
        fn an_amount_is_called_a_percentage_only_where_it_is_one(units in 1_i64..5_000, subtotal in 1_000_i64..10_000_000) {
            prop_assert_ne!(kind(units * 100, subtotal, 2), CouponKind::Percentage);
        }
    }
}
