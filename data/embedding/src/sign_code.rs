//! Approximates vectors by one bit per component. Neighbours can be estimated from these bits eight times faster than
//! computed exactly.
//!
//! A fixed rotation spreads the content of a vector evenly over its components, and a *sign code* stores the signs of
//! the result. The components of a query are not reduced. Its estimated similarity to a sign code is the sum of its
//! components, each with the sign from the code.
//!
//! One block contains the codes of 64 vectors, with four components of one vector in half a byte. One instruction can
//! therefore look up the sums of four components for all 64 vectors.

use crate::Vector;

/// Number of sign codes in one block.
pub const BLOCK_ROWS: usize = 64;
/// Maximum number of components of a vector.
pub const DIMENSIONS_MAX: usize = 4_096;

/// Number of components that are looked up together.
const GROUP: usize = 4;
/// Maximum score of one group of components. The sum of four groups fits in a byte.
const GROUP_MAX: f32 = 63.0;
/// Number of successive rotations. A single rotation leaves sparse vectors uneven.
const ROUNDS: usize = 2;

/// Signs by which components are multiplied before each round. The signs are part of the storage format: different
/// signs give different sign codes.
static SIGNS: [[i8; DIMENSIONS_MAX]; ROUNDS] = signs();

const fn signs() -> [[i8; DIMENSIONS_MAX]; ROUNDS] {
    let (mut signs, mut state, mut at) = ([[1; DIMENSIONS_MAX]; ROUNDS], 0x9e37_79b9_7f4a_7c15_u64, 0);
    while at < ROUNDS * DIMENSIONS_MAX {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        if state >> 63 == 1 {
            signs[at % ROUNDS][at / ROUNDS] = -1;
        }
        at += 1;
    }
    signs
}

fn bits(dimensions: usize) -> usize {
    dimensions.next_power_of_two().max(2 * GROUP)
}

/// Returns the size of a block for vectors with this number of components, in bytes.
#[must_use]
pub fn block_bytes(dimensions: usize) -> usize {
    bits(dimensions) / 8 * BLOCK_ROWS
}

/// Writes the sign code of one vector to a zeroed block.
pub fn sign_code(vector: &Vector, row: usize, block: &mut [u8]) {
    let rotated = rotated(vector);
    let (groups, _) = rotated.as_chunks::<GROUP>();
    for (at, group) in groups.iter().enumerate() {
        let signs = (0..)
            .zip(group)
            .fold(0_u8, |signs, (bit, component)| signs | u8::from(*component > 0) << bit);
        // Two groups share a byte.
        if let Some(byte) = block.get_mut(at / 2 * BLOCK_ROWS + row % BLOCK_ROWS) {
            *byte |= signs << (4 * (at % 2));
        }
    }
}

/// Rotates a vector by random sign changes and a Walsh–Hadamard transform, several times. Integer arithmetic gives the
/// same result on every machine.
fn rotated(vector: &Vector) -> Vec<i32> {
    let mut turned: Vec<i32> = vector
        .components()
        .iter()
        .map(|component| i32::from(*component))
        .collect();
    turned.resize(bits(turned.len()), 0);
    for signs in &SIGNS {
        for (component, sign) in turned.iter_mut().zip(signs) {
            *component = component.wrapping_mul(i32::from(*sign));
        }
        let mut width = 1;
        while width < turned.len() {
            for pair in turned.chunks_exact_mut(2 * width) {
                let (left, right) = pair.split_at_mut(width);
                for (one, other) in left.iter_mut().zip(right) {
                    (*one, *other) = (one.wrapping_add(*other), one.wrapping_sub(*other));
                }
            }
            width *= 2;
        }
    }
    turned
}

/// A vector prepared for comparison with sign codes.
#[derive(Debug, Clone)]
pub struct SignCodeQuery {
    /// Sums that each group can add, indexed by its signs.
    tables: Vec<[u8; 16]>,
    kernel: Kernel,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kernel {
    #[cfg(target_arch = "x86_64")]
    Avx512,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    Portable,
}

impl Kernel {
    fn fastest() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512bw") {
                return Self::Avx512;
            }
            if is_x86_feature_detected!("avx2") {
                return Self::Avx2;
            }
        }
        Self::Portable
    }
}

