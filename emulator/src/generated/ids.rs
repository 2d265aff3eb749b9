//! Platform ids. Each id is a bijection of the product's place, so that ids never clash and no table is needed.

/// Number of generations that the ids of one slot allow.
const GENERATIONS: u64 = super::drift::EPOCH_MAX + 1;

const PRODUCTS_FROM: u64 = 6_000_000_000_000;
const PRODUCT_BITS: u32 = 41;
const VARIANTS_FROM: u64 = 40_000_000_000_000;
const VARIANT_BITS: u32 = 45;

/// Number of a product, past or future: the index of its slot among the slots of all stores, combined with its
/// generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ordinal(u64);

impl Ordinal {
    /// Returns the ordinal of a listed product. `slot` counts over all stores, which have `slots` slots.
    pub(crate) fn listed(slot: u64, generation: u64, slots: u64) -> Self {
        Self(generation.min(GENERATIONS - 1) * slots + slot)
    }

    /// Returns the ordinal of the `number`th product that a fault invents for store `store`. Invented ordinals are
    /// above the ordinals of all listed products.
    pub(crate) fn invented(store: u32, number: u64, slots: u64) -> Self {
        Self(GENERATIONS * slots + (u64::from(store) << 20) + (number & 0xf_ffff))
    }

    /// Returns the product's slot over all stores, or `None` if the product is not listed.
    pub(crate) fn slot(self, slots: u64) -> Option<u64> {
        (self.0 < GENERATIONS * slots).then(|| self.0 % slots)
    }

    /// Returns the ordinal of the product with this id.
    pub(crate) fn of_product(id: u64) -> Option<Self> {
        gather(id.checked_sub(PRODUCTS_FROM)?, PRODUCT_BITS).map(Self)
    }

    /// Returns the ordinal of the product that has this variant id, and the index of the variant.
    pub(crate) fn of_variant(id: u64) -> Option<(Self, usize)> {
        let number = gather(id.checked_sub(VARIANTS_FROM)?, VARIANT_BITS)?;
        Some((Self(number / 64), (number % 64) as usize))
    }

    /// Returns the product's id, which has 13 digits.
    pub(crate) fn product_id(self) -> u64 {
        PRODUCTS_FROM + scatter(self.0, PRODUCT_BITS)
    }

    /// Returns the id of the product's `nth` variant, which has 14 digits.
    pub(crate) fn variant_id(self, nth: usize) -> u64 {
        VARIANTS_FROM + scatter(self.0 * 64 + (nth as u64 & 63), VARIANT_BITS)
    }

    /// Returns the id of the product's `nth` image, which has 14 digits.
    pub(crate) fn image_id(self, nth: usize) -> u64 {
        20_000_000_000_000 + scatter(self.0 * 8 + (nth as u64 & 7), 43)
    }
}

const ODD: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xbf58_476d_1ce4_e5b9];

/// Bijection on numbers of `bits` bits: multiplies by an odd number and folds the high bits onto the low bits.
const fn scatter(number: u64, bits: u32) -> u64 {
    let mask = (1 << bits) - 1;
    let number = number.wrapping_mul(ODD[0]) & mask;
    let number = number ^ (number >> (bits / 2 + 1));
    number.wrapping_mul(ODD[1]) & mask
}

/// Inverse of [`scatter`]. Returns `None` for a number with more than `bits` bits.
const fn gather(number: u64, bits: u32) -> Option<u64> {
    let mask = (1 << bits) - 1;
    if number > mask {
        return None;
    }
    let number = number.wrapping_mul(inverse(ODD[1])) & mask;
    // The shift is more than half of the bits, so a second fold undoes the first.
    let number = number ^ (number >> (bits / 2 + 1));
    Some(number.wrapping_mul(inverse(ODD[0])) & mask)
}

/// Returns the multiplicative inverse of an odd number modulo 2^64. Each Newton step doubles the number of correct
/// bits.
const fn inverse(odd: u64) -> u64 {
    let mut found = odd;
    let mut steps = 0;
    while steps < 5 {
        found = found.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(found)));
        steps += 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn ids_lead_back_to_their_product(
            slot in 0u64..10_000_000, generation in 0u64..4001, nth in 0usize..64, other in any::<u64>()
        ) {
            let ordinal = Ordinal::listed(slot, generation, 10_000_000);
            prop_assert_eq!(Ordinal::of_product(ordinal.product_id()), Some(ordinal));
            prop_assert_eq!(Ordinal::of_variant(ordinal.variant_id(nth)), Some((ordinal, nth)));
            prop_assert_eq!(ordinal.slot(10_000_000), Some(slot));
            if let Some(found) = Ordinal::of_product(other) {
                prop_assert_eq!(found.product_id(), other);
            }
        }
    }

    #[test]
    fn ids_do_not_clash_over_stores_generations_and_inventions() {
        let mut products = HashSet::new();
        let mut variants = HashSet::new();
        for slot in 0..2000 {
            for generation in 0..5 {
                let ordinal = Ordinal::listed(slot, generation, 2000);
                assert!(products.insert(ordinal.product_id()));
                assert!((0..12).all(|nth| variants.insert(ordinal.variant_id(nth))));
            }
        }
        for store in 0..4 {
            assert!((0..500).all(|number| products.insert(Ordinal::invented(store, number, 2000).product_id())));
        }
    }

    #[test]
    fn ids_have_the_platforms_length() {
        let ordinal = Ordinal::listed(9_999_999, 4000, 10_000_000);
        assert!((6_000_000_000_000..10_000_000_000_000).contains(&ordinal.product_id()));
        assert!((20_000_000_000_000..40_000_000_000_000).contains(&ordinal.image_id(7)));
        assert!((40_000_000_000_000..90_000_000_000_000).contains(&ordinal.variant_id(63)));
    }
}
