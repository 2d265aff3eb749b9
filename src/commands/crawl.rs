use std::sync::Arc;

use data_storage::Storage;
use pipeline_crawl::{NotRegistered, RegisteredBrand, Registry};
use pipeline_quality::QualityReport;
use pipeline_refresh::{
    HoldReason, OtherCrawls, Outcome as StoreOutcome, RefreshDeps, RunOptions, RunReport, RunState, StoreSummary,
    confirm,
};
use pipeline_task::StoreDeps;
use storefront::StoreRights;
use storefront::address::{Refusal, check_url};
use tokio_util::sync::CancellationToken;

use super::jobs::Rights;
use super::stores::slugs;
use super::{quality, release};
use crate::cli::CrawlArgs;
use crate::exit::{Outcome, plain, usage};
use crate::output::counted;
use crate::progress::CrawlBar;
use crate::textfile::Textfile;
use crate::wiring::{Context, until_signal};

/// Runs `haat crawl`, which crawls registered brands into the lake.
pub(crate) async fn run(args: CrawlArgs, context: Context) -> anyhow::Result<Outcome> {
    let textfile = Textfile::open(&context)?;
    let mut report = None;
    let ended = Box::pin(work(&args, &context, &mut report)).await;
    if let Some(textfile) = textfile.filter(|_| !args.dry_run) {
        let outcome = ended.as_ref().map_or_else(Outcome::of, |outcome| *outcome);
        textfile.write(&context, report.as_ref(), outcome.code());
    }
    ended
}

/// Crawls, and then builds a release. `done` receives the report of the run, even if a later step fails.
async fn work(args: &CrawlArgs, context: &Context, done: &mut Option<RunReport>) -> anyhow::Result<Outcome> {
    let storage = context.storage()?;
    let (confirmed, only) = (slugs(&args.confirm)?, slugs(&args.brands)?);
    let registry = Registry::load(&storage).await?;
    registry
        .check_named(confirmed.iter().chain(&only))
        .map_err(unregistered)?;
    for slug in &confirmed {
        confirm(&storage, slug).await?;
    }
    let only = if only.is_empty() { None } else { Some(only) };
    if args.queued.queue {
        return super::queue::enqueue(context, args, only).await;
    }
    let options = RunOptions {
        only,
        force: args.force,
        dry_run: args.dry_run,
    };
    if let Some(warning) = context.unnamed_crawler() {
        tracing::warn!("{warning}");
    }
    check_reachable(context, &registry)?;
    // One listener is used for both steps, so that no signal is lost between them.
    let (told, _listener) = until_signal();
    let rights = Rights::open(context).await?;
    let crawled = crawl(context, &storage, &options, rights.given.clone(), &told).await;
    rights.close().await;
    let report = done.insert(crawled?);
    let quality = if args.dry_run {
        None
    } else {
        quality::after_crawl(context, &storage).await
    };
    let released = if args.release {
        let how = release::Build {
            accept_collapse: args.accept_collapse,
            accepted: quality::accepted(args.accept_quality, Vec::new()),
            despite_pin: args.despite_pin,
            ..release::Build::default()
        };
        Some(release_after(context, &storage, &how, &told).await)
    } else {
        if !args.dry_run && !told.is_cancelled() {
            let lake = context.lake_in(&storage).await?;
            release::tidy(context, &storage, &lake, false).await;
        }
        None
    };
    print(context, &storage, report, quality.as_ref(), released)
}

/// Refuses a home with only local stores if local stores must not be queried, because the crawl of each store would
/// fail.
fn check_reachable(context: &Context, registry: &Registry) -> anyhow::Result<()> {
    let allowed = context.config.storefront.allow_loopback;
    let is_here = |brand: &RegisteredBrand| matches!(check_url(&brand.base_url, allowed), Err(Refusal::Loopback));
    let brands = registry.brands();
    if brands.is_empty() || !brands.into_iter().all(is_here) {
        return Ok(());
    }
    Err(usage(anyhow::anyhow!(
        "the stores of this home are on this machine, such as those of a demo, which stop when the demo ends: `haat \
         demo --home DIR` starts them again. To crawl your own stores on this machine, set storefront.allow_loopback"
    )))
}

