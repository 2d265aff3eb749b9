/// The part of the cosine of two [`crate::Vector`]s that one unit of their dot product stands for.
pub const QUANTUM: f32 = 1.0 / (127.0 * 127.0);

/// The length of a vector. Added up in eight lanes, in one order on every processor.
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
