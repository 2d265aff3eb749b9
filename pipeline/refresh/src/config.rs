use pipeline_crawl::CrawlConfig;
use serde::{Deserialize, Serialize};

/// The way in which a run works.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RefreshConfig {
    /// The bounds of the crawl.
    pub crawl: CrawlConfig,
    /// Bounds beyond which a crawl is not believed.
    pub collapse: CollapseConfig,
    /// Brands that finish within this time are written to the lake together.
    pub tick_ms: u64,
    /// Most brands written together.
    pub tick_brands_max: usize,
    /// Most bytes of memory that a crawl takes, of all stores together: what they send, the pages that are read, products
    /// on their way to the lake, and a quarter of it for the program itself and the lake's commits. At least 64 MiB are
    /// taken.
    pub memory_bytes_max: u64,
    /// Most bytes that products take in memory while the rest of their store is still being crawled; what is beyond it is
    /// read again from the landing.
    pub read_ahead_bytes_max: u64,
    /// Most variants of one store; one that lists more is not refreshed. The largest catalogues that can be listed whole
    /// (25,000 products) have a few hundred thousand; small as its pages may be, a store that lists more would take the
    /// memory of all others.
    pub variants_max: usize,
    /// Catalogues read at the same time; 0 is one for each core.
    pub workers: usize,
    /// An interrupted run is gone on with if it began within this time.
    pub resume_within_s: u64,
    /// Product pages read for ratings per store and run, after its catalogue.
    pub product_pages_max: u32,
    /// Runs that keep their summary and report.
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
            reports_kept: 200,
        }
    }
}

/// Bounds beyond which a catalogue that shrank, or of which prices or titles changed, is not believed at once. One that emptied
/// never is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CollapseConfig {
    /// Fewer than this share of the products that the brand had …
    pub share_min: f64,
    /// … and at least this many fewer.
    pub drop_min: u64,
    /// A second crawl confirms the first if their counts differ by no more than this share.
    pub tolerance: f64,
    /// Losses within this time count together.
    pub loss_window_s: u64,
    /// Prices are doubtful when of at least this share of the variants that the brand had …
    pub prices_fallen_share: f64,
    /// … the price fell to this share of what it was, or less, or to the smallest amount that there is.
    pub price_fall_share: f64,
    /// Titles are doubtful when at least this share of the products that are listed still have another one, of which
    /// hardly a word is the same.
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