/// Adds advice to the registry's error about a crawl without stores.
fn unregistered(error: NotRegistered) -> anyhow::Error {
    usage(match error {
        NotRegistered::Any => anyhow::anyhow!("{error}: run `haat brands add DOMAIN`, or `haat demo` to look around"),
        NotRegistered::Brand(_) => error.into(),
    })
}

/// Result of the release after a crawl.
enum CrawlRelease {
    Built(Box<pipeline_release::BuildOutcome>),
    /// A signal came before the release was published.
    Interrupted,
}

/// Builds a release. A signal before or during the build aborts it at once.
async fn release_after(
    context: &Context,
    storage: &Storage,
    how: &release::Build,
    told: &CancellationToken,
) -> anyhow::Result<CrawlRelease> {
    match told.run_until_cancelled(release::build(context, storage, how)).await {
        Some(built) => Ok(CrawlRelease::Built(Box::new(built?))),
        None => Ok(CrawlRelease::Interrupted),
    }
}

/// Prints the results of a crawl and of the build after it. The lake contains the crawl whatever happened to the
/// release, so the result is printed before any failure.
fn print(
    context: &Context,
    storage: &Storage,
    report: &RunReport,
    quality: Option<&QualityReport>,
    released: Option<anyhow::Result<CrawlRelease>>,
) -> anyhow::Result<Outcome> {
    let mut interrupted = report.state == RunState::Interrupted;
    let (built, failure) = match released {
        Some(Ok(CrawlRelease::Built(built))) => {
            let lost = release::lost(&built.report);
            (Some(built), lost)
        }
        Some(Ok(CrawlRelease::Interrupted)) => {
            interrupted = true;
            (None, None)
        }
        Some(Err(error)) => (None, Some(error)),
        None => (None, None),
    };
    let mut document = serde_json::to_value(report)?;
    document["interrupted"] = interrupted.into();
    document["release"] = serde_json::to_value(&built)?;
    document["release_error"] = failure.as_ref().map(plain).into();
    document["report"] = report_at(storage, report).into();
    document["quality"] = quality.map(|quality| quality::brief(storage, quality)).into();
    context.output.print(&document, |out| {
        summary(out, storage, report)?;
        if let Some(quality) = quality {
            quality::write_brief(out, storage, quality)?;
        }
        if interrupted && report.dry_run {
            writeln!(out, "interrupted: some stores were not crawled")?;
        } else if interrupted && report.state == RunState::Interrupted {
            writeln!(
                out,
                "interrupted: nothing was released; run the same command again to continue"
            )?;
        } else if interrupted {
            writeln!(
                out,
                "interrupted after the crawl: nothing was released; run `haat release build`"
            )?;
        }
        match &built {
            Some(built) => release::write_report(out, &built.report),
            None => Ok(()),
        }
    })?;
    match failure {
        Some(error) => Err(error),
        None if built.as_ref().is_some_and(|built| built.needs_a_look()) => Ok(Outcome::Partial),
        None => Ok(outcome(report, interrupted)),
    }
}

/// Returns the outcome of a crawl that itself did not fail.
fn outcome(report: &RunReport, interrupted: bool) -> Outcome {
    let whole = report.totals.failed + report.totals.held_back + report.totals.skipped == 0;
    Outcome::partial_if(!whole || interrupted)
}

/// Runs one refresh with a progress bar. After the stop signal `told`, only the current stores are finished. The next
/// run continues with the others.
pub(crate) async fn crawl(
    context: &Context,
    storage: &Storage,
    options: &RunOptions,
    rights: Option<Arc<dyn StoreRights>>,
    told: &CancellationToken,
) -> anyhow::Result<RunReport> {
    let deps = RefreshDeps {
        stores: StoreDeps {
            rights,
            cancel: told.clone(),
            ..context.store_deps(storage).await?
        },
        others: OtherCrawls::Unknown,
        progress: Arc::new(CrawlBar::new(context.quiet)),
    };
    Ok(pipeline_refresh::crawl(options, &context.config.refresh, &deps).await?)
}

