use std::collections::BTreeMap;

use async_trait::async_trait;
use data_model::{BrandSlug, CurrencyCode, StoreHost, Timestamp};
use futures::{StreamExt, TryStreamExt};
use pipeline_crawl::{RegisteredBrand, Registry};
use serde::Serialize;

use crate::{StoreDeps, TaskError};

/// Brand whose store is due to be queried, or whose answers are due to be reread.
#[derive(Debug, Clone)]
pub struct DueBrand {
    /// The registered brand.
    pub brand: RegisteredBrand,
    /// Currency of the brand's prices in the lake.
    pub currency: CurrencyCode,
}

/// Task over the stores of the brands in the lake. A store is recorded as queried only after its answer is committed.
/// The stores that a killed run did not reach stay due.
#[async_trait]
pub trait StoreTask: Send + Sync {
    /// Response of one store, as the task stores it.
    type Answer: Send;
    /// Maximum number of stores queried concurrently. Each store has its own rate limit.
    const STORES_AT_ONCE: usize;
    /// Maximum number of stores committed together.
    const BATCH: usize;

    /// Returns true if the store should be queried now. Brands that the caller names are not checked.
    async fn is_due(&self, brand: &RegisteredBrand, now: Timestamp) -> Result<bool, TaskError>;

    /// Records that a brand is skipped because no crawl has brought it into the lake yet.
    fn leave_out(&mut self, _brand: &RegisteredBrand) {}

    /// Reads the data that the stores of the next batch share.
    async fn begin(&mut self, _batch: &[DueBrand]) -> Result<(), TaskError> {
        Ok(())
    }

    /// Queries one store. A failure of the store is also an answer. Returns `None` if the task was cancelled.
    async fn ask(&self, due: &DueBrand) -> Result<Option<Self::Answer>, TaskError>;

    /// Lands, commits, records and reports a batch of answers.
    async fn take(&mut self, answers: Vec<Self::Answer>) -> Result<(), TaskError>;
}

/// Extent of a task run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct TaskRun {
    /// True if the run was a dry run, which writes nothing.
    pub dry_run: bool,
    /// True if the run was cancelled before its end.
    pub interrupted: bool,
    /// Registered brands that are in the lake.
    pub brands: u64,
    /// Brands that were due, among those in the lake.
    pub due: u64,
}

/// Runs a task over the brands that are due, or over `only` the given brands.
pub async fn run<T: StoreTask>(
    task: &mut T,
    deps: &StoreDeps,
    only: Option<&[BrandSlug]>,
) -> Result<TaskRun, TaskError> {
    let mut extent = TaskRun::default();
    let due = due(task, deps, only, &mut extent).await?;
    extent.due = due.len() as u64;
    for batch in due.chunks(T::BATCH) {
        if deps.cancel.is_cancelled() {
            break;
        }
        task.begin(batch).await?;
        let asked: Vec<_> = batch.iter().map(|due| task.ask(due)).collect();
        let answers = futures::stream::iter(asked)
            .buffer_unordered(T::STORES_AT_ONCE)
            .try_filter_map(async |answer| Ok(answer));
        let answers = answers.try_collect().await?;
        task.take(answers).await?;
    }
    extent.interrupted = deps.cancel.is_cancelled();
    Ok(extent)
}

async fn due<T: StoreTask>(
    task: &mut T,
    deps: &StoreDeps,
    only: Option<&[BrandSlug]>,
    extent: &mut TaskRun,
) -> Result<Vec<DueBrand>, TaskError> {
    let registry = Registry::load(&deps.storage).await?;
    registry.selected(only).map_err(TaskError::Brand)?;
    let rows = deps.lake.snapshot().await?.brands().await?.into_iter();
    let currencies: BTreeMap<StoreHost, CurrencyCode> = rows.map(|row| (row.brand.store, row.brand.currency)).collect();
    let (now, mut due) = (deps.clock.now(), Vec::new());
    for brand in registry.brands() {
        let is_named = only.map(|only| only.contains(&brand.slug));
        let Some(currency) = currencies.get(&brand.store).copied() else {
            if is_named != Some(false) {
                task.leave_out(brand);
            }
            continue;
        };
        extent.brands += 1;
        let is_due = match is_named {
            Some(is_named) => is_named,
            None => task.is_due(brand, now).await?,
        };
        if is_due {
            let brand = brand.clone();
            due.push(DueBrand { brand, currency });
        }
    }
    Ok(due)
}

/// Returns true if `moment` is unknown or at least `after_s` seconds ago.
#[must_use]
pub fn is_older(moment: Option<Timestamp>, now: Timestamp, after_s: u64) -> bool {
    let after_ms = i64::try_from(after_s.saturating_mul(1000)).unwrap_or(i64::MAX);
    moment.is_none_or(|moment| moment.is_past_by(now, after_ms))
}
