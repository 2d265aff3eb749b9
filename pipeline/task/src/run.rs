use std::collections::BTreeMap;

use async_trait::async_trait;
use data_model::{BrandSlug, CurrencyCode, StoreHost, Timestamp};
use futures::{StreamExt, TryStreamExt};
use pipeline_crawl::{RegisteredBrand, Registry};
use serde::Serialize;

use crate::{StoreDeps, TaskError};

/// A brand that is asked, or read again.
#[derive(Debug, Clone)]
pub struct DueBrand {
    /// The brand.
    pub brand: RegisteredBrand,
    /// The currency of its prices in the lake.
    pub currency: CurrencyCode,
}

/// A task over the stores of brands that the lake has. Nothing is noted of a store before its answer is committed, so that a run
/// that is killed leaves due what it did not come to.
#[async_trait]
pub trait StoreTask: Send + Sync {
    /// The answer of a store.
    type Answer: Send;
    /// Stores asked at once; each keeps its own pace.
    const STORES_AT_ONCE: usize;
    /// Stores committed at once.
    const BATCH: usize;

    /// True where the store is to be asked now. Brands that are named are asked whenever they were last.
    async fn is_due(&self, brand: &RegisteredBrand, now: Timestamp) -> Result<bool, TaskError>;

    /// A brand that no crawl brought yet is left out.
    fn leave_out(&mut self, _brand: &RegisteredBrand) {}

    /// Reads what the stores of the next batch have in common.
    async fn begin(&mut self, _batch: &[DueBrand]) -> Result<(), TaskError> {
        Ok(())
    }

    /// Asks one store; its failure is an answer. `None` where the task was to end before.
    async fn ask(&self, due: &DueBrand) -> Result<Option<Self::Answer>, TaskError>;

    /// Lands, commits, notes and reports a batch of answers.
    async fn take(&mut self, answers: Vec<Self::Answer>) -> Result<(), TaskError>;
}

/// The extent of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct TaskRun {
    /// The run wrote nothing.
    pub dry_run: bool,
    /// It was cut short.
    pub interrupted: bool,
    /// Brands registered that the lake has.
    pub brands: u64,
    /// Of these, brands that were due.
    pub due: u64,
}

/// Runs a task over the brands that are due, or over `only` these.
///
/// # Errors
/// [`TaskError`].
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

/// True of a moment that is unknown or so long ago.
#[must_use]
pub fn is_older(moment: Option<Timestamp>, now: Timestamp, after_s: u64) -> bool {
    let after_ms = i64::try_from(after_s.saturating_mul(1000)).unwrap_or(i64::MAX);
    moment.is_none_or(|moment| moment.is_past_by(now, after_ms))
}
