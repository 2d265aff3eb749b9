//! Consistent states of the lake, and ways to read them.

mod delivery;
mod gone;
mod history;
mod live_files;
mod offering;
mod portion;
mod products;
mod readable;
mod reviews;
mod searches;
mod session;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow::record_batch::RecordBatch;
use async_recursion::async_recursion as boxed;
use data_model::{Quarantined, ShippingPolicy, StoreHost, Timestamp};
use data_storage::list_all;
use deltalake::table::state::DeltaTableState;
use futures::future::try_join_all;
use futures::{StreamExt, TryStreamExt};
use tokio::sync::OnceCell;

use crate::delta::{DataFile, data_files, decode_whole, log_store, scan, state_at};
use crate::error::lost_file;
use crate::files::{Scan, by_bucket};
use crate::rows::brands::{BrandRow, brand_rows};
use crate::rows::{quarantine, shipping};
use crate::ticks::TickEnd;
use crate::{Lake, LakeError, TableName};

pub use delivery::OnSale;
pub(crate) use delivery::order;
pub use gone::GoneRow;
pub use live_files::{LiveFile, LiveTable, PartitionColumn};
pub use offering::Offering;
pub use readable::LostFile;
pub use reviews::ShownRatings;
pub(crate) use searches::servers_in;

/// Selects the state of the lake to be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AsOf {
    /// The state in which the tables have these versions, such as those in a release's manifest.
    Versions(BTreeMap<String, u64>),
    /// The state after the last commit batch that was decided at or before this time.
    Timestamp(Timestamp),
    /// The state after the commit batch with this number.
    Tick(u64),
}

/// A consistent state of all tables at the end of a commit batch. Later commits do not change it, and it stays readable
/// while vacuum keeps its files.
#[derive(Debug, Clone)]
pub struct LakeSnapshot {
    pub(crate) lake: Lake,
    tick: Option<u64>,
    versions: BTreeMap<String, u64>,
    states: Arc<BTreeMap<TableName, OnceCell<DeltaTableState>>>,
}

const READS_AT_ONCE: usize = 16;

const ENDS_AT_ONCE: usize = 64;

/// Maximum number of listings of the commit batch records before a gap in them is treated as real.
const LISTS_MAX: usize = 3;

impl Lake {
    /// Returns the state after the last commit batch that ended.
    ///
    /// # Errors
    /// The storage fails, or the end record of that batch is missing.
    #[boxed]
    pub async fn snapshot(&self) -> Result<LakeSnapshot, LakeError> {
        let known = self.inner.peek(|state| state.ended).unwrap_or(0);
        let mut head = self.inner.ticks.head(known).await?;
        // A commit batch begins only after the previous one has ended. A listing is not atomic, so that one that
        // contradicts this is repeated.
        for _ in 0..LISTS_MAX {
            if head.recorded <= head.ended + 1 {
                return self.snapshot_of(head.ended).await;
            }
            head = self.inner.ticks.head(head.ended).await?;
        }
        Err(LakeError::EndMissing { tick: head.ended + 1 })
    }

    /// Returns an earlier state.
    ///
    /// # Errors
    /// The storage fails, the versions do not name every table, or no commit batch of that time is known.
    #[boxed]
    pub async fn snapshot_at(&self, as_of: &AsOf) -> Result<LakeSnapshot, LakeError> {
        match as_of {
            AsOf::Versions(versions) => {
                let is_missing = |table: &&TableName| !versions.contains_key(table.as_str());
                if let Some(missing) = TableName::ALL.iter().find(is_missing) {
                    return Err(LakeError::VersionMissing {
                        table: missing.as_str(),
                    });
                }
                Ok(LakeSnapshot::new(self.clone(), None, versions.clone()))
            }
            AsOf::Tick(tick) if self.inner.ticks.is_ahead(*tick).await? => {
                let newest = self.inner.ticks.ended().await?.last().copied().unwrap_or(0);
                Err(LakeError::NoSuchTick { tick: *tick, newest })
            }
            AsOf::Tick(tick) => self.snapshot_of(*tick).await,
            AsOf::Timestamp(moment) => {
                let end = self.ended_by(*moment).await?;
                let end = end.ok_or(LakeError::NoTickThen { moment: *moment })?;
                Ok(LakeSnapshot::new(self.clone(), Some(end.tick), end.versions))
            }
        }
    }

