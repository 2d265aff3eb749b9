use std::collections::hash_map::Entry;
use std::io;
use std::ops::Range;
use std::sync::{Arc, LazyLock};

use arrow::array::{Array, ArrayRef, BinaryArray, BinaryBuilder, RecordBatch, StringArray, StringBuilder, UInt32Array};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::error::ArrowError;
use data_model::{CategoryId, Product};
use data_text::fold_value;
use roaring::RoaringBitmap;
use rustc_hash::FxHashMap;

use super::Cards;
use super::ipc::column;
use crate::taxonomy;

pub(crate) const FACETS: &str = "facets.arrow";

/// Maximum length of a facet value. Longer values are prose, which is useless as a filter.
const VALUE_BYTES_MAX: usize = 256;
const VALUES_PER_ROW_MAX: usize = 1_024;
/// With fewer hits per facet value, counting the codes of the hits is faster than intersecting every posting list.
const HITS_PER_VALUE: u64 = 4;

static SCHEMA: LazyLock<SchemaRef> = LazyLock::new(|| {
    Arc::new(Schema::new(vec![
        Field::new("name", DataType::Utf8, false),
        Field::new("value", DataType::Utf8, false),
        Field::new("display", DataType::Utf8, false),
        Field::new("count", DataType::UInt32, false),
        Field::new("rows", DataType::Binary, false),
    ]))
});

/// Returns the facet name for an option or attribute name: in lowercase, with folded white space and `colour` →
/// `color`. The result may be empty.
#[must_use]
pub fn fold_name(name: &str) -> String {
    let folded = fold_value(name);
    match folded.as_str() {
        "colour" | "colors" | "colours" => "color".to_owned(),
        "sizes" => "size".to_owned(),
        "materials" => "material".to_owned(),
        "tags" => "tag".to_owned(),
        _ => folded,
    }
}

/// A facet value of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FacetKey<'a> {
    /// Name of the facet: `color`, `size`, …, `category`, `vendor`, `tag`.
    pub name: &'a str,
    /// Folded value, identical in every part. The value of a category is its id in decimal.
    pub value: &'a str,
    /// Value as a store spells it. For a category, the slug.
    pub display: &'a str,
    /// Number of rows that have the value, including dead rows.
    pub count: u32,
}

/// Facet values of a part with the rows that have each value, numbered in order of name and value.
///
/// A product has the values of its options and attributes, its `vendor` and each `tag`. A product also has the facet
/// `category` once for its category and once for each ancestor.
#[derive(Debug)]
pub struct Facets {
    names: StringArray,
    values: StringArray,
    displays: StringArray,
    counts: UInt32Array,
    rows: BinaryArray,
    /// Facet names, each with the codes of its values, sorted by name.
    ranges: Vec<(String, Range<u32>)>,
}

