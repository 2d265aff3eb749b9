//! Runs a backfill from landed pages to the lake.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_recursion::async_recursion as boxed;
use data_lake::{AsOf, Lake, LakeSnapshot, RunSummaryRow};
use data_model::Clock;
use data_storage::Storage;
use futures::StreamExt;
use pipeline_crawl::{CrawlState, Registry, load_state, save_state};
use pipeline_refresh::{RefreshConfig, Rereader, lock_crawls, new_run_id, with_causes};
use tokio_util::sync::CancellationToken;

use crate::groups::{StoreSize, groups};
use crate::inventory::{ListedTask, Rows, find_again, look};
use crate::ledger::{find_unfinished, prune, save};
use crate::store::{BackfillContext, FinishedStore, read_group};
use crate::{Backfill, BackfillError, BackfillOptions, BackfillState, Estimate, StoreOutcome, StoreReport, Totals};

/// Receiver of a backfill's progress.
pub trait Watch: fmt::Debug + Send + Sync {
    /// Called before the backfill starts or resumes, with the number of stores already finished.
    fn planned(&self, estimate: &Estimate, through: u64);
    /// Called with the number of stores finished since the last call and the number of products on their pages.
    fn through(&self, stores: u64, products: u64);
}

/// Progress receiver that ignores all calls.
#[derive(Debug, Clone, Copy)]
pub struct NoWatch;

impl Watch for NoWatch {
    fn planned(&self, _: &Estimate, _: u64) {}
    fn through(&self, _: u64, _: u64) {}
}

/// Dependencies of a backfill.
#[derive(Debug, Clone)]
pub struct BackfillDeps {
    /// Object storage of the home.
    pub storage: Storage,
    /// Lake in the storage.
    pub lake: Lake,
    /// Configuration for parsing pages, and its memory limit.
    pub config: RefreshConfig,
    /// Country whose prices were requested from the stores.
    pub country: Option<String>,
    /// Source of the current time.
    pub clock: Arc<dyn Clock>,
    /// Receiver of progress messages.
    pub watch: Arc<dyn Watch>,
    /// Token that ends the backfill early. Results so far are committed, and the next backfill with the same options
    /// continues.
    pub cancel: CancellationToken,
}

/// Divisors of the crawl's memory limit. The quotients are the maximum landed bytes of one group and of one commit.
const GROUP_SHARE: u64 = 16;
const COMMIT_SHARE: u64 = 8;
/// Number of consecutive refused commits after which the lake itself is considered faulty.
const REFUSALS_MAX: u32 = 3;
/// Number of first pages that are timed for the estimate.
const PAGES_TIMED: usize = 8;

/// Rereads the newest landing of each store in the range and updates the lake's data of the store accordingly. Resumes
/// a killed or interrupted backfill with the same options.
///
/// # Errors
/// A [`BackfillError`]. Earlier commits stay, and the next backfill with the same options continues.
#[boxed]
pub async fn backfill(options: &BackfillOptions, deps: &BackfillDeps) -> Result<Backfill, BackfillError> {
    let mut options = options.clone();
    if let Some(only) = &mut options.only {
        only.sort_unstable();
        only.dedup();
    }
    let _lock = if options.dry_run {
        None
    } else {
        Some(lock_crawls(&deps.storage).ok_or(BackfillError::CrawlAtWork)?)
    };
    let registry = Registry::load(&deps.storage).await?;
    let begun = Box::pin(begin(&options, deps, &registry)).await?;
    let (mut report, tasks, before) = begun;
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let rereader = Rereader::new(
        deps.storage.clone(),
        before.clone(),
        &registry,
        deps.config.clone(),
        deps.country.clone(),
        cores + 1,
    );
    let shared = Arc::new(BackfillContext {
        rereader: rereader.await.map_err(BackfillError::LakeRead)?,
        before,
        accept_collapse: options.accept_collapse,
        dry_run: options.dry_run,
    });
    report.estimate = estimate(&report, &tasks, &shared.rereader, cores).await;
    let waiting = tasks.len() as u64;
    deps.watch
        .planned(&report.estimate, report.stores.len() as u64 - waiting);
    let mut work = Work {
        deps,
        report,
        refusals: 0,
    };
    work.note().await?;
    let ended = Box::pin(work.all(tasks, &shared, cores + 1)).await;
    work.report.state = match ended {
        Ok(())
            if work
                .report
                .stores
                .iter()
                .all(|store| store.outcome != StoreOutcome::Waiting) =>
        {
            BackfillState::Finished
        }
        _ => BackfillState::Interrupted,
    };
    work.note().await?;
    ended?;
    if !options.dry_run {
        prune(&deps.storage).await?;
    }
    Ok(work.report)
}

type BackfillStart = (Backfill, Vec<ListedTask>, LakeSnapshot);

