//! Merges live observations of stores into the price history, as a task of the crawl's committer.
//!
//! Observation files are merged before each commit of the run, so that older observations come before the crawl in the
//! history. At the end of the run, the other files are merged together with the stores that the run found unchanged, so
//! that a run without changes merges them too. Each merge is one commit. A file is deleted only after the commit. If
//! the deletion fails, the next run merges the file again, which adds no rows.

use std::collections::{BTreeMap, HashSet};

use data_lake::{CrawlSpan, Lake, LakeError, ObservationReport, RunSummaryRow};
use data_model::{Observation, StoreHost};
use data_observations::{ObservationFile, list, read, remove};
use data_storage::Storage;

use crate::error::with_causes;
use crate::summary::LiveTotals;

/// Maximum number of files, and of observed variants, that one run merges. The next run merges the others.
const FILES_MAX: usize = 20_000;
const VARIANTS_MAX: usize = 5_000_000;
/// Maximum number of files in one commit.
const FILES_AT_ONCE: usize = 64;
/// A new commit starts after this many observed variants, because they are all in memory.
const VARIANTS_AT_ONCE: usize = 100_000;
/// Maximum number of unchanged stores compared with live observations in one commit.
const STORES_AT_ONCE: usize = 256;

#[derive(Debug)]
pub(crate) struct Folder {
    storage: Storage,
    /// Files that cannot be read, or that could not be deleted after the merge.
    left: HashSet<String>,
    files: usize,
    variants: usize,
    totals: LiveTotals,
    /// True if the lake refused the commit. The observations then wait for the next run.
    is_refused: bool,
}

/// Files of one commit.
#[derive(Debug, Default)]
struct Batch {
    files: Vec<ObservationFile>,
    observations: Vec<Observation>,
    variants: usize,
}

impl Folder {
    pub(crate) fn new(storage: Storage) -> Self {
        Self {
            storage,
            left: HashSet::new(),
            files: 0,
            variants: 0,
            totals: LiveTotals::default(),
            is_refused: false,
        }
    }

    /// Returns the totals since the last call.
    pub(crate) fn take_totals(&mut self) -> LiveTotals {
        std::mem::take(&mut self.totals)
    }

    /// Merges all available observations, and the crawls that found the stores in `seen` unchanged. A failure does not
    /// fail the run, and data that cannot be merged waits for the next run.
    pub(crate) async fn fold(&mut self, lake: &Lake, seen: BTreeMap<StoreHost, CrawlSpan>, row: &RunSummaryRow) {
        while !self.is_refused && self.files < FILES_MAX && self.variants < VARIANTS_MAX {
            let Some(batch) = self.next().await else { break };
            if batch.files.is_empty() {
                break;
            }
            self.files += batch.files.len();
            self.variants += batch.variants;
            self.totals.files += batch.files.len() as u64;
            // The results of the crawl are passed with the observations, because their times lie between those of the
            // observations.
            for observations in parts(batch.observations) {
                let stores: HashSet<&StoreHost> = observations.iter().map(|one| &one.store).collect();
                let of_these = seen.iter().filter(|(store, _)| stores.contains(store));
                let of_these = of_these.map(|(store, at)| (store.clone(), *at)).collect();
                self.commit(lake, observations, of_these, row).await;
            }
            if !self.is_refused {
                self.remove(&batch.files).await;
            }
        }
        let mut seen = seen.into_iter().peekable();
        while !self.is_refused && seen.peek().is_some() {
            let some = seen.by_ref().take(STORES_AT_ONCE).collect();
            self.commit(lake, Vec::new(), some, row).await;
        }
    }

    async fn commit(
        &mut self,
        lake: &Lake,
        observations: Vec<Observation>,
        seen: BTreeMap<StoreHost, CrawlSpan>,
        row: &RunSummaryRow,
    ) {
        if self.is_refused {
            return;
        }
        match lake.commit_observations(observations, seen, row.clone()).await {
            Ok(report) => self.totals.add(&report),
            Err(error) => self.refuse(&error),
        }
    }

    fn refuse(&mut self, error: &LakeError) {
        tracing::warn!(
            error = with_causes(error),
            "live observations could not be merged; the next run merges them"
        );
        self.is_refused = true;
    }

    /// Returns the oldest files that are not merged yet. `None` if they cannot be listed or read.
    async fn next(&mut self) -> Option<Batch> {
        let room = FILES_AT_ONCE.min(FILES_MAX - self.files);
        let listed = list(&self.storage, room, |path| !self.left.contains(path)).await;
        let files = match listed {
            Ok(files) => files,
            Err(error) => {
                tracing::warn!(error = with_causes(&error), "live observations cannot be listed");
                return None;
            }
        };
        let mut batch = Batch::default();
        for file in files {
            match read(&self.storage, &file).await {
                Ok(Some(observations)) => {
                    let count = |one: &Observation| one.variants.len() + one.gone.len();
                    batch.variants += observations.iter().map(count).sum::<usize>();
                    batch.observations.extend(observations);
                    batch.files.push(file);
                }
                // Another run has already merged and deleted the file.
                Ok(None) => {}
                Err(error) if error.is_damage() => {
                    tracing::warn!(
                        error = with_causes(&error),
                        "a file of live observations is skipped and stays in place"
                    );
                    self.totals.files_damaged += 1;
                    self.left.insert(file.path().to_owned());
                }
                Err(error) => {
                    tracing::warn!(error = with_causes(&error), "live observations cannot be read");
                    return None;
                }
            }
            if batch.variants >= VARIANTS_AT_ONCE {
                break;
            }
        }
        Some(batch)
    }

    async fn remove(&mut self, files: &[ObservationFile]) {
        if let Err(error) = remove(&self.storage, files).await {
            tracing::warn!(
                error = with_causes(&error),
                "merged files of live observations could not be deleted; merging them again adds nothing"
            );
            self.left.extend(files.iter().map(|file| file.path().to_owned()));
        }
    }
}

/// Sorts the observations by time and splits them into groups with a limited number of variants.
fn parts(mut observations: Vec<Observation>) -> Vec<Vec<Observation>> {
    // The files of two gateways may overlap in time, and the groups must not.
    observations.sort_by_key(|one| one.observed_at);
    let (mut parts, mut variants) = (vec![Vec::new()], 0);
    for one in observations {
        let count = one.variants.len() + one.gone.len();
        if variants > 0 && variants + count > VARIANTS_AT_ONCE {
            parts.push(Vec::new());
            variants = 0;
        }
        variants += count;
        if let Some(part) = parts.last_mut() {
            part.push(one);
        }
    }
    parts
}

impl LiveTotals {
    fn add(&mut self, report: &ObservationReport) {
        self.commits += u64::from(report.tick.is_some());
        self.folded += report.taken;
        self.price_changes += report.rows;
        self.dropped_unknown += report.unknown;
        self.dropped_outdated += report.outdated;
        self.dropped_other_currency += report.other_currency;
        self.dropped_ahead += report.ahead;
    }
}
