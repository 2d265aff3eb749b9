//! Landed texts from stores that were queried for their terms: `policies/{store}/{microseconds}.json.zst`.

use data_model::{StoreHost, Timestamp};
use data_storage::{Storage, StorageError};
use pipeline_crawl::{AnswerFolder, load_packed, save_packed};
use serde::{Deserialize, Serialize};

use crate::terms::StoreTexts;

/// Maximum total bytes of text landed for one store. Texts beyond the limit are left out, and the landing records that
/// it is incomplete.
const TEXT_BYTES_MAX: usize = 1 << 20;
const ANSWERS: AnswerFolder = AnswerFolder {
    kind: "policies",
    ending: "json.zst",
};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LandedTexts {
    pub(crate) store: StoreHost,
    pub(crate) asked_at: Timestamp,
    pub(crate) told: StoreTexts,
}

/// Drops the texts that do not fit into the size limit.
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

/// Lands a store's answers and deletes those landed before `keep_since`, except the newest.
pub(crate) async fn land(storage: &Storage, texts: LandedTexts, keep_since: Timestamp) -> Result<(), StorageError> {
    let landed = LandedTexts {
        told: bounded(texts.told),
        ..texts
    };
    let (store, asked_at) = (&landed.store, landed.asked_at);
    save_packed(storage, &ANSWERS.path(store, asked_at), &landed).await?;
    ANSWERS.prune(storage, store, keep_since.min(asked_at)).await
}

/// Returns the time at which a store's newest texts were landed, even if they cannot be read.
pub(crate) async fn newest_at(storage: &Storage, store: &StoreHost) -> Result<Option<Timestamp>, StorageError> {
    let listed = ANSWERS.list(storage, store).await?;
    Ok(listed.last().map(|(at, _)| *at))
}

/// Returns the store's newest landed texts whose time satisfies `is_wanted`. Damaged objects are skipped.
pub(crate) async fn newest(
    storage: &Storage,
    store: &StoreHost,
    is_wanted: &(dyn Fn(Timestamp) -> bool + Sync),
) -> Result<Option<LandedTexts>, StorageError> {
    for (at, path) in ANSWERS.list(storage, store).await?.into_iter().rev() {
        if !is_wanted(at) {
            continue;
        }
        let landed: Option<LandedTexts> = load_packed(storage, &path).await?;
        match landed.filter(|landed| landed.store == *store) {
            Some(landed) => return Ok(Some(landed)),
            None => tracing::warn!(%path, "a landed text is damaged and skipped"),
        }
    }
    Ok(None)
}
