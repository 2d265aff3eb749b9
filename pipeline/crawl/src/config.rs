use serde::{Deserialize, Serialize};

/// Limits of a crawl. Every loop in this crate ends at one of these limits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CrawlConfig {
    /// Maximum number of stores worked on concurrently, each with one request stream. A store that waits for its rate
    /// limit or a slow answer gives its slot to another store.
    pub stores_concurrent: usize,
    /// Maximum number of stores in progress, including those that wait.
    pub stores_open_max: usize,
    /// Number of products requested per page; Shopify returns at most 250.
    pub page_limit: u16,
    /// Maximum number of pages of one listing; Shopify refuses requests with `page × limit` above 25,000.
    pub pages_max: u32,
    /// Maximum number of pages of all collections together. Collections are read if the listing ends at Shopify's cap.
    pub collection_pages_max: u32,
    /// Maximum number of decoded bytes in one pass over a store. A listing that changes during the crawl is read up to
    /// four times.
    pub store_bytes_max: u64,
    /// Maximum number of decoded bytes of pages parsed concurrently, over all stores. A parsed page may need several
    /// times its size in memory. A page larger than this limit is parsed while no other page is parsed.
    pub scan_bytes_max: u64,
    /// Maximum duration of one pass over a store, in seconds.
    pub store_time_s_max: u64,
    /// Maximum age in seconds of the last landed page at which a killed crawl is resumed.
    pub resume_page_age_s_max: u64,
    /// Time in seconds after which all pages are requested without validators (such as ETags), even if the store
    /// reports no changes.
    pub verify_after_s: u64,
    /// Age in seconds after which a store's front page is read again for discount codes; 0: never.
    pub front_page_after_s: u64,
    /// Age in seconds after which a store's policies are read again for discount codes; 0: never.
    pub policies_after_s: u64,
    /// Number of runs whose landed pages are kept. The latest pages of each store are never deleted.
    pub landing_runs_kept: usize,
    /// Number of days for which landed pages are kept in addition, so that a backfill can use them. 0: only the number
    /// of runs decides.
    // Shown and set as `landing.keep_days`, because the crawl itself does not use it.
    #[serde(skip)]
    pub landing_keep_days: u32,
}

impl CrawlConfig {
    /// Returns the maximum number of stores in progress, which is at least the number worked on concurrently.
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
