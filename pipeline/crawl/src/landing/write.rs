use bytes::Bytes;
use data_model::{RunId, StoreHost};
use data_storage::{Storage, put_over};
use sha2::{Digest, Sha256};

use super::{DONE, LandingError, StoreCrawl, landed_at};

/// SHA-256 in hex.
pub(crate) fn sha256_hex(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

/// One zstd frame with a checksum.
pub(crate) fn compress(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = zstd::stream::Encoder::new(Vec::with_capacity(bytes.len() / 6), 3)?;
    encoder.include_checksum(true)?;
    std::io::Write::write_all(&mut encoder, bytes)?;
    encoder.finish()
}

/// Lands an object as it is.
pub(crate) async fn put_compressed(
    storage: &Storage,
    run: &RunId,
    store: &StoreHost,
    file: &str,
    frame: Bytes,
) -> Result<(), LandingError> {
    Ok(put_over(storage, &landed_at(run, store, file), frame).await?)
}

/// Says that the landing of this store is complete; written last.
pub(crate) async fn put_done(storage: &Storage, crawl: &StoreCrawl) -> Result<(), LandingError> {
    let path = landed_at(&crawl.run, &crawl.store, DONE);
    let json = serde_json::to_vec(crawl).map_err(|source| LandingError::Json {
        path: path.clone(),
        source,
    })?;
    Ok(put_over(storage, &path, json).await?)
}
