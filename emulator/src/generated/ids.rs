//! Platform ids. Each is a bijection of the product's place, so ids never clash and nothing needs to be remembered.

/// Generations that the ids of one slot leave room for.
const GENERATIONS: u64 = super::drift::EPOCH_MAX + 1;

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

    /// The product's id: 13 digits.
    pub(crate) fn product_id(self) -> u64 {
        6_000_000_000_000 + scatter(self.0, 41)
    }

    /// The id of its `nth` variant: 14 digits.
    pub(crate) fn variant_id(self, nth: usize) -> u64 {
        40_000_000_000_000 + scatter(self.0 * 64 + (nth as u64 & 63), 45)
    }

    /// The id of its `nth` image: 14 digits.
    pub(crate) fn image_id(self, nth: usize) -> u64 {
        20_000_000_000_000 + scatter(self.0 * 8 + (nth as u64 & 7), 43)
    }
}

/// A bijection of the numbers of `bits` bits: multiplication by an odd number and a fold of high bits onto low ones.
const fn scatter(number: u64, bits: u32) -> u64 {
    let mask = (1 << bits) - 1;
    let number = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) & mask;
    let number = number ^ (number >> (bits / 2 + 1));
    number.wrapping_mul(0xbf58_476d_1ce4_e5b9) & mask
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

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
