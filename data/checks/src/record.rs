use data_model::{RunId, StoreHost, Timestamp};
use data_storage::{EventLog, Storage, StorageError};

use crate::check::{CheckReport, Checks, LastRun};

/// Reason why checks could not be read or recorded.
#[derive(Debug, thiserror::Error)]
pub enum ChecksError {
    /// The log could not be read.
    #[error("the record of checks cannot be read")]
    Read(#[source] StorageError),
    /// The log could not be written.
    #[error("the record of checks cannot be written")]
    Write(#[source] StorageError),
    /// Other crawls recorded checks before every attempt of this crawl.
    #[error("other processes keep recording checks")]
    Contended,
}

const PREFIX: &str = "checks";
/// Maximum number of attempts to merge and write a record while other crawls write first.
const TRIES_MAX: usize = 64;
/// Number of newest events to keep. If an event is damaged, the previous one is used.
const KEPT: u64 = 8;

/// Loads the last check of every brand. If an event is invalid, the previous one is used with a warning.
///
/// # Errors
/// [`ChecksError::Read`].
pub async fn load(storage: &Storage) -> Result<Checks, ChecksError> {
    let log = log(storage);
    let Some(latest) = log.latest_seq().await.map_err(ChecksError::Read)? else {
        return Ok(Checks::default());
    };
    fold(&log, latest).await
}

/// Loads the checks as [`load`] does, but only if there is a newer event than this number.
///
/// # Errors
/// [`ChecksError::Read`].
pub async fn load_newer(storage: &Storage, seq: u64) -> Result<Option<Checks>, ChecksError> {
    let log = log(storage);
    match log.latest_seq().await.map_err(ChecksError::Read)? {
        Some(latest) if latest > seq => fold(&log, latest).await.map(Some),
        _ => Ok(None),
    }
}

/// Merges the results of a run and returns the new state. Stores for which `is_registered` returns `false` are removed.
/// Any number of crawls may record concurrently.
///
/// # Errors
/// A [`ChecksError`]. After [`ChecksError::Write`], the results may have been recorded, and may be recorded again.
pub async fn record(
    storage: &Storage,
    run: &LastRun,
    checked: &[CheckReport],
    is_registered: impl Fn(&StoreHost) -> bool,
) -> Result<Checks, ChecksError> {
    append(storage, |checks| {
        checks.take(&run.run, run.ended_at, checked, &is_registered);
        checks.take_end(run);
    })
    .await
}

/// Merges the results of stores of a run in progress as [`record`] does. The last run stays unchanged.
///
/// # Errors
/// The errors of [`record`].
pub async fn record_stores(
    storage: &Storage,
    run: &RunId,
    now: Timestamp,
    checked: &[CheckReport],
    is_registered: impl Fn(&StoreHost) -> bool,
) -> Result<Checks, ChecksError> {
    append(storage, |checks| checks.take(run, now, checked, &is_registered)).await
}

async fn append(storage: &Storage, take: impl Fn(&mut Checks)) -> Result<Checks, ChecksError> {
    let log = log(storage);
    for _ in 0..TRIES_MAX {
        let latest = log.latest_seq().await.map_err(ChecksError::Read)?;
        let mut checks = match latest {
            Some(latest) => fold(&log, latest).await?,
            None => Checks::default(),
        };
        take(&mut checks);
        let seq = latest.unwrap_or(0) + 1;
        if log.append_at(seq, &checks).await.map_err(ChecksError::Write)? {
            checks.seq = seq;
            // Every event contains the complete state, so that old events are not needed.
            if let Err(error) = log.forget_below(seq.saturating_sub(KEPT)).await {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "old records of checks could not be deleted"
                );
            }
            return Ok(checks);
        }
    }
    Err(ChecksError::Contended)
}

async fn fold(log: &EventLog<Checks>, latest: u64) -> Result<Checks, ChecksError> {
    for seq in (latest.saturating_sub(KEPT)..=latest).rev().filter(|seq| *seq > 0) {
        match log.read(seq).await {
            Ok(Some(checks)) => return Ok(Checks { seq: latest, ..checks }),
            Ok(None) => {}
            Err(error @ (StorageError::DecodeEvent { .. } | StorageError::EventTooLarge { .. })) => {
                tracing::warn!(
                    seq,
                    error = &error as &dyn std::error::Error,
                    "a damaged record of checks is skipped"
                );
            }
            Err(error) => return Err(ChecksError::Read(error)),
        }
    }
    Ok(Checks {
        seq: latest,
        ..Checks::default()
    })
}

fn log(storage: &Storage) -> EventLog<Checks> {
    EventLog::new(storage, PREFIX)
}
