//! Single committer of a run, which writes the stores that finish within one tick to the lake in one commit.

mod commit;
mod identity;

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use data_lake::{CommitReport, CrawlSpan, Lake, RunSummaryRow};
use data_model::{StoreHost, Timestamp};
use futures::StreamExt;
use pipeline_crawl::{CrawlState, RegisteredBrand, Registry, save_state};
use tokio::sync::{Mutex, mpsc};
use tokio::time::Instant;

use self::commit::{FailedCommit, WaitingBrand};
use crate::RefreshError;
use crate::checked::record_so_far;
use crate::collapse::drop_held;
use crate::error::with_causes;
use crate::ledger::Ledger;
use crate::memory::MemoryReport;
use crate::observed::Folder;
use crate::store::{CommittedStore, Event, Ready, RunContext};
use crate::summary::{Outcome, RunReport, RunState, StoreSummary};

/// Each write of the ledger shows that the run is alive.
pub(crate) const CHECKPOINT_EVERY: Duration = Duration::from_secs(5);
/// Number of ledger writes after which the stores' results are also recorded, because a run may take hours.
const BEATS_A_RECORD: u32 = 12;
/// Error code and reason of a brand with a later crawl in the lake.
const OVERTAKEN: &str = "overtaken";
const OVERTAKEN_BY: &str =
    "another crawl read this store later but was committed first; the next crawl reads the store again";
/// Maximum number of crawl states written at once.
const STATES_AT_ONCE: usize = 16;

/// Receives the results of stores, commits them, and keeps the ledger.
#[derive(Debug)]
pub(crate) struct Collector {
    shared: Arc<RunContext>,
    lake: Lake,
    ledger: Arc<Mutex<Ledger>>,
    started_at: Timestamp,
    registry: Registry,
    batch: Vec<Ready>,
    batch_bytes: u64,
    /// Time that a catalogue waits for others to be committed with them.
    tick: Duration,
    /// Time at which the batch is committed, even if it is not full.
    due: Option<Instant>,
    seen: u64,
    failed: u64,
    held_back: u64,
    refusals: u32,
    /// Brands with rows in a damaged file with other brands. The file is rewritten when all of its brands have been
    /// crawled.
    waiting: Vec<WaitingBrand>,
    /// Merges live observations into the price history.
    folder: Folder,
    /// Stores found unchanged since the run was last resumed, with the time of their crawl.
    unchanged: BTreeMap<StoreHost, CrawlSpan>,
}

impl Collector {
    pub(crate) fn new(
        shared: Arc<RunContext>,
        lake: Lake,
        ledger: Ledger,
        registry: Registry,
        started_at: Timestamp,
    ) -> Self {
        // Stores finished before an interruption of the run count too.
        let (seen, failed, held_back) = (ledger.through() as u64, ledger.failed(), ledger.held_back());
        Self {
            tick: Duration::from_millis(shared.config.tick_ms),
            folder: Folder::new(shared.storage.clone()),
            unchanged: BTreeMap::new(),
            shared,
            lake,
            ledger: Arc::new(Mutex::new(ledger)),
            started_at,
            registry,
            batch: Vec::new(),
            batch_bytes: 0,
            due: None,
            seen,
            failed,
            held_back,
            refusals: 0,
            waiting: Vec::new(),
        }
    }

    /// Sets the time that a catalogue waits for others, instead of `refresh.tick_ms`.
    pub(crate) const fn with_tick(mut self, tick: Duration) -> Self {
        self.tick = tick;
        self
    }

    /// Collects results until all stores are finished. Meanwhile it writes the ledger regularly, even during a long
    /// commit.
    pub(crate) async fn collect(mut self, events: mpsc::Receiver<Event>) -> Result<RunReport, RefreshError> {
        let (ledger, shared) = (Arc::clone(&self.ledger), Arc::clone(&self.shared));
        let registry = self.registry.clone();
        ledger.lock().await.checkpoint(shared.clock.now()).await?;
        tokio::select! {
            report = self.work(events) => report,
            never = show_life(&ledger, &shared, &registry) => match never {},
        }
    }

