use std::sync::Arc;

use data_lake::Lake;
use data_model::StoreHost;
use data_storage::{Storage, get_bytes, list_all};
use pipeline_crawl::Registry;
use serde::de::IgnoredAny;

use super::finding::Finding;
use crate::exit::{Outcome, plain};
use crate::output::counted;
use crate::wiring::Context;

const SUBJECT: &str = "lake";
const PUT_BACK: &str = "restore it from a copy of the lake; or list its content with `haat lake repair --dry-run`, \
     and drop it with `haat lake repair`: no crawl restores it";
const PUT_BACK_OR_CRAWL: &str = "`haat crawl --force` reads the brands in it again and rewrites it; until then \
     releases keep their earlier data. Or restore it from a copy of the lake, or run \
     `haat brands remove` for brands that no longer exist. To drop its rows at once, run \
     `haat lake repair`";
const REPAIR: &str = "`haat lake repair --dry-run` lists what can be rewritten and what is lost, and how to restore \
     it; or restore it from a copy of the lake";
const WRITE_FACTS: &str = "`haat lake repair` rewrites it: its content is part of the program";
/// Tables that crawls do not rewrite: append-only tables, delivery answers of stores, data of review apps, the
/// operator's exchange rates, and searched words.
const KEPT: [&str; 10] = [
    "price_history/",
    "product_history/",
    "crawl_runs/",
    "delivery_matrix/",
    "delivery_zones/",
    "delivery_probes/",
    "widget_reviews/",
    "widget_ratings/",
    "exchange_rates/",
    "searches/",
];
const NAMED_MAX: usize = 10;
/// Tables whose content is part of the program.
const FACTS: [&str; 2] = ["currencies/", "pincodes/"];

/// Checks the whole lake. Each fault is reported with its own advice.
pub(super) async fn look(context: &Context, storage: &Storage, thorough: bool) -> Vec<Finding> {
    let lake = match context.lake_in(storage).await {
        Ok(lake) => lake,
        Err(error) => return vec![unreadable(storage, &error).await],
    };
    let mut broken = Vec::new();
    // Counting the rows of every table finds a damaged log before the next crawl does.
    if let Err(error) = crate::commands::lake::tables(&lake).await {
        broken.push(unreadable(storage, &error).await);
    }
    if let Some(tick) = lake.unfinished_tick().await {
        broken.push(wrong(
            format!("tick {tick} is incomplete and cannot be finished"),
            "the log shows why: free some space, or restore lake/_ticks/ from a copy; the next command that opens the \
             lake finishes the tick",
        ));
    }
    if thorough {
        broken.extend(damaged_logs(context, storage).await);
    }
    let found = match damaged(&lake, thorough).await {
        Ok(damaged) => {
            broken.extend(damaged);
            contents(&lake, storage).await
        }
        Err(error) => Err(error),
    };
    match found {
        Ok((found, orphans)) => {
            broken.extend(orphans);
            if broken.is_empty() {
                broken.push(Finding::fine(SUBJECT, found));
            }
        }
        // The fault that makes a table unreadable was reported above, or is its damaged file.
        Err(_) if !broken.is_empty() => {}
        Err(error) => broken.push(unreadable(storage, &error).await),
    }
    broken
}

fn wrong(found: String, advice: &'static str) -> Finding {
    Finding::wrong(SUBJECT, found, advice)
}

/// Reports the logs and ticks that a repair would rewrite or cannot rewrite, including those that only `--as-of` reads.
async fn damaged_logs(context: &Context, storage: &Storage) -> Vec<Finding> {
    let (lake, clock) = (storage.child("lake"), Arc::clone(&context.clock));
    // The future is boxed because it is large.
    let repair = Box::pin(Lake::repair(&lake, context.lake_config(), clock, true));
    let report = match repair.await {
        Ok(report) => report,
        Err(error) => return vec![wrong(error.to_string(), REPAIR)],
    };
    let repaired = report.repaired.first().map(|first| {
        let count = counted(report.repaired.len(), "damaged object");
        format!(
            "{count} of logs, among them {}: missing, or different from what was committed",
            first.path
        )
    });
    let stuck = report
        .stuck
        .first()
        .map(|first| format!("{}: {}", first.path, first.reason));
    repaired
        .into_iter()
        .chain(stuck)
        .map(|found| wrong(found, REPAIR))
        .collect()
}

