//! Reads stores from landed pages and converts them to rows.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use data_lake::{CatalogueRows, LakeError, LakeSnapshot, ProductColumns, RebuiltCatalogue, RowPlace};
use data_model::StoreHost;
use futures::TryStreamExt;
use pipeline_refresh::{RereadCatalogue, Rereader, with_causes};

use crate::inventory::{ListedTask, Task};
use crate::{Difference, StoreOutcome};

#[derive(Debug)]
pub(crate) struct BackfillContext {
    pub(crate) rereader: Rereader,
    /// Snapshot of the lake from before the backfill.
    pub(crate) before: LakeSnapshot,
    pub(crate) accept_collapse: bool,
    pub(crate) dry_run: bool,
}

#[derive(Debug)]
pub(crate) struct FinishedStore {
    pub(crate) index: usize,
    pub(crate) task: Task,
    /// Outcome of the store, or its outcome after the commit.
    pub(crate) outcome: StoreOutcome,
    pub(crate) difference: Option<Difference>,
    /// Catalogue to commit to the lake.
    pub(crate) rebuilt: Option<RebuiltCatalogue>,
    /// Fingerprint for which the pages were read, and hash of the resulting catalogue.
    pub(crate) read_as: Option<(String, String)>,
}

impl FinishedStore {
    fn failed(index: usize, task: Task, code: &str, reason: String) -> Self {
        let code = code.to_owned();
        Self {
            index,
            task,
            outcome: StoreOutcome::Failed { code, reason },
            difference: None,
            rebuilt: None,
            read_as: None,
        }
    }
}

/// Reads the stores of a group one after another, and compares each changed store with the lake's earlier data.
pub(crate) async fn read_group(shared: Arc<BackfillContext>, group: Vec<ListedTask>) -> Vec<FinishedStore> {
    let (mut done, mut otherwise) = (Vec::with_capacity(group.len()), Vec::new());
    for ListedTask { index, task } in group {
        let read = shared.rereader.read(&task.brand, &task.crawl, task.row.as_ref());
        match Box::pin(read).await {
            Err(error) => done.push(FinishedStore::failed(index, task, &error.code, error.reason)),
            Ok(now) if task.row.as_ref().is_some_and(|row| row.catalogue_hash == now.hash()) => {
                let products = now.rows().len() as u64;
                done.push(FinishedStore {
                    index,
                    task,
                    outcome: StoreOutcome::Unchanged,
                    difference: Some(Difference::none(products)),
                    rebuilt: None,
                    read_as: Some((now.reading().to_owned(), now.hash().to_owned())),
                });
            }
            Ok(now) => otherwise.push((index, task, now)),
        }
    }
    let known = otherwise.iter().filter(|(_, task, _)| task.row.is_some());
    let stores: BTreeSet<StoreHost> = known.map(|(_, task, _)| task.brand.store.clone()).collect();
    let mut before = match rows(&shared.before, &stores).await {
        Ok(before) => Some(before),
        Err(error) => {
            // A file was lost, or a vacuum has deleted it. The commit decides about the rows.
            tracing::warn!(error = with_causes(&error), "the changes of some brands are unknown");
            None
        }
    };
    for (index, task, now) in otherwise {
        let columns = before.as_mut().map(|before| before.remove(&task.brand.store));
        let columns = columns.map(Option::unwrap_or_default);
        let shared = Arc::clone(&shared);
        let listed = ListedTask {
            index,
            task: task.clone(),
        };
        let compared = tokio::task::spawn_blocking(move || compared(&shared, listed, now, columns));
        done.push(match compared.await {
            Ok(one) => one,
            Err(error) => FinishedStore::failed(index, task, "worker", with_causes(&error)),
        });
    }
    done
}

async fn rows(
    snapshot: &LakeSnapshot,
    stores: &BTreeSet<StoreHost>,
) -> Result<HashMap<StoreHost, ProductColumns>, LakeError> {
    let mut rows: HashMap<StoreHost, ProductColumns> = HashMap::new();
    if stores.is_empty() {
        return Ok(rows);
    }
    let mut products = std::pin::pin!(snapshot.products(stores).await?);
    while let Some(product) = products.try_next().await? {
        rows.entry(product.key.store.clone()).or_default().push(product);
    }
    Ok(rows)
}

/// Compares a store with the lake's earlier data, if known, and prepares it for the lake.
fn compared(
    shared: &BackfillContext,
    ListedTask { index, task }: ListedTask,
    now: RereadCatalogue,
    before: Option<ProductColumns>,
) -> FinishedStore {
    let places = |columns: &ProductColumns| (0..columns.len()).map(|row| RowPlace { batch: 0, row }).collect();
    let before = before.map(|columns| {
        let places = places(&columns);
        CatalogueRows::new(vec![columns], places)
    });
    let money = |now: &RereadCatalogue| task.row.as_ref().map_or(now.currency(), |row| row.brand.currency);
    let difference = before
        .as_ref()
        .map(|before| Difference::of(before, now.rows(), money(&now), now.currency()));
    let doubts = match (&before, &task.row) {
        (Some(before), Some(row)) if !shared.accept_collapse => {
            shared.rereader.doubts(&task.brand, &task.crawl, row, before, &now)
        }
        _ => Vec::new(),
    };
    let read_as = Some((now.reading().to_owned(), now.hash().to_owned()));
    let instead_of = task.row.as_ref().map(|row| row.catalogue_hash.clone());
    let (outcome, rebuilt) = if !doubts.is_empty() {
        (StoreOutcome::Doubtful { doubts }, None)
    } else if shared.dry_run {
        (StoreOutcome::Changed, None)
    } else {
        match now.into_refresh() {
            Ok(refresh) => (StoreOutcome::Changed, Some(RebuiltCatalogue { refresh, instead_of })),
            Err(error) => return FinishedStore::failed(index, task, "columns", with_causes(&error)),
        }
    };
    FinishedStore {
        index,
        task,
        outcome,
        difference,
        rebuilt,
        read_as,
    }
}
