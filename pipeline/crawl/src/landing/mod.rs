//! Raw pages as stores sent them, kept so that a catalogue can be parsed again without a crawl. Pages are stored as
//! `landing/{run}/{store}/products-00001.json.zst`. `done.json` is added when the store is complete.

mod policies;
mod prune;
mod read;
mod reading;
mod write;

use data_model::{CurrencyCode, RunId, StoreHost, Timestamp};
use data_storage::StorageError;
use object_store::path::Path;
use serde::{Deserialize, Serialize};
use storefront::OverBudget;

pub use policies::{landed_policies, read_policies};
pub use prune::{PruneReport, drop_run, landed_before, prune_landing};
pub(crate) use read::{landed_pages, read_compressed, unpack};
pub use read::{read_done, read_page};
pub(crate) use reading::PageReading;
pub(crate) use write::{compress, put_compressed, put_done, sha256_hex};

use crate::StoreFacts;

/// No page of a store is larger than this when decompressed.
pub(crate) const PAGE_BYTES_MAX: u64 = 256 << 20;

/// Error of a landing.
#[derive(Debug, thiserror::Error)]
pub enum LandingError {
    /// An object could not be read or written.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The objects under a prefix could not be listed or deleted.
    #[error("cannot list or delete {path}")]
    Prefix {
        /// Prefix in the storage.
        path: Path,
        /// Error from the storage.
        #[source]
        source: object_store::Error,
    },
    /// An object needs more memory than is available for one page.
    #[error(transparent)]
    OverBudget(#[from] OverBudget),
    /// The object is not as it was landed.
    #[error("{path} is damaged")]
    Damaged {
        /// Path of the object.
        path: Path,
    },
    /// The object is not a valid zstd frame or could not be compressed.
    #[error("{path} is not a valid zstd file")]
    Zstd {
        /// Path of the object.
        path: Path,
        /// Error of the zstd codec.
        #[source]
        source: std::io::Error,
    },
    /// A task of this program panicked or was cancelled.
    #[error("a background task failed")]
    Worker(#[source] tokio::task::JoinError),
}

/// Page of a listing. Page numbers start at 1.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "list", rename_all = "snake_case")]
pub enum PageTarget {
    /// Page of the store's whole catalogue.
    Products {
        /// Page number.
        page: u32,
    },
    /// Page of the store's whole catalogue, read again because products moved during the first pass.
    Again {
        /// Page number.
        page: u32,
    },
    /// Page of the store's list of collections.
    Collections {
        /// Page number.
        page: u32,
    },
    /// Page of the products in one collection.
    Collection {
        /// Handle of the collection.
        handle: String,
        /// Page number.
        page: u32,
    },
}

impl std::fmt::Display for PageTarget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Products { page } | Self::Again { page } => write!(f, "page {page} of its products"),
            Self::Collections { page } => write!(f, "page {page} of its collections"),
            Self::Collection { handle, page } => write!(f, "page {page} of its collection {handle:?}"),
        }
    }
}

impl PageTarget {
    /// Returns the page's number in its listing.
    #[must_use]
    pub const fn page(&self) -> u32 {
        match self {
            Self::Products { page }
            | Self::Again { page }
            | Self::Collections { page }
            | Self::Collection { page, .. } => *page,
        }
    }
}

/// Record of one page that a crawl read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageMark {
    /// Listing and number of the page.
    #[serde(flatten)]
    pub target: PageTarget,
    /// Name of the landed object. `None` for a page without new products, such as the empty last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// ETag of the page, if the store sends one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub etag: Option<String>,
    /// Currency of the page's amounts, if the store states it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub currency: Option<CurrencyCode>,
    /// SHA-256 of the decoded body, in hex.
    pub sha256: String,
    /// Size of the decoded body in bytes.
    pub bytes: u64,
    /// Number of records on the page.
    pub records: u32,
    /// Number of products on the page that no earlier page listed.
    pub fresh: u32,
}

/// Outcome of a crawl that read the whole catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Something changed or may have changed, so that the pages are landed.
    Landed,
    /// No page changed, so the pages of an earlier landing are used.
    Unchanged,
}

/// Complete crawl of one store, stored as `done.json` in a landing and, once it is in the lake, in
/// `crawl-state/{store}.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoreCrawl {
    /// Store that was crawled.
    pub store: StoreHost,
    /// Run that crawled the store.
    pub run: RunId,
    /// Run that landed the pages. If nothing changed, it is an earlier run.
    pub landing: RunId,
    /// Landed or unchanged.
    pub verdict: Verdict,
    /// Fingerprint, defined by the caller, of everything that affects the parsing of the pages.
    pub context: String,
    /// Time of the first page request, of the interrupted attempt if the crawl was resumed.
    pub started_at: Timestamp,
    /// End of the crawl.
    pub ended_at: Timestamp,
    /// Time at which all pages were last read without validators.
    pub verified_at: Timestamp,
    /// Self-description of the store.
    pub facts: StoreFacts,
    /// Pages in the order in which they were read.
    pub pages: Vec<PageMark>,
    /// True if products may be missing: a limit was reached, a page in the middle was empty, or the listing ended
    /// earlier than the last crawl and the store's own count suggest.
    #[serde(default)]
    pub truncated: bool,
    /// True if a listing could not be read. It has no page, so that comparing pages would never show that it has become
    /// readable.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unread: bool,
    /// Comparison with the products of the last crawl. `None` if there was none or its pages are gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<LastListed>,
    /// Number of pages reused from an interrupted attempt of the same run.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reused_pages: u32,
    /// Number of requests sent.
    pub requests: u32,
    /// Number of decoded bytes read.
    pub bytes: u64,
}

const fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// Comparison with the products of the previous crawl.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastListed {
    /// Number of products in the previous crawl.
    pub products: u64,
    /// Number of products in the previous crawl that are no longer listed.
    pub gone: u64,
}

impl StoreCrawl {
    /// Returns the landed product pages with their object names, in order.
    pub fn landed(&self) -> impl Iterator<Item = (&str, &PageMark)> {
        let of_products = |page: &&PageMark| !matches!(page.target, PageTarget::Collections { .. });
        self.pages
            .iter()
            .filter(of_products)
            .filter_map(|page| Some((page.file.as_deref()?, page)))
    }

    /// Returns the number of distinct products on the pages.
    #[must_use]
    pub fn products(&self) -> u64 {
        self.pages.iter().map(|page| u64::from(page.fresh)).sum()
    }

    /// Returns the decoded bytes of the landed pages.
    #[must_use]
    pub fn landed_bytes(&self) -> u64 {
        self.landed().map(|(_, page)| page.bytes).sum()
    }
}

pub(crate) const DONE: &str = "done.json";
/// The landed policies of a store.
pub(crate) const POLICIES: &str = "policies.json.zst";
pub(crate) const META: &str = "meta.json.zst";

/// Returns a name such as `products-00001.json.zst`. Pages of all collections share one numbering.
pub(crate) fn page_file(listing: &str, number: u32) -> String {
    format!("{listing}-{number:05}.json.zst")
}

pub(crate) fn landed_at(run: &RunId, store: &StoreHost, file: &str) -> Path {
    Path::from_iter(["landing", run.as_str(), store.as_str(), file])
}