async fn damaged(lake: &Lake, thorough: bool) -> anyhow::Result<Vec<Finding>> {
    let damaged = lake.snapshot().await?.damaged_files(thorough).await?;
    let is_of = |tables: &'static [&'static str]| move |file: &String| tables.iter().any(|table| file.contains(table));
    let (facts, damaged): (Vec<String>, Vec<String>) = damaged.into_iter().partition(is_of(&FACTS));
    let (kept, crawled): (Vec<String>, Vec<String>) = damaged.into_iter().partition(is_of(&KEPT));
    let found = [(crawled, PUT_BACK_OR_CRAWL), (kept, PUT_BACK), (facts, WRITE_FACTS)].into_iter();
    let finding = |(files, advice): (Vec<String>, _)| {
        let first = files.first()?;
        let count = counted(files.len(), "damaged data file");
        Some(wrong(format!("{count}, among them {first}"), advice))
    };
    Ok(found.filter_map(finding).collect())
}

/// Returns a summary of the lake, and reports data without a registered brand.
async fn contents(lake: &Lake, storage: &Storage) -> anyhow::Result<(String, Option<Finding>)> {
    let brands = lake.snapshot().await?.brands().await?;
    let products: u64 = brands.iter().map(|row| row.product_count).sum();
    let oldest = brands.iter().map(|row| row.refreshed_at).min();
    let oldest = oldest.map_or_else(String::new, |oldest| format!(", oldest data of {oldest}"));
    let found = format!(
        "{}, {}{oldest}",
        counted(brands.len(), "brand"),
        counted(products, "product")
    );
    // The check of the registry reports an unreadable registry.
    let Ok(registry) = Registry::load(storage).await else {
        return Ok((found, None));
    };
    let registered = registry.brands();
    let is_registered = |store: &StoreHost| registered.iter().any(|brand| brand.store == *store);
    let slugs = brands.iter().filter(|row| !is_registered(&row.brand.store));
    let slugs: Vec<&str> = slugs.map(|row| row.brand.slug.as_str()).collect();
    let orphans = (!slugs.is_empty()).then(|| {
        let (brands, more) = (counted(slugs.len(), "brand"), slugs.len().saturating_sub(NAMED_MAX));
        let named = slugs.iter().take(NAMED_MAX).copied().collect::<Vec<_>>().join(", ");
        let more = if more > 0 {
            format!(" and {more} more")
        } else {
            String::new()
        };
        wrong(
            format!("{brands} in the lake not registered and never crawled: {named}{more}"),
            "`haat lake repair` registers the brands again that have no event in registry/. To register a removed \
             brand again, run `haat brands add`; to remove it from the lake, run `haat brands remove SLUG`",
        )
    });
    Ok((found, orphans))
}

/// Reports the fault that makes the lake unreadable, with its file.
async fn unreadable(storage: &Storage, error: &anyhow::Error) -> Finding {
    if Outcome::of(error) == Outcome::Usage {
        return Finding::broken(
            SUBJECT,
            error,
            "set lake.buckets to the value with which the lake was created",
        );
    }
    match first_damaged_log(storage).await {
        Some(path) => wrong(format!("{path} is damaged: {}", plain(error)), REPAIR),
        None => Finding::unusable(SUBJECT, error, REPAIR),
    }
}

/// Returns the first invalid file of a table's log, which a table's error does not name.
async fn first_damaged_log(storage: &Storage) -> Option<String> {
    let lake = storage.child("lake");
    let listed = list_all(&lake, None).await.ok()?.into_iter();
    let logs = listed.map(|meta| meta.location);
    let mut logs: Vec<_> = logs.filter(|path| is_of_log(path.as_ref())).collect();
    logs.sort_unstable();
    for path in logs {
        let Ok(Some(bytes)) = get_bytes(&lake, &path).await else {
            continue;
        };
        let whole = match path.extension() {
            Some("json") => is_log(&bytes),
            // A Parquet file begins and ends with the bytes `PAR1`.
            Some("parquet") => bytes.len() > 8 && bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"),
            _ => true,
        };
        if !whole {
            return Some(format!("lake/{path}"));
        }
    }
    None
}

/// True if an object is part of a table's log. Copies that a repair moved to `damaged/` do not count.
fn is_of_log(path: &str) -> bool {
    path.contains("/_delta_log/") && !path.starts_with("damaged/")
}

/// True if the bytes are JSON documents, one per line.
fn is_log(bytes: &[u8]) -> bool {
    let mut lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let is_json = |line: &[u8]| serde_json::from_slice::<IgnoredAny>(line).is_ok();
    !bytes.is_empty() && lines.all(is_json)
}
