use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use async_recursion::async_recursion as boxed;
use data_model::Timestamp;
use data_storage::{ObjectPath, StorageError, get_bytes, list_all, put_over};
use deltalake::checkpoints::cleanup_expired_logs_for;
use deltalake::table::state::DeltaTableState;
use futures::{StreamExt, TryStreamExt};
use object_store::{ObjectMeta, ObjectStore};
use serde::{Deserialize, Serialize};

use crate::config::LOG_RETENTION;
use crate::delta::{Table, data_files, failed, state_at};
use crate::{Lake, LakeError};

/// States of the lake that [`Lake::vacuum`] keeps readable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VacuumKeep {
    /// Every state within this time before now is retained.
    pub retention: Duration,
    /// Table versions whose states are also retained, such as those of live releases. Versions that no longer exist are
    /// skipped.
    pub versions: Vec<BTreeMap<String, u64>>,
    /// `true` to list the objects that would be removed without removing them.
    pub dry_run: bool,
}

/// Objects that [`Lake::vacuum`] removed or would remove.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VacuumReport {
    /// Paths of data files and of commit batch records, relative to the lake.
    pub files: Vec<String>,
    /// Total size of the files, in bytes.
    pub bytes: u64,
    /// Number of commits and checkpoints that were removed from the tables' logs.
    pub log_files: usize,
}

const NOTE: &str = "_ticks/vacuumed.json";

#[derive(Debug, Serialize, Deserialize)]
struct VacuumNote {
    tick: u64,
}

/// Time during which a file that no commit names may still be awaiting its commit.
const IN_FLIGHT: Duration = Duration::from_secs(3600);

impl Lake {
    /// Removes data files and commit batch records that no retained state needs, and leftovers of crashes.
    ///
    /// # Errors
    /// The storage fails, a table is not readable, or the retention exceeds the time for which logs remember removed
    /// files.
    #[boxed]
    pub async fn vacuum(&self, keep: &VacuumKeep) -> Result<VacuumReport, LakeError> {
        self.vacuum_some(keep, usize::MAX).await
    }

    /// Vacuums as [`Lake::vacuum`] does, but removes at most `files_max` files. Later calls remove the others.
    ///
    /// # Errors
    /// The errors of [`Lake::vacuum`].
    #[boxed]
    pub async fn vacuum_some(&self, keep: &VacuumKeep, files_max: usize) -> Result<VacuumReport, LakeError> {
        if keep.retention > LOG_RETENTION {
            let hours = |time: Duration| time.as_secs().div_ceil(3600);
            let (asked_hours, known_hours) = (hours(keep.retention), hours(LOG_RETENTION));
            return Err(LakeError::RetentionTooLong {
                asked_hours,
                known_hours,
            });
        }
        let mut state = self.state().await;
        // A full disk may have prevented the end of a commit batch, so that the vacuum continues after an error.
        if let Err(error) = self.recover(&mut state).await {
            self.leave_unrecovered(&mut state, error).await?;
        }
        // Other processes may have committed outside of any commit batch. The files of these commits must not be
        // removed.
        state.tables = None;
        let now = self.inner.clock.now();
        let since = now.plus_millis(-millis(keep.retention));
        let ended = state.ended;
        // The last state is retained regardless of its age. Compaction may have moved the tables beyond it.
        let mut versions = keep.versions.clone();
        versions.extend(self.inner.ticks.end(ended).await?.map(|end| end.versions));
        // The files of every state since then exist, or the log records them as removed.
        let ticks = self.inner.ticks.ended().await?;
        let first = self.last_tick_before(&ticks, ended, since).await?;
        let remembered = match first.or(ticks.first().copied()) {
            Some(tick) => self
                .inner
                .ticks
                .end(tick)
                .await?
                .map(|end| end.versions)
                .unwrap_or_default(),
            None => BTreeMap::new(),
        };
        let mut room = files_max;
        let mut report = VacuumReport::default();
        for table in self.tables(&mut state).await?.values() {
            let NeededFiles { files: needed, oldest } =
                needed(table, &versions, since, remembered.get(table.name.as_str()).copied()).await?;
            let untracked_until = now.plus_millis(-millis(keep.retention.max(IN_FLIGHT)));
            let mut gone: Vec<ObjectMeta> = unneeded(table, &needed, untracked_until).await?;
            gone.truncate(room);
            room -= gone.len();
            report.add(table.name.as_str(), &gone);
            if !keep.dry_run {
                delete(table.storage.store().as_ref(), gone).await?;
                report.log_files += clean_log(table, oldest, since).await?;
            }
        }
        // The last record before the retention began is the state at its beginning.
        let mut old = self.inner.ticks.below(first.unwrap_or(0).min(ended)).await?;
        old.truncate(room);
        report.add("_ticks", &old);
        if !keep.dry_run {
            delete(self.inner.ticks.storage().store().as_ref(), old).await?;
            let note = serde_json::to_vec(&VacuumNote { tick: ended }).map_err(|source| LakeError::TickRecord {
                path: NOTE.to_owned(),
                source,
            })?;
            // Without its record, the vacuum still succeeded, and the next vacuum just comes earlier.
            if let Err(error) = put_over(&self.inner.storage, &ObjectPath::from(NOTE), note).await {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(error, "the time of the vacuum could not be recorded");
            }
        }
        Ok(report)
    }

