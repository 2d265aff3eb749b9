//! The work of a backfill so far: `backfills/{id}.json`, written after each commit.

use data_model::{RunId, Timestamp};
use data_storage::{Storage, get_bytes, put_over};
use futures::TryStreamExt;
use object_store::ObjectStoreExt;
use object_store::path::Path;

use crate::{Backfill, BackfillError, BackfillOptions, BackfillState};

/// Backfills that are remembered.
const KEPT: usize = 50;
/// The latest backfills that are looked at for one to go on with.
const UNFINISHED_AMONG: usize = 8;

fn at(id: &RunId) -> Path {
    Path::from_iter(["backfills", &format!("{id}.json")])
}

/// Writes what was done.
pub(crate) async fn save(storage: &Storage, backfill: &Backfill) -> Result<(), BackfillError> {
    let json = serde_json::to_vec(backfill).map_err(BackfillError::Json)?;
    Ok(put_over(storage, &at(&backfill.id), json).await?)
}

/// The ids of all, the latest first.
async fn ids(storage: &Storage) -> Result<Vec<RunId>, BackfillError> {
    let listed = storage.store().list(Some(&Path::from("backfills")));
    let found: Vec<_> = listed.try_collect().await.map_err(BackfillError::Prefix)?;
    let id = |meta: &object_store::ObjectMeta| meta.location.filename()?.strip_suffix(".json")?.parse().ok();
    let mut ids: Vec<RunId> = found.iter().filter_map(id).collect();
    ids.sort_unstable_by(|one, other| other.cmp(one));
    Ok(ids)
}

/// The latest backfill of the same that was never finished and began after `since`.
pub(crate) async fn find_unfinished(
    storage: &Storage,
    options: &BackfillOptions,
    since: Timestamp,
) -> Result<Option<Backfill>, BackfillError> {
    for id in ids(storage).await?.into_iter().take(UNFINISHED_AMONG) {
        let json = get_bytes(storage, &at(&id)).await?;
        let Some(found) = json.and_then(|json| serde_json::from_slice::<Backfill>(&json).ok()) else {
            continue;
        };
        if found.state != BackfillState::Finished && found.started_at >= since && options.are_those_of(&found) {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Deletes the notes of all but the latest.
pub(crate) async fn prune(storage: &Storage) -> Result<(), BackfillError> {
    for id in ids(storage).await?.into_iter().skip(KEPT) {
        match storage.store().delete(&at(&id)).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => {}
            Err(source) => return Err(BackfillError::Prefix(source)),
        }
    }
    Ok(())
}
