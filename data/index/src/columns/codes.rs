use std::sync::{Arc, LazyLock};

use arrow::array::{Array, ArrayRef, ListArray, RecordBatch, StringArray, StringBuilder, StructArray, UInt64Array};
use arrow::datatypes::{DataType, Field, Fields, Schema, SchemaRef};
use arrow::error::ArrowError;
use data_model::{Gtin, Size, Variant};

use super::ipc::{cast, column};
use super::lists::{Ends, Spans, child, item, list, text};
use crate::manifest::PartEntry;

/// File name within a release part. Parts of earlier versions do not have it.
pub(crate) const CODES: &str = "codes.arrow";

impl PartEntry {
    /// Returns true if the part has barcodes and sizes of variants. Parts of earlier versions have none.
    #[must_use]
    pub fn has_codes(&self) -> bool {
        self.files.iter().any(|file| file.name == CODES)
    }
}

fn fields() -> Fields {
    Fields::from(vec![
        Field::new("barcode", DataType::UInt64, true),
        Field::new("size", DataType::Utf8, true),
    ])
}

static SCHEMA: LazyLock<SchemaRef> =
    LazyLock::new(|| Arc::new(Schema::new(vec![list("variants", DataType::Struct(fields()))])));

/// Barcode and size that are read from the labels of a variant.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct VariantCodes {
    /// Barcode of the variant, if it identifies a product.
    pub barcode: Option<Gtin>,
    /// Size of the variant, if its options state one.
    pub size: Option<Size>,
}

/// Barcodes and sizes of the variants of each row. A row without any takes four bytes.
#[derive(Debug)]
pub(crate) struct Codes {
    spans: Spans,
    rows: usize,
    barcode: UInt64Array,
    size: StringArray,
}

impl Codes {
    pub(crate) fn schema() -> &'static SchemaRef {
        &SCHEMA
    }

    pub(crate) fn of(batch: &RecordBatch) -> Result<Self, ArrowError> {
        let variants: ListArray = column(batch, "variants")?;
        let entries: StructArray = cast(variants.values(), "variants")?;
        Ok(Self {
            spans: Spans::of(&variants),
            rows: variants.len(),
            barcode: child(&entries, "barcode")?,
            size: child(&entries, "size")?,
        })
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the codes of the variant at `position` within a row.
    pub(crate) fn at(&self, row: u32, position: usize) -> VariantCodes {
        let Some(at) = self.spans.at(row as usize).nth(position) else {
            return VariantCodes::default();
        };
        VariantCodes {
            barcode: self.barcode(at),
            // A newer program may use a spelling that this version cannot parse.
            size: text(&self.size, at).and_then(|size| size.parse().ok()),
        }
    }

    /// Returns the barcodes of a row, with the positions of their variants.
    pub(crate) fn barcodes(&self, row: u32) -> impl Iterator<Item = (usize, Gtin)> {
        let places = self.spans.at(row as usize).enumerate();
        places.filter_map(move |(position, at)| Some((position, self.barcode(at)?)))
    }

    fn barcode(&self, at: usize) -> Option<Gtin> {
        let stated = self.barcode.is_valid(at).then(|| self.barcode.value(at));
        stated.and_then(Gtin::of_number)
    }
}

/// Collects the barcodes and sizes of variants while a part is built.
#[derive(Debug, Default)]
pub(crate) struct CodesWriter {
    ends: Ends,
    barcode: Vec<Option<u64>>,
    size: StringBuilder,
}

impl CodesWriter {
    /// Adds the variants of the next row and returns their approximate size in bytes.
    pub(crate) fn push(&mut self, variants: &[Variant]) -> usize {
        let before = self.barcode.len();
        let barcode = |variant: &Variant| variant.barcode.as_deref().and_then(Gtin::read).map(Gtin::number);
        if variants
            .iter()
            .any(|variant| variant.size.is_some() || barcode(variant).is_some())
        {
            for variant in variants {
                self.barcode.push(barcode(variant));
                self.size.append_option(variant.size.map(|size| size.to_string()));
            }
        }
        self.ends.close(self.barcode.len());
        4 + 32 * (self.barcode.len() - before)
    }

    pub(crate) fn finish(mut self) -> Result<RecordBatch, ArrowError> {
        let columns: Vec<ArrayRef> = vec![Arc::new(UInt64Array::from(self.barcode)), Arc::new(self.size.finish())];
        let entries = StructArray::try_new(fields(), columns, None)?;
        let lists = self.ends.finish(&item(DataType::Struct(fields())), Arc::new(entries))?;
        RecordBatch::try_new(Arc::clone(&SCHEMA), vec![lists])
    }
}