/// Returns the backfill to resume, or a new one, with the stores that remain to be read.
async fn begin(
    options: &BackfillOptions,
    deps: &BackfillDeps,
    registry: &Registry,
) -> Result<BackfillStart, BackfillError> {
    let now = deps.clock.now();
    let within_ms = i64::try_from(deps.config.resume_within_s.saturating_mul(1000)).unwrap_or(i64::MAX);
    let since = now.plus_millis(within_ms.saturating_neg());
    if !options.dry_run
        && let Some(found) = find_unfinished(&deps.storage, options, since).await?
    {
        return resume(found, deps, registry).await;
    }
    let before = deps.lake.snapshot().await.map_err(BackfillError::LakeRead)?;
    let rows = rows(&before).await?;
    let brands = registry.selected(options.only.as_deref());
    let brands = brands.map_err(BackfillError::UnknownBrand)?;
    let mut looked = look(&deps.storage, brands, &rows, options).await?;
    let buckets = deps.lake.buckets();
    looked.sort_by_cached_key(|(brand, _)| (brand.store.bucket(buckets), brand.store.clone()));
    let (mut stores, mut tasks) = (Vec::new(), Vec::new());
    for (index, (brand, looked)) in looked.into_iter().enumerate() {
        let task = looked.as_ref().ok();
        stores.push(StoreReport {
            slug: brand.slug,
            store: brand.store,
            run: task.map(|task| task.crawl.run.clone()),
            landed_at: task.map(|task| task.crawl.ended_at),
            is_older: task.is_some_and(|task| task.is_older),
            products: task.map_or(0, |task| task.crawl.products()),
            bytes: task.map_or(0, |task| task.crawl.landed_bytes()),
            difference: None,
            outcome: match &looked {
                Ok(_) => StoreOutcome::Waiting,
                Err(left) => StoreOutcome::Left(left.clone()),
            },
        });
        tasks.extend(looked.ok().map(|task| ListedTask { index, task }));
    }
    let report = Backfill {
        id: new_run_id(now).map_err(BackfillError::Id)?,
        state: BackfillState::Running,
        stage: options.stage,
        only: options.only.clone(),
        range: options.range,
        older: options.older,
        accept_collapse: options.accept_collapse,
        dry_run: options.dry_run,
        resumed: 0,
        started_at: now,
        ended_at: now,
        commits: 0,
        undo_as_of: before.decided_at().await.map_err(BackfillError::LakeRead)?,
        versions: before.versions().clone(),
        estimate: Estimate::default(),
        totals: Totals::default(),
        stores,
    };
    Ok((report, tasks, before))
}

/// Finished stores stay finished, and failed ones are tried again.
async fn resume(mut found: Backfill, deps: &BackfillDeps, registry: &Registry) -> Result<BackfillStart, BackfillError> {
    tracing::info!(backfill = %found.id, "continuing an unfinished backfill");
    (found.state, found.resumed) = (BackfillState::Running, found.resumed.saturating_add(1));
    let as_of = AsOf::Versions(found.versions.clone());
    let before = deps.lake.snapshot_at(&as_of).await.map_err(BackfillError::LakeRead)?;
    let rows = rows(&before).await?;
    let mut tasks = Vec::new();
    for (index, store) in found.stores.iter_mut().enumerate() {
        let is_left = matches!(store.outcome, StoreOutcome::Waiting | StoreOutcome::Failed { .. });
        let Some(run) = store.run.clone().filter(|_| is_left) else {
            continue;
        };
        let brand = registry.brand(&store.slug).filter(|brand| brand.store == store.store);
        match find_again(&deps.storage, brand, &run, store.is_older, &rows).await? {
            Some(task) => tasks.push(ListedTask { index, task }),
            None => {
                store.outcome = StoreOutcome::Failed {
                    code: "landing".to_owned(),
                    reason: "the store's landed pages or its brand were removed".to_owned(),
                }
            }
        }
    }
    Ok((found, tasks, before))
}

async fn rows(snapshot: &LakeSnapshot) -> Result<Rows, BackfillError> {
    let rows = snapshot.readable_brands().await.map_err(BackfillError::LakeRead)?;
    Ok(rows.into_iter().map(|row| (row.brand.store.clone(), row)).collect())
}

/// Estimates the size of the backfill and times its first pages.
async fn estimate(report: &Backfill, tasks: &[ListedTask], rereader: &Rereader, cores: usize) -> Estimate {
    let pages = tasks.iter().map(|one| one.task.crawl.landed().count() as u64);
    let stores = tasks.iter().map(|one| &report.stores[one.index]);
    let estimate = Estimate {
        stores: tasks.len() as u64,
        pages: pages.sum(),
        bytes: stores.clone().map(|store| store.bytes).sum(),
        products: stores.map(|store| store.products).sum(),
        minutes: None,
    };
    let first = tasks
        .iter()
        .flat_map(|ListedTask { task, .. }| (0..task.crawl.landed().count()).map(move |page| (task, page)));
    let (mut bytes, mut took) = (0, Duration::ZERO);
    for (task, page) in first.take(PAGES_TIMED) {
        if let Some((more, longer)) = rereader.timed(&task.brand, &task.crawl, page).await {
            (bytes, took) = (bytes + more, took + longer);
        }
    }
    estimate.timed(bytes, took, cores)
}

#[derive(Debug)]
struct Work<'a> {
    deps: &'a BackfillDeps,
    report: Backfill,
    refusals: u32,
}