    /// Returns `true` if at least `ticks` commit batches have ended since the last vacuum.
    ///
    /// # Errors
    /// The storage fails.
    #[boxed]
    pub async fn is_vacuum_due(&self, ticks: u64) -> Result<bool, LakeError> {
        let bytes = get_bytes(&self.inner.storage, &ObjectPath::from(NOTE)).await?;
        let last = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let last = last.map_or(0, |VacuumNote { tick }| tick);
        Ok(self.state().await.ended >= last.saturating_add(ticks))
    }

    async fn last_tick_before(&self, ticks: &[u64], ended: u64, since: Timestamp) -> Result<Option<u64>, LakeError> {
        let (mut from, mut to) = (0, ended);
        to = to.min(ticks.len() as u64);
        while from < to {
            let middle = u64::midpoint(from, to);
            let tick = usize::try_from(middle)
                .ok()
                .and_then(|index| ticks.get(index))
                .copied()
                .unwrap_or(0);
            match self.inner.ticks.end(tick).await? {
                Some(end) if end.committed_at < since => from = middle + 1,
                _ => to = middle,
            }
        }
        let last = from
            .checked_sub(1)
            .and_then(|index| ticks.get(usize::try_from(index).ok()?));
        Ok(last.copied())
    }
}

async fn clean_log(table: &Table, oldest: u64, since: Timestamp) -> Result<usize, LakeError> {
    let cleaned = cleanup_expired_logs_for(oldest, table.log_store().as_ref(), since.micros() / 1000, None).await;
    cleaned.map_err(failed(table.name, "log clean-up"))
}

#[derive(Debug)]
struct NeededFiles {
    files: HashSet<String>,
    oldest: u64,
}

async fn needed(
    table: &Table,
    versions: &[BTreeMap<String, u64>],
    since: Timestamp,
    remembered: Option<u64>,
) -> Result<NeededFiles, LakeError> {
    let paths = |state: &DeltaTableState| {
        data_files(table.name, state)
            .into_iter()
            .map(|file| file.path.to_string())
    };
    let mut needed: HashSet<String> = paths(table.state()).collect();
    let mut oldest = table.version();
    let versions: HashSet<u64> = versions
        .iter()
        .filter_map(|versions| versions.get(table.name.as_str()).copied())
        .collect();
    for version in versions.into_iter().filter(|version| *version != table.version()) {
        if remembered.is_some_and(|remembered| version > remembered) {
            oldest = oldest.min(version);
            continue;
        }
        match state_at(&table.storage, table.log_store(), table.name, version).await {
            Ok(state) => {
                needed.extend(paths(&state));
                oldest = oldest.min(version);
            }
            // A version that is permanently unreadable has no files to retain. Other versions may become readable
            // again.
            Err(error @ LakeError::VersionLost { .. }) => {
                tracing::warn!(table = %table.name, version, %error, "a table version within the retention period can no longer be read");
            }
            Err(error) => return Err(error),
        }
    }
    // A file that was removed within the retention period was in use at its beginning.
    let mut removed = table.state().all_tombstones(table.log_store());
    while let Some(tombstone) = removed.next().await {
        let tombstone = tombstone.map_err(failed(table.name, "reading the removed files"))?;
        if tombstone
            .deletion_timestamp()
            .is_none_or(|removed_ms| removed_ms.saturating_mul(1000) >= since.micros())
        {
            needed.insert(tombstone.path().into_owned());
        }
    }
    Ok(NeededFiles { files: needed, oldest })
}

/// Returns the table's objects that are neither needed nor part of its log. Young files that no commit names are
/// excluded, because a commit in progress may add them.
async fn unneeded(
    table: &Table,
    needed: &HashSet<String>,
    untracked_until: Timestamp,
) -> Result<Vec<ObjectMeta>, LakeError> {
    let mut tracked = HashSet::new();
    let mut removed = table.state().all_tombstones(table.log_store());
    while let Some(tombstone) = removed.next().await {
        tracked.insert(
            tombstone
                .map_err(failed(table.name, "reading the removed files"))?
                .path()
                .into_owned(),
        );
    }
    let unneeded = |meta: &ObjectMeta| {
        let path = meta.location.as_ref();
        let data = path.ends_with(".parquet") && !path.starts_with("_delta_log/");
        let young = meta.last_modified.timestamp_micros() > untracked_until.micros();
        data && !needed.contains(path) && (tracked.contains(path) || !young)
    };
    let mut listed = list_all(&table.storage, None).await?;
    listed.retain(unneeded);
    Ok(listed)
}

async fn delete(store: &dyn ObjectStore, files: Vec<ObjectMeta>) -> Result<(), LakeError> {
    let paths = futures::stream::iter(files.into_iter().map(|meta| Ok(meta.location))).boxed();
    let deleted = store.delete_stream(paths).try_for_each(|_| async { Ok(()) }).await;
    Ok(deleted.map_err(|source| StorageError::Write {
        path: "vacuum".to_owned(),
        source,
    })?)
}

fn millis(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}

impl VacuumReport {
    fn add(&mut self, folder: &str, files: &[ObjectMeta]) {
        self.files
            .extend(files.iter().map(|meta| format!("{folder}/{}", meta.location)));
        self.bytes += files.iter().map(|meta| meta.size).sum::<u64>();
    }
}
