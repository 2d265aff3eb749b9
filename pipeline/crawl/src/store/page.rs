use bytes::Bytes;
use data_model::{CurrencyCode, Timestamp};

use crate::landing::PageReading;

/// Content of a page, from a landing or from the store.
#[derive(Debug)]
pub(super) struct ObtainedPage {
    pub(super) content: Content,
    /// Compressed content as stored in a landing.
    pub(super) frame: Option<Bytes>,
    /// True if the page is already in the landing of this run.
    pub(super) landed: bool,
    /// Time at which the page was requested.
    pub(super) read_at: Timestamp,
    pub(super) etag: Option<String>,
    /// Currency that the store stated for the page's amounts. For an unchanged page, it is the currency from when the
    /// page was read.
    pub(super) currency: Option<CurrencyCode>,
    pub(super) sha256: String,
    pub(super) bytes: u64,
}

impl ObtainedPage {
    /// Returns the metadata about how the page was read.
    pub(super) fn reading(&self, country: Option<&str>) -> PageReading {
        PageReading {
            read_at: self.read_at,
            country: country.map(str::to_owned),
            currency: self.currency,
            etag: self.etag.clone(),
        }
    }
}

#[derive(Debug)]
pub(super) enum Content {
    Body(Bytes),
    /// The content is only available compressed.
    Packed,
    /// The page has not changed, and its content is not available.
    Unchanged {
        records: u32,
    },
}
