use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_recursion::async_recursion as boxed;
use data_lake::Lake;
use data_model::{BrandSlug, IdError, RunId, StoreHost, Timestamp};
use data_storage::put_over;
use futures::{StreamExt, TryStreamExt};
use pipeline_crawl::{
    Crawler, DisplayNames, LandingError, Progress, PruneReport, RegisteredBrand, Registry, drop_run, landed_before,
    load_state, prune_landing,
};
use pipeline_task::StoreDeps;
use storefront::MemoryBudget;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;
use tracing::Instrument;

use crate::checked::record_end;
use crate::collapse::held_back;
use crate::collect::{CHECKPOINT_EVERY, Collector};
use crate::error::with_causes;
use crate::ledger::{Ledger, ResumeWindow, find_unfinished, prune_runs, read_run, run_at, second_of};
use crate::reader::MemoryQuota;
use crate::rights::refresh_alone;
use crate::searched::fold_searches;
use crate::store::{Event, InLake, RunContext};
use crate::summary::{Outcome, RunReport, RunState};
use crate::{RefreshConfig, RefreshError, render_html};

/// Options of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunOptions {
    /// Brands to refresh. `None` refreshes all.
    pub only: Option<Vec<BrandSlug>>,
    /// Reads everything, even unchanged catalogues.
    pub force: bool,
    /// Crawls and reports only. The lake and the saved states stay as they are.
    pub dry_run: bool,
}

/// Dependencies of a run.
#[derive(Debug, Clone)]
pub struct RefreshDeps {
    /// Storage, lake, store client, clock, rights and cancellation token. On cancellation, finished stores are
    /// committed, and the next run does the others.
    pub stores: StoreDeps,
    /// Receiver of progress messages.
    pub progress: Arc<dyn Progress>,
    /// Other processes that crawl into this storage.
    pub others: OtherCrawls,
}

/// Presence of another process that crawls into the same storage. It decides if a run that seems to be in progress is
/// resumed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OtherCrawls {
    /// No other process crawls. A run that seems to be in progress was killed and is resumed.
    Absent,
    /// Another process is crawling. Its run is not resumed, and a new run is started.
    AtWork,
    /// Unknown. A run counts as killed if its ledger was not written for some time.
    Unknown,
}

/// Catalogues that are read in addition to those being crawled.
const READ_AHEAD: usize = 8;
/// Maximum number of crawl states read at once.
const STATES_AT_ONCE: usize = 16;
/// A run without a ledger write in this time, in milliseconds, counts as dead.
const LIFE_SIGNS_MS: i64 = 4 * CHECKPOINT_EVERY.as_millis() as i64;
/// Capacity of the channel to the collector.
const EVENTS_MAX: usize = 64;

/// Crawls the registered brands and updates the lake. Resumes a run that was killed or interrupted.
///
/// The failure of one store does not affect others. If no catalogue changed, there is no commit.
///
/// # Errors
/// See [`RefreshError`]. Commits before an error stay, and the next run crawls the remaining stores.
#[tracing::instrument(target = "trace::crawl", name = "crawl", level = "info", skip_all, fields(dry_run = options.dry_run))]
#[boxed]
pub async fn refresh(
    options: &RunOptions,
    config: &RefreshConfig,
    deps: &RefreshDeps,
) -> Result<RunReport, RefreshError> {
    // The order and repetition of brands must not matter when runs are compared.
    let mut options = options.clone();
    if let Some(only) = &mut options.only {
        only.sort_unstable();
        only.dedup();
    }
    let options = &options;
    let registry = Registry::load(&deps.stores.storage).await?;
    let brands = registry.selected(options.only.as_deref());
    let brands = brands.map_err(RefreshError::UnknownBrand)?;
    let report = opened(options, config, deps).await?;
    let (run, started_at) = (report.run.clone(), report.started_at);
    let mut ledger = Ledger::open(deps.stores.storage.clone(), report, options.dry_run);
    let held = held_back(&deps.stores.storage).await?;
    ledger.reopen(|store| {
        let confirmed = || held.iter().any(|held| held.slug == store.slug && held.confirmed);
        let added_since = registry
            .brand(&store.slug)
            .is_some_and(|brand| brand.added_at > store.ended_at);
        added_since || (matches!(store.outcome, Outcome::HeldBack { .. }) && confirmed())
    });
    deps.progress.run_started(&run, brands.len(), ledger.through());
    let mut left = brands;
    left.retain(|brand| !ledger.is_through(&brand.slug));

    let memory = crawl_memory(config);
    let shared = Arc::new(shared(&run, options, config, deps, &registry, memory).await?);
    let collector = Collector::new(
        Arc::clone(&shared),
        deps.stores.lake.clone(),
        ledger,
        registry.clone(),
        started_at,
    );
    let (events, collected) = mpsc::channel(EVENTS_MAX);
    let feeding = async {
        feed(&shared, left, events).await;
        Ok(())
    };
    // The future of a run is large, so that it is boxed. If the collector fails, the crawls of the stores are cancelled
    // too.
    let ended = Box::pin(async { tokio::try_join!(feeding, collector.collect(collected)) }).await;
    let ended = ended.map(|((), report)| report);
    if !options.dry_run {
        let (storage, now) = (&deps.stores.storage, deps.stores.clock.now());
        record_end(storage, &registry, &run, now, ended.as_ref()).await;
    }
    let report = ended?;
    tidy(&shared, &deps.stores.lake, &registry, &report, options).await;
    deps.progress.run_finished(&run);
    Ok(report)
}

