//! Builders and readers of list columns.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, Int64Array, Int64Builder, ListArray, StringArray, StringBuilder, StructArray};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::Fields;
use arrow::error::ArrowError;
use data_model::{Attribute, Media, MediaKind, OptionValue, ProductOption};

use super::columns::{elements, some_int, some_text, struct_child};
use crate::schema;

/// End offset of each row's list.
#[derive(Debug)]
pub(super) struct Offsets(Vec<i32>);

impl Default for Offsets {
    fn default() -> Self {
        Self(vec![0])
    }
}

impl Offsets {
    pub(super) fn close(&mut self, len: usize) {
        // A commit batch is split long before a column has this many values.
        self.0.push(i32::try_from(len).unwrap_or(i32::MAX));
    }

    fn list(self, child: ArrayRef) -> Result<ListArray, ArrowError> {
        let element = schema::element_field(child.data_type().clone());
        ListArray::try_new(element, OffsetBuffer::new(self.0.into()), child, None)
    }

    pub(super) fn structs(self, fields: Fields, children: Vec<ArrayRef>) -> Result<ArrayRef, ArrowError> {
        Ok(Arc::new(
            self.list(Arc::new(StructArray::try_new(fields, children, None)?))?,
        ))
    }
}

/// Builder of a column of text lists.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    offsets: Offsets,
    values: StringBuilder,
}

impl Texts {
    pub(crate) fn push<T: AsRef<str>>(&mut self, values: impl IntoIterator<Item = T>) {
        values.into_iter().for_each(|value| self.values.append_value(value));
        self.offsets.close(self.values_len());
    }

    fn values_len(&self) -> usize {
        arrow::array::ArrayBuilder::len(&self.values)
    }

    pub(crate) fn finish(mut self) -> Result<ListArray, ArrowError> {
        self.offsets.list(Arc::new(self.values.finish()))
    }
}

/// Returns the texts of one row.
pub(crate) fn texts(list: &ListArray, row: usize) -> Option<Vec<String>> {
    let values: &StringArray = list.values().as_any().downcast_ref()?;
    Some(
        elements(list, row)
            .map(|index| values.value(index).to_owned())
            .collect(),
    )
}

/// Builder of a column of lists of names with values, used for options and attributes.
#[derive(Debug, Default)]
pub(crate) struct NamedValues {
    offsets: Offsets,
    names: StringBuilder,
    values: Texts,
    len: usize,
}

impl NamedValues {
    /// Adds an entry to the current row.
    pub(crate) fn push(&mut self, name: &str, values: &[String]) {
        self.names.append_value(name);
        self.values.push(values);
        self.len += 1;
    }

    /// Ends the current row.
    pub(crate) fn close(&mut self) {
        self.offsets.close(self.len);
    }

    pub(crate) fn finish(mut self) -> Result<ArrayRef, ArrowError> {
        let children: Vec<ArrayRef> = vec![Arc::new(self.names.finish()), Arc::new(self.values.finish()?)];
        self.offsets.structs(schema::named_values(), children)
    }
}

fn named<T>(list: &ListArray, row: usize, make: impl Fn(String, Vec<String>) -> T) -> Option<Vec<T>> {
    let structs: &StructArray = list.values().as_any().downcast_ref()?;
    let names: &StringArray = struct_child(structs, 0)?;
    let values: &ListArray = struct_child(structs, 1)?;
    elements(list, row)
        .map(|index| Some(make(names.value(index).to_owned(), texts(values, index)?)))
        .collect()
}

pub(crate) fn options(list: &ListArray, row: usize) -> Option<Vec<ProductOption>> {
    named(list, row, |name, values| ProductOption { name, values })
}

pub(crate) fn attributes(list: &ListArray, row: usize) -> Option<Vec<Attribute>> {
    named(list, row, |name, values| Attribute { name, values })
}

/// Builder of a column of media lists.
#[derive(Debug, Default)]
pub(crate) struct MediaLists {
    offsets: Offsets,
    urls: StringBuilder,
    kinds: StringBuilder,
    alts: StringBuilder,
    widths: Int64Builder,
    heights: Int64Builder,
    len: usize,
}

impl MediaLists {
    pub(crate) fn with_room(url_bytes: usize) -> Self {
        Self {
            urls: StringBuilder::with_capacity(url_bytes / 64, url_bytes),
            ..Self::default()
        }
    }

    pub(crate) fn push(&mut self, media: &[Media]) {
        for Media {
            url,
            kind,
            alt,
            width,
            height,
        } in media
        {
            self.urls.append_value(url);
            self.kinds.append_value(kind.as_str());
            self.alts.append_option(alt.as_deref());
            self.widths.append_option(width.map(i64::from));
            self.heights.append_option(height.map(i64::from));
        }
        self.len += media.len();
        self.offsets.close(self.len);
    }

    pub(crate) fn finish(mut self) -> Result<ArrayRef, ArrowError> {
        let children: Vec<ArrayRef> = vec![
            Arc::new(self.urls.finish()),
            Arc::new(self.kinds.finish()),
            Arc::new(self.alts.finish()),
            Arc::new(self.widths.finish()),
            Arc::new(self.heights.finish()),
        ];
        self.offsets.structs(schema::media(), children)
    }
}

pub(crate) fn media(list: &ListArray, row: usize) -> Option<Vec<Media>> {
    let structs: &StructArray = list.values().as_any().downcast_ref()?;
    let [urls, kinds, alts]: [&StringArray; 3] = [
        struct_child(structs, 0)?,
        struct_child(structs, 1)?,
        struct_child(structs, 2)?,
    ];
    let [widths, heights]: [&Int64Array; 2] = [struct_child(structs, 3)?, struct_child(structs, 4)?];
    let medium = |index| {
        let kind = [MediaKind::Image, MediaKind::Video]
            .into_iter()
            .find(|kind| kind.as_str() == kinds.value(index))?;
        let (width, height) = (some_int(widths, index), some_int(heights, index));
        Some(Media {
            url: urls.value(index).to_owned(),
            kind,
            alt: some_text(alts, index),
            width,
            height,
        })
    };
    elements(list, row).map(medium).collect()
}

/// Builder of a column of option value lists.
#[derive(Debug, Default)]
pub(crate) struct OptionValues {
    offsets: Offsets,
    names: StringBuilder,
    values: StringBuilder,
    len: usize,
}

impl OptionValues {
    pub(crate) fn push(&mut self, values: &[OptionValue]) {
        for OptionValue { name, value } in values {
            self.names.append_value(name);
            self.values.append_value(value);
        }
        self.len += values.len();
        self.offsets.close(self.len);
    }

    pub(crate) fn finish(mut self) -> Result<ArrayRef, ArrowError> {
        let children: Vec<ArrayRef> = vec![Arc::new(self.names.finish()), Arc::new(self.values.finish())];
        self.offsets.structs(schema::option_values(), children)
    }
}

pub(crate) fn option_values(list: &ListArray, row: usize) -> Option<Vec<OptionValue>> {
    let structs: &StructArray = list.values().as_any().downcast_ref()?;
    let [names, values]: [&StringArray; 2] = [struct_child(structs, 0)?, struct_child(structs, 1)?];
    let value = |index| OptionValue {
        name: names.value(index).to_owned(),
        value: values.value(index).to_owned(),
    };
    Some(elements(list, row).map(value).collect())
}
