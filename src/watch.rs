//! Metrics of a server about its home: free disk space, and the newest backup.

use std::path::{Path, PathBuf};
use std::time::Duration;

use data_backup::BACKED_UP;
use data_model::Timestamp;
use data_storage::{ObjectPath, Storage, free_bytes, get_bytes, put_over};
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::exit::plain;
use crate::wiring::Context;

const FREE: &str = "disk_free_bytes";
const BACKUP: &str = "backup_newest_timestamp_seconds";

/// Interval between measurements.
const LOOK_EVERY: Duration = Duration::from_secs(60);

/// Record of the newest backup, in the home.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct BackedUp {
    began_at: Timestamp,
    /// Folder of the backup, if it is in a local folder.
    #[serde(default)]
    pub(crate) folder: Option<PathBuf>,
}

/// Records in the home when its newest backup began. A failed write is ignored, because the backup itself is complete.
pub(crate) async fn note_backup(home: &Storage, began_at: Timestamp, folder: Option<&Path>) {
    let folder = folder.map(Path::to_owned);
    let note = serde_json::json!(BackedUp { began_at, folder }).to_string();
    if let Err(error) = put_over(home, &ObjectPath::from(BACKED_UP), note).await {
        tracing::warn!("servers are not notified of this backup: {}", plain(&error.into()));
    }
}

/// Returns the newest recorded backup, if any.
pub(crate) async fn newest_backup(home: &Storage) -> anyhow::Result<Option<BackedUp>> {
    let note = get_bytes(home, &ObjectPath::from(BACKED_UP)).await?;
    Ok(note.map(|note| serde_json::from_slice(&note)).transpose()?)
}

/// Measures periodically until `stop` is cancelled.
pub(crate) fn start(context: &Context, home: &Storage, stop: CancellationToken) {
    metrics::describe_gauge!(
        FREE,
        metrics::Unit::Bytes,
        "Free space on the disks of the home and of the cache, if they are local folders"
    );
    metrics::describe_gauge!(
        BACKUP,
        metrics::Unit::Seconds,
        "Start of the newest backup of the home, in seconds since 1970; 0 without a backup"
    );
    let cache = context.cache_dir(home);
    let home = home.clone();
    tokio::spawn(async move {
        let mut ticks = tokio::time::interval(LOOK_EVERY);
        while stop.run_until_cancelled(ticks.tick()).await.is_some() {
            tell_room(&home, &cache);
            match newest_backup(&home).await {
                // The time is exact to the microsecond for some 200 years.
                Ok(newest) => {
                    metrics::gauge!(BACKUP).set(newest.map_or(0.0, |newest| newest.began_at.micros() as f64 / 1e6));
                }
                Err(error) => tracing::debug!("{BACKED_UP}: {}", plain(&error)),
            }
        }
    });
}

fn tell_room(home: &Storage, cache: &Path) {
    let places = [("home", home.free_bytes()), ("cache", free_bytes(cache))];
    for (place, free) in places {
        if let Some(free) = free {
            metrics::gauge!(FREE, "place" => place).set(free as f64);
        }
    }
}
