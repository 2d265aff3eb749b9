use pipeline_crawl::CrawlConfig;
use serde::{Deserialize, Serialize};

/// Configuration of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RefreshConfig {
    /// Limits of the crawl.
    pub crawl: CrawlConfig,
    /// Limits beyond which a crawl is held back.
    pub collapse: CollapseConfig,
    /// Time in milliseconds in which finished brands are collected and then written to the lake together.
    pub tick_ms: u64,
    /// Maximum number of brands written together.
    pub tick_brands_max: usize,
    /// Maximum memory in bytes for a crawl, over all stores. The limit covers received data, pages being read, products
    /// waiting to be written to the lake, and a quarter for the program itself and the lake's commits. The minimum is
    /// 64 MiB.
    pub memory_bytes_max: u64,
    /// Maximum number of bytes of products kept in memory while their store is still being crawled. Products beyond it
    /// are read again from the landing.
    pub read_ahead_bytes_max: u64,
    /// Maximum number of variants of one store; a store with more is not refreshed. The largest catalogues that can be
    /// listed completely (25,000 products) have a few hundred thousand variants. A store with more variants would use
    /// the memory of all other stores.
    pub variants_max: usize,
    /// Number of catalogues read concurrently; 0 means one per CPU core.
    pub workers: usize,
    /// Time in seconds after its start in which an interrupted run is resumed.
    pub resume_within_s: u64,
    /// Maximum number of product pages read for ratings per store and run, after the catalogue.
    pub product_pages_max: u32,
    /// Maximum number of requests for the categories that a store states, per store and run, after the catalogue. 0
    /// disables them.
    pub category_requests_max: u32,
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
            reports_kept: 200,
        }
    }
}

/// Limits beyond which a catalogue is held back because it shrank, or because its prices or titles changed. A catalogue
/// that became empty is always held back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CollapseConfig {
    /// Share of the brand's earlier products below which a catalogue counts as shrunk, if `drop_min` is also reached.
    pub share_min: f64,
    /// Minimum number of lost products for a catalogue to count as shrunk.
    pub drop_min: u64,
    /// Maximum relative difference between the product counts of two crawls at which the second confirms the first.
    pub tolerance: f64,
    /// Time in seconds within which losses are added up.
    pub loss_window_s: u64,
    /// Share of the brand's earlier variants whose prices must have fallen for prices to be doubtful.
    pub prices_fallen_share: f64,
    /// Share of its earlier value to which a price must have fallen to count as fallen. A price of one minor unit also
    /// counts.
    pub price_fall_share: f64,
    /// Share of the products still listed that must have a completely different title for titles to be doubtful.
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
