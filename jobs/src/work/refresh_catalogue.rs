use std::sync::Arc;

use data_model::{BrandSlug, StoreHost};
use pipeline_crawl::{NoProgress, RegisteredBrand, Registry};
use pipeline_refresh::{OtherCrawls, RefreshDeps, RunOptions, RunReport, RunState};
use state::State;

use super::Turn;
use crate::cadence::due_stores;
use crate::end::{JobFailure, JobOutcome, JobReport};
use crate::market::Market;
use crate::name::JobName;
use crate::queue::{EnqueueRequest, enqueue_run};

/// Crawls the stores of brands that are due, as `haat crawl --brand …` does. Brands that change often are due more
/// often. If a run is interrupted, its remaining brands stay due.
pub(super) async fn run(market: &Market, turn: Turn) -> Result<JobReport, JobFailure> {
    let registry = Registry::load(&market.storage).await?;
    let checks = data_checks::load(&market.storage).await?;
    let (brands, now) = (registry.brands(), market.clock.now());
    if brands.is_empty() {
        return Ok(JobReport::done().count("brands", 0).count("due", 0));
    }
    let stores = market.store_deps(turn.cancel).await?;
    let damaged = stores.lake.find_damage(false).await?;
    let hosts: Vec<&StoreHost> = brands.iter().map(|brand| &brand.store).collect();
    let due = due_stores(&hosts, &damaged, |store| checks.of(store), &market.cadence, now);
    let registered = brands.len() as u64;
    let due: Vec<_> = brands.into_iter().filter(|brand| due.contains(&brand.store)).collect();
    if due.is_empty() {
        return Ok(JobReport::done().count("brands", registered).count("due", 0));
    }
    if let Some(state) = &market.queue {
        return put_into_queue(market, state, &due, registered).await;
    }
    let deps = RefreshDeps {
        stores,
        progress: Arc::new(NoProgress),
        others: OtherCrawls::Unknown,
    };
    let options = RunOptions {
        only: Some(due.iter().map(|brand| brand.slug.clone()).collect()),
        ..RunOptions::default()
    };
    // Boxed because the future of a run is large.
    let report = Box::pin(pipeline_refresh::crawl(&options, &market.refresh, &deps)).await?;
    if let Err(error) = market.look_at_quality(&deps.stores.lake).await {
        let error = &error as &dyn std::error::Error;
        tracing::warn!(error, "the data quality of the run could not be computed");
    }
    Ok(told(&report, registered, due.len() as u64))
}

/// Puts due brands into the queue for workers, except those that are already there.
async fn put_into_queue(
    market: &Market,
    state: &State,
    due: &[&RegisteredBrand],
    registered: u64,
) -> Result<JobReport, JobFailure> {
    let at_work = state.stores_at_work().await?;
    let due_len = due.len() as u64;
    let due: Vec<BrandSlug> = due
        .iter()
        .filter(|brand| !at_work.contains(&brand.store))
        .map(|brand| brand.slug.clone())
        .collect();
    if due.is_empty() {
        return Ok(JobReport::done()
            .count("brands", registered)
            .count("due", due_len)
            .count("queued", 0));
    }
    let request = EnqueueRequest {
        only: Some(due.as_slice()),
        force: false,
        priority: 0,
        by: JobName::RefreshCatalogue.as_str(),
    };
    let run = enqueue_run(market, state, request).await?;
    Ok(JobReport {
        detail: Some(format!("run {}", run.run)),
        ..JobReport::done()
            .count("brands", registered)
            .count("due", due_len)
            .count("queued", run.stores)
    })
}

fn told(report: &RunReport, brands: u64, due: u64) -> JobReport {
    let totals = &report.totals;
    let done = JobReport::done()
        .count("brands", brands)
        .count("due", due)
        .count("changed", totals.changed)
        .count("unchanged", totals.unchanged)
        .count("held_back", totals.held_back)
        .count("failed", totals.failed)
        .count("skipped", totals.skipped)
        .count("products", totals.products)
        .count("requests", totals.requests)
        .count("commits", report.commits);
    if report.state == RunState::Interrupted {
        return JobReport {
            ended: JobOutcome::Stopped,
            detail: Some(format!("run {}", report.run)),
            ..done
        };
    }
    if totals.failed + totals.held_back + totals.skipped > 0 {
        return done.partial(format!("see the report of run {}", report.run));
    }
    JobReport {
        detail: Some(format!("run {}", report.run)),
        ..done
    }
}
