//! Ticks: what makes one commit of the whole lake out of one commit a table.
//!
//! A tick stages its rows, then writes its record under the next number by a conditional create. From then on it
//! will happen: whoever opens the lake and finds a record without its end applies the staged rows to the tables
//! that do not have the tick yet. The end names the version of every table.
//!
//! One exception: where rows that it must rewrite are lost and no table has it yet, the tick is given up. The table
//! that every tick comes to first decides: its next version carries either the tick or the mark that it was given up.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::record_batch::RecordBatch;
use bytes::Bytes;
use data_model::{StoreHost, Timestamp};
use data_storage::{ObjectPath, Storage, StorageError, get_bytes, put_new, put_over};
use futures::{StreamExt, TryStreamExt};
use object_store::{ObjectStore, ObjectStoreExt};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::rows::runs::{RunSummaryRow, TickCounts};
use crate::staging::{PackedRows, StagedTable};
use crate::{LakeError, TableName};

/// The purpose of a tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TickKind {
    /// Stores' rows are replaced by those of a crawl.
    Refresh,
    /// Stores' present rows are replaced by what their landed pages say; no history gets a row.
    Backfill,
    /// Stores' rows are dropped.
    Remove,
    /// Stores' rows of the delivery matrix alone are replaced.
    Delivery,
    /// Stores' rows of the shipping terms alone are replaced.
    Shipping,
    /// Rows of what review apps publish come, go, or are replaced one by one.
    Reviews,
    /// Live observations of stores are merged into the history of prices.
    Live,
    /// The exchange rates are replaced as a whole.
    Rates,
    /// Files are merged, or columns added, or what the program itself brings; no row of a store changes.
    Compact,
    /// Tables get the files of an earlier version again.
    Restore,
    /// Files that are lost are no longer part of their tables.
    Repair,
}

/// The write-ahead record of a tick.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct TickRecord {
    pub(crate) tick: u64,
    /// Tells this record from another process's for the same number.
    pub(crate) token: String,
    pub(crate) kind: TickKind,
    pub(crate) committed_at: Timestamp,
    pub(crate) run: Option<RunSummaryRow>,
    pub(crate) stores: Vec<StoreHost>,
    pub(crate) counts: TickCounts,
    pub(crate) staged: Vec<StagedTable>,
    /// Of a restore: each table with the version whose files it gets again.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) restored: BTreeMap<String, u64>,
    /// Of a repair: each table with the paths of the files that it gives up. Its `stores` are those whose crawl brings back
    /// what they held.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) dropped: BTreeMap<String, Vec<String>>,
    /// The right under which it was begun, where it was begun under one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) fence: Option<u64>,
    /// Of reviews: each table with the rows that go, by store and key.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) gone: BTreeMap<String, Vec<(StoreHost, String)>>,
}

impl TickRecord {
    /// The record of a tick that brings nothing yet.
    pub(crate) fn new(tick: u64, kind: TickKind, committed_at: Timestamp) -> Self {
        Self {
            tick,
            token: String::new(),
            kind,
            committed_at,
            run: None,
            stores: Vec::new(),
            counts: TickCounts::default(),
            staged: Vec::new(),
            restored: BTreeMap::new(),
            dropped: BTreeMap::new(),
            fence: None,
            gone: BTreeMap::new(),
        }
    }
}

/// The end of a tick: the versions that belong together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TickEnd {
    pub(crate) tick: u64,
    pub(crate) committed_at: Timestamp,
    pub(crate) versions: BTreeMap<String, u64>,
    /// The SHA-256 of the log entries of these versions, of those that the process which ended the tick wrote: an entry that
    /// was altered is told by it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) digests: BTreeMap<String, String>,
    /// `true` where it was given up: nothing of it is in the tables.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) given_up: bool,
}

/// The numbers of the last tick that was recorded and the last that ended; 0 for none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) recorded: u64,
    pub(crate) ended: u64,
}

/// Rows of tables, each table's sorted by partition and then in the table's order.
pub(crate) type Rows = Vec<(TableName, Vec<RecordBatch>)>;

/// The ticks of a lake, below `_ticks`.
#[derive(Debug)]
pub(crate) struct Ticks {
    storage: Storage,
}

enum Entry {
    Record(u64),
    End(u64),
}

impl Ticks {
    pub(crate) fn new(lake: &Storage) -> Self {
        Self {
            storage: lake.child("_ticks"),
        }
    }

    /// The last ticks; `from` is one that is known to have ended.
    pub(crate) async fn head(&self, from: u64) -> Result<Head, LakeError> {
        let mut head = Head {
            recorded: from,
            ended: from,
        };
        for entry in self.entries(from).await? {
            match entry {
                Entry::Record(tick) => head.recorded = head.recorded.max(tick),
                Entry::End(tick) => head.ended = head.ended.max(tick),
            }
        }
        Ok(head)
    }

    /// The numbers of the ticks whose end is known, ascending.
    pub(crate) async fn ended(&self) -> Result<Vec<u64>, LakeError> {
        let entries = self.entries(0).await?;
        let mut ended: Vec<u64> = entries
            .into_iter()
            .filter_map(|entry| if let Entry::End(tick) = entry { Some(tick) } else { None })
            .collect();
        ended.sort_unstable();
        Ok(ended)
    }

    /// `true` where nothing is recorded of a tick, nor of any after it: no commit has reached it.
    pub(crate) async fn is_ahead(&self, tick: u64) -> Result<bool, LakeError> {
        Ok(tick > 0 && self.entries(tick).await?.is_empty())
    }

