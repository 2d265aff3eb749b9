use std::collections::BTreeMap;
use std::fmt::Display;

use data_checks::{Check, CheckOutcome, Checks, RunEnd};
use data_model::{BrandSlug, Timestamp};
use data_storage::Storage;
use pipeline_crawl::{RegisteredBrand, Registry};
use pipeline_refresh::{HeldCrawl, RunReport, RunState, held_back, list_runs, read_run, second_of};

use super::finding::Finding;
use crate::output::counted;
use crate::wiring::Context;

/// Time without a heartbeat after which a run counts as dead. A run sends one every few seconds.
const SILENT_MS: u64 = 60_000;
/// Maximum number of latest runs to try until one can be read.
const RUNS_READ_MAX: usize = 8;
const NAMED_MAX: usize = 5;

/// Advice if no store can be read.
const NOT_ONE: &str = "check the network connection of this machine and storefront.*, then run `haat crawl`";
/// Advice if some stores cannot be read.
const ASK_AGAIN: &str =
    "the run's report shows why (`haat brands list` lists all failures); `haat crawl --brand SLUG` crawls one again";

/// Checks the last run, and the result of each brand's last check.
pub(super) async fn look(context: &Context, storage: &Storage) -> Vec<Finding> {
    let checks = match data_checks::load(storage).await {
        Ok(checks) => checks,
        Err(error) => {
            let advice = "restore checks/ from a copy, or remove it: the next crawl creates it again";
            return vec![Finding::unusable("stores", &error.into(), advice)];
        }
    };
    let now = context.clock.now();
    let mut findings = vec![last_run(storage, &checks, now).await];
    findings.extend(ahead(storage, &checks, now).await);
    // The check of the registry reports an unreadable registry.
    if let Ok(registry) = Registry::load(storage).await {
        let brands = registry.brands();
        if !brands.is_empty() {
            findings.extend(stores(&brands, &checks));
            findings.extend(unasked(&brands, &checks, now, context.config.doctor.check_age_s_max));
        }
        findings.push(held(storage, &brands, &checks).await);
    }
    findings
}

/// Reports records that were written while a clock was ahead. Such records are ignored, and the next crawl replaces
/// them with correct dates.
async fn ahead(storage: &Storage, checks: &Checks, now: Timestamp) -> Option<Finding> {
    const ADVICE: &str = "check this machine's clock. If it is right, nothing needs to be done: these dates are \
                          ignored, and each crawl corrects those of its stores";
    let latest = now.latest_believed(0);
    let second = second_of(latest);
    // The check of the last run reports a folder that cannot be listed.
    let runs = list_runs(storage).await.unwrap_or_default();
    let runs = runs.iter().filter(|run| run.as_str() > second.as_str()).count();
    let moments = checks.brands.values().map(|check| check.checked_at);
    let moments: Vec<_> = moments.filter(|moment| *moment > latest).collect();
    let until = moments
        .iter()
        .max()
        .map_or_else(String::new, |until| format!(", up to {until}"));
    let found = format!(
        "{} and the checks of {} have dates in the future{until}: a clock was ahead",
        counted(runs, "run"),
        counted(moments.len(), "store")
    );
    match (runs, moments.len()) {
        (0, 0) => None,
        // Runs keep their names. Nothing waits for a run, while the check of a store is corrected by its next crawl.
        (_, 0) => Some(Finding::noted("clock", found, ADVICE)),
        _ => Some(Finding::warning("clock", found, ADVICE)),
    }
}

/// Reports how the last run ended, if it has ended.
async fn last_run(storage: &Storage, checks: &Checks, now: Timestamp) -> Finding {
    const SUBJECT: &str = "last run";
    let latest = match latest(storage, now).await {
        Ok(latest) => latest,
        Err(error) => return Finding::unusable(SUBJECT, &error, "restore runs/ from a copy, or remove it"),
    };
    let ended = checks.last_run.as_ref();
    // The end of an older run does not matter if a newer run has begun.
    let ended = ended.filter(|ended| latest.as_ref().is_none_or(|latest| ended.run >= latest.run));
    if let Some(failed) = ended.filter(|ended| ended.end == RunEnd::Failed) {
        let error = failed.error.as_deref().unwrap_or("see the log for the error");
        return Finding::wrong(
            SUBJECT,
            format!("{} failed, at {}: {error}", failed.run, failed.ended_at),
            "correct this error, then `haat crawl` resumes the run",
        );
    }
    let Some(report) = latest else {
        return match ended {
            Some(ended) => Finding::fine(SUBJECT, format!("{} ended at {}", ended.run, ended.ended_at)),
            None => Finding::noted(SUBJECT, "none yet".into(), "`haat crawl --release`"),
        };
    };
    let (run, at) = (&report.run, report.ended_at);
    let through = format!("{} through", counted(report.stores.len(), "store"));
    match report.state {
        RunState::Running if older(at, now, SILENT_MS) => Finding::warning(
            SUBJECT,
            format!("{run} is unfinished, without a sign of life since {at}; {through}"),
            "the process was killed, or its machine stopped: `haat crawl` resumes the run",
        ),
        RunState::Running => Finding::fine(SUBJECT, format!("{run} is running, {through}")),
        RunState::Interrupted => Finding::warning(
            SUBJECT,
            format!("{run} was interrupted at {at}; {through}"),
            "`haat crawl` resumes it",
        ),
        RunState::Abandoned => Finding::warning(
            SUBJECT,
            format!("{run} was never finished; {through}"),
            "`haat crawl` starts a new run",
        ),
        // Failures of stores have a finding of their own.
        RunState::Finished => Finding::fine(SUBJECT, format!("{run} ended at {at}, {through}")),
    }
}

