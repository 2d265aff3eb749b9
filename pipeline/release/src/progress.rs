/// Receiver of a build's progress. Several threads call it.
pub trait BuildProgress: Send + Sync + std::fmt::Debug {
    /// Called when the plan is complete, with the number of products to index.
    fn planned(&self, _products: u64) {}
    /// Called with the number of products indexed since the last call.
    fn indexed(&self, _products: u64) {}
}

/// Progress receiver that ignores all calls.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoProgress;

impl BuildProgress for NoProgress {}
