/// The receiver of a build's progress; calls come from several threads.
pub trait BuildProgress: Send + Sync + std::fmt::Debug {
    /// The plan stands: so many products are to be indexed.
    fn planned(&self, _products: u64) {}
    /// So many more are indexed.
    fn indexed(&self, _products: u64) {}
}

/// Progress without a receiver.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoProgress;

impl BuildProgress for NoProgress {}
