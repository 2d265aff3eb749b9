//! Finds the landed crawls of stores.

use std::collections::HashMap;

use data_lake::BrandRow;
use data_model::{RunId, StoreHost};
use data_storage::Storage;
use futures::{StreamExt, TryStreamExt};
use pipeline_crawl::{RegisteredBrand, StoreCrawl, landed_before, load_state, read_done};

use crate::choice::{StoreRecord, choose, may_be};
use crate::{BackfillError, BackfillOptions, SkipReason};

const STORES_AT_ONCE: usize = 16;

#[derive(Debug, Clone)]
pub(crate) struct Task {
    pub(crate) brand: RegisteredBrand,
    pub(crate) crawl: StoreCrawl,
    pub(crate) is_older: bool,
    /// Row of the store in the lake before the backfill.
    pub(crate) row: Option<BrandRow>,
}

/// Task with the index of its store in the report.
#[derive(Debug, Clone)]
pub(crate) struct ListedTask {
    pub(crate) index: usize,
    pub(crate) task: Task,
}

pub(crate) type Rows = HashMap<StoreHost, BrandRow>;

pub(crate) async fn look(
    storage: &Storage,
    brands: Vec<RegisteredBrand>,
    rows: &Rows,
    options: &BackfillOptions,
) -> Result<Vec<(RegisteredBrand, Result<Task, SkipReason>)>, BackfillError> {
    let runs = landed_before(storage, 0).await?;
    let looks = brands.into_iter().map(|brand| {
        let (runs, row) = (&runs, rows.get(&brand.store).cloned());
        async move {
            let chosen = look_at(storage, &brand, row, runs, options).await?;
            Ok::<_, BackfillError>((brand, chosen))
        }
    });
    let looks: Vec<_> = looks.collect();
    futures::stream::iter(looks)
        .buffered(STORES_AT_ONCE)
        .try_collect()
        .await
}

async fn look_at(
    storage: &Storage,
    brand: &RegisteredBrand,
    row: Option<BrandRow>,
    runs: &[RunId],
    options: &BackfillOptions,
) -> Result<Result<Task, SkipReason>, BackfillError> {
    let state = load_state(storage, &brand.store).await?;
    let known = StoreRecord {
        added_at: brand.added_at,
        in_lake: row.as_ref().map(|row| (row.refreshed_at, &row.refresh_run)),
        taken: state.as_ref().map(|state| (&state.crawl.run, &state.crawl.landing)),
    };
    let mut newest = None;
    for run in runs.iter().rev() {
        let landed = read_done(storage, run, &brand.store).await?;
        if let Some(crawl) = landed.filter(|crawl| may_be(crawl, known, &options.range)) {
            newest = Some(crawl);
            break;
        }
    }
    let chosen = choose(newest.as_ref(), known, options.older);
    Ok(chosen
        .map(|chosen| (chosen.crawl.clone(), chosen.is_older))
        .map(|(crawl, is_older)| Task {
            brand: brand.clone(),
            crawl,
            is_older,
            row,
        }))
}

/// Returns `None` if the landing or the brand is gone.
pub(crate) async fn find_again(
    storage: &Storage,
    brand: Option<&RegisteredBrand>,
    run: &RunId,
    is_older: bool,
    rows: &Rows,
) -> Result<Option<Task>, BackfillError> {
    let Some(brand) = brand else { return Ok(None) };
    let crawl = read_done(storage, run, &brand.store).await?;
    Ok(crawl.map(|crawl| Task {
        row: rows.get(&brand.store).cloned(),
        brand: brand.clone(),
        crawl,
        is_older,
    }))
}
