use data_model::{BrandSlug, RunId};

/// The receiver of a run's progress, so that a program can draw it. Calls come from many tasks; they must return at
/// once.
pub trait Progress: Send + Sync + std::fmt::Debug {
    /// A run begins, or goes on after an interruption, with `done` of its `stores` finished before.
    fn run_started(&self, _run: &RunId, _stores: usize, _done: usize) {}
    /// The first request to a store is about to be sent; `products` is how many it says it has.
    fn store_started(&self, _brand: &BrandSlug, _products: Option<u64>) {}
    /// A page was read: the how-manieth, its decoded size, and how many of its products were new to this crawl.
    fn page(&self, _brand: &BrandSlug, _page: u32, _bytes: u64, _products: u32) {}
    /// A store is through; `outcome` is one word, `detail` says more where there is more.
    fn store_finished(&self, _brand: &BrandSlug, _outcome: &str, _detail: Option<&str>) {}
    /// So many brands were written to the lake in one commit.
    fn committed(&self, _brands: usize) {}
    /// The run is over.
    fn run_finished(&self, _run: &RunId) {}
}

/// Progress without a receiver.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoProgress;

impl Progress for NoProgress {}