impl Facets {
    pub(crate) fn schema() -> &'static SchemaRef {
        &SCHEMA
    }

    pub(crate) fn of(batch: &RecordBatch) -> Result<Self, ArrowError> {
        let mut facets = Self {
            names: column(batch, "name")?,
            values: column(batch, "value")?,
            displays: column(batch, "display")?,
            counts: column(batch, "count")?,
            rows: column(batch, "rows")?,
            ranges: Vec::new(),
        };
        for code in 0..u32::try_from(batch.num_rows()).unwrap_or(u32::MAX) {
            let name = facets.names.value(code as usize);
            match facets.ranges.last_mut() {
                Some((last, range)) if last == name => range.end = code + 1,
                _ => facets.ranges.push((name.to_owned(), code..code + 1)),
            }
        }
        if facets.ranges.windows(2).all(|pair| pair[0].0 < pair[1].0) {
            Ok(facets)
        } else {
            Err(ArrowError::InvalidArgumentError(
                "facet names are not sorted".to_owned(),
            ))
        }
    }

    /// Returns the number of facet values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Returns true if no product has a facet value.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Returns the facet names in sorted order, with the codes of their values.
    pub fn names(&self) -> impl ExactSizeIterator<Item = (&str, Range<u32>)> {
        self.ranges.iter().map(|(name, codes)| (name.as_str(), codes.clone()))
    }

    /// Returns the codes of a facet's values, or an empty range if no product of the part has the facet. `name` must be
    /// folded.
    #[must_use]
    pub fn codes(&self, name: &str) -> Range<u32> {
        let at = self.ranges.binary_search_by(|(known, _)| known.as_str().cmp(name)).ok();
        at.and_then(|at| self.ranges.get(at))
            .map_or(0..0, |(_, codes)| codes.clone())
    }

    /// Returns the facet value with this code.
    #[must_use]
    pub fn key(&self, code: u32) -> FacetKey<'_> {
        let at = code as usize;
        FacetKey {
            name: self.names.value(at),
            value: self.values.value(at),
            display: self.displays.value(at),
            count: self.counts.value(at),
        }
    }

    /// Returns the code of a folded value of a folded facet name.
    #[must_use]
    pub fn code(&self, name: &str, value: &str) -> Option<u32> {
        let Range {
            start: mut low,
            end: mut high,
        } = self.codes(name);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.values.value(middle as usize).cmp(value) {
                std::cmp::Ordering::Equal => return Some(middle),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    /// Returns the rows that have the value with this code, including dead rows.
    #[must_use]
    pub fn rows(&self, code: u32) -> RoaringBitmap {
        // The file was verified when it was fetched. An unreadable list counts as empty instead of causing a crash.
        RoaringBitmap::deserialize_from(self.rows.value(code as usize)).unwrap_or_default()
    }

    pub(super) fn serialised_rows(&self, code: u32) -> &[u8] {
        self.rows.value(code as usize)
    }

    #[must_use]
    pub(crate) fn category_rows(&self, category: CategoryId) -> RoaringBitmap {
        self.code("category", &category.to_string())
            .map(|code| self.rows(code))
            .unwrap_or_default()
    }

    /// Returns the number of `hits` that have each value of a facet, by code. Values without a hit are left out.
    /// `cards` must be of the same part.
    #[must_use]
    pub fn counts(&self, cards: &Cards, name: &str, hits: &RoaringBitmap) -> Vec<(u32, u64)> {
        let codes = self.codes(name);
        if hits.len() >= HITS_PER_VALUE * codes.len() as u64 {
            let counted = codes.map(|code| (code, self.rows(code).intersection_len(hits)));
            return counted.filter(|(_, count)| *count > 0).collect();
        }
        let mut counts: FxHashMap<u32, u64> = FxHashMap::default();
        for row in hits {
            let of_row = cards.facet_codes(row);
            let from = of_row.partition_point(|code| *code < codes.start);
            for code in of_row.iter().skip(from).take_while(|code| **code < codes.end) {
                *counts.entry(*code).or_default() += 1;
            }
        }
        let mut counts: Vec<(u32, u64)> = counts.into_iter().collect();
        counts.sort_unstable();
        counts
    }
}

#[derive(Debug, Default)]
pub(crate) struct FacetsWriter {
    codes: FxHashMap<(String, String), u32>,
    displays: Vec<String>,
    rows: Vec<RoaringBitmap>,
    of_rows: Vec<Vec<u32>>,
}

impl FacetsWriter {
    pub(crate) fn push(&mut self, product: &Product) {
        let row = u32::try_from(self.of_rows.len()).unwrap_or(u32::MAX);
        self.of_rows.push(Vec::new());
        for category in product.category.into_iter().flat_map(taxonomy::lineage) {
            self.add(row, "category", &category.id.to_string(), &category.slug);
        }
        if let Some(vendor) = &product.vendor {
            self.add(row, "vendor", vendor, vendor);
        }
        for attribute in &product.attributes {
            self.add_values(row, &attribute.name, &attribute.values);
        }
        for option in &product.options {
            self.add_values(row, &option.name, &option.values);
        }
        for tag in &product.tags {
            self.add(row, "tag", tag, tag);
        }
    }

    fn add_values(&mut self, row: u32, name: &str, values: &[String]) {
        let name = fold_name(name);
        // A store's own "category" would be confused with the categories of the taxonomy.
        if name.is_empty() || name.len() > VALUE_BYTES_MAX || name == "category" {
            return;
        }
        for value in values {
            self.add(row, &name, value, value);
        }
    }

    fn add(&mut self, row: u32, name: &str, value: &str, display: &str) {
        let value = fold_value(value);
        let full = self
            .of_rows
            .last()
            .is_none_or(|codes| codes.len() >= VALUES_PER_ROW_MAX);
        if value.is_empty() || value.len() > VALUE_BYTES_MAX || full {
            return;
        }
        let next = u32::try_from(self.rows.len()).unwrap_or(u32::MAX);
        let code = match self.codes.entry((name.to_owned(), value)) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) => {
                self.displays
                    .push(display.split_whitespace().collect::<Vec<_>>().join(" "));
                self.rows.push(RoaringBitmap::new());
                *new.insert(next)
            }
        };
        let new = self.rows.get_mut(code as usize).is_some_and(|rows| rows.insert(row));
        if let Some(codes) = self.of_rows.last_mut().filter(|_| new) {
            codes.push(code);
        }
    }

    /// Returns the batch, and the codes of each row in ascending order.
    pub(crate) fn finish(mut self) -> Result<(RecordBatch, Vec<Vec<u32>>), ArrowError> {
        let mut order: Vec<((String, String), u32)> = self.codes.drain().collect();
        order.sort_unstable();
        let mut sorted_code = vec![0; order.len()];
        let (mut names, mut values, mut displays) = (StringBuilder::new(), StringBuilder::new(), StringBuilder::new());
        let (mut counts, mut rows) = (Vec::with_capacity(order.len()), BinaryBuilder::new());
        for (code, ((name, value), collected)) in (0..).zip(&order) {
            let at = *collected as usize;
            sorted_code[at] = code;
            names.append_value(name);
            values.append_value(value);
            displays.append_value(&self.displays[at]);
            self.rows[at].optimize();
            counts.push(u32::try_from(self.rows[at].len()).unwrap_or(u32::MAX));
            rows.append_value(serialised(&self.rows[at])?);
        }
        for codes in &mut self.of_rows {
            codes.iter_mut().for_each(|code| *code = sorted_code[*code as usize]);
            codes.sort_unstable();
        }
        let columns: Vec<ArrayRef> = vec![
            Arc::new(names.finish()),
            Arc::new(values.finish()),
            Arc::new(displays.finish()),
            Arc::new(UInt32Array::from(counts)),
            Arc::new(rows.finish()),
        ];
        Ok((RecordBatch::try_new(Arc::clone(&SCHEMA), columns)?, self.of_rows))
    }
}

fn serialised(rows: &RoaringBitmap) -> Result<Vec<u8>, ArrowError> {
    let mut bytes = Vec::with_capacity(rows.serialized_size());
    let written: io::Result<()> = rows.serialize_into(&mut bytes);
    written.map_err(|error| ArrowError::IoError("cannot serialise a posting list".to_owned(), error))?;
    Ok(bytes)
}
