//! Refused records of review apps, which are rows of `quarantine`. A crawl replaces only its own rows in that table and
//! keeps these records.

use std::collections::BTreeSet;

use arrow::array::BooleanArray;
use arrow::compute::filter_record_batch;
use arrow::record_batch::RecordBatch;
use data_model::StoreHost;

use crate::error::unfit_columns;
use crate::files::sort;
use crate::rows::columns::Columns;
use crate::rows::quarantine::REFUSED_FROM;
use crate::ticks::TickKind;
use crate::{LakeError, TableName};

pub(crate) fn keeps_refused(table: TableName, kind: TickKind) -> bool {
    table == TableName::Quarantine && matches!(kind, TickKind::Refresh | TickKind::Backfill)
}

/// Returns the new rows of some stores together with the rows of refused reviews among their old ones.
pub(crate) fn with_refused(
    old: &[RecordBatch],
    stores: &BTreeSet<StoreHost>,
    mut new: Vec<RecordBatch>,
) -> Result<Vec<RecordBatch>, LakeError> {
    const TABLE: TableName = TableName::Quarantine;
    let stores: BTreeSet<&str> = stores.iter().map(StoreHost::as_str).collect();
    let before = new.len();
    for batch in old {
        let columns = Columns::new(TABLE, batch);
        let (store, position) = (columns.text("store")?, columns.int("position")?);
        let stays = |row| position.value(row) >= REFUSED_FROM && stores.contains(store.value(row));
        let mask: BooleanArray = (0..batch.num_rows()).map(|row| Some(stays(row))).collect();
        if mask.true_count() > 0 {
            new.push(filter_record_batch(batch, &mask).map_err(unfit_columns(TABLE))?);
        }
    }
    if new.len() == before {
        Ok(new)
    } else {
        sort(TABLE, &new)
    }
}
