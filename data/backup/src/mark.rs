//! Markers of programs that are working on the backups.

use std::sync::{Mutex, PoisonError};

use data_model::{Clock, Timestamp};
use data_storage::{ObjectPath, Storage, get_bytes, put_over};
use serde::{Deserialize, Serialize};

use crate::BackupError;
use crate::backups::remove;

/// Time in milliseconds after which a marker that was not renewed counts as left behind by a dead program.
pub(crate) const SILENT_MS_MAX: i64 = 3 * 60 * 60 * 1000;
/// Interval in milliseconds at which a marker is renewed.
const RENEW_MS: i64 = 60 * 1000;
/// Time in milliseconds after which a marker of a program version that does not renew it counts as left behind.
const UNRENEWED_MS_MAX: i64 = 24 * 60 * 60 * 1000;

/// Marker that a program is working on the backups. `lift` removes it.
#[derive(Debug)]
pub(crate) struct Mark<'a> {
    backups: &'a Storage,
    path: ObjectPath,
    clock: &'a dyn Clock,
    began_at: Timestamp,
    renewed_at: Mutex<Timestamp>,
}

#[derive(Serialize, Deserialize)]
struct Content {
    began_at: i64,
    renewed_at: Option<i64>,
}

impl<'a> Mark<'a> {
    pub(crate) async fn set(backups: &'a Storage, path: ObjectPath, clock: &'a dyn Clock) -> Result<Self, BackupError> {
        let began_at = clock.now();
        let mark = Self {
            backups,
            path,
            clock,
            began_at,
            renewed_at: Mutex::new(began_at),
        };
        mark.write(began_at).await?;
        Ok(mark)
    }

    pub(crate) const fn began_at(&self) -> Timestamp {
        self.began_at
    }

    /// Renews the marker, at most once per interval however often this is called.
    ///
    /// # Errors
    /// [`BackupError::Lapsed`] if other programs may have considered this one dead, or the storage fails.
    pub(crate) async fn renew(&self) -> Result<(), BackupError> {
        let now = self.clock.now();
        {
            let mut renewed_at = self.renewed_at.lock().unwrap_or_else(PoisonError::into_inner);
            match now.millis_since(*renewed_at) {
                ..RENEW_MS => return Ok(()),
                SILENT_MS_MAX.. => {
                    return Err(BackupError::Lapsed {
                        path: self.path.to_string(),
                    });
                }
                _ => *renewed_at = now,
            }
        }
        self.write(now).await
    }

    /// A marker of another program that considered this one dead stays.
    pub(crate) async fn lift(&self) -> Result<(), BackupError> {
        let content = get_bytes(self.backups, &self.path).await?;
        let content = content.and_then(|content| serde_json::from_slice::<Content>(&content).ok());
        if content.is_some_and(|content| content.began_at != self.began_at.micros()) {
            return Ok(());
        }
        remove(self.backups, &self.path).await
    }

    async fn write(&self, now: Timestamp) -> Result<(), BackupError> {
        let content = Content {
            began_at: self.began_at.micros(),
            renewed_at: Some(now.micros()),
        };
        let content = serde_json::json!(content).to_string();
        Ok(put_over(self.backups, &self.path, content).await?)
    }
}

/// Returns `true` if the marker belongs to a program that is still working.
pub(crate) async fn holds(backups: &Storage, path: &ObjectPath, now: Timestamp) -> Result<bool, BackupError> {
    let Some(content) = get_bytes(backups, path).await? else {
        return Ok(false);
    };
    // An unreadable marker was not written by a running program.
    let Ok(content) = serde_json::from_slice::<Content>(&content) else {
        return Ok(false);
    };
    let (at, most) = match content.renewed_at {
        Some(renewed_at) => (renewed_at, SILENT_MS_MAX),
        None => (content.began_at, UNRENEWED_MS_MAX),
    };
    Ok(now.millis_since(Timestamp::from_micros(at)) < most)
}
