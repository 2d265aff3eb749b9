use std::io::Read;

use async_recursion::async_recursion as boxed;
use bytes::Bytes;
use data_model::{RunId, StoreHost, Timestamp};
use data_storage::{Storage, get_bytes};
use futures::TryStreamExt;
use object_store::path::Path;
use storefront::MemoryBudget;

use super::{DONE, LandingError, PAGE_BYTES_MAX, PageMark, StoreCrawl, landed_at, page_file, sha256_hex};
use crate::document::load_document;

/// Returns the complete crawl of a store by this run. `None` if there is none or it cannot be parsed. The crawl then
/// counts as incomplete and is repeated.
///
/// # Errors
/// [`LandingError::Storage`].
#[boxed]
pub async fn read_done(storage: &Storage, run: &RunId, store: &StoreHost) -> Result<Option<StoreCrawl>, LandingError> {
    let done: Option<StoreCrawl> = load_document(storage, &landed_at(run, store, DONE)).await?;
    Ok(done.filter(|done| done.store == *store))
}

/// Returns a landed page as the store sent it, after a hash check. Memory for the page is reserved from `memory`, so
/// that the caller must not hold another page.
///
/// # Errors
/// [`LandingError::Damaged`] if the page is missing or differs from the landed one. See [`LandingError`].
#[boxed]
pub async fn read_page(
    storage: &Storage,
    landing: &RunId,
    store: &StoreHost,
    file: &str,
    mark: &PageMark,
    memory: &MemoryBudget,
) -> Result<Bytes, LandingError> {
    let path = landed_at(landing, store, file);
    let (_, body) = read_compressed(storage, &path, Some(mark.bytes), memory)
        .await?
        .ok_or(LandingError::Damaged { path: path.clone() })?;
    if sha256_hex(&body) == mark.sha256 {
        Ok(body)
    } else {
        Err(LandingError::Damaged { path })
    }
}

/// Returns a landed object both compressed and decompressed. `bytes` is the decompressed size, if known. Returns `None`
/// if the object does not exist.
pub(crate) async fn read_compressed(
    storage: &Storage,
    path: &Path,
    bytes: Option<u64>,
    memory: &MemoryBudget,
) -> Result<Option<(Bytes, Bytes)>, LandingError> {
    let known = match bytes {
        Some(bytes) => Some((bytes, memory.page(bytes).await?)),
        None => None,
    };
    let Some(frame) = get_bytes(storage, path).await? else {
        return Ok(None);
    };
    let stated = zstd::zstd_safe::get_frame_content_size(&frame).ok().flatten();
    let room = match (known, stated) {
        (Some((bytes, room)), Some(stated)) if stated <= bytes => room,
        (known, Some(stated)) => {
            drop(known);
            memory.page(stated).await?
        }
        (_, None) => return Err(LandingError::Damaged { path: path.clone() }),
    };
    let packed = frame.clone();
    let unpacked = tokio::task::spawn_blocking(move || unpack(&packed))
        .await
        .map_err(LandingError::Worker)?;
    let body = unpacked.map_err(|source| LandingError::Zstd {
        path: path.clone(),
        source,
    })?;
    body.map(|body| Some((frame, room.hold(body))))
        .ok_or_else(|| LandingError::Damaged { path: path.clone() })
}

/// Returns `None` if the result is larger than any page can be.
pub(crate) fn unpack(frame: &[u8]) -> std::io::Result<Option<Bytes>> {
    let stated = zstd::zstd_safe::get_frame_content_size(frame).ok().flatten();
    let mut body = Vec::with_capacity(usize::try_from(stated.unwrap_or(0).min(PAGE_BYTES_MAX)).unwrap_or(0));
    let read = zstd::stream::Decoder::with_buffer(frame)?
        .take(PAGE_BYTES_MAX + 1)
        .read_to_end(&mut body)?;
    Ok((read as u64 <= PAGE_BYTES_MAX).then(|| Bytes::from(body)))
}

/// Counts the listing pages that this run has landed since `since`, from page 1 to the first gap.
pub(crate) async fn landed_pages(
    storage: &Storage,
    run: &RunId,
    store: &StoreHost,
    since: Timestamp,
) -> Result<u32, LandingError> {
    let prefix = Path::from_iter(["landing", run.as_str(), store.as_str()]);
    let listed: Vec<_> = storage
        .store()
        .list(Some(&prefix))
        .try_collect()
        .await
        .map_err(|source| LandingError::Prefix { path: prefix, source })?;
    let recent = |number: u32| {
        let file = page_file("products", number);
        let found = listed.iter().find(|meta| meta.location.filename() == Some(&file));
        found.is_some_and(|meta| meta.last_modified.timestamp_micros() >= since.micros())
    };
    Ok((1..=u32::MAX).take_while(|number| recent(*number)).last().unwrap_or(0))
}