    async fn work(&mut self, mut events: mpsc::Receiver<Event>) -> Result<RunReport, RefreshError> {
        let mut rows_waiting = self.shared.storefront.memory().rows_waiting();
        loop {
            let due = self.due;
            let waited = async {
                match due {
                    Some(due) => tokio::time::sleep_until(due).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                event = events.recv() => match event {
                    Some(Event::Through(summary)) => {
                        if let Some(span) = summary.span().filter(|_| summary.outcome == Outcome::Unchanged) {
                            self.unchanged.insert(summary.store.clone(), span);
                        }
                        self.note(*summary).await;
                    }
                    Some(Event::Ready(ready)) => self.take(*ready),
                    Some(Event::Batched) => self.due = self.due.map(|_| Instant::now()),
                    None => break,
                },
                Ok(()) = rows_waiting.changed(), if !self.batch.is_empty() => {}
                () = waited => {}
            }
            if *rows_waiting.borrow_and_update() > 0 {
                self.hurry();
            }
            if self.is_full() || self.due.is_some_and(|due| due <= Instant::now()) {
                self.flush().await?;
            }
        }
        self.flush().await?;
        self.mend().await?;
        self.fold().await;
        let state = if self.shared.cancel.is_cancelled() {
            RunState::Interrupted
        } else {
            RunState::Finished
        };
        // A ledger write in progress ends first, so that none happens after the end of the run.
        let mut ledger = self.ledger.lock().await;
        ledger.note_memory(MemoryReport::of(self.shared.storefront.memory().usage()));
        Ok(ledger.close(state, self.shared.clock.now()).await?)
    }

    /// Merges live observations, and the crawls that found stores unchanged since the last merge.
    async fn fold(&mut self) {
        if self.shared.dry_run {
            return;
        }
        let (seen, row) = (std::mem::take(&mut self.unchanged), self.row(0));
        Box::pin(self.folder.fold(&self.lake, seen, &row)).await;
        let live = self.folder.take_totals();
        self.ledger.lock().await.note_live(&live);
    }

    async fn note(&mut self, summary: StoreSummary) {
        self.seen += u64::from(summary.outcome != Outcome::Skipped);
        self.failed += u64::from(matches!(summary.outcome, Outcome::Failed { .. }));
        self.held_back += u64::from(matches!(summary.outcome, Outcome::HeldBack { .. }));
        let detail = summary.outcome.detail();
        if let Outcome::Failed { code, reason } = &summary.outcome {
            // The caller prints the failure from the report, so that a warning would be a duplicate.
            tracing::info!(brand.slug = %summary.slug, code, reason, "the store could not be refreshed");
        }
        self.shared
            .progress
            .store_finished(&summary.slug, summary.outcome.as_str(), detail.as_deref());
        self.ledger.lock().await.note(summary);
    }

    fn take(&mut self, ready: Ready) {
        self.batch_bytes = self.batch_bytes.saturating_add(ready.rest.memory_bytes());
        self.batch.push(ready);
        let tick = self.tick;
        self.due.get_or_insert_with(|| Instant::now() + tick);
    }

    /// Brings the commit forward because a store waits for memory of the batch.
    fn hurry(&mut self) {
        let soon = Instant::now() + Duration::from_millis(self.shared.config.tick_ms);
        self.due = self.due.map(|due| due.min(soon));
    }

    /// Returns true if the batch has the maximum number of brands, or half of the memory. The other half is for
    /// reading.
    fn is_full(&self) -> bool {
        let bytes_max = self.shared.storefront.memory().rows_bytes_max();
        self.batch.len() >= self.shared.config.tick_brands_max.max(1) || self.batch_bytes >= bytes_max / 2
    }

    async fn flush(&mut self) -> Result<(), RefreshError> {
        (self.due, self.batch_bytes) = (None, 0);
        let batch = self.registered().await;
        if batch.is_empty() {
            return Ok(());
        }
        // Live observations are merged first, because some are older than the crawls in this batch.
        self.fold().await;
        let (refreshes, taken): (Vec<_>, Vec<_>) = batch.into_iter().map(|ready| (ready.refresh, ready.rest)).unzip();
        match self.commit(refreshes, taken).await? {
            None => {}
            // One brand must not make the others of its tick fail, so that each is committed alone.
            Some(FailedCommit { taken, error }) if taken.len() > 1 => {
                tracing::warn!(
                    error = with_causes(&error),
                    brands = taken.len(),
                    "a commit batch failed and is retried brand by brand"
                );
                for one in taken {
                    self.commit_alone(one).await?;
                }
            }
            Some(failed) => self.wait_or_refuse(failed).await?,
        }
        Ok(self.ledger.lock().await.checkpoint(self.shared.clock.now()).await?)
    }

    /// Returns the brands of the batch without those that the operator has removed meanwhile.
    async fn registered(&mut self) -> Vec<Ready> {
        let batch = std::mem::take(&mut self.batch);
        if batch.is_empty() {
            return batch;
        }
        self.look_who_is_registered().await;
        let (batch, removed): (Vec<_>, Vec<_>) = batch
            .into_iter()
            .partition(|ready| self.is_registered(&ready.rest.brand));
        for ready in removed {
            self.skip(ready.rest).await;
        }
        self.own_stores(batch).await
    }

    /// Removes stores from the lake again that were unregistered during the commit. Returns the other committed stores.
    async fn still_registered(&mut self, taken: Vec<CommittedStore>) -> Vec<CommittedStore> {
        self.look_who_is_registered().await;
        let (taken, removed): (Vec<_>, Vec<_>) = taken.into_iter().partition(|one| self.is_registered(&one.brand));
        let stores: Vec<_> = removed.iter().map(|one| one.brand.store.clone()).collect();
        if !stores.is_empty()
            && let Err(error) = self.lake.remove_brands(&stores).await
        {
            // The command `doctor` reports these brands, and removing them again deletes them.
            tracing::warn!(
                error = with_causes(&error),
                "the lake contains brands that were removed"
            );
        }
        for one in removed {
            self.skip(one).await;
        }
        taken
    }

    fn is_registered(&self, brand: &RegisteredBrand) -> bool {
        self.registry
            .brand(&brand.slug)
            .is_some_and(|known| known.store == brand.store)
    }

    async fn look_who_is_registered(&mut self) {
        if let Err(error) = self.registry.catch_up(&self.shared.storage).await {
            tracing::warn!(
                error = with_causes(&error),
                "it is unknown which brands were removed meanwhile"
            );
        }
    }

    /// Records a brand that is no longer registered as skipped.
    async fn skip(&mut self, one: CommittedStore) {
        let mut summary = self.shared.timed(one.summary, one.started);
        summary.outcome = Outcome::Skipped;
        self.note(summary).await;
    }

    /// Updates crawl states, ledger and summaries. This must follow a commit.
    async fn settle(&mut self, mut taken: Vec<CommittedStore>, committed: CommitReport) {
        self.refusals = 0;
        if !committed.ticks.is_empty() {
            self.ledger.lock().await.note_commits(committed.ticks.len());
            self.shared.progress.committed(committed.changed.len());
        }
        let is_overtaken = |one: &mut CommittedStore| committed.overtaken.contains(&one.brand.store);
        for one in taken.extract_if(.., is_overtaken).collect::<Vec<_>>() {
            self.refuse(one, OVERTAKEN, OVERTAKEN_BY.to_owned()).await;
        }
        let others = self.brought_by_others(committed.unchanged).await;
        for one in taken.iter_mut().filter(|one| others.contains(&one.brand.store)) {
            one.summary.outcome = Outcome::Unchanged;
            one.summary.changes = None;
        }
        let taken = self.still_registered(taken).await;
        let shared = Arc::clone(&self.shared);
        let settled = futures::stream::iter(taken)
            .map(|one| {
                let shared = Arc::clone(&shared);
                async move {
                    let state = CrawlState { taken_as: one.hash, peaks: one.peaks, crawl: one.crawl };
                    // Without its state, the store is only read in full next time.
                    if let Err(error) = save_state(&shared.storage, &state).await {
                        tracing::warn!(brand.slug = %one.brand.slug, error = with_causes(&error), "the crawl state could not be saved");
                    }
                    if let Err(error) = drop_held(&shared.storage, &one.brand.store).await {
                        tracing::warn!(brand.slug = %one.brand.slug, error = with_causes(&error), "the record of a held crawl could not be deleted");
                    }
                    shared.timed(one.summary, one.started)
                }
            })
            .buffer_unordered(STATES_AT_ONCE);
        for summary in settled.collect::<Vec<_>>().await {
            self.note(summary).await;
        }
    }

    /// Returns the unchanged brands that another crawl wrote during this run.
    async fn brought_by_others(&self, unchanged: Vec<StoreHost>) -> BTreeSet<StoreHost> {
        let mut others: BTreeSet<_> = unchanged.into_iter().collect();
        if others.is_empty() {
            return others;
        }
        let brands = async { self.lake.snapshot().await?.brands().await };
        match brands.await {
            Ok(brands) => {
                let own = brands.iter().filter(|row| row.refresh_run == self.shared.run);
                for row in own {
                    others.remove(&row.brand.store);
                }
            }
            Err(error) => tracing::warn!(
                error = with_causes(&error),
                "the earlier crawl of some brands is unknown"
            ),
        }
        others
    }

    async fn refuse(&mut self, one: CommittedStore, code: &str, reason: String) {
        let mut summary = self.shared.timed(one.summary, one.started);
        summary.outcome = Outcome::Failed {
            code: code.to_owned(),
            reason,
        };
        // The brand keeps its products.
        summary.products = self.shared.blank(&one.brand).products;
        summary.changes = None;
        self.note(summary).await;
    }

    /// Returns the run's counts so far, including the brands of the tick.
    fn row(&self, taken: usize) -> RunSummaryRow {
        RunSummaryRow {
            run: self.shared.run.clone(),
            started_at: self.started_at,
            brands_seen: self.seen + taken as u64,
            brands_failed: self.failed,
            brands_held_back: self.held_back,
        }
    }
}

/// Writes the ledger regularly, and every minute also records the results of the stores so far.
async fn show_life(ledger: &Mutex<Ledger>, shared: &RunContext, registry: &Registry) -> Infallible {
    let mut beats = 0_u32;
    loop {
        tokio::time::sleep(CHECKPOINT_EVERY).await;
        if let Err(error) = ledger.lock().await.beat(shared.clock.now()).await {
            // If the storage stays unavailable, the next step that needs it reports the error.
            tracing::warn!(
                error = with_causes(&error),
                "the ledger of the run could not be written"
            );
        }
        beats = beats.wrapping_add(1);
        if beats.is_multiple_of(BEATS_A_RECORD) && !shared.dry_run {
            let so_far = ledger.lock().await.report();
            record_so_far(&shared.storage, registry, &so_far).await;
        }
    }
}
