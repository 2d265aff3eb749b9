//! Raw pages as stores answered them, kept so that a catalogue can be parsed again without a crawl:
//! `landing/{run}/{store}/products-00001.json.zst`, and `done.json` once the store is complete.

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

/// Most bytes that a landed page may unpack to; a store's page is never that large.
pub(crate) const PAGE_BYTES_MAX: u64 = 256 << 20;

/// The reason why landed pages cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum LandingError {
    /// An object could not be read or written.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// A prefix could not be listed, or what is under it not be deleted.
    #[error("cannot list or delete {path}")]
    Prefix {
        /// The prefix.
        path: Path,
        /// The store's words.
        #[source]
        source: object_store::Error,
    },
    /// It takes more memory than there is for a page.
    #[error(transparent)]
    OverBudget(#[from] OverBudget),
    /// The object is not what was landed there.
    #[error("{path} is damaged")]
    Damaged {
        /// The object.
        path: Path,
    },
    /// The object is no zstd frame, or could not be made one.
    #[error("{path} is no zstd frame")]
    Zstd {
        /// The object.
        path: Path,
        /// The codec's words.
        #[source]
        source: std::io::Error,
    },
    /// A task of this program broke off.
    #[error("a worker broke off")]
    Worker(#[source] tokio::task::JoinError),
}

/// A page of a listing; pages count from 1.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "list", rename_all = "snake_case")]
pub enum PageTarget {
    /// Of the store's whole catalogue.
    Products {
        /// Its number.
        page: u32,
    },
    /// Of the store's whole catalogue, read once more because products had moved while it was read.
    Again {
        /// Its number.
        page: u32,
    },
    /// Of the list of its collections.
    Collections {
        /// Its number.
        page: u32,
    },
    /// Of the products of one collection.
    Collection {
        /// The collection.
        handle: String,
        /// Its number.
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
    /// Its number in its listing.
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

/// One page as a crawl found it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageMark {
    /// The page.
    #[serde(flatten)]
    pub target: PageTarget,
    /// The name of the landed object; `None` for a page that brought nothing new, such as the empty one at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The store's validator, where it sends one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub etag: Option<String>,
    /// The currency that the store said that the page's amounts are in, where it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub currency: Option<CurrencyCode>,
    /// Of the decoded body, in hex.
    pub sha256: String,
    /// Size of the decoded body.
    pub bytes: u64,
    /// Records that it lists.
    pub records: u32,
    /// The number of those that are products that no page before it listed.
    pub fresh: u32,
}

/// The outcome of a crawl that read the whole catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Something changed, or may have: the pages are landed.
    Landed,
    /// Every page is as it was; the pages are those of an earlier landing.
    Unchanged,
}

/// The complete crawl of one store: `done.json` of a landing and, once the lake has it, `crawl-state/{store}.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoreCrawl {
    /// The store.
    pub store: StoreHost,
    /// The run that crawled.
    pub run: RunId,
    /// The run whose landing holds the pages; an earlier one when nothing changed.
    pub landing: RunId,
    /// Its outcome.
    pub verdict: Verdict,
    /// The purpose for which the pages were read: the caller's fingerprint of all that decides how they are understood.
    pub context: String,
    /// The moment at which the first page was asked for, by an interrupted try where this one went on with its pages.
    pub started_at: Timestamp,
    /// Its end.
    pub ended_at: Timestamp,
    /// The moment at which all pages were last read without validators.
    pub verified_at: Timestamp,
    /// The store's description of itself.
    pub facts: StoreFacts,
    /// The pages in the order in which they were read.
    pub pages: Vec<PageMark>,
    /// Products may be missing: a bound was met before the store had nothing more to list, a page in the middle listed nothing,
    /// or the end came earlier than both the last crawl and the store's own count say.
    #[serde(default)]
    pub truncated: bool,
    /// A listing could not be read: as no page stands for it, no comparison would ever show that it can be read again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unread: bool,
    /// The fate of the products of the last crawl; `None` where there is none, or where its pages are gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<LastListed>,
    /// Pages that an interrupted try of the same run had landed, and that were not asked for again.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reused_pages: u32,
    /// Requests sent.
    pub requests: u32,
    /// Decoded bytes read.
    pub bytes: u64,
}

const fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// The fate of the products that the crawl before had found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastListed {
    /// Their number.
    pub products: u64,
    /// The number of them that are not listed any more.
    pub gone: u64,
}

impl StoreCrawl {
    /// The landed pages of products with the names of their objects, in order.
    pub fn landed(&self) -> impl Iterator<Item = (&str, &PageMark)> {
        let of_products = |page: &&PageMark| !matches!(page.target, PageTarget::Collections { .. });
        self.pages
            .iter()
            .filter(of_products)
            .filter_map(|page| Some((page.file.as_deref()?, page)))
    }

    /// The number of distinct products that the pages list.
    #[must_use]
    pub fn products(&self) -> u64 {
        self.pages.iter().map(|page| u64::from(page.fresh)).sum()
    }

    /// Decoded size of the landed pages.
    #[must_use]
    pub fn landed_bytes(&self) -> u64 {
        self.landed().map(|(_, page)| page.bytes).sum()
    }
}

pub(crate) const DONE: &str = "done.json";
/// The name under which a store's policies are landed.
pub(crate) const POLICIES: &str = "policies.json.zst";
pub(crate) const META: &str = "meta.json.zst";

/// `products-00001.json.zst`; pages of collections are numbered through.
pub(crate) fn page_file(listing: &str, number: u32) -> String {
    format!("{listing}-{number:05}.json.zst")
}

/// `landing/{run}/{store}/{file}`.
pub(crate) fn landed_at(run: &RunId, store: &StoreHost, file: &str) -> Path {
    Path::from_iter(["landing", run.as_str(), store.as_str(), file])
}
