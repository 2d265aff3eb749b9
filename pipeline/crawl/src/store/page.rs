use bytes::Bytes;
use data_model::{CurrencyCode, Timestamp};

use crate::landing::PageReading;

/// A page's content, from wherever it is to be had.
#[derive(Debug)]
pub(super) struct ObtainedPage {
    pub(super) content: Content,
    /// The content as it lies in a landing.
    pub(super) frame: Option<Bytes>,
    /// It lies in the landing of this very run.
    pub(super) landed: bool,
    /// The moment at which it was asked for.
    pub(super) read_at: Timestamp,
    pub(super) etag: Option<String>,
    /// The currency that the store said that its amounts are in; of a page that has not changed, when it was read.
    pub(super) currency: Option<CurrencyCode>,
    pub(super) sha256: String,
    pub(super) bytes: u64,
}

impl ObtainedPage {
    /// The circumstances under which it was read.
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
    /// A page that lies in its frame alone.
    Packed,
    /// A page that has not changed and whose content is not at hand.
    Unchanged {
        records: u32,
    },
}
