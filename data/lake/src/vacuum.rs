use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use data_model::Timestamp;
use data_storage::{ObjectPath, StorageError};
use deltalake::checkpoints::cleanup_expired_logs_for;
use deltalake::table::state::DeltaTableState;
use futures::{StreamExt, TryStreamExt};
use object_store::{ObjectMeta, ObjectStore};

use crate::delta::{Table, data_files, failed};
use crate::{Lake, LakeError};

/// What [`Lake::vacuum`] must leave readable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VacuumKeep {
    /// Every state of the last so long.
    pub retention: Duration,
    /// Beside these, every state that has these versions: those that live releases were built from. One that is gone
    /// already is passed over.
    pub versions: Vec<BTreeMap<String, u64>>,
    /// Lists what would go, and leaves it.
    pub dry_run: bool,
}

/// What [`Lake::vacuum`] removed or would remove.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VacuumReport {
    /// Data files and records of ticks, relative to the lake.
    pub files: Vec<String>,
    /// Their size together.
    pub bytes: u64,
    /// Commits and checkpoints that were dropped from the tables' logs.
    pub log_files: usize,
}

/// How long a file that no commit names may be on its way into one.
const IN_FLIGHT: Duration = Duration::from_secs(3600);

impl Lake {
    /// Removes data files that no state to be kept needs, records of ticks older than that, and what crashes left.
    ///
    /// # Errors
    /// The storage fails, a table is not readable, or the retention is longer than removed files are remembered.
    pub async fn vacuum(&self, keep: &VacuumKeep) -> Result<VacuumReport, LakeError> {
        let (hours, config) = (|time: Duration| time.as_secs().div_ceil(3600), &self.inner.config);
        if keep.retention > config.log_retention {
            let (asked_hours, known_hours) = (hours(keep.retention), hours(config.log_retention));
            return Err(LakeError::RetentionTooLong {
                asked_hours,
                known_hours,
            });
        }
        let mut state = self.state().await;
        // Room is what finishing a tick may lack.
        if let Err(error) = self.settle(&mut state).await {
            self.leave_unsettled(&mut state, error).await?;
        }
        // Others may have committed outside of any tick; what they need must not go either.
        state.tables = None;
        let now = self.inner.clock.now();
        let since = now.plus_millis(-millis(keep.retention));
        let ended = state.ended;
        // The last state is to be kept whatever its age; compaction may have moved the tables beyond it.
        let mut versions = keep.versions.clone();
        versions.extend(self.inner.ticks.end(ended).await?.map(|end| end.versions));
        let mut report = VacuumReport::default();
        for table in self.tables(&mut state).await?.values() {
            let Needed { files: needed, oldest } = needed(table, &versions, since).await?;
            let untracked_until = now.plus_millis(-millis(keep.retention.max(IN_FLIGHT)));
            let gone: Vec<ObjectMeta> = unneeded(table, &needed, untracked_until).await?;
            report.add(table.name.as_str(), &gone);
            if !keep.dry_run {
                delete(table.storage.store().as_ref(), gone).await?;
                report.log_files += clean_log(table, oldest, since).await?;
            }
        }
        let old = self.old_ticks(ended, since).await?;
        report.add("_ticks", &old);
        if !keep.dry_run {
            delete(self.inner.ticks.storage().store().as_ref(), old).await?;
        }
        Ok(report)
    }

    /// Records of ticks that ended before the retention began, but for the last of them: it is the state at its
    /// beginning.
    async fn old_ticks(&self, ended: u64, since: Timestamp) -> Result<Vec<ObjectMeta>, LakeError> {
        let (mut from, mut to) = (0, ended);
        let ticks = self.inner.ticks.ended().await?;
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
            .and_then(|index| ticks.get(usize::try_from(index).ok()?))
            .copied();
        self.inner.ticks.below(last.unwrap_or(0).min(ended)).await
    }
}

/// Drops from the log what no version from `oldest` on needs.
async fn clean_log(table: &Table, oldest: u64, since: Timestamp) -> Result<usize, LakeError> {
    let cleaned = cleanup_expired_logs_for(oldest, table.log_store().as_ref(), since.micros() / 1000, None).await;
    cleaned.map_err(failed(table.name, "log clean-up"))
}

/// What the states to be kept need of a table.
#[derive(Debug)]
struct Needed {
    /// The paths of their files.
    files: HashSet<String>,
    /// The first of their versions.
    oldest: u64,
}

async fn needed(table: &Table, versions: &[BTreeMap<String, u64>], since: Timestamp) -> Result<Needed, LakeError> {
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
        match DeltaTableState::try_new(table.log_store(), Some(version)).await {
            Ok(state) => {
                needed.extend(paths(&state));
                oldest = oldest.min(version);
            }
            // Of a version that nobody can ever read again nothing can be kept. Any other may be readable the next time.
            Err(error) if log_lacks(table, version).await? => {
                tracing::warn!(table = %table.name, version, %error, "a version to be kept is gone already");
            }
            Err(error) => return Err(failed(table.name, "load of a version")(error)),
        }
    }
    // What was removed within the retention was still there at its beginning.
    let mut removed = table.state().all_tombstones(table.log_store());
    while let Some(tombstone) = removed.next().await {
        let tombstone = tombstone.map_err(failed(table.name, "read of removed files"))?;
        if tombstone
            .deletion_timestamp()
            .is_none_or(|removed_ms| removed_ms.saturating_mul(1000) >= since.micros())
        {
            needed.insert(tombstone.path().into_owned());
        }
    }
    Ok(Needed { files: needed, oldest })
}

/// Whether commits that make up the version are missing from the table's log.
async fn log_lacks(table: &Table, version: u64) -> Result<bool, LakeError> {
    let log = ObjectPath::from("_delta_log");
    let listed: Vec<ObjectMeta> = table
        .storage
        .store()
        .list(Some(&log))
        .try_collect()
        .await
        .map_err(|source| StorageError::List {
            prefix: format!("{}/{log}", table.name),
            source,
        })?;
    let (mut commits, mut checkpoint) = (HashSet::new(), None);
    for (number, kind) in listed
        .iter()
        .filter_map(|meta| meta.location.filename()?.split_once('.'))
    {
        let Ok(number) = number.parse::<u64>() else { continue };
        if kind == "json" {
            commits.insert(number);
        } else if kind.starts_with("checkpoint") && number <= version {
            checkpoint = checkpoint.max(Some(number));
        }
    }
    let first = checkpoint.map_or(0, |checkpoint| checkpoint + 1);
    Ok(!(first..=version).all(|number| commits.contains(&number)))
}

/// The table's objects that are neither needed nor part of its log. One that no commit has ever named may be on
/// its way into one, if it is young.
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
                .map_err(failed(table.name, "read of removed files"))?
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
    let listed = table.storage.store().list(None);
    let gone = listed
        .try_filter(|meta| futures::future::ready(unneeded(meta)))
        .try_collect()
        .await;
    Ok(gone.map_err(|source| StorageError::List {
        prefix: table.name.to_string(),
        source,
    })?)
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