impl SignCodeQuery {
    /// Prepares a vector.
    #[must_use]
    pub fn new(vector: &Vector) -> Self {
        Self::with(vector, Kernel::fastest())
    }

    fn with(vector: &Vector, kernel: Kernel) -> Self {
        let rotated: Vec<f32> = rotated(vector).iter().map(|component| *component as f32).collect();
        let (groups, _) = rotated.as_chunks::<GROUP>();
        let width = |group: &[f32; GROUP]| group.iter().map(|component| component.abs()).sum::<f32>();
        let widest = groups.iter().map(width).fold(f32::MIN_POSITIVE, f32::max);
        let scale = GROUP_MAX / widest;
        let table = |group: &[f32; GROUP]| {
            // The table contains only the excess over the minimum possible sum.
            let (mut table, mut sums) = ([0; 16], [0.0; 16]);
            sums[0] = group.iter().map(|component| (-component).max(0.0)).sum();
            for signs in 1..16_usize {
                let lowest = signs.trailing_zeros() as usize;
                sums[signs] = sums[signs & (signs - 1)] + group[lowest];
            }
            for (adds, sum) in table.iter_mut().zip(sums) {
                *adds = (scale * sum).round() as u8;
            }
            table
        };
        Self {
            tables: groups.iter().map(table).collect(),
            kernel,
        }
    }

    /// Estimates the similarity of the 64 vectors of a block. A higher estimate means more similar. Returns a bit mask
    /// of the estimates that are at least `least`. If the mask is empty, `estimates` may be unchanged.
    pub fn estimate(&self, block: &[u8], least: u16, estimates: &mut [u16; BLOCK_ROWS]) -> u64 {
        match self.kernel {
            #[cfg(target_arch = "x86_64")]
            #[expect(unsafe_code, reason = "the processor's own instructions, detected before")]
            // Sound: this kernel is chosen only if the processor supports its instructions.
            Kernel::Avx512 => unsafe { x86::estimate_avx512(&self.tables, block, least, estimates) },
            #[cfg(target_arch = "x86_64")]
            #[expect(unsafe_code, reason = "the processor's own instructions, detected before")]
            // Sound: this kernel is chosen only if the processor supports its instructions.
            Kernel::Avx2 => unsafe { x86::estimate_avx2(&self.tables, block, least, estimates) },
            Kernel::Portable => estimate_portable(&self.tables, block, least, estimates),
        }
    }
}

fn estimate_portable(tables: &[[u8; 16]], block: &[u8], least: u16, estimates: &mut [u16; BLOCK_ROWS]) -> u64 {
    *estimates = [0; BLOCK_ROWS];
    let (pairs, _) = tables.as_chunks::<2>();
    for ([low, high], bytes) in pairs.iter().zip(block.chunks_exact(BLOCK_ROWS)) {
        for (estimate, byte) in estimates.iter_mut().zip(bytes) {
            let adds = |table: &[u8; 16], signs: u8| u16::from(table[usize::from(signs & 15)]);
            *estimate += adds(low, *byte) + adds(high, byte >> 4);
        }
    }
    reaching(estimates, least)
}

#[inline(always)]
fn reaching(estimates: &[u16; BLOCK_ROWS], least: u16) -> u64 {
    let bits = (0..).zip(estimates);
    bits.fold(0, |reaching, (bit, estimate)| {
        reaching | u64::from(*estimate >= least) << bit
    })
}

#[cfg(target_arch = "x86_64")]
#[expect(
    unsafe_code,
    reason = "loads and stores through pointers into arrays of known length"
)]
mod x86 {
    use std::arch::x86_64::*;

    use super::BLOCK_ROWS;

