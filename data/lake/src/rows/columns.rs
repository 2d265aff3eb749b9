use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, BooleanArray, Int64Array, ListArray, StringArray, TimestampMicrosecondArray};
use arrow::record_batch::RecordBatch;
use data_model::Timestamp;

use crate::{LakeError, TableName};

#[derive(Debug, Clone, Copy)]
pub(crate) struct Columns<'a> {
    pub(crate) table: TableName,
    pub(crate) batch: &'a RecordBatch,
}

impl<'a> Columns<'a> {
    pub(crate) fn new(table: TableName, batch: &'a RecordBatch) -> Self {
        Self { table, batch }
    }

    fn typed<A: Array + 'static>(self, name: &'static str) -> Result<&'a A, LakeError> {
        let column = self.batch.column_by_name(name);
        column
            .and_then(|column| column.as_any().downcast_ref())
            .ok_or_else(|| self.invalid(name, "its type"))
    }

    pub(crate) fn text(self, name: &'static str) -> Result<&'a StringArray, LakeError> {
        self.typed(name)
    }

    pub(crate) fn int(self, name: &'static str) -> Result<&'a Int64Array, LakeError> {
        self.typed(name)
    }

    pub(crate) fn flag(self, name: &'static str) -> Result<&'a BooleanArray, LakeError> {
        self.typed(name)
    }

    pub(crate) fn moment(self, name: &'static str) -> Result<&'a TimestampMicrosecondArray, LakeError> {
        self.typed(name)
    }

    pub(crate) fn list(self, name: &'static str) -> Result<&'a ListArray, LakeError> {
        self.typed(name)
    }

    pub(crate) fn invalid(self, column: &'static str, value: impl std::fmt::Display) -> LakeError {
        let value = value.to_string().chars().take(80).collect();
        LakeError::Value {
            table: self.table.as_str(),
            column,
            value,
        }
    }

    pub(crate) fn parse<T: std::str::FromStr>(self, column: &'static str, text: &str) -> Result<T, LakeError> {
        text.parse().map_err(|_| self.invalid(column, text))
    }
}

pub(crate) fn some_text(column: &StringArray, row: usize) -> Option<String> {
    column.is_valid(row).then(|| column.value(row).to_owned())
}

pub(crate) fn some_int<T: TryFrom<i64>>(column: &Int64Array, row: usize) -> Option<T> {
    column
        .is_valid(row)
        .then(|| T::try_from(column.value(row)).ok())
        .flatten()
}

pub(crate) fn some_moment(column: &TimestampMicrosecondArray, row: usize) -> Option<Timestamp> {
    column.is_valid(row).then(|| Timestamp::from_micros(column.value(row)))
}

pub(crate) fn moments(values: impl IntoIterator<Item = Option<Timestamp>>) -> ArrayRef {
    let array: TimestampMicrosecondArray = values.into_iter().map(|value| value.map(Timestamp::micros)).collect();
    Arc::new(array.with_timezone("UTC"))
}

/// Returns the range of a row's elements in the list's child column.
pub(crate) fn elements(list: &ListArray, row: usize) -> Range<usize> {
    if list.is_null(row) {
        return 0..0;
    }
    let offsets = list.value_offsets();
    let offset = |index: usize| usize::try_from(offsets[index]).unwrap_or(0);
    offset(row)..offset(row + 1)
}

/// Returns the row range of each run of equal stores.
pub(crate) fn store_runs(store: &StringArray) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for row in 0..store.len() {
        match runs.last_mut() {
            Some(run) if store.value(run.start) == store.value(row) => run.end = row + 1,
            _ => runs.push(row..row + 1),
        }
    }
    runs
}
