use data_model::{RunId, StoreHost, Timestamp};
use data_storage::{EventLog, Storage, StorageError};

use crate::check::{CheckReport, Checks, LastRun};

/// The reason why checks could not be read or recorded.
#[derive(Debug, thiserror::Error)]
pub enum ChecksError {
    /// The log could not be read.
    #[error("the record of checks cannot be read")]
    Read(#[source] StorageError),
    /// The log could not be written.
    #[error("the record of checks cannot be written")]
    Write(#[source] StorageError),
    /// Others recorded checks each time these were about to be written.
    #[error("others keep recording checks")]
    Contended,
}

/// The folder of the record.
const PREFIX: &str = "checks";
/// The times that a record is merged anew because another crawl was first.
const TRIES_MAX: usize = 64;
/// The last events that stay: one that is damaged is passed over for the one before it.
const KEPT: u64 = 8;

/// The last check of every brand; empty where nothing was ever checked. An event that cannot be understood is passed over
/// for the one before it, with a warning.
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

/// [`load`], where there is something newer than the event of this number.
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

/// Takes in what a run found, and says what is known now. Stores that `is_registered` denies are forgotten. Any number of
/// crawls may record at the same time.
///
/// # Errors
/// See [`ChecksError`]; after [`ChecksError::Write`] whether it was recorded is unknown, and it may be recorded again.
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

/// [`record`] of a run that is still at work: it says what came of stores, and leaves the last run that ended as it is.
///
/// # Errors
/// As [`record`].
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
            // Each event says all that is known: the old ones only take room.
            if let Err(error) = log.forget_below(seq.saturating_sub(KEPT)).await {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "old records of checks are left"
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
                    "a record of checks is passed over"
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
