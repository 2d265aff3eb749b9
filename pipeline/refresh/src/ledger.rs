//! Progress of a run, saved in `runs/{run}.json` so that a killed run can be resumed.

use std::collections::BTreeMap;

use async_recursion::async_recursion as boxed;
use data_model::{BrandSlug, RunId, Timestamp};
use data_storage::{Storage, StorageError, delete};
use object_store::path::Path;
use pipeline_crawl::{list_objects, load_document, save_readable};
use tokio::sync::mpsc;

use crate::memory::MemoryReport;
use crate::summary::{LiveTotals, Outcome, RunReport, RunState, StoreSummary, Totals};

/// Error from reading or writing the ledger of runs.
#[derive(Debug, thiserror::Error)]
#[error("the ledger of runs cannot be read or written")]
pub struct LedgerError(#[from] StorageError);

#[derive(Debug)]
pub(crate) struct Ledger {
    storage: Storage,
    report: RunReport,
    stores: BTreeMap<BrandSlug, StoreSummary>,
    /// True if an entry is not written yet.
    dirty: bool,
    /// True in a dry run, which writes nothing.
    silent: bool,
    /// Receives the stores in the ledger after it is written.
    told: Option<mpsc::UnboundedSender<Vec<BrandSlug>>>,
    /// Stores added since the last write.
    unwritten: Vec<BrandSlug>,
}

impl Ledger {
    /// Opens a new run or resumes `report`. Stores that failed or were skipped are tried again.
    pub(crate) fn open(storage: Storage, mut report: RunReport, silent: bool) -> Self {
        let through = |store: &StoreSummary| !matches!(store.outcome, Outcome::Failed { .. } | Outcome::Skipped);
        let stores = std::mem::take(&mut report.stores).into_iter().filter(through);
        let stores = stores.map(|store| (store.slug.clone(), store)).collect();
        Self {
            storage,
            report,
            stores,
            dirty: true,
            silent,
            told: None,
            unwritten: Vec::new(),
        }
    }

    /// Opens the ledger of a run with a queue. It keeps all stores, because the queue decides about retries of failed
    /// ones. Each store is sent to `told` when its entry is written, so that the channel has at most as many entries as
    /// the run has stores.
    pub(crate) fn open_queued(
        storage: Storage,
        mut report: RunReport,
        told: mpsc::UnboundedSender<Vec<BrandSlug>>,
    ) -> Self {
        let stores = std::mem::take(&mut report.stores).into_iter();
        Self {
            stores: stores.map(|store| (store.slug.clone(), store)).collect(),
            told: Some(told),
            ..Self::open(storage, report, false)
        }
    }

    /// Removes finished stores for which `is_outdated` is true, so that the run processes them again.
    pub(crate) fn reopen(&mut self, is_outdated: impl Fn(&StoreSummary) -> bool) {
        self.stores.retain(|_, store| !is_outdated(store));
    }

    pub(crate) fn is_through(&self, slug: &BrandSlug) -> bool {
        self.stores.contains_key(slug)
    }

    pub(crate) fn through(&self) -> usize {
        self.stores.len()
    }

    pub(crate) fn held_back(&self) -> u64 {
        let held = |store: &&StoreSummary| matches!(store.outcome, Outcome::HeldBack { .. });
        self.stores.values().filter(held).count() as u64
    }

    pub(crate) fn failed(&self) -> u64 {
        let failed = |store: &&StoreSummary| matches!(store.outcome, Outcome::Failed { .. });
        self.stores.values().filter(failed).count() as u64
    }

    pub(crate) fn note(&mut self, store: StoreSummary) {
        if self.told.is_some() {
            self.unwritten.push(store.slug.clone());
        }
        self.stores.insert(store.slug.clone(), store);
        self.dirty = true;
    }

    pub(crate) fn note_commits(&mut self, commits: usize) {
        self.report.commits += commits as u64;
        self.dirty = true;
    }

    /// Adds the results of a merge to those from before an interruption.
    pub(crate) fn note_live(&mut self, live: &LiveTotals) {
        if !live.is_none() {
            self.report.totals.live.merge(live);
            self.note_commits(usize::try_from(live.commits).unwrap_or(usize::MAX));
        }
    }

    /// A resumed run keeps the maximum memory of all its attempts.
    pub(crate) fn note_memory(&mut self, memory: MemoryReport) {
        let before = self.report.memory.take();
        self.report.memory = Some(before.map_or(memory, |before| before.most(memory)));
        self.dirty = true;
    }

    /// Writes the entries added since the last write.
    pub(crate) async fn checkpoint(&mut self, now: Timestamp) -> Result<(), LedgerError> {
        if self.dirty {
            self.beat(now).await?;
        }
        Ok(())
    }

    /// Writes the entries and the time, to show that the run is alive.
    pub(crate) async fn beat(&mut self, now: Timestamp) -> Result<(), LedgerError> {
        self.report.ended_at = now;
        self.write(&self.report()).await?;
        self.written();
        Ok(())
    }

    /// Marks the run as ended or interrupted, and returns its report.
    pub(crate) async fn close(&mut self, state: RunState, now: Timestamp) -> Result<RunReport, LedgerError> {
        (self.report.state, self.report.ended_at) = (state, now);
        let report = self.report();
        self.write(&report).await?;
        self.written();
        Ok(report)
    }

    fn written(&mut self) {
        self.dirty = false;
        let stores = std::mem::take(&mut self.unwritten);
        if let Some(told) = self.told.as_ref().filter(|_| !stores.is_empty()) {
            // The receiver is gone if the run was abandoned.
            let _ = told.send(stores);
        }
    }

    /// Returns the report of the run so far.
    pub(crate) fn report(&self) -> RunReport {
        let stores: Vec<_> = self.stores.values().cloned().collect();
        RunReport {
            totals: Totals {
                live: self.report.totals.live,
                ..Totals::of(&stores)
            },
            stores,
            ..self.report.clone()
        }
    }

    async fn write(&self, report: &RunReport) -> Result<(), LedgerError> {
        if self.silent {
            Ok(())
        } else {
            save_run(&self.storage, report).await
        }
    }
}

pub(crate) fn run_at(run: &RunId, extension: &str) -> Path {
    Path::from_iter(["runs", &format!("{run}.{extension}")])
}

pub(crate) async fn save_run(storage: &Storage, report: &RunReport) -> Result<(), LedgerError> {
    Ok(save_readable(storage, &run_at(&report.run, "json"), report).await?)
}

/// Returns the ids of all runs, latest first.
#[boxed]
pub async fn list_runs(storage: &Storage) -> Result<Vec<RunId>, LedgerError> {
    let found = list_objects(storage, &Path::from("runs")).await?;
    let run = |path: &Path| path.filename()?.strip_suffix(".json")?.parse().ok();
    let mut runs: Vec<RunId> = found.iter().filter_map(run).collect();
    // Run ids sort chronologically.
    runs.sort_unstable_by(|one, other| other.cmp(one));
    Ok(runs)
}

/// Returns the report of a run. `None` if it does not exist or cannot be parsed.
#[boxed]
pub async fn read_run(storage: &Storage, run: &RunId) -> Result<Option<RunReport>, LedgerError> {
    Ok(load_document(storage, &run_at(run, "json")).await?)
}

/// Number of latest runs among which one to resume is searched.
const UNFINISHED_AMONG: usize = 8;

/// Time range of the runs that may be resumed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ResumeWindow {
    /// The run must have started after this time.
    pub(crate) since: Timestamp,
    /// The last ledger write must be before this time.
    pub(crate) silent_since: Timestamp,
    pub(crate) now: Timestamp,
}