    async fn entries(&self, from: u64) -> Result<Vec<Entry>, LakeError> {
        let offset = ObjectPath::from(format!("{from:020}"));
        let listed = self.storage.store().list_with_offset(None, &offset);
        let entries = listed
            .try_filter_map(|meta| async move { Ok(entry(&meta.location)) })
            .try_collect()
            .await;
        Ok(entries.map_err(|source| StorageError::List {
            prefix: "_ticks".to_owned(),
            source,
        })?)
    }

    pub(crate) async fn record(&self, tick: u64) -> Result<Option<TickRecord>, LakeError> {
        self.read(record_path(tick)).await
    }

    pub(crate) async fn end(&self, tick: u64) -> Result<Option<TickEnd>, LakeError> {
        self.read(end_path(tick)).await
    }

    async fn read<T: serde::de::DeserializeOwned>(&self, path: ObjectPath) -> Result<Option<T>, LakeError> {
        let Some(bytes) = get_bytes(&self.storage, &path).await? else {
            return Ok(None);
        };
        let record = |source| LakeError::TickRecord {
            path: format!("_ticks/{path}"),
            source,
        };
        serde_json::from_slice(&bytes).map(Some).map_err(record)
    }

    /// Writes a tick's rows where only its record will point.
    pub(crate) async fn stage(&self, tick: u64, packed: PackedRows) -> Result<(String, Vec<StagedTable>), LakeError> {
        let token = Uuid::new_v4().to_string();
        let PackedRows { bytes, staged } = packed;
        if !bytes.is_empty() {
            put_over(&self.storage, &staged_path(tick, &token), bytes).await?;
        }
        Ok((token, staged))
    }

    /// Takes the tick's number; `false` when another process has it.
    pub(crate) async fn begin(&self, record: &TickRecord) -> Result<bool, LakeError> {
        let path = record_path(record.tick);
        let encode = |source| LakeError::TickRecord {
            path: format!("_ticks/{path}"),
            source,
        };
        let bytes = Bytes::from(serde_json::to_vec(record).map_err(encode)?);
        // The answer to our own put may have been lost and its retry refused: the token tells.
        Ok(put_new(&self.storage, &path, bytes.clone()).await?
            || get_bytes(&self.storage, &path)
                .await?
                .is_some_and(|stored| stored == bytes))
    }

    /// Ends a tick; where another process ended it first, its word stands.
    pub(crate) async fn finish(&self, end: TickEnd) -> Result<TickEnd, LakeError> {
        let path = end_path(end.tick);
        let encode = |source| LakeError::TickRecord {
            path: format!("_ticks/{path}"),
            source,
        };
        let bytes = serde_json::to_vec(&end).map_err(encode)?;
        if put_new(&self.storage, &path, bytes).await? {
            return Ok(end);
        }
        let ended = self.end(end.tick).await?;
        ended.ok_or(LakeError::EndMissing { tick: end.tick })
    }

    /// Drops one staged object of a tick that another process won.
    pub(crate) async fn unstage(&self, tick: u64, token: &str) -> Result<(), LakeError> {
        let path = staged_path(tick, token);
        match self.storage.store().delete(&path).await {
            // A tick whose rows are all in files stages no object.
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(source) => {
                let path = format!("_ticks/{path}");
                Err(StorageError::Write { path, source }.into())
            }
        }
    }

    /// Drops everything that was staged for the ended tick, by whomever.
    pub(crate) async fn clear(&self, tick: u64) -> Result<(), LakeError> {
        let prefix = format!("{tick:020}-");
        let offset = ObjectPath::from(format!("{tick:020}"));
        let store = Arc::clone(self.storage.store());
        let listed = store.list_with_offset(None, &offset).map_ok(|meta| meta.location);
        let staged = listed.try_filter(move |path| futures::future::ready(path.as_ref().starts_with(&prefix)));
        let deleted = store
            .delete_stream(staged.boxed())
            .try_for_each(|_| async { Ok(()) })
            .await;
        Ok(deleted.map_err(|source| StorageError::Write {
            path: format!("_ticks/{offset}"),
            source,
        })?)
    }

    /// The objects of ticks below `tick` that can go: records, ends, and forgotten staged objects.
    pub(crate) async fn below(&self, tick: u64) -> Result<Vec<object_store::ObjectMeta>, LakeError> {
        let listed = self.storage.store().list(None);
        let older = |meta: object_store::ObjectMeta| {
            let number = meta
                .location
                .as_ref()
                .get(..20)
                .and_then(|digits| digits.parse::<u64>().ok());
            number.is_some_and(|number| number < tick).then_some(meta)
        };
        let older = listed
            .try_filter_map(|meta| async { Ok(older(meta)) })
            .try_collect()
            .await;
        Ok(older.map_err(|source| StorageError::List {
            prefix: "_ticks".to_owned(),
            source,
        })?)
    }

    pub(crate) fn storage(&self) -> &Storage {
        &self.storage
    }
}

fn record_path(tick: u64) -> ObjectPath {
    ObjectPath::from(format!("{tick:020}.json"))
}

fn end_path(tick: u64) -> ObjectPath {
    ObjectPath::from(format!("{tick:020}.done.json"))
}

pub(crate) fn staged_path(tick: u64, token: &str) -> ObjectPath {
    ObjectPath::from(format!("{tick:020}-{token}.arrow"))
}

fn entry(path: &ObjectPath) -> Option<Entry> {
    let (digits, rest) = path.as_ref().split_at_checked(20)?;
    let tick = digits.parse().ok()?;
    match rest {
        ".json" => Some(Entry::Record(tick)),
        ".done.json" => Some(Entry::End(tick)),
        _ => None,
    }
}