impl Work<'_> {
    /// Reads all remaining groups, several concurrently, and commits the results in order.
    async fn all(
        &mut self,
        tasks: Vec<ListedTask>,
        shared: &Arc<BackfillContext>,
        at_once: usize,
    ) -> Result<(), BackfillError> {
        let (memory, buckets) = (self.deps.config.memory_bytes_max, self.deps.lake.buckets());
        let size = |one: &ListedTask| StoreSize {
            bucket: one.task.brand.store.bucket(buckets),
            bytes: one.task.crawl.landed_bytes(),
        };
        let groups = groups(tasks, size, memory / GROUP_SHARE);
        let cancel = self.deps.cancel.clone();
        let begun = groups.into_iter().take_while(move |_| !cancel.is_cancelled());
        // Separate tasks continue during commits.
        let reads = begun.map(|group| tokio::spawn(read_group(Arc::clone(shared), group)));
        let mut reads = futures::stream::iter(reads).buffered(at_once);
        let mut batch: Vec<FinishedStore> = Vec::new();
        while let Some(read) = reads.next().await {
            match read {
                Ok(done) => batch.extend(done),
                // The stores of the group are still waiting, and the next backfill with the same options reads them.
                Err(error) => tracing::error!(error = with_causes(&error), "the task of a group of stores failed"),
            }
            let bytes: u64 = batch.iter().map(|one| one.task.crawl.landed_bytes()).sum();
            if bytes >= memory / COMMIT_SHARE {
                self.commit(std::mem::take(&mut batch)).await?;
            }
        }
        if batch.is_empty() {
            return Ok(());
        }
        self.commit(batch).await
    }

    /// Commits the results to the lake and then records the progress.
    async fn commit(&mut self, mut batch: Vec<FinishedStore>) -> Result<(), BackfillError> {
        let rebuilt: Vec<_> = batch.iter_mut().filter_map(|one| one.rebuilt.take()).collect();
        if !rebuilt.is_empty() {
            let stores: Vec<_> = rebuilt.iter().map(|one| one.refresh.store().clone()).collect();
            let row = RunSummaryRow {
                brands_seen: batch.len() as u64,
                ..RunSummaryRow::new(self.report.id.clone(), self.report.started_at)
            };
            match self.deps.lake.rebuild(rebuilt, &row).await {
                Ok(report) => {
                    self.refusals = 0;
                    self.report.commits += report.ticks.len() as u64;
                    for one in &mut batch {
                        if report.overtaken.contains(&one.task.brand.store) {
                            (one.outcome, one.difference) = (StoreOutcome::Overtaken, None);
                        }
                    }
                }
                Err(source) => {
                    self.refusals += 1;
                    let reason = with_causes(&source);
                    for one in batch.iter_mut().filter(|one| stores.contains(&one.task.brand.store)) {
                        one.outcome = StoreOutcome::Failed {
                            code: "lake".to_owned(),
                            reason: reason.clone(),
                        };
                        one.difference = None;
                    }
                    if self.refusals >= REFUSALS_MAX {
                        let refused = self.refusals;
                        return Err(BackfillError::LakeWrite { refused, source });
                    }
                }
            }
        }
        let (stores, products) = (
            batch.len() as u64,
            batch.iter().map(|one| one.task.crawl.products()).sum(),
        );
        for one in batch {
            if !self.report.dry_run {
                remember(&self.deps.storage, &one).await;
            }
            let store = &mut self.report.stores[one.index];
            (store.outcome, store.difference) = (one.outcome, one.difference);
        }
        self.deps.watch.through(stores, products);
        self.note().await
    }

    async fn note(&mut self) -> Result<(), BackfillError> {
        self.report.ended_at = self.deps.clock.now();
        self.report.count();
        if self.report.dry_run {
            return Ok(());
        }
        save(&self.deps.storage, &self.report).await
    }
}

/// Saves the lake's new state as the crawl state, so that the store's next crawl can skip unchanged pages. After an
/// older landed crawl, the state is not saved, because the next crawl must read all pages.
async fn remember(storage: &Storage, one: &FinishedStore) {
    let is_done = matches!(one.outcome, StoreOutcome::Changed | StoreOutcome::Unchanged);
    let Some((reading, hash)) = one.read_as.as_ref().filter(|_| is_done && !one.task.is_older) else {
        return;
    };
    let told = async {
        let known = load_state(storage, &one.task.brand.store).await?;
        let known = known.filter(|known| known.crawl.landing == one.task.crawl.landing);
        let mut state = known.clone().unwrap_or_else(|| CrawlState {
            taken_as: String::new(),
            peaks: Vec::new(),
            crawl: one.task.crawl.clone(),
        });
        (state.taken_as, state.crawl.context) = (hash.clone(), reading.clone());
        if known.as_ref() == Some(&state) {
            return Ok(());
        }
        save_state(storage, &state).await
    };
    if let Err(error) = told.await {
        // Without the state, the next crawl of the store only takes longer.
        tracing::warn!(brand.slug = %one.task.brand.slug, error = with_causes(&error), "the crawl state could not be saved");
    }
}
