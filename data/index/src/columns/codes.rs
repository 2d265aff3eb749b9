use std::sync::LazyLock;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use data_model::{Gtin, Size, Variant};

use super::table::{Columns, List, Lists, columns, number, text};

pub(crate) const CODES: &str = "codes.arrow";

static SCHEMA: LazyLock<SchemaRef> = LazyLock::new(CodeTable::schema);

columns! {
    /// One list of variants for each row. A row whose variants have no barcode and no size has an empty list.
    CodeTable, CodeTableWriter {
        variants: List<CodeColumns>,
    }
}

columns! {
    /// Barcodes and sizes of variants.
    CodeColumns, CodeColumnsWriter {
        barcode: Option<u64>,
        size: Option<String>,
    }
}

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
pub(crate) struct Codes(Lists<CodeColumns>);

impl Codes {
    pub(crate) fn schema() -> &'static SchemaRef {
        &SCHEMA
    }

    pub(crate) fn of(batch: &RecordBatch) -> Result<Self, ArrowError> {
        Ok(Self(CodeTable::of(batch)?.variants))
    }

    pub(crate) fn rows(&self) -> usize {
        self.0.rows()
    }

    pub(crate) fn at(&self, row: u32, position: usize) -> VariantCodes {
        let Some(at) = self.0.span(row as usize).nth(position) else {
            return VariantCodes::default();
        };
        VariantCodes {
            barcode: self.barcode(at),
            // A newer program may use a spelling that this version cannot parse.
            size: text(&self.0.items.size, at).and_then(|size| size.parse().ok()),
        }
    }

    /// Returns the barcodes of a row, with the positions of their variants.
    pub(crate) fn barcodes(&self, row: u32) -> impl Iterator<Item = (usize, Gtin)> {
        let places = self.0.span(row as usize).enumerate();
        places.filter_map(move |(position, at)| Some((position, self.barcode(at)?)))
    }

    fn barcode(&self, at: usize) -> Option<Gtin> {
        number(&self.0.items.barcode, at).and_then(Gtin::of_number)
    }
}

#[derive(Debug, Default)]
pub(crate) struct CodesWriter(CodeTableWriter);

impl CodesWriter {
    /// Returns the approximate size of the row in bytes.
    pub(crate) fn push(&mut self, variants: &[Variant]) -> usize {
        let barcode = |variant: &Variant| variant.barcode.as_deref().and_then(Gtin::read).map(Gtin::number);
        let has_codes = |variant: &Variant| variant.size.is_some() || barcode(variant).is_some();
        let stored = if variants.iter().any(has_codes) { variants } else { &[] };
        self.0.variants.push(stored, |columns, variant| {
            columns.barcode.push(barcode(variant));
            columns.size.append_option(variant.size.map(|size| size.to_string()));
        });
        4 + 32 * stored.len()
    }

    pub(crate) fn finish(mut self) -> Result<RecordBatch, ArrowError> {
        CodeTable::batch(&mut self.0, &SCHEMA)
    }
}
