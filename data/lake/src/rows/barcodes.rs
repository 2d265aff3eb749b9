//! Barcodes stated on product pages. The product list pages do not contain barcodes.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, Int64Array, StringArray};
use data_model::{Gtin, StatedBarcode};

use super::id_from_column;
use super::variants::{BARCODE, BARCODE_STATED, PLATFORM_PRODUCT_ID, VARIANT_ID, VariantRows};

/// Barcodes by the Shopify ids of the product and of the variant.
pub(crate) type StatedBarcodes = BTreeMap<u64, BTreeMap<u64, String>>;

/// Assigns barcodes to the variants in `rows`: to the named variant, to the only one with that SKU, or to the only
/// variant. Variants whose own record states a barcode keep it.
pub(crate) fn barcodes_of(
    variants: &VariantRows,
    rows: &Range<usize>,
    told: Vec<StatedBarcode>,
) -> BTreeMap<u64, String> {
    let is_alone = rows.len() == 1 && told.len() == 1;
    let mut found = BTreeMap::new();
    for StatedBarcode { variant, sku, barcode } in told {
        let row = match (variant, sku) {
            (Some(id), _) => rows.clone().find(|row| variants.id(*row) == id),
            (None, Some(sku)) => {
                let mut of_sku = rows.clone().filter(|row| variants.sku(*row) == sku);
                of_sku.next().filter(|_| of_sku.next().is_none())
            }
            (None, None) => rows.clone().next().filter(|_| is_alone),
        };
        if let Some(row) = row.filter(|row| !variants.has_barcode(*row)) {
            found.entry(variants.id(row)).or_insert(barcode);
        }
    }
    found
}

/// Sets barcodes in the columns of `variants` that follow the brand columns.
pub(crate) fn tell(columns: &mut [ArrayRef], told: &StatedBarcodes) {
    let ids = |at: usize| {
        columns
            .get(at)
            .and_then(|column| column.as_any().downcast_ref::<Int64Array>())
    };
    let stated = columns.get(BARCODE_STATED);
    let stated: Option<&StringArray> = stated.and_then(|column| column.as_any().downcast_ref());
    let (Some(products), Some(variants), Some(stated)) = (ids(PLATFORM_PRODUCT_ID), ids(VARIANT_ID), stated) else {
        return;
    };
    let row = |row: usize| {
        let of_page = || {
            told.get(&id_from_column(products.value(row)))?
                .get(&id_from_column(variants.value(row)))
        };
        let own = stated.is_valid(row).then(|| stated.value(row));
        own.or_else(|| of_page().map(String::as_str))
    };
    let stated: StringArray = (0..stated.len()).map(row).collect();
    let gtins = stated.iter().map(|text| Some(Gtin::read(text?)?.to_string()));
    let gtins: StringArray = gtins.collect();
    columns[BARCODE] = Arc::new(gtins);
    columns[BARCODE_STATED] = Arc::new(stated);
}
