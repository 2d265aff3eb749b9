use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, ListArray, StringArray, StringBuilder, StructArray};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType, Field, Fields};
use arrow::error::ArrowError;

use super::ipc::cast;

/// End offsets of the lists of a list column, while the column is written.
#[derive(Debug)]
pub(super) struct Ends(Vec<i32>);

impl Default for Ends {
    fn default() -> Self {
        Self(vec![0])
    }
}

impl Ends {
    /// Ends the current list at `values`, the number of values written so far.
    pub(super) fn close(&mut self, values: usize) {
        // A batch is written long before it has 2^31 values.
        self.0.push(i32::try_from(values).unwrap_or(i32::MAX));
    }

    pub(super) fn finish(&mut self, item: &Arc<Field>, values: ArrayRef) -> Result<ArrayRef, ArrowError> {
        let ends = std::mem::take(self).0;
        let list = ListArray::try_new(Arc::clone(item), OffsetBuffer::new(ends.into()), values, None)?;
        Ok(Arc::new(list))
    }
}

pub(super) fn item(data_type: DataType) -> Arc<Field> {
    Arc::new(Field::new("item", data_type, false))
}

pub(super) fn list(name: &str, data_type: DataType) -> Field {
    Field::new(name, DataType::List(item(data_type)), false)
}

/// Row offsets of a list column: the range of values that belongs to each row.
#[derive(Debug, Clone)]
pub(super) struct Spans(OffsetBuffer<i32>);

impl Spans {
    pub(super) fn of(list: &ListArray) -> Self {
        Self(list.offsets().clone())
    }

    #[inline]
    pub(super) fn at(&self, row: usize) -> Range<usize> {
        // Arrow has validated that the offsets ascend and stay within the values.
        let end = |at: usize| usize::try_from(self.0[at]).unwrap_or(0);
        end(row)..end(row + 1)
    }
}

/// Writes a column of names, each with a list of values.
#[derive(Debug, Default)]
pub(super) struct NamedListsWriter {
    ends: Ends,
    names: StringBuilder,
    value_ends: Ends,
    values: StringBuilder,
    names_len: usize,
    values_len: usize,
}

impl NamedListsWriter {
    pub(super) fn fields() -> Fields {
        Fields::from(vec![
            Field::new("name", DataType::Utf8, false),
            list("values", DataType::Utf8),
        ])
    }

    pub(super) fn push(&mut self, name: &str, values: &[String]) {
        self.names.append_value(name);
        self.names_len += 1;
        values.iter().for_each(|value| self.values.append_value(value));
        self.values_len += values.len();
        self.value_ends.close(self.values_len);
    }

    /// Ends the list of the current row.
    pub(super) fn close(&mut self) {
        self.ends.close(self.names_len);
    }

    pub(super) fn finish(&mut self) -> Result<ArrayRef, ArrowError> {
        (self.names_len, self.values_len) = (0, 0);
        let values = self
            .value_ends
            .finish(&item(DataType::Utf8), Arc::new(self.values.finish()))?;
        let names: ArrayRef = Arc::new(self.names.finish());
        let entries = StructArray::try_new(Self::fields(), vec![names, values], None)?;
        self.ends
            .finish(&item(DataType::Struct(Self::fields())), Arc::new(entries))
    }
}

/// Reads a column of names, each with a list of values.
#[derive(Debug, Clone)]
pub(super) struct NamedLists {
    spans: Spans,
    names: StringArray,
    value_spans: Spans,
    values: StringArray,
}

impl NamedLists {
    pub(super) fn of(list: &ListArray) -> Result<Self, ArrowError> {
        let entries: StructArray = cast(list.values(), "item")?;
        let values: ListArray = child(&entries, "values")?;
        Ok(Self {
            spans: Spans::of(list),
            names: child(&entries, "name")?,
            value_spans: Spans::of(&values),
            values: cast(values.values(), "values")?,
        })
    }

    pub(super) fn at(&self, row: usize) -> impl ExactSizeIterator<Item = (&str, Range<usize>)> {
        self.spans
            .at(row)
            .map(|at| (self.names.value(at), self.value_spans.at(at)))
    }

    pub(super) fn values(&self, span: Range<usize>) -> impl ExactSizeIterator<Item = &str> + Clone {
        span.map(|at| self.values.value(at))
    }
}

/// Returns a child column of a struct, cast to its array type.
pub(super) fn child<A: Array + Clone + 'static>(entries: &StructArray, name: &str) -> Result<A, ArrowError> {
    let array = entries
        .column_by_name(name)
        .ok_or_else(|| ArrowError::SchemaError(format!("no column {name}")))?;
    cast(array, name)
}

/// Returns the value of a nullable text column.
pub(super) fn text(array: &StringArray, at: usize) -> Option<&str> {
    array.is_valid(at).then(|| array.value(at))
}
