use serde::{Deserialize, Serialize};

/// The bounds of a crawl; every loop of this crate ends at one of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CrawlConfig {
    /// Stores that are at work at the same time, each of them by one polite stream. A store that waits, for its pace or for a
    /// slow answer, leaves its place to another one meanwhile.
    pub stores_concurrent: usize,
    /// Stores that are on their way at the same time, those that wait included.
    pub stores_open_max: usize,
    /// Products asked for per page; the platform gives at most 250.
    pub page_limit: u16,
    /// Pages of one listing; the platform refuses `page × limit` above 25,000.
    pub pages_max: u32,
    /// Pages of all collections together, read where the listing ends at its cap.
    pub collection_pages_max: u32,
    /// Decoded bytes that one reading of a store may have; a listing that moves is read up to four times.
    pub store_bytes_max: u64,
    /// Decoded bytes of pages that are understood at the same time, of all stores together: what a page is made of may
    /// take a few times its size. A larger page is understood alone.
    pub scan_bytes_max: u64,
    /// Seconds that one reading of a store may take.
    pub store_time_s_max: u64,
    /// A crawl that a kill cut short continues after its last page if that page is not older than this many seconds.
    pub resume_page_age_s_max: u64,
    /// After this many seconds pages are asked for without validators, whatever the store says of them.
    pub verify_after_s: u64,
    /// A store's front page is read for the discount codes that it states when it was asked so many seconds ago; 0: never.
    pub front_page_after_s: u64,
    /// The same of its policies.
    pub policies_after_s: u64,
    /// Runs that keep their landed pages; the latest pages of each store are always kept.
    pub landing_runs_kept: usize,
    /// The days for which landed pages are kept besides: so far back a backfill can go. 0: no longer than by their
    /// number.
    // Shown and set as `landing.keep_days`: it is not the crawl that needs them.
    #[serde(skip)]
    pub landing_keep_days: u32,
}

impl CrawlConfig {
    /// Stores that may be on their way: those at work have all room in it.
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