/// Returns the latest unfinished run for the same brands within `window`. Earlier unfinished runs are marked as
/// abandoned.
pub(crate) async fn find_unfinished(
    storage: &Storage,
    only: Option<&[BrandSlug]>,
    force: bool,
    window: ResumeWindow,
) -> Result<Option<RunReport>, LedgerError> {
    // A run with a time in the future comes from a wrong clock, so that its age is unknown.
    let latest = window.now.latest_believed(0);
    for run in list_runs(storage).await?.into_iter().take(UNFINISHED_AMONG) {
        let Some(mut report) = read_run(storage, &run).await? else {
            continue;
        };
        if !matches!(report.state, RunState::Running | RunState::Interrupted) {
            continue;
        }
        // The committer of the queue resumes this run.
        if report.queued {
            continue;
        }
        if report.state == RunState::Running && report.ended_at > window.silent_since && report.ended_at <= latest {
            continue;
        }
        if report.started_at < window.since || report.started_at > latest {
            report.state = RunState::Abandoned;
            save_run(storage, &report).await?;
        } else if report.only.as_deref() == only && report.force == force {
            return Ok(Some(report));
        }
    }
    Ok(None)
}

/// Deletes summaries and reports of all runs except the latest `kept`.
pub(crate) async fn prune_runs(storage: &Storage, kept: usize, now: Timestamp) -> Result<(), LedgerError> {
    let mut runs = list_runs(storage).await?;
    // A run with a time in the future comes from a wrong clock. It is not the latest and is deleted first.
    let latest = second_of(now.latest_believed(0));
    runs.sort_by_key(|run| run.as_str() > latest.as_str());
    for run in runs.into_iter().skip(kept.max(1)) {
        // The summary is deleted last. As long as it exists, the next call finds the run.
        for extension in ["html", "json"] {
            delete(storage, &run_at(&run, extension)).await?;
        }
    }
    Ok(())
}

/// Returns the start of the ids of runs in a second, such as `20261121T012725Z`.
#[must_use]
pub fn second_of(moment: Timestamp) -> String {
    let second = moment
        .to_string()
        .chars()
        .take(19)
        .filter(|char| !matches!(char, '-' | ':'))
        .collect::<String>();
    second + "Z"
}
