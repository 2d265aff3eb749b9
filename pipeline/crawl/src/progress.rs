use data_model::{BrandSlug, RunId};

/// Receiver of a run's progress. Calls come from many tasks, so that the methods must return quickly.
pub trait Progress: Send + Sync + std::fmt::Debug {
    /// Called when a run starts, or resumes with `done` of its `stores` already finished.
    fn run_started(&self, _run: &RunId, _stores: usize, _done: usize) {}
    /// Called before the first request to a store. `products` is the number that the store reports.
    fn store_started(&self, _brand: &BrandSlug, _products: Option<u64>) {}
    /// Called after a page was read. `bytes` is its decoded size, and `products` counts those new to this crawl.
    fn page(&self, _brand: &BrandSlug, _page: u32, _bytes: u64, _products: u32) {}
    /// Called when a store is finished. `outcome` is one word, and `detail` may explain it.
    fn store_finished(&self, _brand: &BrandSlug, _outcome: &str, _detail: Option<&str>) {}
    /// Called after one commit to the lake, with its number of brands.
    fn committed(&self, _brands: usize) {}
    /// Called when the run is finished.
    fn run_finished(&self, _run: &RunId) {}
}

/// Receiver that ignores all calls.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoProgress;

impl Progress for NoProgress {}
