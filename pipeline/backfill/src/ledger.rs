//! Progress of a backfill: `backfills/{id}.json`, written after each commit.

use data_model::{RunId, Timestamp};
use data_storage::{Storage, delete};
use object_store::path::Path;
use pipeline_crawl::{list_objects, load_document, save_document};

use crate::{Backfill, BackfillError, BackfillOptions, BackfillState};

const KEPT: usize = 50;
/// Number of latest backfills that are searched for one to resume.
const UNFINISHED_AMONG: usize = 8;

fn at(id: &RunId) -> Path {
    Path::from_iter(["backfills", &format!("{id}.json")])
}

pub(crate) async fn save(storage: &Storage, backfill: &Backfill) -> Result<(), BackfillError> {
    Ok(save_document(storage, &at(&backfill.id), backfill).await?)
}

/// Returns the ids of all backfills, latest first.
async fn ids(storage: &Storage) -> Result<Vec<RunId>, BackfillError> {
    let found = list_objects(storage, &Path::from("backfills")).await?;
    let id = |path: &Path| path.filename()?.strip_suffix(".json")?.parse().ok();
    let mut ids: Vec<RunId> = found.iter().filter_map(id).collect();
    ids.sort_unstable_by(|one, other| other.cmp(one));
    Ok(ids)
}

/// Returns the latest unfinished backfill with the same options that began after `since`.
pub(crate) async fn find_unfinished(
    storage: &Storage,
    options: &BackfillOptions,
    since: Timestamp,
) -> Result<Option<Backfill>, BackfillError> {
    for id in ids(storage).await?.into_iter().take(UNFINISHED_AMONG) {
        let Some(found) = load_document::<Backfill>(storage, &at(&id)).await? else {
            continue;
        };
        if found.state != BackfillState::Finished && found.started_at >= since && options.are_those_of(&found) {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// The records of the latest backfills stay.
pub(crate) async fn prune(storage: &Storage) -> Result<(), BackfillError> {
    for id in ids(storage).await?.into_iter().skip(KEPT) {
        delete(storage, &at(&id)).await?;
    }
    Ok(())
}
