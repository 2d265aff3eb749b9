//! Tables that are written column by column and read in place.

use std::fmt::Debug;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, ArrowPrimitiveType, BooleanArray, FixedSizeBinaryArray, FixedSizeBinaryBuilder, Float32Array,
    Int64Array, ListArray, PrimitiveArray, RecordBatch, StringArray, StringBuilder, UInt8Array, UInt16Array,
    UInt32Array, UInt64Array,
};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType, Field, Fields, Schema, SchemaRef};
use arrow::error::ArrowError;

use super::ipc::cast;

/// A type of values: its column in memory, its writer, and its type in the file.
pub(crate) trait ColumnKind {
    type Column: Debug;
    type Writer: Debug + Default;

    const NULLABLE: bool = false;

    fn data_type() -> DataType;

    fn read(array: &dyn Array, name: &str) -> Result<Self::Column, ArrowError>;

    /// Returns the written column and empties the writer.
    fn finish(writer: &mut Self::Writer) -> Result<ArrayRef, ArrowError>;
}

/// The columns of a table or of a list's structs; [`columns`] generates implementations.
pub(crate) trait Columns: Sized {
    type Writer: Debug + Default;

    fn fields() -> Fields;

    fn read<'a>(column: impl Fn(&str) -> Option<&'a ArrayRef>) -> Result<Self, ArrowError>;

    fn arrays(writer: &mut Self::Writer) -> Result<Vec<ArrayRef>, ArrowError>;

    fn schema() -> SchemaRef {
        Arc::new(Schema::new(Self::fields()))
    }

    fn of(batch: &RecordBatch) -> Result<Self, ArrowError> {
        Self::read(|name| batch.column_by_name(name))
    }

    /// Returns the written rows and empties the writer.
    fn batch(writer: &mut Self::Writer, schema: &SchemaRef) -> Result<RecordBatch, ArrowError> {
        RecordBatch::try_new(Arc::clone(schema), Self::arrays(writer)?)
    }
}

/// Declares the columns of a table or of a list's structs, and their writer. Each field is a column of that name.
macro_rules! columns {
    ($(#[$doc:meta])* $columns:ident, $writer:ident { $($column:ident: $kind:ty,)* }) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub(crate) struct $columns {
            $(pub(crate) $column: <$kind as $crate::columns::table::ColumnKind>::Column,)*
        }

        #[derive(Debug, Default)]
        pub(crate) struct $writer {
            $(pub(crate) $column: <$kind as $crate::columns::table::ColumnKind>::Writer,)*
        }

        impl $crate::columns::table::Columns for $columns {
            type Writer = $writer;

            fn fields() -> arrow::datatypes::Fields {
                vec![$($crate::columns::table::field::<$kind>(stringify!($column))),*].into()
            }

            fn read<'a>(
                column: impl Fn(&str) -> Option<&'a arrow::array::ArrayRef>,
            ) -> Result<Self, arrow::error::ArrowError> {
                Ok(Self {
                    $($column: $crate::columns::table::read::<$kind>(stringify!($column), &column)?,)*
                })
            }

            fn arrays(writer: &mut $writer) -> Result<Vec<arrow::array::ArrayRef>, arrow::error::ArrowError> {
                Ok(vec![$(<$kind as $crate::columns::table::ColumnKind>::finish(&mut writer.$column)?),*])
            }
        }

        impl $crate::columns::table::ColumnKind for $columns {
            type Column = Self;
            type Writer = $writer;

            fn data_type() -> arrow::datatypes::DataType {
                arrow::datatypes::DataType::Struct(<Self as $crate::columns::table::Columns>::fields())
            }

            fn read(array: &dyn arrow::array::Array, name: &str) -> Result<Self, arrow::error::ArrowError> {
                let structs: arrow::array::StructArray = $crate::columns::ipc::cast(array, name)?;
                $crate::columns::table::Columns::read(|name| structs.column_by_name(name))
            }

            fn finish(writer: &mut $writer) -> Result<arrow::array::ArrayRef, arrow::error::ArrowError> {
                let fields = <Self as $crate::columns::table::Columns>::fields();
                let arrays = <Self as $crate::columns::table::Columns>::arrays(writer)?;
                Ok(std::sync::Arc::new(arrow::array::StructArray::try_new(fields, arrays, None)?))
            }
        }
    };
}
pub(crate) use columns;

pub(crate) fn field<K: ColumnKind>(name: &str) -> Field {
    Field::new(name, K::data_type(), K::NULLABLE)
}

pub(crate) fn read<'a, K: ColumnKind>(
    name: &str,
    column: impl Fn(&str) -> Option<&'a ArrayRef>,
) -> Result<K::Column, ArrowError> {
    let array = column(name).ok_or_else(|| ArrowError::SchemaError(format!("no column {name}")))?;
    K::read(array, name)
}

