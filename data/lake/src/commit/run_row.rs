//! Builds the `crawl_runs` row of a commit batch.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, ListBuilder, StringArray, StringBuilder};
use arrow::datatypes::DataType;
use arrow::record_batch::RecordBatch;

use crate::rows::batch;
use crate::rows::columns::moments;
use crate::schema::element_field;
use crate::ticks::{TickKind, TickRecord};
use crate::{LakeError, TableName, TickCounts};

pub(crate) fn run_row(record: &TickRecord) -> Result<RecordBatch, LakeError> {
    let number = |number: u64| Arc::new(Int64Array::from(vec![i64::try_from(number).unwrap_or(i64::MAX)])) as ArrayRef;
    let text = |text: Option<&str>| Arc::new(StringArray::from(vec![text])) as ArrayRef;
    let run = record.run.as_ref();
    let mut stores = ListBuilder::new(StringBuilder::new()).with_field(element_field(DataType::Utf8));
    stores.append_value(record.stores.iter().map(|store| Some(store.as_str())));
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
            TickKind::Searches => "searches",
            TickKind::Compact => "compact",
            TickKind::Restore => "restore",
            TickKind::Repair => "repair",
        })),
        text(run.map(|run| run.run.as_str())),
        moments([run.map(|run| run.started_at)]),
        moments([Some(record.committed_at)]),
        Arc::new(stores.finish()) as ArrayRef,
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
