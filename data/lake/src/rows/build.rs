//! Builds record batches of a table, column by column.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanBuilder, Float32Builder, Float64Builder, Int32Builder, Int64Builder, StringBuilder,
};
use arrow::error::ArrowError;
use arrow::record_batch::RecordBatch;
use data_model::Timestamp;

use super::batch;
use super::columns::moments;
use super::nested::{MediaLists, NamedValues, OptionValues, Texts};
use super::rates::Rates;
use super::terms::{FactLists, UnknownTermLists};
use crate::{LakeError, TableName};

/// Builder of one column or of several adjacent columns.
pub(crate) trait Column {
    /// Finishes the columns and appends them to `columns`, in the order of the table's schema.
    fn end(&mut self, columns: &mut Vec<ArrayRef>) -> Result<(), ArrowError>;
}

/// Builder for rows of a table; [`table_rows`] generates implementations.
pub(crate) trait TableRows: Column + Sized {
    const TABLE: TableName;

    fn columns(mut self) -> Result<Vec<ArrayRef>, LakeError> {
        let mut columns = Vec::new();
        let ended = self.end(&mut columns);
        ended.map_err(|source| LakeError::Columns {
            table: Self::TABLE.as_str(),
            source,
        })?;
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
    ($($builder:ty: $array:expr),* $(,)?) => {$(
        impl Column for $builder {
            fn end(&mut self, columns: &mut Vec<ArrayRef>) -> Result<(), ArrowError> {
                let array: fn(&mut Self) -> Result<ArrayRef, ArrowError> = $array;
                columns.push(array(self)?);
                Ok(())
            }
        }
    )*};
}

columns_of! {
    BooleanBuilder: |column| Ok(Arc::new(column.finish())),
    Float32Builder: |column| Ok(Arc::new(column.finish())),
    Float64Builder: |column| Ok(Arc::new(column.finish())),
    Int32Builder: |column| Ok(Arc::new(column.finish())),
    Int64Builder: |column| Ok(Arc::new(column.finish())),
    StringBuilder: |column| Ok(Arc::new(column.finish())),
    Vec<Option<Timestamp>>: |column| Ok(moments(std::mem::take(column))),
    Texts: |column| Ok(Arc::new(std::mem::take(column).finish()?)),
    NamedValues: |column| std::mem::take(column).finish(),
    MediaLists: |column| std::mem::take(column).finish(),
    OptionValues: |column| std::mem::take(column).finish(),
    Rates: |column| std::mem::take(column).finish(),
    FactLists: |column| std::mem::take(column).finish(),
    UnknownTermLists: |column| std::mem::take(column).finish(),
}

impl<C: Column, const N: usize> Column for [C; N] {
    fn end(&mut self, columns: &mut Vec<ArrayRef>) -> Result<(), ArrowError> {
        self.iter_mut().try_for_each(|column| column.end(columns))
    }
}
