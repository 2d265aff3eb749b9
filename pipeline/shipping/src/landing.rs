//! The texts that stores answered when they were asked for their terms: `policies/{store}/{microseconds}.json.zst`.

use data_model::{StoreHost, Timestamp};
use data_storage::{Storage, StorageError, get_bytes, put_over};
use pipeline_crawl::AnswerFolder;
use serde::{Deserialize, Serialize};

use crate::terms::StoreTexts;

/// Most characters of texts that are landed of one store; what is beyond is left out, and its absence noted.
const TEXT_BYTES_MAX: usize = 1 << 20;
/// Most bytes that a landed object may unpack to: texts as JSON take up to six bytes for one.
const UNPACKED_BYTES_MAX: usize = 8 * TEXT_BYTES_MAX;
/// The place of landings.
const ANSWERS: AnswerFolder = AnswerFolder {
    kind: "policies",
    ending: "json.zst",
};
/// Tightness of packed texts.
const LEVEL: i32 = 3;

/// The landing of a store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LandedTexts {
    pub(crate) store: StoreHost,
    pub(crate) asked_at: Timestamp,
    pub(crate) told: StoreTexts,
}

/// The first texts that fit.
fn bounded(mut told: StoreTexts) -> StoreTexts {
    let mut room = TEXT_BYTES_MAX;
    let before = told.documents.len();
    told.documents.retain(|document| {
        let fits = document.text.len() <= room;
        room -= if fits { document.text.len() } else { 0 };
        fits
    });
    told.is_everywhere &= told.documents.len() == before;
    told
}

/// Lands what a store answered, and drops what was landed before `keep_since`, but never the newest.
pub(crate) async fn land(storage: &Storage, texts: LandedTexts, keep_since: Timestamp) -> Result<(), StorageError> {
    let landed = LandedTexts {
        told: bounded(texts.told),
        ..texts
    };
    let (store, asked_at) = (&landed.store, landed.asked_at);
    let json = serde_json::to_vec(&landed).unwrap_or_default();
    let packed = zstd::bulk::compress(&json, LEVEL).map_err(|source| StorageError::Write {
        path: ANSWERS.path(store, asked_at).to_string(),
        source: object_store::Error::Generic {
            store: "zstd",
            source: Box::new(source),
        },
    })?;
    put_over(storage, &ANSWERS.path(store, asked_at), packed).await?;
    ANSWERS.prune(storage, store, keep_since.min(asked_at)).await
}

/// The moment at which a store's newest texts were landed, whether they can be read or not.
pub(crate) async fn newest_at(storage: &Storage, store: &StoreHost) -> Result<Option<Timestamp>, StorageError> {
    let listed = ANSWERS.list(storage, store).await?;
    Ok(listed.last().map(|(at, _)| *at))
}

/// The newest of a store's landed texts of which `is_wanted`; what is damaged is passed over.
pub(crate) async fn newest(
    storage: &Storage,
    store: &StoreHost,
    is_wanted: &(dyn Fn(Timestamp) -> bool + Sync),
) -> Result<Option<LandedTexts>, StorageError> {
    for (at, path) in ANSWERS.list(storage, store).await?.into_iter().rev() {
        if !is_wanted(at) {
            continue;
        }
        let bytes = get_bytes(storage, &path).await?;
        let unpacked = bytes.and_then(|bytes| zstd::bulk::decompress(&bytes, UNPACKED_BYTES_MAX).ok());
        let landed: Option<LandedTexts> = unpacked.and_then(|json| serde_json::from_slice(&json).ok());
        match landed.filter(|landed| landed.store == *store) {
            Some(landed) => return Ok(Some(landed)),
            None => tracing::warn!(%path, "a landed text is damaged, and passed over"),
        }
    }
    Ok(None)
}
