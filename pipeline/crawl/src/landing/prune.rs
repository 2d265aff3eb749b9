use std::collections::{BTreeMap, BTreeSet};

use async_recursion::async_recursion as boxed;
use data_model::{RunId, StoreHost};
use data_storage::Storage;
use futures::{StreamExt, TryStreamExt};
use object_store::path::Path;

use super::LandingError;

/// The parts that a pruning of the landing took away.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PruneReport {
    /// Objects deleted.
    pub objects: u64,
    /// Their size.
    pub bytes: u64,
}

/// The runs that have landed pages, all but the `runs_kept` latest.
///
/// # Errors
/// [`LandingError::Prefix`].
#[boxed]
pub async fn landed_before(storage: &Storage, runs_kept: usize) -> Result<Vec<RunId>, LandingError> {
    let landed = children(storage, &Path::from("landing")).await?;
    let run = |path: &Path| path.filename()?.parse().ok();
    // Run ids sort in the order of time.
    let mut runs: Vec<RunId> = landed.iter().filter_map(run).collect();
    runs.sort_unstable();
    runs.truncate(runs.len().saturating_sub(runs_kept));
    Ok(runs)
}

/// Deletes the landed pages of these runs but those that `needed` names: of each store the run whose landing its crawl
/// state refers to.
///
/// # Errors
/// [`LandingError::Prefix`]; what was deleted before the failure stays deleted, and the next pruning goes on.
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

/// Deletes all that a run has landed.
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