/// Returns the latest run whose summary can be read.
async fn latest(storage: &Storage, now: Timestamp) -> anyhow::Result<Option<RunReport>> {
    let second = second_of(now.latest_believed(0));
    let runs = list_runs(storage).await?.into_iter();
    for run in runs.filter(|run| run.as_str() <= second.as_str()).take(RUNS_READ_MAX) {
        if let Some(report) = read_run(storage, &run).await? {
            return Ok(Some(report));
        }
    }
    Ok(None)
}

fn older(moment: Timestamp, now: Timestamp, age_ms: u64) -> bool {
    now.millis_since(moment) > i64::try_from(age_ms).unwrap_or(i64::MAX)
}

/// Formats the first few items, and the number of others.
fn named<T: Display>(all: &[T]) -> String {
    let first: Vec<_> = all.iter().take(NAMED_MAX).map(ToString::to_string).collect();
    match all.len().saturating_sub(first.len()) {
        0 => first.join(", "),
        more => format!("{}, and {more} more", first.join(", ")),
    }
}

/// Reports the brands whose last check failed.
fn stores(brands: &[&RegisteredBrand], checks: &Checks) -> Option<Finding> {
    const SUBJECT: &str = "stores";
    let asked: Vec<&Check> = brands.iter().filter_map(|brand| checks.of(&brand.store)).collect();
    let failed = asked.iter().filter(|check| check.outcome == CheckOutcome::Failed);
    let failed: Vec<_> = failed.map(|check| since(check)).collect();
    if asked.is_empty() {
        return None;
    }
    let asked = counted(asked.len(), "brand");
    Some(match failed.len() {
        0 => Finding::fine(SUBJECT, format!("{asked} checked, none failed")),
        all if all == brands.len() => Finding::wrong(
            SUBJECT,
            format!("every store failed when it was last checked: {}", named(&failed)),
            NOT_ONE,
        ),
        some => Finding::warning(
            SUBJECT,
            format!("{some} of {asked} failed when last checked: {}", named(&failed)),
            ASK_AGAIN,
        ),
    })
}

/// Formats a failed check, such as `kith (timeout, last success 2026-11-20T10:00:00Z)`.
fn since(check: &Check) -> String {
    let good = match check.good_at {
        Some(good) => format!("last success {good}"),
        None => "never succeeded".to_owned(),
    };
    let code = check.code.as_ref().map_or_else(String::new, |code| format!("{code}, "));
    format!("{} ({code}{good})", check.slug)
}

/// Reports the brands that no crawl has queried for too long.
fn unasked(brands: &[&RegisteredBrand], checks: &Checks, now: Timestamp, age_s_max: u64) -> Option<Finding> {
    const SUBJECT: &str = "schedule";
    let age_ms = age_s_max.saturating_mul(1000);
    let last = |brand: &RegisteredBrand| checks.of(&brand.store).map(|check| check.checked_at);
    let late = brands
        .iter()
        .filter(|brand| older(last(brand).unwrap_or(brand.added_at), now, age_ms));
    let told = late.map(|brand| match last(brand) {
        Some(moment) => format!("{} (since {moment})", brand.slug),
        None => format!("{} (never, added {})", brand.slug, brand.added_at),
    });
    let told: Vec<_> = told.collect();
    let hours = age_s_max / 3600;
    let advice = "check that `haat crawl` runs on schedule; doctor.check_age_s_max sets the maximum age of a crawl";
    match told.len() {
        0 => None,
        all if all == brands.len() => Some(Finding::wrong(
            SUBJECT,
            format!("no brand was checked for {hours} h: {}", named(&told)),
            advice,
        )),
        some => Some(Finding::warning(
            SUBJECT,
            format!("{} not checked for {hours} h: {}", counted(some, "brand"), named(&told)),
            advice,
        )),
    }
}

/// Reports the brands whose crawls wait for another crawl with the same result, or for the operator.
async fn held(storage: &Storage, brands: &[&RegisteredBrand], checks: &Checks) -> Finding {
    const SUBJECT: &str = "held back";
    let held = match held_back(storage).await {
        Ok(held) => held,
        Err(error) => return Finding::unusable(SUBJECT, &error.into(), "remove the damaged file in held/"),
    };
    let checked = brands.iter().filter_map(|brand| checks.of(&brand.store));
    let checked = checked.filter(|check| check.outcome == CheckOutcome::HeldBack);
    // The check knows since when a brand is held back. Each crawl rewrites the file in `held/`.
    let mut told: BTreeMap<&BrandSlug, String> = held.iter().map(|held| (&held.slug, doubted(held))).collect();
    for check in checked {
        told.insert(&check.slug, since(check));
    }
    let Some(first) = told.keys().next() else {
        return Finding::fine(SUBJECT, "none".into());
    };
    let advice = format!(
        "read the run's report; crawl again, or accept the new catalogue: `haat crawl --brand {first} --confirm \
         {first}`"
    );
    let told: Vec<_> = told.into_values().collect();
    let brands = counted(told.len(), "brand");
    Finding::warning(SUBJECT, format!("{brands}: {}", named(&told)), advice)
}

fn doubted(held: &HeldCrawl) -> String {
    format!("{} (since {})", held.slug, held.held_at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_few_are_named_and_the_rest_counted() {
        assert_eq!(named(&["a", "b"]), "a, b");
        assert_eq!(named(&["a", "b", "c", "d", "e", "f", "g"]), "a, b, c, d, e, and 2 more");
    }
}
