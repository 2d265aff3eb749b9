use std::sync::Arc;

use async_trait::async_trait;
use data_model::BrandSlug;
use pipeline_crawl::{NoProgress, Registry};
use pipeline_refresh::{OtherCrawls, RefreshDeps, RunOptions, RunReport, RunState};

use super::{Market, Turn, Work};
use crate::cadence::is_due;
use crate::end::{JobFailure, JobReport, Reported};
use crate::name::JobName;

/// Asks the stores of the brands that are due: those that change often more often than others. As `haat crawl --brand …`
/// does. A run that was cut short leaves the brands that it did not come to due.
#[derive(Debug)]
pub(super) struct RefreshCatalogue(pub(super) Arc<Market>);

#[async_trait]
impl Work for RefreshCatalogue {
    fn name(&self) -> JobName {
        JobName::RefreshCatalogue
    }

    async fn run(&self, turn: Turn) -> Result<JobReport, JobFailure> {
        let market = &self.0;
        let failed = |error: &(dyn std::error::Error + 'static)| JobFailure::of(error);
        let registry = Registry::load(&market.storage).await.map_err(|error| failed(&error))?;
        let checks = data_checks::load(&market.storage)
            .await
            .map_err(|error| failed(&error))?;
        let (brands, now) = (registry.brands(), market.clock.now());
        let is_due = |slug: &&pipeline_crawl::RegisteredBrand| is_due(checks.of(&slug.store), &market.cadence, now);
        let due: Vec<BrandSlug> = brands
            .iter()
            .copied()
            .filter(is_due)
            .map(|brand| brand.slug.clone())
            .collect();
        let registered = brands.len() as u64;
        if due.is_empty() {
            return Ok(JobReport::done([("brands", registered), ("due", 0)]));
        }
        let deps = RefreshDeps {
            storage: market.storage.clone(),
            lake: market.lake().await?,
            storefront: market.storefront.clone(),
            clock: Arc::clone(&market.clock),
            progress: Arc::new(NoProgress),
            others: OtherCrawls::Unknown,
            cancel: turn.cancel,
        };
        let options = RunOptions {
            only: Some(due.clone()),
            ..RunOptions::default()
        };
        // Boxed: a run is a large future.
        let crawled = Box::pin(pipeline_refresh::crawl(&options, &market.refresh, &deps)).await;
        let report = crawled.map_err(|error| failed(&error))?;
        Ok(told(&report, registered, due.len() as u64))
    }
}

fn told(report: &RunReport, brands: u64, due: u64) -> JobReport {
    let totals = &report.totals;
    let done = JobReport::done([
        ("brands", brands),
        ("due", due),
        ("changed", totals.changed),
        ("unchanged", totals.unchanged),
        ("held_back", totals.held_back),
        ("failed", totals.failed),
        ("skipped", totals.skipped),
        ("products", totals.products),
        ("requests", totals.requests),
        ("commits", report.commits),
    ]);
    if report.state == RunState::Interrupted {
        return JobReport {
            ended: Reported::Stopped,
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
