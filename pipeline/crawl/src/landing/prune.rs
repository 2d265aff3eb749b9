use std::collections::{BTreeMap, BTreeSet};

use async_recursion::async_recursion as boxed;
use data_model::{RunId, StoreHost};
use data_storage::Storage;
use futures::{StreamExt, TryStreamExt};
use object_store::path::Path;

use super::LandingError;

/// Objects deleted from the landing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PruneReport {
    /// Number of objects deleted.
    pub objects: u64,
    /// Total bytes of the deleted objects.
    pub bytes: u64,
}

/// Returns the runs that have landed pages, except the latest `runs_kept`.
///
/// # Errors
/// [`LandingError::Prefix`].
#[boxed]
pub async fn landed_before(storage: &Storage, runs_kept: usize) -> Result<Vec<RunId>, LandingError> {
    let landed = children(storage, &Path::from("landing")).await?;
    let run = |path: &Path| path.filename()?.parse().ok();
    // Run ids sort chronologically.
    let mut runs: Vec<RunId> = landed.iter().filter_map(run).collect();
    runs.sort_unstable();
    runs.truncate(runs.len().saturating_sub(runs_kept));
    Ok(runs)
}

/// Deletes the landed pages of the given runs, except those in `needed`, which has the run of each store's crawl state.
///
/// # Errors
/// [`LandingError::Prefix`]. Objects deleted before the failure stay deleted, and the next call continues.
#[boxed]
pub async fn prune_landing(
    storage: &Storage,
    runs: &[RunId],
    needed: &BTreeMap<StoreHost, RunId>,
) -> Result<PruneReport, LandingError> {
    let needed: BTreeSet<Path> = needed
        .iter()
        .map(|(store, run)| Path::from_iter(["landing", run.as_str(), store.as_str()]))
        .collect();
    let mut pruned = PruneReport::default();
    for run in runs {
        let run = Path::from_iter(["landing", run.as_str()]);
        for landed in children(storage, &run).await? {
            if !needed.contains(&landed) {
                delete_under(storage, &landed, &mut pruned).await?;
                storage.remove_empty_folder(&landed);
            }
        }
        storage.remove_empty_folder(&run);
    }
    Ok(pruned)
}

/// Deletes everything that a run landed.
///
/// # Errors
/// [`LandingError::Prefix`].
#[boxed]
pub async fn drop_run(storage: &Storage, run: &RunId) -> Result<PruneReport, LandingError> {
    let mut pruned = PruneReport::default();
    let run = Path::from_iter(["landing", run.as_str()]);
    for landed in children(storage, &run).await? {
        delete_under(storage, &landed, &mut pruned).await?;
        storage.remove_empty_folder(&landed);
    }
    delete_under(storage, &run, &mut pruned).await?;
    storage.remove_empty_folder(&run);
    Ok(pruned)
}

async fn children(storage: &Storage, path: &Path) -> Result<Vec<Path>, LandingError> {
    let listed = storage.store().list_with_delimiter(Some(path)).await;
    listed
        .map(|listed| listed.common_prefixes)
        .map_err(|source| LandingError::Prefix {
            path: path.clone(),
            source,
        })
}

async fn delete_under(storage: &Storage, path: &Path, pruned: &mut PruneReport) -> Result<(), LandingError> {
    let refuse = |source| LandingError::Prefix {
        path: path.clone(),
        source,
    };
    let found: Vec<_> = storage.store().list(Some(path)).try_collect().await.map_err(refuse)?;
    pruned.objects += found.len() as u64;
    pruned.bytes += found.iter().map(|meta| meta.size).sum::<u64>();
    let locations = futures::stream::iter(found.into_iter().map(|meta| Ok(meta.location))).boxed();
    storage
        .store()
        .delete_stream(locations)
        .try_collect::<Vec<_>>()
        .await
        .map(drop)
        .map_err(refuse)
}
