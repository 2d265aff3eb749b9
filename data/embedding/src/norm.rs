/// Cosine per unit of the dot product of two [`crate::Vector`]s.
pub const QUANTUM: f32 = 1.0 / (127.0 * 127.0);

/// Returns the length of a vector. The sum uses eight lanes in a fixed order, so that all processors give the same
/// result.
pub(crate) fn norm(components: &[f32]) -> f32 {
    let (chunks, rest) = components.as_chunks::<8>();
    let mut lanes = [0.0; 8];
    for chunk in chunks {
        for (lane, component) in lanes.iter_mut().zip(chunk) {
            *lane += component * component;
        }
    }
    let rest: f32 = rest.iter().map(|component| component * component).sum();
    (lanes.iter().sum::<f32>() + rest).sqrt()
}
