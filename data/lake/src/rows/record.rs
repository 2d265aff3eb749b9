//! Model types whose values are columns, and records of them: rows of a table, or elements of a list column.

use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, BooleanArray, BooleanBuilder, Date32Array, Date32Builder, Float32Array, Float32Builder,
    Float64Array, Float64Builder, Int64Array, Int64Builder, ListArray, StringArray, StringBuilder, StructArray,
    TimestampMicrosecondArray,
};
use arrow::buffer::OffsetBuffer;
use arrow::error::ArrowError;
use arrow::record_batch::RecordBatch;
use data_model::{
    BrandSlug, CategoryId, Confidence, CurrencyCode, Day, MediaKind, PaymentKind, Pincode, PriceEvent, PriceSource,
    ProductId, ReleaseId, ReviewWidget, RunId, ShippingFactKind, ShippingRegion, Size, StoreHost, Timestamp,
    UnknownReason, VariantId,
};

use super::build::Column;
use super::columns::{Columns, elements};
use super::{id_from_column, id_to_column};
use crate::schema::element_field;
use crate::{LakeError, TableName};

/// A type whose values are those of a column.
pub(crate) trait Cell: Sized {
    type Builder: Column + Debug + Default;
    type Array: Array + 'static;

    /// Appends a value, or null.
    fn append(value: Option<&Self>, builder: &mut Self::Builder);

    /// Returns the value in a row that is not null. Fails with the value as text if it is not of this type.
    fn read(array: &Self::Array, row: usize) -> Result<Self, String>;

    fn read_optional(array: &Self::Array, row: usize) -> Result<Option<Self>, String> {
        array.is_valid(row).then(|| Self::read(array, row)).transpose()
    }
}

/// A value that its column cannot have.
#[derive(Debug)]
pub(crate) struct InvalidCell {
    column: &'static str,
    value: String,
}

/// A type whose values are read from columns with the names of its fields; [`read_record`] generates implementations.
pub(crate) trait ReadRecord: Sized {
    /// Reads the records in these rows of the columns with the fields' names.
    fn read<'a>(
        column: impl Fn(&'static str) -> Option<&'a ArrayRef> + Copy,
        rows: Range<usize>,
    ) -> Result<Vec<Self>, InvalidCell>;

    /// Reads the records in these rows of a record batch of a table.
    fn read_rows(table: TableName, batch: &RecordBatch, rows: Range<usize>) -> Result<Vec<Self>, LakeError> {
        let read = Self::read(|name| batch.column_by_name(name), rows);
        read.map_err(|InvalidCell { column, value }| Columns::new(table, batch).invalid(column, value))
    }

    /// Reads all records in a record batch of a table.
    fn read_all(table: TableName, batch: &RecordBatch) -> Result<Vec<Self>, LakeError> {
        Self::read_rows(table, batch, 0..batch.num_rows())
    }
}

/// A type whose fields are adjacent columns; [`record`] generates implementations.
pub(crate) trait Record: ReadRecord {
    type Builder: Column + Debug + Default;

    fn append(&self, builder: &mut Self::Builder);
}

/// Returns the column with this name in the concrete type of the cell.
pub(crate) fn array<'a, C: Cell>(
    name: &'static str,
    column: Option<&'a ArrayRef>,
) -> Result<&'a C::Array, InvalidCell> {
    let array = column.and_then(|column| column.as_any().downcast_ref());
    array.ok_or_else(|| InvalidCell {
        column: name,
        value: "its type".to_owned(),
    })
}

impl InvalidCell {
    pub(crate) const fn new(column: &'static str, value: String) -> Self {
        Self { column, value }
    }
}

/// Implements [`ReadRecord`] for a type. A column has the name of its field unless another is given. Fields after
/// `nested` are records of the same row. Fields after `with` are not columns; they are read as the given value.
macro_rules! read_record {
    (
        $record:ident { $($field:ident $(as $name:ident)?: $kind:ty,)* }
        $(nested { $($inner:ident: $of:ty,)* })?
        $(with { $($other:ident: $value:expr,)* })?
    ) => {
        impl $crate::rows::record::ReadRecord for $record {
            fn read<'a>(
                column: impl Fn(&'static str) -> Option<&'a arrow::array::ArrayRef> + Copy,
                rows: std::ops::Range<usize>,
            ) -> Result<Vec<Self>, $crate::rows::record::InvalidCell> {
                $(
                    let name = $crate::rows::record::column_name!($field $($name)?);
                    let $field = $crate::rows::record::array::<$kind>(name, column(name))?;
                )*
                $($(
                    let mut $inner = <$of as $crate::rows::record::ReadRecord>::read(column, rows.clone())?.into_iter();
                )*)?
                let record = |row| {
                    Ok(Self {
                        $($field: <$kind as $crate::rows::record::Cell>::read($field, row).map_err(|value| {
                            let name = $crate::rows::record::column_name!($field $($name)?);
                            $crate::rows::record::InvalidCell::new(name, value)
                        })?,)*
                        $($($inner: $inner.next().ok_or_else(|| {
                            $crate::rows::record::InvalidCell::new(stringify!($inner), "its absence".to_owned())
                        })?,)*)?
                        $($($other: $value,)*)?
                    })
                };
                rows.map(record).collect()
            }
        }
    };
}
pub(crate) use read_record;