    #[target_feature(enable = "avx512f,avx512bw")]
    pub(super) fn estimate_avx512(
        tables: &[[u8; 16]],
        block: &[u8],
        least: u16,
        estimates: &mut [u16; BLOCK_ROWS],
    ) -> u64 {
        let nibble = _mm512_set1_epi8(15);
        let (pairs, _) = tables.as_chunks::<2>();
        let (pairs, last) = pairs.as_chunks::<2>();
        let (bytes, _) = block.as_chunks::<BLOCK_ROWS>();
        let (bytes, last_bytes) = bytes.as_chunks::<2>();
        // Sound: a table is 16 bytes long, and a row of a block is 64 bytes long.
        let table = |table: &[u8; 16]| unsafe { _mm512_broadcast_i32x4(_mm_loadu_si128(table.as_ptr().cast())) };
        let row = |bytes: &[u8; BLOCK_ROWS]| unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) };
        let pair = |[low, high]: &[[u8; 16]; 2], bytes: &[u8; BLOCK_ROWS]| {
            let bytes = row(bytes);
            let lows = _mm512_shuffle_epi8(table(low), _mm512_and_si512(bytes, nibble));
            let highs = _mm512_and_si512(_mm512_srli_epi16::<4>(bytes), nibble);
            _mm512_add_epi8(lows, _mm512_shuffle_epi8(table(high), highs))
        };
        // Of each pair of rows, the byte of the even row is the low half of 16 bits, and that of the odd row the high
        // half.
        let (mut both, mut odd) = (_mm512_setzero_si512(), _mm512_setzero_si512());
        for (tables, bytes) in pairs.iter().zip(bytes) {
            let four = _mm512_add_epi8(pair(&tables[0], &bytes[0]), pair(&tables[1], &bytes[1]));
            both = _mm512_add_epi16(both, four);
            odd = _mm512_add_epi16(odd, _mm512_srli_epi16::<8>(four));
        }
        for (tables, bytes) in last.iter().zip(last_bytes) {
            let two = pair(tables, bytes);
            both = _mm512_add_epi16(both, two);
            odd = _mm512_add_epi16(odd, _mm512_srli_epi16::<8>(two));
        }
        let even = _mm512_sub_epi16(both, _mm512_slli_epi16::<8>(odd));
        let wanted = _mm512_set1_epi16(least.cast_signed());
        let evens_reach = _mm512_cmpge_epu16_mask(even, wanted);
        let odds_reach = _mm512_cmpge_epu16_mask(odd, wanted);
        if evens_reach | odds_reach == 0 {
            return 0;
        }
        let (mut evens, mut odds) = ([0_u16; 32], [0_u16; 32]);
        // Sound: both arrays are 64 bytes long.
        unsafe {
            _mm512_storeu_si512(evens.as_mut_ptr().cast(), even);
            _mm512_storeu_si512(odds.as_mut_ptr().cast(), odd);
        }
        for (two, (even, odd)) in estimates.as_chunks_mut::<2>().0.iter_mut().zip(evens.iter().zip(&odds)) {
            *two = [*even, *odd];
        }
        spread(evens_reach) | spread(odds_reach) << 1
    }

    /// Moves each bit to twice its position.
    fn spread(bits: u32) -> u64 {
        let spread = |bits: u64, by: u32, mask: u64| (bits | bits << by) & mask;
        let bits = spread(u64::from(bits), 16, 0x0000_ffff_0000_ffff);
        let bits = spread(bits, 8, 0x00ff_00ff_00ff_00ff);
        let bits = spread(bits, 4, 0x0f0f_0f0f_0f0f_0f0f);
        let bits = spread(bits, 2, 0x3333_3333_3333_3333);
        spread(bits, 1, 0x5555_5555_5555_5555)
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn estimate_avx2(
        tables: &[[u8; 16]],
        block: &[u8],
        least: u16,
        estimates: &mut [u16; BLOCK_ROWS],
    ) -> u64 {
        let nibble = _mm256_set1_epi8(15);
        let (pairs, _) = tables.as_chunks::<2>();
        let zero = _mm256_setzero_si256();
        // Two halves of 32 rows, each split into even and odd rows.
        let mut sums = [[zero; 2]; 2];
        for ([low, high], bytes) in pairs.iter().zip(block.as_chunks::<BLOCK_ROWS>().0) {
            // Sound: a table is 16 bytes long.
            let table =
                |table: &[u8; 16]| unsafe { _mm256_broadcastsi128_si256(_mm_loadu_si128(table.as_ptr().cast())) };
            let (low, high) = (table(low), table(high));
            for (half, [even, odd]) in bytes.as_chunks::<32>().0.iter().zip(&mut sums) {
                // Sound: half a row is 32 bytes long.
                let bytes = unsafe { _mm256_loadu_si256(half.as_ptr().cast()) };
                let lows = _mm256_shuffle_epi8(low, _mm256_and_si256(bytes, nibble));
                let highs = _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), nibble);
                let two = _mm256_add_epi8(lows, _mm256_shuffle_epi8(high, highs));
                *even = _mm256_add_epi16(*even, _mm256_and_si256(two, _mm256_set1_epi16(255)));
                *odd = _mm256_add_epi16(*odd, _mm256_srli_epi16::<8>(two));
            }
        }
        for (half, [even, odd]) in estimates.as_chunks_mut::<32>().0.iter_mut().zip(sums) {
            let (mut evens, mut odds) = ([0_u16; 16], [0_u16; 16]);
            // Sound: both arrays are 32 bytes long.
            unsafe {
                _mm256_storeu_si256(evens.as_mut_ptr().cast(), even);
                _mm256_storeu_si256(odds.as_mut_ptr().cast(), odd);
            }
            for (two, (even, odd)) in half.as_chunks_mut::<2>().0.iter_mut().zip(evens.iter().zip(&odds)) {
                *two = [*even, *odd];
            }
        }
        super::reaching(estimates, least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn kernels() -> Vec<Kernel> {
        let mut kernels = vec![Kernel::fastest()];
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            kernels.push(Kernel::Avx2);
        }
        kernels
    }

    fn vectors(dimensions: usize, count: usize, seed: u64) -> Vec<Vector> {
        let mut state = seed | 1;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 40) as f32 - (1 << 23) as f32
        };
        let made = (0..count).map(|_| Vector::new(&(0..dimensions).map(|_| next()).collect::<Vec<_>>()));
        made.flatten().collect()
    }

    fn block(vectors: &[Vector]) -> Vec<u8> {
        let mut block = vec![0; block_bytes(vectors[0].dimensions())];
        for (row, vector) in vectors.iter().enumerate() {
            sign_code(vector, row, &mut block);
        }
        block
    }

    proptest! {
        #[test]
        fn every_kernel_estimates_alike(dimensions in 1_usize..400, seed in any::<u64>(), least in 0_u16..3_000) {
            let vectors = vectors(dimensions, BLOCK_ROWS + 1, seed);
            let (query, vectors) = vectors.split_first().unwrap();
            let block = block(vectors);
            let mut expected = [0; BLOCK_ROWS];
            let reaching = SignCodeQuery::with(query, Kernel::Portable).estimate(&block, least, &mut expected);
            for (row, estimate) in expected.iter().enumerate() {
                prop_assert_eq!(reaching >> row & 1 == 1, *estimate >= least);
            }
            for kernel in kernels() {
                let mut estimates = [0; BLOCK_ROWS];
                prop_assert_eq!(SignCodeQuery::with(query, kernel).estimate(&block, least, &mut estimates), reaching);
                prop_assert!(reaching == 0 || estimates == expected);
            }
        }
    }

    #[test]
    fn the_nearer_of_two_vectors_has_the_greater_estimate_as_a_rule() {
        let vectors = vectors(256, BLOCK_ROWS, 7);
        let block = block(&vectors);
        let (mut right, mut pairs) = (0, 0);
        for query in &vectors {
            let mut estimates = [0; BLOCK_ROWS];
            SignCodeQuery::new(query).estimate(&block, 0, &mut estimates);
            for (one, near) in vectors.iter().zip(estimates) {
                for (other, far) in vectors.iter().zip(estimates) {
                    if query.cosine(one) > query.cosine(other) + 0.1 {
                        pairs += 1;
                        right += usize::from(near > far);
                    }
                }
            }
        }
        assert!(pairs > 1_000 && right * 100 > pairs * 95, "{right} of {pairs}");
    }

    #[test]
    fn extremes_do_not_overflow() {
        for dimensions in [1, 8, DIMENSIONS_MAX] {
            let vector = Vector::from_components(&vec![-128; dimensions]).unwrap();
            let block = block(std::slice::from_ref(&vector));
            let mut estimates = [0; BLOCK_ROWS];
            assert_ne!(SignCodeQuery::new(&vector).estimate(&block, 1, &mut estimates), 0);
            assert!(estimates[0] >= estimates[1]);
        }
    }
}
