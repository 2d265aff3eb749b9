use serde::{Deserialize, Serialize};

/// Limits of a crawl. Every loop in this crate ends at one of these limits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CrawlConfig {
    /// Maximum number of stores worked on at once, each with one request stream. A store that waits for its rate limit
    /// or a slow response gives its slot to another store.
    pub stores_concurrent: usize,
    /// Maximum number of stores in progress, including those that wait.
    pub stores_open_max: usize,
    /// Number of products requested per page. Shopify returns at most 250.
    pub page_limit: u16,
    /// Maximum number of pages of one listing. Shopify refuses requests with `page × limit` above 25,000.
    pub pages_max: u32,
    /// Maximum number of pages of all collections of a store. They are read if the listing ends at Shopify's cap.
    pub collection_pages_max: u32,
    /// Maximum decoded bytes in one pass over a store. A listing that changes during the crawl is read up to four
    /// times.
    pub store_bytes_max: u64,
    /// Maximum decoded bytes of pages parsed at once, over all stores. A parsed page may need several times its size in
    /// memory. A larger page is parsed alone.
    pub scan_bytes_max: u64,
    /// Maximum seconds of one pass over a store.
    pub store_time_s_max: u64,
    /// A killed crawl is resumed if its last landed page is at most this many seconds old.
    pub resume_page_age_s_max: u64,
    /// Seconds after which all pages are requested without validators (such as ETags), even if the store reports no
    /// changes.
    pub verify_after_s: u64,
    /// Seconds after which a store's front page is read again for discount codes. 0 means never.
    pub front_page_after_s: u64,
    /// Seconds after which a store's policies are read again for discount codes. 0 means never.
    pub policies_after_s: u64,
    /// Number of runs whose landed pages are kept. The latest pages of each store always stay.
    pub landing_runs_kept: usize,
    /// Minimum days for which landed pages are kept, so that a backfill can use them. With 0, only the number of runs
    /// decides.
    // The setting is named `landing.keep_days`, because the crawl itself does not use it.
    #[serde(skip)]
    pub landing_keep_days: u32,
}

impl CrawlConfig {
    /// Returns the maximum number of stores in progress, at least the number worked on at once.
    #[must_use]
    pub fn stores_open(&self) -> usize {
        self.stores_open_max.max(self.stores_concurrent).max(1)
    }
}

impl Default for CrawlConfig {
    fn default() -> Self {
        Self {
            stores_concurrent: 16,
            stores_open_max: 128,
            page_limit: 250,
            pages_max: 100,
            collection_pages_max: 400,
            store_bytes_max: 1 << 30,
            scan_bytes_max: 128 << 20,
            store_time_s_max: 3600,
            resume_page_age_s_max: 900,
            verify_after_s: 7 * 24 * 3600,
            front_page_after_s: 6 * 3600,
            policies_after_s: 7 * 24 * 3600,
            landing_runs_kept: 3,
            landing_keep_days: 7,
        }
    }
}