    /// Returns the end of the last commit batch that was decided by `moment`. Times ascend with batch numbers unless a
    /// clock was wrong. A time in the future is ignored, and a time earlier than that of a preceding batch does not
    /// count.
    async fn ended_by(&self, moment: Timestamp) -> Result<Option<TickEnd>, LakeError> {
        let until = self.inner.clock.now().latest_believed(0);
        let ticks = self.inner.ticks.ended().await?;
        let mut found = None;
        for part in ticks.rchunks(ENDS_AT_ONCE) {
            let ends = try_join_all(part.iter().map(|tick| self.inner.ticks.end(*tick))).await?;
            let ends: Vec<TickEnd> = ends.into_iter().flatten().collect();
            let is_later = |end: &TickEnd| moment < end.committed_at && end.committed_at <= until;
            let first_later = ends.iter().position(is_later);
            let before = ends.into_iter().take(first_later.unwrap_or(usize::MAX));
            let last = before
                .filter(|end| end.committed_at <= moment)
                .max_by_key(|end| end.committed_at);
            match first_later {
                None => return Ok(found.or(last)),
                Some(_) => found = last,
            }
        }
        Ok(found)
    }

    pub(crate) async fn snapshot_of(&self, tick: u64) -> Result<LakeSnapshot, LakeError> {
        let versions = match self.inner.ticks.end(tick).await? {
            Some(end) => end.versions,
            // Before the first commit batch, the tables are as they were created. After any batch, at least one table
            // has changed.
            None if tick == 0 => TableName::ALL.iter().map(|table| (table.to_string(), 0)).collect(),
            None => return Err(LakeError::EndMissing { tick }),
        };
        Ok(LakeSnapshot::new(self.clone(), Some(tick), versions))
    }
}

/// Collects the values of each store.
fn grouped<T, I: IntoIterator<Item = (StoreHost, T)>>(rows: I) -> BTreeMap<StoreHost, Vec<T>> {
    let mut groups: BTreeMap<StoreHost, Vec<T>> = BTreeMap::new();
    for (store, row) in rows {
        groups.entry(store).or_default().push(row);
    }
    groups
}

/// Rows of the readable files of a table.
#[derive(Debug)]
pub(crate) struct ReadableRows<T> {
    pub(crate) rows: Vec<T>,
    /// Errors of missing or damaged files.
    pub(crate) lost: Vec<LakeError>,
}

impl LakeSnapshot {
    fn new(lake: Lake, tick: Option<u64>, versions: BTreeMap<String, u64>) -> Self {
        let states = TableName::ALL
            .into_iter()
            .map(|table| (table, OnceCell::new()))
            .collect();
        Self {
            lake,
            tick,
            versions,
            states: Arc::new(states),
        }
    }

    /// Returns the version of each table by name, as in a release's manifest.
    #[must_use]
    pub fn versions(&self) -> &BTreeMap<String, u64> {
        &self.versions
    }

    /// Returns the commit batch whose end is this state, or 0 before the first batch. Returns `None` for a state
    /// selected by versions.
    #[must_use]
    pub fn tick(&self) -> Option<u64> {
        self.tick
    }

    /// Returns the time at which the snapshot's commit batch was decided. [`crate::AsOf::Timestamp`] with this time
    /// selects the same state. Returns `None` before the first batch and for a state selected by versions.
    ///
    /// # Errors
    /// The storage fails.
    #[boxed]
    pub async fn decided_at(&self) -> Result<Option<Timestamp>, LakeError> {
        let Some(tick) = self.tick() else { return Ok(None) };
        let end = self.lake.inner.ticks.end(tick).await?;
        Ok(end.map(|end| end.committed_at))
    }

    /// The state is read on first use.
    pub(crate) async fn table(&self, table: TableName) -> Result<&DeltaTableState, LakeError> {
        let missing = || LakeError::VersionMissing { table: table.as_str() };
        let version = *self.versions.get(table.as_str()).ok_or_else(missing)?;
        let cell = self.states.get(&table).ok_or_else(missing)?;
        let load = || async {
            let held = self.lake.inner.peek(|state| {
                let table = state.tables.as_ref()?.get(&table)?;
                (table.version() == version).then(|| table.state().clone())
            });
            if let Some(state) = held.flatten() {
                return Ok(state);
            }
            let lake = &self.lake.inner.storage;
            state_at(&lake.child(table.as_str()), &log_store(lake, table), table, version).await
        };
        cell.get_or_try_init(load).await
    }

    /// Returns the table's files that can contain rows of these stores, or of all stores, by bucket.
    pub(crate) async fn files(
        &self,
        table: TableName,
        stores: Option<&BTreeSet<StoreHost>>,
    ) -> Result<BTreeMap<i32, Vec<DataFile>>, LakeError> {
        let buckets = stores.map(|stores| by_bucket(stores, self.lake.inner.config.buckets));
        let mut files: BTreeMap<i32, Vec<DataFile>> = BTreeMap::new();
        for file in data_files(table, self.table(table).await?) {
            let bucket = file
                .partition
                .as_deref()
                .and_then(|bucket| bucket.parse().ok())
                .unwrap_or(-1);
            if buckets.as_ref().is_none_or(|buckets| buckets.contains_key(&bucket)) {
                files.entry(bucket).or_default().push(file);
            }
        }
        Ok(files)
    }