macro_rules! numbers {
    ($($kind:ty: $array:ty, $data_type:ident;)*) => {$(
        impl ColumnKind for $kind {
            type Column = $array;
            type Writer = Vec<Self>;

            fn data_type() -> DataType {
                DataType::$data_type
            }

            fn read(array: &dyn Array, name: &str) -> Result<$array, ArrowError> {
                cast(array, name)
            }

            fn finish(writer: &mut Self::Writer) -> Result<ArrayRef, ArrowError> {
                Ok(Arc::new(<$array>::from(std::mem::take(writer))))
            }
        }

        impl ColumnKind for Option<$kind> {
            type Column = $array;
            type Writer = Vec<Self>;

            const NULLABLE: bool = true;

            fn data_type() -> DataType {
                DataType::$data_type
            }

            fn read(array: &dyn Array, name: &str) -> Result<$array, ArrowError> {
                cast(array, name)
            }

            fn finish(writer: &mut Self::Writer) -> Result<ArrayRef, ArrowError> {
                Ok(Arc::new(<$array>::from(std::mem::take(writer))))
            }
        }
    )*};
}

numbers! {
    bool: BooleanArray, Boolean;
    u8: UInt8Array, UInt8;
    u16: UInt16Array, UInt16;
    u32: UInt32Array, UInt32;
    u64: UInt64Array, UInt64;
    i64: Int64Array, Int64;
    f32: Float32Array, Float32;
}

macro_rules! texts {
    ($($kind:ty: $nullable:literal;)*) => {$(
        impl ColumnKind for $kind {
            type Column = StringArray;
            type Writer = StringBuilder;

            const NULLABLE: bool = $nullable;

            fn data_type() -> DataType {
                DataType::Utf8
            }

            fn read(array: &dyn Array, name: &str) -> Result<StringArray, ArrowError> {
                cast(array, name)
            }

            fn finish(writer: &mut StringBuilder) -> Result<ArrayRef, ArrowError> {
                Ok(Arc::new(writer.finish()))
            }
        }
    )*};
}

texts! {
    String: false;
    Option<String>: true;
}

impl<const N: usize> ColumnKind for [u8; N] {
    type Column = FixedSizeBinaryArray;
    type Writer = Vec<Self>;

    fn data_type() -> DataType {
        DataType::FixedSizeBinary(N as i32)
    }

    fn read(array: &dyn Array, name: &str) -> Result<FixedSizeBinaryArray, ArrowError> {
        cast(array, name)
    }

    fn finish(writer: &mut Self::Writer) -> Result<ArrayRef, ArrowError> {
        let mut builder = FixedSizeBinaryBuilder::with_capacity(writer.len(), N as i32);
        std::mem::take(writer)
            .iter()
            .try_for_each(|bytes| builder.append_value(bytes))?;
        Ok(Arc::new(builder.finish()))
    }
}

/// The kind of columns of lists.
#[derive(Debug)]
pub(crate) struct List<K>(PhantomData<K>);

/// A column of lists, read in place.
#[derive(Debug)]
pub(crate) struct Lists<C> {
    offsets: OffsetBuffer<i32>,
    pub(crate) items: C,
}

impl<C> Lists<C> {
    pub(crate) fn rows(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Returns the range of the items that belong to a row.
    #[inline]
    pub(crate) fn span(&self, row: usize) -> Range<usize> {
        // Arrow has validated that the offsets ascend and stay within the items.
        let end = |at: usize| usize::try_from(self.offsets[at]).unwrap_or(0);
        end(row)..end(row + 1)
    }
}

/// Writer of a column of lists.
#[derive(Debug, Default)]
pub(crate) struct ListsWriter<W> {
    items: W,
    /// End offset of each list.
    ends: Vec<i32>,
    len: usize,
}

impl<W> ListsWriter<W> {
    /// Adds the list of the next row.
    pub(crate) fn push<T>(&mut self, items: impl IntoIterator<Item = T>, mut push: impl FnMut(&mut W, T)) {
        for item in items {
            push(&mut self.items, item);
            self.len += 1;
        }
        // A batch is written long before it has 2^31 items.
        self.ends.push(i32::try_from(self.len).unwrap_or(i32::MAX));
    }
}

impl<K: ColumnKind> ColumnKind for List<K> {
    type Column = Lists<K::Column>;
    type Writer = ListsWriter<K::Writer>;

    fn data_type() -> DataType {
        DataType::List(Arc::new(Field::new("item", K::data_type(), false)))
    }

    fn read(array: &dyn Array, name: &str) -> Result<Self::Column, ArrowError> {
        let lists: ListArray = cast(array, name)?;
        Ok(Lists {
            offsets: lists.offsets().clone(),
            items: K::read(lists.values(), name)?,
        })
    }

    fn finish(writer: &mut Self::Writer) -> Result<ArrayRef, ArrowError> {
        let items = K::finish(&mut writer.items)?;
        writer.len = 0;
        let ends = std::iter::once(0).chain(std::mem::take(&mut writer.ends));
        let offsets = OffsetBuffer::new(ends.collect::<Vec<_>>().into());
        let item = Arc::new(Field::new("item", K::data_type(), false));
        Ok(Arc::new(ListArray::try_new(item, offsets, items, None)?))
    }
}

/// Returns the value of a nullable column of numbers.
#[inline]
pub(crate) fn number<T: ArrowPrimitiveType>(array: &PrimitiveArray<T>, at: usize) -> Option<T::Native> {
    array.is_valid(at).then(|| array.value(at))
}

/// Returns the value of a nullable column of flags.
pub(crate) fn flag(array: &BooleanArray, at: usize) -> Option<bool> {
    array.is_valid(at).then(|| array.value(at))
}

/// Returns the value of a nullable text column.
pub(crate) fn text(array: &StringArray, at: usize) -> Option<&str> {
    array.is_valid(at).then(|| array.value(at))
}
