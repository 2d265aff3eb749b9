//! Platform ids. Each is a bijection of the product's place, so ids never clash and nothing needs to be remembered.

/// Generations that the ids of one slot leave room for.
const GENERATIONS: u64 = super::drift::EPOCH_MAX + 1;

const PRODUCTS_FROM: u64 = 6_000_000_000_000;
const PRODUCT_BITS: u32 = 41;
const VARIANTS_FROM: u64 = 40_000_000_000_000;
const VARIANT_BITS: u32 = 45;

/// One product that ever was or will be: the slot's place among all slots of all stores, and the generation in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ordinal(u64);

impl Ordinal {
    /// Of `slot` (counted over all stores) of `slots` in all, in its `generation`.
    pub(crate) fn listed(slot: u64, generation: u64, slots: u64) -> Self {
        Self(generation.min(GENERATIONS - 1) * slots + slot)
    }

    /// Of the `number`th product that a fault invents for store `store`: beyond every listed one.
    pub(crate) fn invented(store: u32, number: u64, slots: u64) -> Self {
        Self(GENERATIONS * slots + (u64::from(store) << 20) + (number & 0xf_ffff))
    }

    /// The slot that it is in, counted over all stores; `None` for one that is listed nowhere.
    pub(crate) fn slot(self, slots: u64) -> Option<u64> {
        (self.0 < GENERATIONS * slots).then(|| self.0 % slots)
    }

    /// The one whose product has this id.
    pub(crate) fn of_product(id: u64) -> Option<Self> {
        gather(id.checked_sub(PRODUCTS_FROM)?, PRODUCT_BITS).map(Self)
    }

    /// The one with a variant of this id, and which variant that is.
    pub(crate) fn of_variant(id: u64) -> Option<(Self, usize)> {
        let number = gather(id.checked_sub(VARIANTS_FROM)?, VARIANT_BITS)?;
        Some((Self(number / 64), (number % 64) as usize))
    }

    /// The product's id: 13 digits.
    pub(crate) fn product_id(self) -> u64 {
        PRODUCTS_FROM + scatter(self.0, PRODUCT_BITS)
    }

    /// The id of its `nth` variant: 14 digits.
    pub(crate) fn variant_id(self, nth: usize) -> u64 {
        VARIANTS_FROM + scatter(self.0 * 64 + (nth as u64 & 63), VARIANT_BITS)
    }

    /// The id of its `nth` image: 14 digits.
    pub(crate) fn image_id(self, nth: usize) -> u64 {
        20_000_000_000_000 + scatter(self.0 * 8 + (nth as u64 & 7), 43)
    }
}

const ODD: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xbf58_476d_1ce4_e5b9];

/// A bijection of the numbers of `bits` bits: multiplication by an odd number and a fold of high bits onto low ones.
const fn scatter(number: u64, bits: u32) -> u64 {
    let mask = (1 << bits) - 1;
    let number = number.wrapping_mul(ODD[0]) & mask;
    let number = number ^ (number >> (bits / 2 + 1));
    number.wrapping_mul(ODD[1]) & mask
}

/// The inverse of [`scatter`]; `None` for a number that has more bits.
const fn gather(number: u64, bits: u32) -> Option<u64> {
    let mask = (1 << bits) - 1;
    if number > mask {
        return None;
    }
    let number = number.wrapping_mul(inverse(ODD[1])) & mask;
    // The shift is more than half of the bits: folding twice undoes the fold.
    let number = number ^ (number >> (bits / 2 + 1));
    Some(number.wrapping_mul(inverse(ODD[0])) & mask)
}

/// The number that an odd one gives 1 with when multiplied, modulo 2^64: each step of Newton doubles the right bits.
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