/// Returns the unfinished run to resume, or a new one.
async fn opened(options: &RunOptions, config: &RefreshConfig, deps: &RefreshDeps) -> Result<RunReport, RefreshError> {
    let now = deps.stores.clock.now();
    // An unfinished run may belong to another process at work.
    if !options.dry_run && deps.others != OtherCrawls::AtWork {
        let window = ResumeWindow {
            since: resumed_since(config, now),
            silent_since: match deps.others {
                OtherCrawls::Absent => Timestamp::from_micros(i64::MAX),
                OtherCrawls::AtWork | OtherCrawls::Unknown => now.plus_millis(LIFE_SIGNS_MS.saturating_neg()),
            },
            now,
        };
        let (storage, only) = (&deps.stores.storage, options.only.as_deref());
        let found = find_unfinished(storage, only, options.force, window).await?;
        if let Some(report) = found {
            tracing::info!(run = %report.run, done = report.stores.len(), "continuing an unfinished run");
            return Ok(report.resumed());
        }
    }
    Ok(RunReport {
        only: options.only.clone(),
        force: options.force,
        dry_run: options.dry_run,
        ..RunReport::new(new_run_id(now).map_err(RefreshError::RunId)?, now, now)
    })
}

/// Earlier runs are not resumed.
fn resumed_since(config: &RefreshConfig, now: Timestamp) -> Timestamp {
    let within_ms = i64::try_from(config.resume_within_s.saturating_mul(1000)).unwrap_or(i64::MAX);
    now.plus_millis(within_ms.saturating_neg())
}

/// Creates a new run id, such as `20261121T012725Z-3f9a01c7`. Ids sort chronologically.
///
/// # Errors
/// The year of `now` does not have four digits.
pub fn new_run_id(now: Timestamp) -> Result<RunId, IdError> {
    let suffix: u32 = rand::random();
    format!("{}-{suffix:08x}", second_of(now)).parse()
}

/// Creates the memory budget of one process for data from stores and the products made of it. All crawls and commits of
/// the process share it.
#[must_use]
pub fn crawl_memory(config: &RefreshConfig) -> MemoryBudget {
    MemoryBudget::new(config.memory_bytes_max, stores_at_once(config))
}

pub(crate) async fn shared(
    run: &RunId,
    options: &RunOptions,
    config: &RefreshConfig,
    deps: &RefreshDeps,
    registry: &Registry,
    memory: MemoryBudget,
) -> Result<RunContext, RefreshError> {
    // With `force`, every file of the lake is checked. Otherwise only missing files, and files that a build found
    // damaged, are considered. Stores with rows in these files are read in full, and the files are rewritten.
    let damaged = if options.dry_run {
        BTreeSet::new()
    } else {
        let damaged = deps.stores.lake.find_damage(options.force).await;
        damaged.map_err(RefreshError::LakeRead)?
    };
    let snapshot = deps.stores.lake.snapshot().await.map_err(RefreshError::LakeRead)?;
    let rows = snapshot.readable_brands().await.map_err(RefreshError::LakeRead)?;
    let mut names = DisplayNames::registered(registry);
    for row in &rows {
        if let Some(brand) = registry.brand_of(&row.brand.store) {
            names.show(brand, &row.brand.name);
        }
    }
    let known = rows.into_iter().map(|row| {
        let is_damaged = damaged.contains(&row.brand.store);
        let known = InLake {
            // An empty hash matches no content, so that the lake accepts even content that it already has.
            hash: if is_damaged { String::new() } else { row.catalogue_hash },
            products: row.product_count,
            currency: row.brand.currency,
            run: row.refresh_run,
        };
        (row.brand.store, known)
    });
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let workers = if config.workers == 0 { cores } else { config.workers };
    let storefront = deps.stores.storefront.with_memory(memory.clone());
    let clock = Arc::clone(&deps.stores.clock);
    Ok(RunContext {
        storage: deps.stores.storage.clone(),
        storefront: storefront.clone(),
        crawler: Crawler::new(storefront, deps.stores.storage.clone(), config.crawl.clone(), clock),
        config: config.clone(),
        clock: Arc::clone(&deps.stores.clock),
        progress: Arc::clone(&deps.progress),
        cancel: deps.stores.cancel.clone(),
        run: run.clone(),
        force: options.force,
        dry_run: options.dry_run,
        lake: known.collect(),
        names,
        snapshot,
        rights: deps.stores.rights.clone(),
        read_ahead: MemoryQuota::new(config.read_ahead_bytes_max, memory),
        workers: Arc::new(Semaphore::new(workers.min(Semaphore::MAX_PERMITS))),
    })
}

/// Returns the number of stores processed at once, which are those of the crawler and a few more that are being read.
#[must_use]
pub fn stores_at_once(config: &RefreshConfig) -> usize {
    config.crawl.stores_open().saturating_add(READ_AHEAD)
}

