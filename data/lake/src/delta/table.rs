//! One Delta table: its log, its current state, and commits that land completely or not at all.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use data_model::Timestamp;
use data_storage::Storage;
use deltalake::DeltaTableError;
use deltalake::kernel::transaction::{CommitData, PROTOCOL, TransactionError};
use deltalake::kernel::{Action, Add, LogicalFileView, Remove, Transaction};
use deltalake::logstore::{CommitOrBytes, LogStoreRef, StorageConfig, default_logstore};
use deltalake::protocol::{DeltaOperation, SaveMode};
use deltalake::table::state::DeltaTableState;
use url::Url;
use uuid::Uuid;

use super::log::{APP_ID, TICK_KEY, first_gap, missing_checkpoint};
use crate::files::digest;
use crate::{LakeError, TableName};

/// Application id under which the deciding table stores the highest fence of all commit batches.
const FENCE_ID: &str = "haat.fence";

/// Tag in a data file's log entry for the SHA-256 of its bytes, in lowercase hex.
pub(crate) const SHA256_TAG: &str = "haat.sha256";

/// A table with its state as of the last reading.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) name: TableName,
    pub(crate) storage: Storage,
    log_store: LogStoreRef,
    state: DeltaTableState,
    /// Number of the last commit batch in the table.
    tick: u64,
    /// SHA-256 of the log's newest entry, if this process wrote it and no commit batch has ended since.
    pub(crate) landed: Option<String>,
}

#[derive(Debug, Clone)]
pub(crate) struct DataFile {
    pub(crate) path: object_store::path::Path,
    pub(crate) size: u64,
    pub(crate) partition: Option<String>,
    /// Number of rows in the file, if the log states it.
    pub(crate) rows: Option<u64>,
    remove: Remove,
    logged: LoggedFile,
}

#[derive(Clone)]
struct LoggedFile(LogicalFileView);

impl fmt::Debug for LoggedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LoggedFile")
    }
}

impl DataFile {
    /// Returns the SHA-256 of the written bytes, or `None` for files of other writers. This is not cheap, so that it
    /// should be called only for files that are read.
    pub(crate) fn sha256(&self) -> Option<String> {
        #[expect(deprecated, reason = "there is no other way to a file's tags")]
        let add = self.logged.0.add_action();
        add.tags?.remove(SHA256_TAG)?
    }

    /// Only another writer can have made a deletion vector.
    pub(crate) fn has_deletion_vector(&self) -> bool {
        self.logged.0.deletion_vector_descriptor().is_some()
    }

    pub(crate) fn add_again(&self) -> Action {
        #[expect(deprecated, reason = "there is no other way to all that the log says of a file")]
        let add = self.logged.0.add_action();
        Action::Add(Add {
            data_change: true,
            ..add
        })
    }