    pub(crate) async fn rows<T: Send + 'static>(
        &self,
        table: TableName,
        stores: Option<&BTreeSet<StoreHost>>,
        decode: fn(&RecordBatch) -> Result<Vec<T>, LakeError>,
    ) -> Result<Vec<T>, LakeError> {
        let storage = &self.lake.inner.storage.child(table.as_str());
        let wanted = stores.map(Scan::of).unwrap_or_default();
        let buckets = self.files(table, stores).await?.into_values();
        let reads = buckets.map(|files| {
            let (storage, wanted) = (storage.clone(), wanted.clone());
            async move { scan(&storage, table, &files, wanted, decode).await }
        });
        let reads = futures::stream::iter(reads).buffered(READS_AT_ONCE);
        let rows: Vec<Vec<T>> = reads.try_collect().await?;
        Ok(rows.into_iter().flatten().collect())
    }

    /// Reads the wanted rows of a table file by file, without missing or damaged files. Also returns the errors of these
    /// files.
    pub(crate) async fn readable_rows<T: Send + 'static>(
        &self,
        table: TableName,
        partition: Option<&str>,
        wanted: Scan,
        decode: fn(&RecordBatch) -> Result<Vec<T>, LakeError>,
    ) -> Result<ReadableRows<T>, LakeError> {
        let storage = &self.lake.inner.storage.child(table.as_str());
        let files = data_files(table, self.table(table).await?).into_iter();
        let files = files.filter(|file| partition.is_none() || file.partition.as_deref() == partition);
        let reads = files.map(|file| {
            let (storage, wanted) = (storage.clone(), wanted.clone());
            async move { scan(&storage, table, &[file], wanted, decode).await }
        });
        let reads: Vec<_> = reads.collect();
        let mut reads = futures::stream::iter(reads).buffered(READS_AT_ONCE);
        let (mut rows, mut lost) = (Vec::new(), Vec::new());
        while let Some(read) = reads.next().await {
            match read {
                Ok(read) => rows.extend(read),
                Err(error) if lost_file(&error).is_some() => lost.push(error),
                Err(error) => return Err(error),
            }
        }
        Ok(ReadableRows { rows, lost })
    }

    /// Returns the data files that are missing or differ in size from the log, each with the fault. With `thorough`,
    /// every file is also read completely, and files that cannot be decoded or have another SHA-256 than in the log
    /// count as damaged too.
    ///
    /// # Errors
    /// The storage fails or a table's log cannot be read.
    #[boxed]
    pub async fn damaged_files(&self, thorough: bool) -> Result<Vec<String>, LakeError> {
        let mut damaged = Vec::new();
        for table in TableName::ALL {
            let storage = self.lake.inner.storage.child(table.as_str());
            let listed = list_all(&storage, None).await?.into_iter();
            let sizes: BTreeMap<_, u64> = listed.map(|meta| (meta.location, meta.size)).collect();
            for file in data_files(table, self.table(table).await?) {
                match sizes.get(&file.path) {
                    Some(size) if *size == file.size => {
                        if thorough && let Err(error) = decode_whole(&storage, table, &file).await {
                            damaged.push(error.to_string());
                        }
                    }
                    Some(size) => damaged.push(format!("{table}/{}: {size} bytes instead of {}", file.path, file.size)),
                    None => damaged.push(format!("{table}/{}: missing", file.path)),
                }
            }
        }
        Ok(damaged)
    }

    /// Returns every brand, by store.
    ///
    /// # Errors
    /// The storage fails or a file is not readable.
    #[boxed]
    pub async fn brands(&self) -> Result<Vec<BrandRow>, LakeError> {
        let mut brands = self.rows(TableName::Brands, None, brand_rows).await?;
        brands.sort_by(|left, right| left.brand.store.cmp(&right.brand.store));
        Ok(brands)
    }

    /// Returns the shipping terms of those of the stores that state any.
    ///
    /// # Errors
    /// The storage fails or a file is not readable.
    #[boxed]
    pub async fn shipping(
        &self,
        stores: &BTreeSet<StoreHost>,
    ) -> Result<BTreeMap<StoreHost, ShippingPolicy>, LakeError> {
        Ok(self
            .rows(TableName::ShippingPolicies, Some(stores), shipping::policies)
            .await?
            .into_iter()
            .collect())
    }

    /// Returns the records of these stores that could not be parsed, by store, in the order of the crawl.
    ///
    /// # Errors
    /// The storage fails or a file is not readable.
    #[boxed]
    pub async fn quarantined(&self, stores: &BTreeSet<StoreHost>) -> Result<Vec<Quarantined>, LakeError> {
        self.rows(TableName::Quarantine, Some(stores), quarantine::records)
            .await
    }
}
