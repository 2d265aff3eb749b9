//! Builds record batches of a table, column by column.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanBuilder, Date32Builder, Float32Builder, Float64Builder, Int32Builder, Int64Builder, StringBuilder,
};
use arrow::error::ArrowError;
use arrow::record_batch::RecordBatch;
use data_model::{StoreHost, Timestamp};

use super::batch;
use super::columns::moments;
use crate::error::unfit_columns;
use crate::{LakeError, TableName};

/// Builder of one column or of several adjacent columns.
pub(crate) trait Column {
    /// Finishes the columns and appends them to `columns`, in the order of the table's schema.
    fn end(&mut self, columns: &mut Vec<ArrayRef>) -> Result<(), ArrowError>;
}

/// Builder for rows of a table. [`table_rows`] generates implementations.
pub(crate) trait TableRows: Column + Sized {
    const TABLE: TableName;

    fn columns(mut self) -> Result<Vec<ArrayRef>, LakeError> {
        let mut columns = Vec::new();
        self.end(&mut columns).map_err(unfit_columns(Self::TABLE))?;
        Ok(columns)
    }

    fn finish(self) -> Result<RecordBatch, LakeError> {
        batch(Self::TABLE, self.columns()?)
    }
}

/// Declares a builder for a table's rows, with one field per column in the order of the table's schema. Fields after
/// `with` are not columns.
macro_rules! table_rows {
    (
        $(#[$doc:meta])*
        $rows:ident of $table:ident {
            $($(#[$about:meta])* $column:ident: $kind:ty,)*
        }
        $(with { $($(#[$says:meta])* $other:ident: $of:ty,)* })?
    ) => {
        $(#[$doc])*
        #[derive(Debug, Default)]
        pub(crate) struct $rows {
            $($(#[$about])* $column: $kind,)*
            $($($(#[$says])* $other: $of,)*)?
        }

        impl $crate::rows::build::Column for $rows {
            fn end(&mut self, columns: &mut Vec<arrow::array::ArrayRef>) -> Result<(), arrow::error::ArrowError> {
                $($crate::rows::build::Column::end(&mut self.$column, columns)?;)*
                Ok(())
            }
        }

        impl $crate::rows::build::TableRows for $rows {
            const TABLE: $crate::TableName = $crate::TableName::$table;
        }
    };
}
pub(crate) use table_rows;

macro_rules! columns_of {
    ($($builder:ty),*) => {$(
        impl Column for $builder {
            fn end(&mut self, columns: &mut Vec<ArrayRef>) -> Result<(), ArrowError> {
                columns.push(Arc::new(self.finish()));
                Ok(())
            }
        }
    )*};
}

columns_of!(
    BooleanBuilder,
    Date32Builder,
    Float32Builder,
    Float64Builder,
    Int32Builder,
    Int64Builder,
    StringBuilder
);

impl Column for Vec<Option<Timestamp>> {
    fn end(&mut self, columns: &mut Vec<ArrayRef>) -> Result<(), ArrowError> {
        columns.push(moments(std::mem::take(self)));
        Ok(())
    }
}

impl<C: Column, const N: usize> Column for [C; N] {
    fn end(&mut self, columns: &mut Vec<ArrayRef>) -> Result<(), ArrowError> {
        self.iter_mut().try_for_each(|column| column.end(columns))
    }
}

/// Leading columns of the tables that are partitioned by store.
#[derive(Debug, Default)]
pub(crate) struct StoreColumns {
    bucket: Int32Builder,
    store: StringBuilder,
    brand_slug: StringBuilder,
}

impl StoreColumns {
    pub(crate) fn push(&mut self, bucket: i32, store: &StoreHost, brand_slug: &str) {
        self.bucket.append_value(bucket);
        self.store.append_value(store.as_str());
        self.brand_slug.append_value(brand_slug);
    }
}

impl Column for StoreColumns {
    fn end(&mut self, columns: &mut Vec<ArrayRef>) -> Result<(), ArrowError> {
        self.bucket.end(columns)?;
        self.store.end(columns)?;
        self.brand_slug.end(columns)
    }
}
