use data_checks::CheckOutcome;
use data_model::Timestamp;
use pipeline_crawl::Registry;

use crate::end::{JobFailure, JobReport};
use crate::market::Market;

/// Maximum number of brands named in the report.
const NAMED_MAX: usize = 5;

/// Checks which brands are stale, fail or are held back, as `haat doctor` does, and the quality of the lake's data, as
/// `haat quality` does.
pub(super) async fn run(market: &Market) -> Result<JobReport, JobFailure> {
    let registry = Registry::load(&market.storage).await?;
    let checks = data_checks::load(&market.storage).await?;
    let now = market.clock.now();
    let age_max_ms = market.check_age_ms_max();
    let is_old = |since: Timestamp| now.millis_since(since) > age_max_ms;
    let (mut stale, mut failed, mut held_back) = (Vec::new(), Vec::new(), Vec::new());
    let brands = registry.brands();
    for brand in &brands {
        let check = checks.of(&brand.store);
        if is_old(check.and_then(|check| check.good_at).unwrap_or(brand.added_at)) {
            stale.push(brand.slug.as_str());
        }
        match check.map(|check| check.outcome) {
            Some(CheckOutcome::Failed) => failed.push(brand.slug.as_str()),
            Some(CheckOutcome::HeldBack) => held_back.push(brand.slug.as_str()),
            _ => {}
        }
    }
    let lake = market.lake().await?;
    let report = market.look_at_quality(&lake).await?;
    let done = JobReport::done()
        .count("brands", brands.len() as u64)
        .count("stale", stale.len() as u64)
        .count("failed", failed.len() as u64)
        .count("held_back", held_back.len() as u64)
        .count("products", report.totals.now.products)
        .count("unread", report.totals.brands_unread)
        .count("beyond_thresholds", report.findings.len() as u64);
    let told: Vec<_> = [("stale", stale), ("failed", failed), ("held back", held_back)]
        .into_iter()
        .filter_map(|(what, slugs)| named(what, &slugs))
        .chain((!report.findings.is_empty()).then(|| pipeline_quality::summary(&report.findings)))
        .collect();
    Ok(if told.is_empty() {
        done
    } else {
        done.partial(told.join("; "))
    })
}

fn named(what: &str, slugs: &[&str]) -> Option<String> {
    let first = slugs
        .get(..NAMED_MAX.min(slugs.len()))
        .filter(|first| !first.is_empty())?;
    let more = match slugs.len() - first.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Some(format!("{what}: {}{more}", first.join(", ")))
}