/// Keeps as many stores in progress as allowed.
async fn feed(shared: &Arc<RunContext>, brands: Vec<RegisteredBrand>, events: mpsc::Sender<Event>) {
    let at_once = stores_at_once(&shared.config);
    let mut tasks: JoinSet<()> = JoinSet::new();
    let mut slugs = BTreeMap::new();
    for brand in brands {
        while tasks.len() >= at_once {
            reap(shared, &mut tasks, &mut slugs, &events).await;
        }
        let task = tasks.spawn(refresh_alone(Arc::clone(shared), brand.clone(), events.clone()).in_current_span());
        slugs.insert(task.id(), brand);
    }
    while !tasks.is_empty() {
        reap(shared, &mut tasks, &mut slugs, &events).await;
    }
}

/// A task that panicked counts as a failed store.
async fn reap(
    shared: &RunContext,
    tasks: &mut JoinSet<()>,
    brands: &mut BTreeMap<tokio::task::Id, RegisteredBrand>,
    events: &mpsc::Sender<Event>,
) {
    let broken = match tasks.join_next_with_id().await {
        Some(Err(error)) => brands.remove(&error.id()).map(|brand| (brand, error)),
        Some(Ok((id, ()))) => {
            brands.remove(&id);
            None
        }
        None => None,
    };
    if let Some((brand, error)) = broken {
        let mut summary = shared.blank(&brand);
        summary.outcome = Outcome::Failed {
            code: "worker".to_owned(),
            reason: with_causes(&error),
        };
        // The receiver is gone if the run was abandoned.
        let _ = events.send(Event::Through(Box::new(summary))).await;
    }
}

/// Writes the report, moves counts of searched words into the lake, and deletes data that no later run needs. Failures
/// here do not affect the result of the run.
pub(crate) async fn tidy(
    shared: &RunContext,
    lake: &Lake,
    registry: &Registry,
    report: &RunReport,
    options: &RunOptions,
) {
    if options.dry_run {
        if let Err(error) = drop_run(&shared.storage, &report.run).await {
            tracing::warn!(
                error = with_causes(&error),
                "the landed pages of the dry run could not be deleted"
            );
        }
        return;
    }
    let html = render_html(report);
    if let Err(error) = put_over(&shared.storage, &run_at(&report.run, "html"), html).await {
        tracing::warn!(
            error = with_causes(&error),
            "the report of the run could not be written"
        );
    }
    if report.state != RunState::Finished {
        return;
    }
    fold_searches(&shared.storage, lake, shared.clock.now()).await;
    if let Err(error) = prune_runs(&shared.storage, shared.config.reports_kept, shared.clock.now()).await {
        tracing::warn!(error = with_causes(&error), "old reports could not be deleted");
    }
    match prune(shared, registry).await {
        Ok(pruned) => tracing::debug!(
            objects = pruned.objects,
            bytes = pruned.bytes,
            "old landed pages were deleted"
        ),
        Err(error) => tracing::warn!(error = with_causes(&error), "old landed pages could not be deleted"),
    }
}

/// Deletes unneeded landed pages, even after a run over a few brands. Pages in the states of other brands stay, and so
/// do those of a run that is in progress or may be resumed.
async fn prune(shared: &RunContext, registry: &Registry) -> Result<PruneReport, LandingError> {
    let (now, config) = (shared.clock.now(), &shared.config.crawl);
    let since = resumed_since(&shared.config, now);
    let kept_since = second_of(now.plus_millis(-i64::from(config.landing_keep_days) * 24 * 3_600_000));
    let mut runs = landed_before(&shared.storage, config.landing_runs_kept).await?;
    if config.landing_keep_days > 0 {
        // Run ids sort chronologically.
        runs.retain(|run| run.as_str() < kept_since.as_str());
    }
    let old = std::mem::take(&mut runs);
    for run in old {
        let is_over = match read_run(&shared.storage, &run).await {
            Ok(Some(report)) => {
                !matches!(report.state, RunState::Running | RunState::Interrupted) || report.ended_at < since
            }
            Ok(None) => true,
            // The next call tries again.
            Err(_) => false,
        };
        if is_over {
            runs.push(run);
        }
    }
    // The states are read only now, because a run that is over has written its states.
    let needed = needed_landings(shared, registry).await?;
    prune_landing(&shared.storage, &runs, &needed).await
}

/// Returns the run that landed the pages in the lake, for each registered store.
async fn needed_landings(shared: &RunContext, registry: &Registry) -> Result<BTreeMap<StoreHost, RunId>, LandingError> {
    let stores: Vec<StoreHost> = registry.brands().into_iter().map(|brand| brand.store.clone()).collect();
    let landings = futures::stream::iter(stores).map(|store| async move {
        let state = load_state(&shared.storage, &store).await;
        state.map(|state| state.map(|state| (store, state.crawl.landing)))
    });
    let landings: Vec<_> = landings.buffer_unordered(STATES_AT_ONCE).try_collect().await?;
    Ok(landings.into_iter().flatten().collect())
}
