//! Fast dot products of vectors with small integer components, the main cost of similarity search.
//!
//! Stored rows are *biased*: each component plus 128 is stored as a byte, and rows are padded to a multiple of 64
//! bytes. Biased rows allow the processor instruction that multiplies unsigned by signed bytes. The bias is removed by
//! subtracting one number per query.

use crate::Vector;

/// Rows are padded to a multiple of this number of bytes.
const LANES: usize = 64;
const BIAS: u8 = 128;

/// Returns the size of a stored row with this number of components, in bytes.
#[must_use]
pub const fn stride(dimensions: usize) -> usize {
    dimensions.next_multiple_of(LANES)
}

/// A vector prepared for dot products with many stored rows.
#[derive(Debug, Clone)]
pub struct Query {
    components: Vec<i8>,
    /// Amount that the bias of stored rows adds to every dot product.
    bias: i32,
    kernel: Kernel,
}

/// Fastest implementation for this processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kernel {
    #[cfg(target_arch = "x86_64")]
    Vnni512,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    Portable,
}

impl Kernel {
    fn fastest() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512vnni") && is_x86_feature_detected!("avx512bw") {
                return Self::Vnni512;
            }
            if is_x86_feature_detected!("avx2") {
                return Self::Avx2;
            }
        }
        Self::Portable
    }
}

impl Query {
    /// Prepares a vector.
    #[must_use]
    pub fn new(vector: &Vector) -> Self {
        Self::with(vector, Kernel::fastest())
    }

    fn with(vector: &Vector, kernel: Kernel) -> Self {
        Self::of_components(vector.components().to_vec(), kernel)
    }

    fn of_components(mut components: Vec<i8>, kernel: Kernel) -> Self {
        let sum: i32 = components.iter().map(|component| i32::from(*component)).sum();
        components.resize(stride(components.len()), 0);
        Self {
            components,
            bias: i32::from(BIAS) * sum,
            kernel,
        }
    }

    /// Returns the size of stored rows for this vector, in bytes.
    #[must_use]
    pub fn stride(&self) -> usize {
        self.components.len()
    }

    /// Appends a vector in the stored form.
    pub fn store(vector: Option<&Vector>, dimensions: usize, row: &mut Vec<u8>) {
        let end = row.len() + stride(dimensions);
        let components = vector.map_or(&[][..], Vector::components).iter().take(dimensions);
        row.extend(components.map(|component| component.cast_unsigned() ^ BIAS));
        row.resize(end, BIAS);
    }

    /// Converts a stored row to a vector. Returns `None` for a row without a vector.
    #[must_use]
    pub fn load(row: &[u8], dimensions: usize) -> Option<Vector> {
        let components: Vec<i8> = row
            .iter()
            .take(dimensions)
            .map(|byte| (byte ^ BIAS).cast_signed())
            .collect();
        Vector::from_components(&components)
    }

    /// Returns the dot product with one stored row.
    #[must_use]
    pub fn dot(&self, row: &[u8]) -> i32 {
        let mut one = [0];
        self.dots(row, &mut one);
        one[0]
    }

    /// Computes the dot products with consecutive stored rows, until the end of `rows` or `products`.
    pub fn dots(&self, rows: &[u8], products: &mut [i32]) {
        match self.kernel {
            #[cfg(target_arch = "x86_64")]
            // Sound: this kernel is chosen only if the processor supports its instructions.
            #[expect(unsafe_code, reason = "the processor's own instructions, detected before")]
            Kernel::Vnni512 => unsafe { x86::dots_vnni512(&self.components, self.bias, rows, products) },
            #[cfg(target_arch = "x86_64")]
            #[expect(unsafe_code, reason = "the processor's own instructions, detected before")]
            Kernel::Avx2 => unsafe { x86::dots_avx2(&self.components, self.bias, rows, products) },
            Kernel::Portable => dots_portable(&self.components, self.bias, rows, products),
        }
    }
}

/// Prefetches a stored row into the cache so that a later [`Query::dot`] does not wait for it.
pub fn prefetch(row: &[u8]) {
    #[cfg(target_arch = "x86_64")]
    for line in row.chunks(64) {
        // Sound: a prefetch reads nothing, and every such processor has the instruction.
        #[expect(unsafe_code, reason = "the processor's own instruction")]
        unsafe {
            std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(line.as_ptr().cast());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = row;
}

fn dots_portable(query: &[i8], bias: i32, rows: &[u8], products: &mut [i32]) {
    for (row, product) in rows.chunks_exact(query.len().max(1)).zip(products) {
        let pairs = row.iter().zip(query);
        let sum: i32 = pairs
            .map(|(byte, component)| i32::from(*byte) * i32::from(*component))
            .sum();
        *product = sum - bias;
    }
}

pub(crate) fn add_scaled(sum: &mut [f32], row: &[u8], scale: f32) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // Sound: the processor supports these instructions.
        #[expect(unsafe_code, reason = "the processor's own instructions, detected before")]
        return unsafe { x86::add_scaled_avx2(sum, row, scale) };
    }
    add_scaled_portable(sum, row, scale);
}

