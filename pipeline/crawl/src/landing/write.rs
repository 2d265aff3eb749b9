use std::cell::RefCell;

use bytes::Bytes;
use data_model::{RunId, StoreHost};
use data_storage::{Storage, put_over};
use sha2::{Digest, Sha256};
use zstd::bulk::Compressor;

use super::{DONE, LandingError, StoreCrawl, landed_at};
use crate::document::save_document;

pub(crate) fn sha256_hex(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

/// Zstd compression level of pages. Higher levels take at least twice the time and make pages only a tenth smaller.
const LEVEL: i32 = 1;

thread_local! {
    /// The compressor is reused because its tables are large and there are thousands of pages.
    static COMPRESSOR: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
}

/// Returns one zstd frame with a checksum.
pub(crate) fn compress(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    COMPRESSOR.with_borrow_mut(|kept| {
        let mut compressor = match kept.take() {
            Some(compressor) => compressor,
            None => {
                let mut compressor = Compressor::new(LEVEL)?;
                compressor.include_checksum(true)?;
                compressor
            }
        };
        let frame = compressor.compress(bytes);
        *kept = Some(compressor);
        frame
    })
}

pub(crate) async fn put_compressed(
    storage: &Storage,
    run: &RunId,
    store: &StoreHost,
    file: &str,
    frame: Bytes,
) -> Result<(), LandingError> {
    Ok(put_over(storage, &landed_at(run, store, file), frame).await?)
}

/// Marks a store's landing as complete. This must be the last write.
pub(crate) async fn put_done(storage: &Storage, crawl: &StoreCrawl) -> Result<(), LandingError> {
    let at = landed_at(&crawl.run, &crawl.store, DONE);
    Ok(save_document(storage, &at, crawl).await?)
}