/// Implements [`Record`] and [`ReadRecord`] for a model type, with its fields in the order of the columns.
macro_rules! record {
    (
        $(#[$doc:meta])*
        $builder:ident of $record:ident { $($field:ident $(as $name:ident)?: $kind:ty,)* }
        $(with { $($other:ident: $value:expr,)* })?
    ) => {
        $crate::rows::record::read_record! {
            $record { $($field $(as $name)?: $kind,)* } $(with { $($other: $value,)* })?
        }

        $(#[$doc])*
        #[derive(Debug, Default)]
        pub(crate) struct $builder {
            $(pub(crate) $field: <$kind as $crate::rows::record::Cell>::Builder,)*
        }

        impl $crate::rows::build::Column for $builder {
            fn end(&mut self, columns: &mut Vec<arrow::array::ArrayRef>) -> Result<(), arrow::error::ArrowError> {
                $($crate::rows::build::Column::end(&mut self.$field, columns)?;)*
                Ok(())
            }
        }

        impl $crate::rows::record::Record for $record {
            type Builder = $builder;

            fn append(&self, builder: &mut $builder) {
                $(<$kind as $crate::rows::record::Cell>::append(Some(&self.$field), &mut builder.$field);)*
            }
        }
    };
}
pub(crate) use record;

macro_rules! column_name {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident $name:ident) => {
        stringify!($name)
    };
}
pub(crate) use column_name;

/// Implements [`Cell`] for a type by its builder, its array, and the conversions to and from their values.
macro_rules! cell {
    ($kind:ty: $builder:ty, $array:ty, $write:expr, $read:expr) => {
        impl Cell for $kind {
            type Builder = $builder;
            type Array = $array;

            fn append(value: Option<&Self>, builder: &mut $builder) {
                builder.append_option(value.map($write));
            }

            fn read(array: &$array, row: usize) -> Result<Self, String> {
                converted(array.value(row), $read)
            }
        }
    };
}

fn converted<V, C>(value: V, convert: impl FnOnce(V) -> Result<C, String>) -> Result<C, String> {
    convert(value)
}

cell!(bool: BooleanBuilder, BooleanArray, |flag| *flag, Ok);
cell!(f32: Float32Builder, Float32Array, |number| *number, Ok);
cell!(f64: Float64Builder, Float64Array, |number| *number, Ok);
cell!(i64: Int64Builder, Int64Array, |number| *number, Ok);
cell!(String: StringBuilder, StringArray, String::as_str, |text| Ok(text.to_owned()));
cell!(Day: Date32Builder, Date32Array, |day| day.days(), |days| Ok(Self::from_days(days)));
cell!(VariantId: Int64Builder, Int64Array, |id| id_to_column(id.0), |id| {
    Ok(Self(id_from_column(id)))
});
cell!(CategoryId: Int64Builder, Int64Array, |category| i64::from(category.0), |id| {
    id.try_into().map(Self).map_err(|_| id.to_string())
});
// Ids of the platform use every bit.
cell!(u64: Int64Builder, Int64Array, |id| id_to_column(*id), |id| Ok(id_from_column(id)));

/// Types with a fixed set of names.
macro_rules! named {
    ($($kind:ty),*) => {$(
        cell!($kind: StringBuilder, StringArray, |kind| kind.as_str(), |text| {
            Self::named(text).ok_or_else(|| text.to_owned())
        });
    )*};
}

named!(MediaKind, PriceEvent, PriceSource);

/// Integers that do not fit are null where null is allowed.
macro_rules! integers {
    ($($kind:ty: $write:expr,)*) => {$(
        impl Cell for $kind {
            type Builder = Int64Builder;
            type Array = Int64Array;

            fn append(value: Option<&Self>, builder: &mut Int64Builder) {
                builder.append_option(value.copied().map($write));
            }

            fn read(array: &Int64Array, row: usize) -> Result<Self, String> {
                array.value(row).try_into().map_err(|_| array.value(row).to_string())
            }

            fn read_optional(array: &Int64Array, row: usize) -> Result<Option<Self>, String> {
                Ok(array.is_valid(row).then(|| array.value(row).try_into().ok()).flatten())
            }
        }
    )*};
}

integers! {
    u8: i64::from,
    u16: i64::from,
    u32: i64::from,
}

/// Types that are stored as the text that they display.
macro_rules! names {
    ($($kind:ty),*) => {$(
        cell!($kind: StringBuilder, StringArray, ToString::to_string, |text| {
            text.parse().map_err(|_| text.to_owned())
        });
    )*};
}

names!(
    BrandSlug,
    Confidence,
    CurrencyCode,
    PaymentKind,
    Pincode,
    ProductId,
    ReleaseId,
    ReviewWidget,
    RunId,
    ShippingFactKind,
    ShippingRegion,
    StoreHost,
    UnknownReason
);

/// A size that this program cannot parse, such as one of a newer program, is null where null is allowed.
impl Cell for Size {
    type Builder = StringBuilder;
    type Array = StringArray;

    fn append(value: Option<&Self>, builder: &mut StringBuilder) {
        builder.append_option(value.map(ToString::to_string));
    }

    fn read(array: &StringArray, row: usize) -> Result<Self, String> {
        array.value(row).parse().map_err(|_| array.value(row).to_owned())
    }

    fn read_optional(array: &StringArray, row: usize) -> Result<Option<Self>, String> {
        Ok(array.is_valid(row).then(|| array.value(row).parse().ok()).flatten())
    }
}

impl Cell for Timestamp {
    type Builder = Vec<Option<Self>>;
    type Array = TimestampMicrosecondArray;

    fn append(value: Option<&Self>, builder: &mut Self::Builder) {
        builder.push(value.copied());
    }

    fn read(array: &Self::Array, row: usize) -> Result<Self, String> {
        Ok(Self::from_micros(array.value(row)))
    }
}

impl<C: Cell> Cell for Option<C> {
    type Builder = C::Builder;
    type Array = C::Array;

    fn append(value: Option<&Self>, builder: &mut Self::Builder) {
        C::append(value.and_then(Self::as_ref), builder);
    }

    fn read(array: &Self::Array, row: usize) -> Result<Self, String> {
        C::read_optional(array, row)
    }
}

/// Builder of the elements of a list column.
pub(crate) trait Elements: Debug + Default {
    fn finish(&mut self) -> Result<ArrayRef, ArrowError>;
}

impl Elements for StringBuilder {
    fn finish(&mut self) -> Result<ArrayRef, ArrowError> {
        Ok(Arc::new(Self::finish(self)))
    }
}

/// Implements [`Elements`] for builders of records by the names of their struct types in the schema.
macro_rules! list_elements {
    ($($builder:ident: $name:literal,)*) => {$(
        impl $crate::rows::record::Elements for $builder {
            fn finish(&mut self) -> Result<arrow::array::ArrayRef, arrow::error::ArrowError> {
                static FIELDS: std::sync::LazyLock<arrow::datatypes::Fields> =
                    std::sync::LazyLock::new(|| $crate::schema::members($name));
                let mut members = Vec::new();
                $crate::rows::build::Column::end(self, &mut members)?;
                let records = arrow::array::StructArray::try_new(FIELDS.clone(), members, None)?;
                Ok(std::sync::Arc::new(records))
            }
        }
    )*};
}
pub(crate) use list_elements;

/// Builder of a column of lists.
#[derive(Debug, Default)]
pub(crate) struct Lists<E> {
    pub(crate) elements: E,
    /// End offset of each row's list.
    ends: Vec<i32>,
    len: usize,
}

impl<E> Lists<E> {
    /// Adds a row.
    pub(crate) fn push<T>(&mut self, list: impl IntoIterator<Item = T>, append: impl Fn(T, &mut E)) {
        for element in list {
            append(element, &mut self.elements);
            self.len += 1;
        }
        // A commit batch is split long before a column has this many values.
        self.ends.push(i32::try_from(self.len).unwrap_or(i32::MAX));
    }
}

impl<E: Elements> Column for Lists<E> {
    fn end(&mut self, columns: &mut Vec<ArrayRef>) -> Result<(), ArrowError> {
        let elements = self.elements.finish()?;
        let ends = std::iter::once(0).chain(std::mem::take(&mut self.ends));
        let offsets = OffsetBuffer::new(ends.collect::<Vec<_>>().into());
        let field = element_field(elements.data_type().clone());
        columns.push(Arc::new(ListArray::try_new(field, offsets, elements, None)?));
        Ok(())
    }
}

/// The value that errors name for a list that cannot be read.
const ELEMENTS: &str = "its elements";

impl Cell for Vec<String> {
    type Builder = Lists<StringBuilder>;
    type Array = ListArray;

    fn append(value: Option<&Self>, builder: &mut Self::Builder) {
        builder.push(value.into_iter().flatten(), |text, texts| texts.append_value(text));
    }

    fn read(array: &ListArray, row: usize) -> Result<Self, String> {
        let texts: Option<&StringArray> = array.values().as_any().downcast_ref();
        let texts = texts.ok_or_else(|| ELEMENTS.to_owned())?;
        Ok(elements(array, row)
            .map(|index| texts.value(index).to_owned())
            .collect())
    }
}

impl<R: Record<Builder: Elements>> Cell for Vec<R> {
    type Builder = Lists<R::Builder>;
    type Array = ListArray;

    fn append(value: Option<&Self>, builder: &mut Self::Builder) {
        builder.push(value.into_iter().flatten(), R::append);
    }

    fn read(array: &ListArray, row: usize) -> Result<Self, String> {
        let records: Option<&StructArray> = array.values().as_any().downcast_ref();
        let read = records.map(|records| R::read(|name| records.column_by_name(name), elements(array, row)));
        read.and_then(Result::ok).ok_or_else(|| ELEMENTS.to_owned())
    }
}
