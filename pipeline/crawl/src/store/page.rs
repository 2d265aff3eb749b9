use bytes::Bytes;
use data_model::{CurrencyCode, Timestamp};

use crate::landing::PageReading;

#[derive(Debug)]
pub(super) struct ObtainedPage {
    pub(super) content: Content,
    /// Compressed content as in a landing.
    pub(super) frame: Option<Bytes>,
    /// True if this run has already landed the page.
    pub(super) landed: bool,
    /// Time of the page's request.
    pub(super) read_at: Timestamp,
    pub(super) etag: Option<String>,
    /// Currency that the store stated for the page's amounts when it was last read with content.
    pub(super) currency: Option<CurrencyCode>,
    pub(super) sha256: String,
    pub(super) bytes: u64,
}

impl ObtainedPage {
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
    Packed,
    /// The page has not changed, and its content is not available.
    Unchanged {
        records: u32,
    },
}