/// Returns the location of a run's report: a path under a local home, else a URL. A dry run writes no report.
fn report_at(storage: &Storage, report: &RunReport) -> Option<String> {
    if report.dry_run {
        return None;
    }
    let name = format!("{}.html", report.run);
    let runs = storage.child("runs");
    Some(match runs.local_dir() {
        Some(dir) => dir.join(name).display().to_string(),
        None => format!("{}{name}", runs.url()),
    })
}

/// Maximum number of held-back brands that are listed with the command to accept each.
const HELD_NAMED_MAX: usize = 10;

/// Prints advice about crawls that were held back.
fn next_steps(out: &mut dyn std::io::Write, report: &RunReport) -> std::io::Result<()> {
    let held: Vec<_> = report
        .stores
        .iter()
        .filter(|store| matches!(store.outcome, StoreOutcome::HeldBack { .. }))
        .collect();
    if held.is_empty() || report.dry_run {
        return Ok(());
    }
    let repeats = |store: &&&StoreSummary| match &store.outcome {
        StoreOutcome::HeldBack { doubt, .. } => doubt.is_none_or(HoldReason::may_be_repeated),
        _ => false,
    };
    let until = match held.iter().filter(repeats).count() {
        0 => "held back until you accept it",
        some if some == held.len() => "held back until another crawl finds the same catalogue",
        _ => {
            "held back: price changes and unreadable records until you accept them, other changes until another crawl \
             finds the same"
        }
    };
    writeln!(
        out,
        "{until}; if the report shows that the new catalogue is right, accept it with:"
    )?;
    for store in held.iter().take(HELD_NAMED_MAX) {
        writeln!(out, "  haat crawl --brand {0} --confirm {0}", store.slug)?;
    }
    match held.len().saturating_sub(HELD_NAMED_MAX) {
        0 => Ok(()),
        more => writeln!(out, "  … and {} more; `haat doctor` lists them", counted(more, "brand")),
    }
}

fn summary(out: &mut dyn std::io::Write, storage: &Storage, report: &RunReport) -> std::io::Result<()> {
    for store in &report.stores {
        if !matches!(
            store.outcome,
            StoreOutcome::Changed | StoreOutcome::Unchanged | StoreOutcome::Skipped
        ) {
            writeln!(
                out,
                "{}: {} {}",
                store.slug,
                store.outcome,
                store.outcome.detail().unwrap_or_default()
            )?;
        }
    }
    for store in report.stores.iter().filter(|store| store.truncated) {
        writeln!(
            out,
            "{}: incomplete, the store says it has more than the {} that it lists",
            store.slug,
            counted(store.products, "product")
        )?;
    }
    let foreign = report.stores.iter().filter(|store| store.foreign_prices.is_some());
    match foreign.count() {
        0 => {}
        stores => writeln!(
            out,
            "{}: prices in another currency than the store's own, see the report; storefront.country sets the country \
             whose prices are wanted",
            counted(stores, "store")
        )?,
    }
    let totals = &report.totals;
    writeln!(
        out,
        "run {}: {}, {} changed, {} unchanged, {} held back, {} failed, {} skipped; {}, {} quarantined, {}",
        report.run,
        counted(totals.stores, "store"),
        totals.changed,
        totals.unchanged,
        totals.held_back,
        totals.failed,
        totals.skipped,
        counted(totals.products, "product"),
        totals.quarantined,
        counted(report.commits, "commit")
    )?;
    if let Some(at) = report_at(storage, report) {
        writeln!(out, "report: {at}")?;
    }
    next_steps(out, report)
}

#[cfg(test)]
mod tests {
    use data_model::Timestamp;
    use pipeline_refresh::{ForeignPrices, Totals};

    use super::*;

    fn report(stores: Vec<StoreSummary>) -> RunReport {
        let at = Timestamp::from_micros(0);
        RunReport {
            run: "20261121T012725Z-3f9a01c7".parse().unwrap(),
            state: RunState::Finished,
            only: None,
            force: false,
            dry_run: false,
            queued: false,
            resumed: 0,
            started_at: at,
            ended_at: at,
            commits: 1,
            totals: Totals::of(&stores),
            memory: None,
            stores,
        }
    }

