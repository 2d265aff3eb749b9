//! The circumstances under which a page was read, landed with the page itself: behind its zstd frame, as a frame that
//! every decoder skips (RFC 8878, 3.1.2). A crawl that goes on after a kill knows by them the age of the page and the
//! currency of its amounts.

use bytes::Bytes;
use data_model::{CurrencyCode, Timestamp};
use serde::{Deserialize, Serialize};

/// The first of the sixteen magic numbers of frames to skip.
const MAGIC: [u8; 4] = 0x184D_2A50_u32.to_le_bytes();
/// Magic number and length.
const HEADER_BYTES: usize = 8;

/// The circumstances under which a page was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PageReading {
    /// The moment at which it was asked for.
    pub(crate) read_at: Timestamp,
    /// The country whose prices were asked for.
    pub(crate) country: Option<String>,
    /// The currency that the store said that its amounts are in.
    pub(crate) currency: Option<CurrencyCode>,
    /// The store's validator.
    pub(crate) etag: Option<String>,
}

impl PageReading {
    /// The reading that stands behind the frame of a landed page; `None` where none can be understood.
    pub(crate) fn of(object: &[u8]) -> Option<Self> {
        let behind = object.get(zstd::zstd_safe::find_frame_compressed_size(object).ok()?..)?;
        let (header, told) = behind.split_at_checked(HEADER_BYTES)?;
        header.starts_with(&MAGIC).then_some(())?;
        serde_json::from_slice(told).ok()
    }

    /// A landed page: the first frame of `frame`, and behind it this reading. `None` if `frame` begins with no frame.
    pub(crate) fn behind(&self, frame: &[u8]) -> Option<Bytes> {
        let frame = frame.get(..zstd::zstd_safe::find_frame_compressed_size(frame).ok()?)?;
        let told = serde_json::to_vec(self).ok()?;
        let length = u32::try_from(told.len()).ok()?.to_le_bytes();
        Some([frame, &MAGIC, &length, &told].concat().into())
    }
}
