//! Metadata about the reading of a page, stored in the page's object after its zstd frame. It is in a frame that every
//! zstd decoder skips (RFC 8878, 3.1.2). A resumed crawl needs the page's age and the currency of its amounts.

use bytes::Bytes;
use data_model::{CurrencyCode, Timestamp};
use serde::{Deserialize, Serialize};

/// First of the sixteen magic numbers of skippable zstd frames.
const MAGIC: [u8; 4] = 0x184D_2A50_u32.to_le_bytes();
/// Magic number and length.
const HEADER_BYTES: usize = 8;

/// Metadata about the reading of a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PageReading {
    pub(crate) read_at: Timestamp,
    /// Country whose prices were requested.
    pub(crate) country: Option<String>,
    /// Currency of the page's amounts, as the store states it.
    pub(crate) currency: Option<CurrencyCode>,
    pub(crate) etag: Option<String>,
}

impl PageReading {
    /// Returns `None` if the metadata of a landed page is missing or unreadable.
    pub(crate) fn of(object: &[u8]) -> Option<Self> {
        let behind = object.get(zstd::zstd_safe::find_frame_compressed_size(object).ok()?..)?;
        let (header, told) = behind.split_at_checked(HEADER_BYTES)?;
        header.starts_with(&MAGIC).then_some(())?;
        serde_json::from_slice(told).ok()
    }

    /// Appends this metadata to the first frame in `frame`. Returns `None` if `frame` does not start with a zstd frame.
    pub(crate) fn behind(&self, frame: &[u8]) -> Option<Bytes> {
        let frame = frame.get(..zstd::zstd_safe::find_frame_compressed_size(frame).ok()?)?;
        let told = serde_json::to_vec(self).ok()?;
        let length = u32::try_from(told.len()).ok()?.to_le_bytes();
        Some([frame, &MAGIC, &length, &told].concat().into())
    }
}
