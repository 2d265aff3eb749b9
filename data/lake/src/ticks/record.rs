//! The records of ticks.

use std::collections::BTreeMap;

use arrow::record_batch::RecordBatch;
use bytes::Bytes;
use data_model::{StoreHost, Timestamp};
use serde::{Deserialize, Serialize};

use crate::TableName;
use crate::rows::runs::{RunSummaryRow, TickCounts};

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

/// Rows of tables, each table's sorted by partition and then in the table's order.
pub(crate) type Rows = Vec<(TableName, Vec<RecordBatch>)>;

/// A tick's rows as they are staged.
#[derive(Debug, Default)]
pub(crate) struct PackedRows {
    pub(crate) bytes: Bytes,
    pub(crate) staged: Vec<StagedTable>,
}

/// The place of a table's rows: the tick's staged object, or files and the buckets that have them already.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct StagedTable {
    pub(super) table: String,
    pub(super) offset: u64,
    pub(super) bytes: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) files: Vec<StagedFile>,
    /// Buckets that have these rows already.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) same: Vec<i32>,
}

/// A data file in which all rows of the tick's stores are the tick's.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct StagedFile {
    pub(super) path: String,
    pub(super) partition: Option<String>,
    pub(super) sha256: String,
}
