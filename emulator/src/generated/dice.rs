/// Mixes the bits of a number with the finaliser of SplitMix64. The result is the same on every machine.
pub(crate) const fn mix(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// Hashes numbers into one; the order matters.
pub(crate) fn fold(parts: &[u64]) -> u64 {
    parts.iter().fold(GOLDEN, |acc, part| {
        mix(acc.wrapping_add(GOLDEN) ^ mix(part.wrapping_add(GOLDEN)))
    })
}

/// Hashes bytes into one number, as a checksum without cryptographic strength.
pub(crate) fn fold_bytes(bytes: &[u8]) -> u64 {
    let (chunks, rest) = bytes.as_chunks::<8>();
    let mut acc = mix(bytes.len() as u64 ^ GOLDEN);
    for chunk in chunks {
        acc = mix(acc.wrapping_add(GOLDEN) ^ u64::from_le_bytes(*chunk));
    }
    for byte in rest {
        acc = mix(acc.wrapping_add(GOLDEN) ^ u64::from(*byte));
    }
    acc
}

/// Random number generator whose sequence depends only on its seed. A product is therefore a pure function of its
/// place. Products share no state, so they can be generated in any order.
#[derive(Debug, Clone)]
pub(crate) struct Dice(u64);

impl Dice {
    /// Creates a generator from several numbers, such as (seed, store, slot).
    pub(crate) fn of(parts: &[u64]) -> Self {
        Self(fold(parts))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN);
        mix(self.0)
    }

    /// Returns a number from 0 to below `bound`, or 0 if `bound` is 0.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }

    /// Returns a number from `low` to `high`, both included.
    pub(crate) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high.saturating_sub(low) + 1)
    }

    /// Returns true with a probability of `permille` in a thousand.
    pub(crate) fn chance(&mut self, permille: u64) -> bool {
        self.below(1000) < permille
    }

    /// Returns one of `items`, which must not be empty.
    pub(crate) fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len() as u64) as usize]
    }
}

/// Returns a UUID computed from two numbers.
pub(crate) fn uuid(first: u64, second: u64) -> String {
    let (high, low) = (fold(&[first, second]), mix(fold(&[second, first, 7])));
    format!(
        "{:08x}-{:04x}-4{:03x}-9{:03x}-{:012x}",
        high >> 32,
        (high >> 16) & 0xffff,
        high & 0xfff,
        (low >> 48) & 0xfff,
        low & 0xffff_ffff_ffff
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dice_follow_from_their_place_alone() {
        let roll = |parts: &[u64]| {
            let mut dice = Dice::of(parts);
            [dice.next(), dice.below(6), dice.between(3, 4)]
        };
        assert_eq!(roll(&[1, 2]), roll(&[1, 2]));
        assert_ne!(roll(&[1, 2]), roll(&[2, 1]));
    }

    #[test]
    fn bytes_fold_to_one_number_that_every_byte_matters_to() {
        assert_ne!(fold_bytes(b"0123456789"), fold_bytes(b"0123456788"));
        assert_ne!(fold_bytes(b"\0"), fold_bytes(b""));
    }
}
