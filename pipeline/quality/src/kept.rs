//! Stores the statistics of earlier runs in `quality/log/{seq:020}.json`, and the newest report in
//! `quality/report.html` and `.json`.

use std::collections::BTreeMap;

use async_recursion::async_recursion as boxed;
use data_model::{StoreHost, Timestamp};
use data_reports::{BrandFigures, Point, QualityReport, render};
use data_storage::{EventLog, Storage, StorageError, put_over};
use serde::{Deserialize, Serialize};

use crate::error::QualityError;

const PREFIX: &str = "quality/log";
const REPORT: &str = "quality";
/// Maximum number of attempts to save a run's statistics if other runs save theirs first.
const TRIES_MAX: u32 = 16;

/// Statistics of one brand, valid while its content has this hash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KeptBrand {
    pub(crate) catalogue_hash: String,
    pub(crate) quarantined: u64,
    /// Statistics of the brand. `None` if a file with the brand's rows was lost.
    pub(crate) figures: Option<BrandFigures>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KeptRun {
    pub(crate) made_at: Timestamp,
    pub(crate) versions: BTreeMap<String, u64>,
    /// Trend of earlier runs and this one, oldest first.
    pub(crate) trend: Vec<Point>,
    pub(crate) brands: BTreeMap<StoreHost, KeptBrand>,
}

/// Statistics of the last two runs with different data, newest first.
#[derive(Debug, Clone, Default)]
pub struct KeptRuns {
    pub(crate) runs: Vec<KeptRun>,
}

impl KeptRuns {
    /// Returns the newest run with another state of the lake.
    pub(crate) fn before(&self, versions: &BTreeMap<String, u64>) -> Option<&KeptRun> {
        self.runs.iter().find(|run| run.versions != *versions)
    }

    pub(crate) fn of(&self, versions: &BTreeMap<String, u64>) -> Option<&KeptRun> {
        self.runs.iter().find(|run| run.versions == *versions)
    }

    pub(crate) fn figures_of(&self, store: &StoreHost, catalogue_hash: &str) -> Option<&BrandFigures> {
        let brands = self.runs.iter().filter_map(|run| run.brands.get(store));
        let mut same = brands.filter(|brand| brand.catalogue_hash == catalogue_hash);
        same.find_map(|brand| brand.figures.as_ref())
    }

    /// Returns the table versions and the time of the newest run with other versions.
    #[must_use]
    pub fn run_before(&self, versions: &BTreeMap<String, u64>) -> Option<(&BTreeMap<String, u64>, Timestamp)> {
        self.before(versions).map(|run| (&run.versions, run.made_at))
    }

    /// Returns the trend including `report`.
    #[must_use]
    pub fn trend(&self, report: &QualityReport) -> Vec<Point> {
        let before = self.before(&report.versions).map(|run| run.trend.clone());
        let mut trend = before.unwrap_or_default();
        trend.push(report.point());
        trend
    }
}

fn log(storage: &Storage) -> EventLog<KeptRun> {
    EventLog::new(storage, PREFIX)
}

/// Loads the saved statistics. An unreadable file is skipped with a warning.
///
/// # Errors
/// The storage fails.
#[boxed]
pub async fn kept(storage: &Storage) -> Result<KeptRuns, QualityError> {
    let log = log(storage);
    let mut kept = KeptRuns::default();
    let newest = log.latest_seq().await?.unwrap_or(0);
    for seq in (newest.saturating_sub(4)..=newest).rev().filter(|seq| *seq > 0) {
        match log.read(seq).await {
            Ok(run) => kept.runs.extend(run),
            Err(error @ (StorageError::DecodeEvent { .. } | StorageError::EventTooLarge { .. })) => {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(seq, error, "the figures of a run cannot be read and are skipped");
            }
            Err(error) => return Err(error.into()),
        }
        if kept.runs.len() == 2 {
            break;
        }
    }
    Ok(kept)
}

/// Saves a report's statistics, unless the last saved statistics are of the same state, and replaces the newest
/// report.
///
/// # Errors
/// The storage fails.
#[boxed]
pub async fn keep(storage: &Storage, report: &QualityReport, keep: u64) -> Result<(), QualityError> {
    let log = log(storage);
    let brands = report.brands.iter().map(|brand| {
        let kept = KeptBrand {
            catalogue_hash: brand.catalogue_hash.clone(),
            quarantined: brand.quarantined,
            figures: brand.now.clone(),
        };
        (brand.store.clone(), kept)
    });
    let earlier = report
        .trend
        .len()
        .saturating_sub(usize::try_from(keep).unwrap_or(usize::MAX));
    let run = KeptRun {
        made_at: report.made_at,
        versions: report.versions.clone(),
        trend: report.trend.get(earlier..).unwrap_or_default().to_vec(),
        brands: brands.collect(),
    };
    for _ in 0..TRIES_MAX {
        let newest = log.latest_seq().await?.unwrap_or(0);
        let is_kept = match log.read(newest).await {
            Ok(Some(last)) => last.versions == run.versions,
            _ => false,
        };
        if is_kept || log.append_at(newest + 1, &run).await? {
            if let Err(error) = log.forget_below((newest + 2).saturating_sub(keep)).await {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(error, "figures of old runs could not be deleted");
            }
            break;
        }
    }
    let at = storage.child(REPORT);
    put_over(&at, &"report.json".into(), serde_json::to_vec(report)?).await?;
    put_over(&at, &"report.html".into(), render(report).into_bytes()).await?;
    Ok(())
}

/// Returns the location of the newest report: a path if the home is a folder, or else a URL.
#[must_use]
pub fn latest(storage: &Storage) -> String {
    let at = storage.child(REPORT);
    match at.local_dir() {
        Some(folder) => folder.join("report.html").display().to_string(),
        None => format!("{}report.html", at.url()),
    }
}