    fn store(slug: &str, outcome: StoreOutcome) -> StoreSummary {
        StoreSummary {
            slug: slug.parse().unwrap(),
            store: format!("{slug}.example").parse().unwrap(),
            outcome,
            products: 3,
            variants: None,
            quarantined: None,
            pages: 1,
            requests: 2,
            bytes: 100,
            truncated: false,
            foreign_prices: None,
            codes: None,
            reused_pages: 0,
            read_since: None,
            read_at: None,
            ended_at: Timestamp::from_micros(0),
            duration_ms: 7,
            changes: None,
        }
    }

    #[test]
    fn a_crawl_that_was_interrupted_when_all_stores_were_through_is_done_in_part() {
        let report = report(vec![store("kith", StoreOutcome::Changed)]);
        assert_eq!(outcome(&report, false), Outcome::Done);
        assert_eq!(outcome(&report, true), Outcome::Partial);
    }

    #[test]
    fn stores_whose_prices_are_in_another_currency_than_their_own_are_told_of() {
        let [own, shown] = ["INR", "USD"].map(|code| code.parse().unwrap());
        let foreign = StoreSummary {
            foreign_prices: Some(ForeignPrices { own, shown }),
            ..store("kith", StoreOutcome::Changed)
        };
        let report = report(vec![foreign, store("bmc", StoreOutcome::Unchanged)]);
        let mut out = Vec::new();
        summary(&mut out, &Storage::memory(), &report).unwrap();
        let told = String::from_utf8(out).unwrap();
        assert_eq!(
            told.lines().next().unwrap(),
            "1 store: prices in another currency than the store's own, see the report; storefront.country sets the \
             country whose prices are wanted"
        );
    }

    #[test]
    fn a_catalogue_that_its_store_does_not_list_to_the_end_is_told_of() {
        let cut = StoreSummary {
            truncated: true,
            ..store("kith", StoreOutcome::Changed)
        };
        let mut out = Vec::new();
        let report = report(vec![cut, store("bmc", StoreOutcome::Unchanged)]);
        summary(&mut out, &Storage::memory(), &report).unwrap();
        let told = String::from_utf8(out).unwrap();
        assert_eq!(
            told.lines().next().unwrap(),
            "kith: incomplete, the store says it has more than the 3 products that it lists"
        );
    }

    #[test]
    fn the_report_is_named_by_its_whole_path_and_a_held_back_store_with_the_command_that_accepts_it() {
        let held = StoreOutcome::HeldBack {
            products_before: 90,
            products_found: 3,
            doubt: None,
            affected: None,
            currencies: None,
        };
        let report = report(vec![store("bmc", StoreOutcome::Unchanged), store("kith", held)]);
        let home = tempfile::tempdir().unwrap();
        let storage = Storage::from_path(home.path()).unwrap();
        let mut out = Vec::new();
        summary(&mut out, &storage, &report).unwrap();
        let folder = storage.local_dir().unwrap();
        assert!(folder.is_absolute());
        let report_path = folder.join("runs/20261121T012725Z-3f9a01c7.html");
        assert_eq!(
            String::from_utf8(out).unwrap(),
            format!(
                "kith: held_back 3 products, compared with 90 before\n\
                 run 20261121T012725Z-3f9a01c7: 2 stores, 0 changed, 1 unchanged, 1 held back, 0 failed, 0 skipped; \
                 6 products, 0 quarantined, 1 commit\n\
                 report: {}\n\
                 held back until another crawl finds the same catalogue; if the report shows that the new \
                 catalogue is right, accept it with:\n  \
                 haat crawl --brand kith --confirm kith\n",
                report_path.display()
            )
        );
        assert_eq!(
            report_at(&Storage::memory(), &report).unwrap(),
            "memory:///runs/20261121T012725Z-3f9a01c7.html"
        );
    }
}