#[inline(always)]
fn add_scaled_portable(sum: &mut [f32], row: &[u8], scale: f32) {
    for (component, byte) in sum.iter_mut().zip(row) {
        *component += scale * f32::from(byte.cast_signed());
    }
}

#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "loads through pointers into slices of known length")]
mod x86 {
    use std::arch::x86_64::*;

    use super::LANES;

    #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
    pub(super) fn dots_vnni512(query: &[i8], bias: i32, rows: &[u8], products: &mut [i32]) {
        let (query, _) = query.as_chunks::<LANES>();
        for (row, product) in rows.chunks_exact((query.len() * LANES).max(1)).zip(products) {
            let (row, _) = row.as_chunks::<LANES>();
            let (mut even, mut odd) = (_mm512_setzero_si512(), _mm512_setzero_si512());
            for (at, (bytes, components)) in row.iter().zip(query).enumerate() {
                // Sound: both slices are 64 bytes long.
                let (bytes, components) = unsafe {
                    (
                        _mm512_loadu_si512(bytes.as_ptr().cast()),
                        _mm512_loadu_si512(components.as_ptr().cast()),
                    )
                };
                if at & 1 == 0 {
                    even = _mm512_dpbusd_epi32(even, bytes, components);
                } else {
                    odd = _mm512_dpbusd_epi32(odd, bytes, components);
                }
            }
            *product = _mm512_reduce_add_epi32(_mm512_add_epi32(even, odd)) - bias;
        }
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn dots_avx2(query: &[i8], bias: i32, rows: &[u8], products: &mut [i32]) {
        for (row, product) in rows.chunks_exact(query.len().max(1)).zip(products) {
            let ((row, _), (query, _)) = (row.as_chunks::<16>(), query.as_chunks::<16>());
            let mut sum = _mm256_setzero_si256();
            for (bytes, components) in row.iter().zip(query) {
                // Sound: both slices are 16 bytes long.
                let (bytes, components) = unsafe {
                    (
                        _mm_loadu_si128(bytes.as_ptr().cast()),
                        _mm_loadu_si128(components.as_ptr().cast()),
                    )
                };
                // Pairs of byte products do not fit in 16 bits.
                let pairs = _mm256_madd_epi16(_mm256_cvtepu8_epi16(bytes), _mm256_cvtepi8_epi16(components));
                sum = _mm256_add_epi32(sum, pairs);
            }
            let halves = _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256::<1>(sum));
            let quarters = _mm_add_epi32(halves, _mm_shuffle_epi32::<0b_01_00_11_10>(halves));
            let whole = _mm_add_epi32(quarters, _mm_shuffle_epi32::<0b_00_00_00_01>(quarters));
            *product = _mm_cvtsi128_si32(whole) - bias;
        }
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn add_scaled_avx2(sum: &mut [f32], row: &[u8], scale: f32) {
        super::add_scaled_portable(sum, row, scale);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn kernels() -> Vec<Kernel> {
        let mut kernels = vec![Kernel::Portable, Kernel::fastest()];
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            kernels.push(Kernel::Avx2);
        }
        kernels
    }

    proptest! {
        #[test]
        fn every_kernel_multiplies_alike(dimensions in 1_usize..300, rows in 0_usize..9, seed in any::<u64>()) {
            let mut state = seed | 1;
            let mut next = || { state ^= state << 13; state ^= state >> 7; state ^= state << 17; (state >> 32) as i8 };
            let mut vector = || Vector::from_components(&(0..dimensions).map(|_| next()).collect::<Vec<_>>());
            let Some(query) = vector() else { return Ok(()) };
            let vectors: Vec<_> = (0..rows).map(|_| vector()).collect();
            let mut stored = Vec::new();
            vectors.iter().for_each(|vector| Query::store(vector.as_ref(), dimensions, &mut stored));
            let naive: Vec<i32> = vectors.iter().map(|vector| {
                let components = vector.as_ref().map_or(&[][..], Vector::components);
                components.iter().zip(query.components()).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum()
            }).collect();
            for kernel in kernels() {
                let query = Query::with(&query, kernel);
                let mut products = vec![0; rows];
                query.dots(&stored, &mut products);
                prop_assert_eq!(&products, &naive);
            }
            for (row, vector) in stored.chunks_exact(stride(dimensions)).zip(&vectors) {
                prop_assert_eq!(&Query::load(row, dimensions), vector);
            }
        }
    }

    #[test]
    fn extremes_do_not_overflow() {
        let vector = |byte| Vector::from_components(&[byte; 256]).unwrap();
        for (one, other) in [(127, 127), (-128, -128), (127, -128), (-128, 127)] {
            let mut row = Vec::new();
            Query::store(Some(&vector(one)), 256, &mut row);
            for kernel in kernels() {
                let product = Query::with(&vector(other), kernel).dot(&row);
                assert_eq!(product, 256 * i32::from(one) * i32::from(other), "{kernel:?}");
            }
        }
    }
}
