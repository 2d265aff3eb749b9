//! Records of commit batches.

use std::collections::BTreeMap;

use arrow::record_batch::RecordBatch;
use bytes::Bytes;
use data_model::{StoreHost, Timestamp};
use serde::{Deserialize, Serialize};

use crate::TableName;
use crate::rows::runs::{RunSummaryRow, TickCounts};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TickKind {
    /// The rows of stores are replaced by those of a crawl.
    Refresh,
    /// The current rows of stores are replaced by the content of their landed pages, and no history rows are added.
    Backfill,
    Remove,
    /// Only the rows of stores in the delivery tables are replaced.
    Delivery,
    /// Only the shipping terms of stores are replaced.
    Shipping,
    /// Single rows of review-app data are added, removed or replaced.
    Reviews,
    /// Live observations of stores are merged into the price history.
    Live,
    /// The exchange rates are replaced as a whole.
    Rates,
    /// The counts of searched words of some days are replaced, and old days are removed.
    Searches,
    /// Files are merged, columns are added, or the built-in reference data is written, without changing rows of stores.
    Compact,
    /// Tables get the files of an earlier version again.
    Restore,
    /// Lost files are removed from their tables.
    Repair,
}

/// Write-ahead record of a commit batch.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct TickRecord {
    pub(crate) tick: u64,
    /// Token that distinguishes this record from another process's record for the same number.
    pub(crate) token: String,
    pub(crate) kind: TickKind,
    pub(crate) committed_at: Timestamp,
    pub(crate) run: Option<RunSummaryRow>,
    pub(crate) stores: Vec<StoreHost>,
    pub(crate) counts: TickCounts,
    pub(crate) staged: Vec<StagedTable>,
    /// For a restore: the version to which each table is restored.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) restored: BTreeMap<String, u64>,
    /// For searched words and a repair: paths of the files removed from each table. After a repair, `stores` lists the
    /// stores whose crawl brings the rows back.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) dropped: BTreeMap<String, Vec<String>>,
    /// Fence of the commit batch, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) fence: Option<u64>,
    /// For reviews: the rows to be removed from each table, by store and key.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) gone: BTreeMap<String, Vec<(StoreHost, String)>>,
}

impl TickRecord {
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

/// End record of a commit batch, with the table versions that belong together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TickEnd {
    pub(crate) tick: u64,
    pub(crate) committed_at: Timestamp,
    pub(crate) versions: BTreeMap<String, u64>,
    /// SHA-256 of the log entries of these versions, if the process that ended the commit batch wrote them. The hashes
    /// reveal entries that were altered later.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) digests: BTreeMap<String, String>,
    /// True if the commit batch was given up. The tables then contain no changes of the batch.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) given_up: bool,
}

/// Rows by table. The rows of each table are sorted by partition and then in the table's order.
pub(crate) type Rows = Vec<(TableName, Vec<RecordBatch>)>;

#[derive(Debug, Default)]
pub(crate) struct PackedRows {
    pub(crate) bytes: Bytes,
    pub(crate) staged: Vec<StagedTable>,
}

/// Location of a table's rows: the staged object, or data files and the buckets that already have the rows.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct StagedTable {
    pub(super) table: String,
    pub(super) offset: u64,
    pub(super) bytes: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) files: Vec<StagedFile>,
    /// Buckets that already had these rows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) same: Vec<i32>,
}

/// A data file in which all rows of the commit batch's stores come from the batch.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct StagedFile {
    pub(super) path: String,
    pub(super) partition: Option<String>,
    pub(super) sha256: String,
}
