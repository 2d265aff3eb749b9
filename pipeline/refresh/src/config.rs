use pipeline_crawl::CrawlConfig;
use serde::{Deserialize, Serialize};

/// Configuration of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RefreshConfig {
    /// Limits of the crawl.
    pub crawl: CrawlConfig,
    /// Limits for holding a crawl back.
    pub collapse: CollapseConfig,
    /// Milliseconds in which finished brands are collected to be written to the lake together.
    pub tick_ms: u64,
    /// Maximum number of brands written together.
    pub tick_brands_max: usize,
    /// Maximum bytes of memory for a crawl of all stores, at least 64 MiB. They are for received data, pages being
    /// read, products waiting to be written to the lake, and a quarter for the program itself and the lake's commits.
    pub memory_bytes_max: u64,
    /// Maximum bytes of products in memory while their store is still being crawled. Further products are read again
    /// from the landing.
    pub read_ahead_bytes_max: u64,
    /// Maximum number of variants of one store. A store with more is not refreshed, because it would use the memory of
    /// all other stores. The largest catalogues that can be listed completely (25,000 products) have a few hundred
    /// thousand variants.
    pub variants_max: usize,
    /// Number of catalogues read at once. 0 means one per CPU core.
    pub workers: usize,
    /// Seconds after its start in which an interrupted run is resumed.
    pub resume_within_s: u64,
    /// Maximum number of product pages read for ratings per store and run, after the catalogue.
    pub product_pages_max: u32,
    /// Maximum number of requests for stated categories per store and run, after the catalogue. 0 means none.
    pub category_requests_max: u32,
    /// Maximum number of requests for the variants that a store's listing omits, per store and run, after the
    /// catalogue. 0 disables them.
    pub variant_requests_max: u32,
    /// Number of runs whose summary and report are kept.
    pub reports_kept: usize,
}

impl Default for RefreshConfig {
    fn default() -> Self {
        Self {
            crawl: CrawlConfig::default(),
            collapse: CollapseConfig::default(),
            tick_ms: 2_000,
            tick_brands_max: 256,
            memory_bytes_max: 512 << 20,
            read_ahead_bytes_max: 256 << 20,
            variants_max: 500_000,
            workers: 0,
            resume_within_s: 6 * 3600,
            product_pages_max: 0,
            category_requests_max: 8,
            variant_requests_max: 8,
            reports_kept: 200,
        }
    }
}

/// Limits for holding back a catalogue that shrank, or whose prices or titles changed. A catalogue that became empty is
/// always held back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CollapseConfig {
    /// A catalogue below this share of the brand's earlier products has shrunk, if `drop_min` is also reached.
    pub share_min: f64,
    /// Minimum number of lost products of a catalogue that has shrunk.
    pub drop_min: u64,
    /// Maximum relative difference between the product counts of two crawls if the second confirms the first.
    pub tolerance: f64,
    /// Time in seconds for which losses of a brand are added up.
    pub loss_window_s: u64,
    /// Prices are doubtful if those of this share of the brand's earlier variants have fallen.
    pub prices_fallen_share: f64,
    /// A price has fallen if it is at most this share of its earlier value, or one minor unit.
    pub price_fall_share: f64,
    /// Titles are doubtful if this share of the products still listed has a completely different one.
    pub titles_replaced_share: f64,
}

impl Default for CollapseConfig {
    fn default() -> Self {
        Self {
            share_min: 0.5,
            drop_min: 10,
            tolerance: 0.1,
            loss_window_s: 7 * 24 * 3600,
            prices_fallen_share: 0.2,
            price_fall_share: 0.01,
            titles_replaced_share: 0.5,
        }
    }
}