    pub(crate) fn remove(&self, data_change: bool, now: Timestamp) -> Action {
        let deletion_timestamp = Some(now.micros() / 1000);
        Action::Remove(Remove {
            data_change,
            deletion_timestamp,
            ..self.remove.clone()
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CommitOutcome {
    Landed,
    /// Another process committed first. The table's state was refreshed, so that changes planned on the old state are
    /// void.
    Lost,
}

pub(crate) fn failed(table: TableName, operation: &'static str) -> impl Fn(DeltaTableError) -> LakeError {
    move |source| LakeError::Table {
        table: table.as_str(),
        operation,
        source: Box::new(source),
    }
}

/// Root of all URLs that the Delta and query libraries see. The lake's own storage resolves the paths below it, so that
/// every read and write goes through that storage.
pub(crate) const ROOT: &str = "lake://tables/";

pub(crate) fn root_url() -> Url {
    Url::parse(ROOT).unwrap_or_else(|_| unreachable!("a constant URL parses"))
}

pub(crate) fn log_store(lake: &Storage, table: TableName) -> LogStoreRef {
    let mut location = root_url();
    location.set_path(&format!("/{table}/"));
    let prefixed = Arc::clone(lake.child(table.as_str()).store());
    default_logstore(prefixed, Arc::clone(lake.store()), &location, &StorageConfig::default())
}

impl Table {
    pub(crate) async fn open(lake: &Storage, name: TableName) -> Result<Self, LakeError> {
        let log_store = log_store(lake, name);
        let state = match state_of(&log_store, None).await? {
            Ok(state) => state,
            Err(error) => {
                return Err(missing_checkpoint(lake, name)
                    .await
                    .unwrap_or_else(|| failed(name, "open")(error)));
            }
        };
        let mut table = Self {
            name,
            storage: lake.child(name.as_str()),
            log_store,
            state,
            tick: 0,
            landed: None,
        };
        table.tick = table.recorded_tick().await?;
        Ok(table)
    }

    pub(crate) fn version(&self) -> u64 {
        self.state.version()
    }

    pub(crate) fn tick(&self) -> u64 {
        self.tick
    }

    pub(crate) fn state(&self) -> &DeltaTableState {
        &self.state
    }

    pub(crate) fn log_store(&self) -> &LogStoreRef {
        &self.log_store
    }

    pub(crate) async fn files_at(&self, version: u64) -> Result<Vec<DataFile>, LakeError> {
        let state = state_at(&self.storage, &self.log_store, self.name, version).await?;
        Ok(data_files(self.name, &state))
    }

    pub(crate) async fn refresh(&mut self) -> Result<(), LakeError> {
        let before = self.version();
        self.state
            .update(&self.log_store, None)
            .await
            .map_err(failed(self.name, "refresh"))?;
        if self.version() != before {
            self.landed = None;
            self.tick = self.recorded_tick().await?;
        }
        Ok(())
    }

    async fn recorded_tick(&self) -> Result<u64, LakeError> {
        // The entry that creates a table belongs to no commit batch.
        if self.version() == 0 {
            return Ok(0);
        }
        let version = self.state.transaction_version(&self.log_store, APP_ID).await;
        let version = version.map_err(failed(self.name, "reading the number of the last commit batch"))?;
        Ok(version.and_then(|version| u64::try_from(version).ok()).unwrap_or(0))
    }

    pub(crate) fn files(&self) -> Vec<DataFile> {
        data_files(self.name, &self.state)
    }

    /// Returns the highest fence of a commit batch of this table, or 0 if there is none.
    pub(crate) async fn fence(&self) -> Result<u64, LakeError> {
        let fence = self.state.transaction_version(&self.log_store, FENCE_ID).await;
        let fence = fence.map_err(failed(self.name, "reading the last fence number"))?;
        Ok(fence.and_then(|fence| u64::try_from(fence).ok()).unwrap_or(0))
    }

    /// Writes the next version, if it is still free. Stores the commit batch's fence, if it has one.
    pub(crate) async fn commit(
        &mut self,
        actions: Vec<Action>,
        operation: DeltaOperation,
        tick: u64,
        fence: Option<u64>,
        now: Timestamp,
    ) -> Result<CommitOutcome, LakeError> {
        let protocol = |source| LakeError::Protocol {
            table: self.name.as_str(),
            source: Box::new(source),
        };
        PROTOCOL
            .can_commit(&self.state, &actions, &operation)
            .map_err(protocol)?;
        let fence = fence.map(|fence| transaction(FENCE_ID, fence, now));
        let transactions = std::iter::once(transaction(APP_ID, tick, now)).chain(fence);
        self.write(actions, operation, transactions.collect(), tick).await
    }

    /// Takes the commit batch's version in this table with a commit that changes nothing, so that the batch cannot be
    /// applied.
    pub(crate) async fn give_up(&mut self, tick: u64, now: Timestamp) -> Result<CommitOutcome, LakeError> {
        let transactions = vec![
            transaction(APP_ID, tick, now),
            transaction(&given_up_id(tick), tick, now),
        ];
        self.write(Vec::new(), append(self.name), transactions, tick).await
    }

    /// Returns `true` if [`Table::give_up`] took the commit batch's version in this table.
    pub(crate) async fn has_given_up(&self, tick: u64) -> Result<bool, LakeError> {
        let version = self.state.transaction_version(&self.log_store, given_up_id(tick)).await;
        Ok(version
            .map_err(failed(self.name, "reading whether a commit batch was abandoned"))?
            .is_some())
    }

    async fn write(
        &mut self,
        actions: Vec<Action>,
        operation: DeltaOperation,
        transactions: Vec<Transaction>,
        tick: u64,
    ) -> Result<CommitOutcome, LakeError> {
        let metadata = [(TICK_KEY.to_owned(), tick.into())].into_iter().collect();
        let version = self.version() + 1;
        let commit = |source| LakeError::Commit {
            table: self.name.as_str(),
            version,
            source: Box::new(source),
        };
        let data = CommitData::new(actions, operation, metadata, transactions);
        let entry = data.get_bytes().map_err(commit)?;
        let sha256 = digest(&entry);
        let bytes = CommitOrBytes::LogBytes(entry);
        match self.log_store.write_commit_entry(version, bytes, Uuid::new_v4()).await {
            Ok(()) => {
                let updated = self.state.update(&self.log_store, Some(version)).await;
                updated.map_err(failed(self.name, "refresh"))?;
                self.landed = Some(sha256);
                self.tick = tick;
                Ok(CommitOutcome::Landed)
            }
            Err(TransactionError::VersionAlreadyExists(_)) => {
                self.refresh().await?;
                Ok(CommitOutcome::Lost)
            }
            Err(source) => Err(commit(source)),
        }
    }

    /// Writes a checkpoint at every `every`-th version of the table. Returns `true` if one was written.
    pub(crate) async fn checkpoint(&self, every: u64) -> Result<bool, LakeError> {
        let due = (self.version() + 1).is_multiple_of(every.max(1));
        if due {
            self.checkpoint_now().await?;
        }
        Ok(due)
    }

    pub(crate) async fn checkpoint_now(&self) -> Result<(), LakeError> {
        let mut table = deltalake::DeltaTable::new(Arc::clone(&self.log_store));
        table.state = Some(self.state.clone());
        let written = deltalake::checkpoints::create_checkpoint(&table, None).await;
        written.map_err(failed(self.name, "checkpoint"))
    }
}

/// A panic in the library of the log reader becomes an error.
async fn state_of(
    log_store: &LogStoreRef,
    version: Option<u64>,
) -> Result<Result<DeltaTableState, DeltaTableError>, LakeError> {
    let log_store = Arc::clone(log_store);
    let read = tokio::spawn(async move { DeltaTableState::try_new(&log_store, version).await });
    read.await.map_err(LakeError::Task)
}

/// Returns the state of an earlier version of the table in `storage`. A gap in the log is reported before the Delta
/// library reads it.
pub(crate) async fn state_at(
    storage: &Storage,
    log_store: &LogStoreRef,
    table: TableName,
    version: u64,
) -> Result<DeltaTableState, LakeError> {
    if let Some(lost) = first_gap(storage, version).await? {
        return Err(LakeError::VersionLost {
            table: table.as_str(),
            version,
            path: format!("{table}/_delta_log/{lost:020}.json"),
        });
    }
    let state = state_of(log_store, Some(version)).await?;
    state.map_err(failed(table, "load of a version"))
}

fn transaction(app: &str, number: u64, now: Timestamp) -> Transaction {
    let version = i64::try_from(number).unwrap_or(i64::MAX);
    Transaction::new_with_last_update(app, version, Some(now.micros() / 1000))
}

/// Returns the application id under which a table records that this commit batch was given up.
fn given_up_id(tick: u64) -> String {
    format!("{APP_ID}.given_up.{tick}")
}

pub(crate) fn data_files(table: TableName, state: &DeltaTableState) -> Vec<DataFile> {
    let column = table.spec().partition;
    let view = |view: LogicalFileView| {
        let remove = view.remove_action(true);
        let values = remove.partition_values.as_ref();
        let partition = column.and_then(|column| values.and_then(|values| values.get(column)?.clone()));
        let size = u64::try_from(view.size()).unwrap_or(0);
        DataFile {
            path: view.object_store_path(),
            size,
            partition,
            rows: view.num_records().and_then(|rows| u64::try_from(rows).ok()),
            remove,
            logged: LoggedFile(view),
        }
    };
    state.log_data().iter().map(view).collect()
}

pub(crate) fn overwrite(table: TableName) -> DeltaOperation {
    let partition_by = table.spec().partition.map(|column| vec![column.to_owned()]);
    DeltaOperation::Write {
        mode: SaveMode::Overwrite,
        partition_by,
        predicate: None,
    }
}

pub(crate) fn append(table: TableName) -> DeltaOperation {
    let partition_by = table.spec().partition.map(|column| vec![column.to_owned()]);
    DeltaOperation::Write {
        mode: SaveMode::Append,
        partition_by,
        predicate: None,
    }
}

pub(crate) fn add(
    table: TableName,
    path: &object_store::path::Path,
    partition: Option<&str>,
    file: &crate::files::Encoded,
    now: Timestamp,
    data_change: bool,
) -> Action {
    let values = table
        .spec()
        .partition
        .map(|column| (column.to_owned(), partition.map(str::to_owned)));
    Action::Add(Add {
        path: path.to_string(),
        partition_values: values.into_iter().collect(),
        size: i64::try_from(file.bytes.len()).unwrap_or(i64::MAX),
        modification_time: now.micros() / 1000,
        data_change,
        stats: Some(file.stats.clone()),
        tags: Some(HashMap::from([(SHA256_TAG.to_owned(), Some(file.sha256.clone()))])),
        deletion_vector: None,
        base_row_id: None,
        default_row_commit_version: None,
        clustering_provider: None,
    })
}
