use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, StringArray};
use arrow::record_batch::RecordBatch;
use data_model::{RunId, Timestamp};
use serde::{Deserialize, Serialize};

use super::batch;
use super::columns::moments;
use super::nested::Texts;
use crate::tick::{TickKind, TickRecord};
use crate::{LakeError, TableName};

/// The summary of a run that hands brands to the lake; it becomes a row of `crawl_runs`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunSummaryRow {
    /// The run.
    pub run: RunId,
    /// When it began.
    pub started_at: Timestamp,
    /// Brands that it has crawled by now.
    pub brands_seen: u64,
    /// Of these, crawls that failed.
    pub brands_failed: u64,
    /// Of these, crawls that found far fewer products than the brand had, and were not believed.
    pub brands_held_back: u64,
}

impl RunSummaryRow {
    /// A run that has nothing to say of itself but when it began.
    #[must_use]
    pub fn new(run: RunId, started_at: Timestamp) -> Self {
        Self {
            run,
            started_at,
            brands_seen: 0,
            brands_failed: 0,
            brands_held_back: 0,
        }
    }
}

/// The changes of a tick in numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TickCounts {
    /// Brands that were handed over and had not changed.
    pub brands_unchanged: u64,
    /// Brands that were replaced or removed.
    pub brands_changed: u64,
    /// Products of these brands now.
    pub products: u64,
    /// Products that were not there before.
    pub products_added: u64,
    /// Products that are gone.
    pub products_removed: u64,
    /// Variants of these brands now.
    pub variants: u64,
    /// Rows added to `price_history`.
    pub price_changes: u64,
    /// Records of these brands in quarantine now.
    pub quarantined: u64,
}

/// The row of `crawl_runs` of a tick.
pub(crate) fn run_row(record: &TickRecord) -> Result<RecordBatch, LakeError> {
    let number = |number: u64| Arc::new(Int64Array::from(vec![i64::try_from(number).unwrap_or(i64::MAX)])) as ArrayRef;
    let text = |text: Option<&str>| Arc::new(StringArray::from(vec![text])) as ArrayRef;
    let run = record.run.as_ref();
    let mut stores = Texts::default();
    stores.push(record.stores.iter().map(data_model::StoreHost::as_str));
    let stores = stores.finish().map_err(|source| LakeError::Columns {
        table: TableName::CrawlRuns.as_str(),
        source,
    })?;
    let TickCounts {
        brands_unchanged,
        brands_changed,
        products,
        products_added,
        products_removed,
        variants,
        price_changes,
        quarantined,
    } = record.counts;
    let columns = vec![
        number(record.tick),
        text(Some(match record.kind {
            TickKind::Refresh => "refresh",
            TickKind::Backfill => "backfill",
            TickKind::Remove => "remove",
            TickKind::Delivery => "delivery",
            TickKind::Shipping => "shipping",
            TickKind::Reviews => "reviews",
            TickKind::Live => "live",
            TickKind::Rates => "rates",
            TickKind::Compact => "compact",
            TickKind::Restore => "restore",
            TickKind::Repair => "repair",
        })),
        text(run.map(|run| run.run.as_str())),
        moments([run.map(|run| run.started_at)]),
        moments([Some(record.committed_at)]),
        Arc::new(stores) as ArrayRef,
        number(run.map_or(0, |run| run.brands_seen)),
        number(run.map_or(0, |run| run.brands_failed)),
        number(run.map_or(0, |run| run.brands_held_back)),
        number(brands_unchanged),
        number(brands_changed),
        number(products),
        number(products_added),
        number(products_removed),
        number(variants),
        number(price_changes),
        number(quarantined),
    ];
    batch(TableName::CrawlRuns, columns)
}
