use std::collections::BTreeSet;

use data_model::{Brand, Product};
use tantivy::TantivyDocument;

use crate::text::FIELDS;

/// The first lines of a description say what the product is; what follows is care and shipping.
const DESCRIPTION_BYTES_MAX: usize = 8 << 10;
/// More SKUs than the platform lets a product have variants.
const SKUS_MAX: usize = 2_048;

/// What the text index takes of a product; [`crate::terms`] takes the rest.
pub(super) fn document(product: &Product, brand: &Brand) -> TantivyDocument {
    let mut document = TantivyDocument::new();
    document.add_text(FIELDS.title_exact.field, &product.title);
    document.add_text(FIELDS.brand.field, &brand.name);
    if let Some(vendor) = product
        .vendor
        .as_ref()
        .filter(|vendor| !vendor.eq_ignore_ascii_case(&brand.name))
    {
        document.add_text(FIELDS.brand.field, vendor);
    }
    document.add_text(FIELDS.code.field, &product.handle);
    let skus: BTreeSet<&String> = product
        .variants
        .iter()
        .filter_map(|variant| variant.sku.as_ref())
        .collect();
    for sku in skus.into_iter().take(SKUS_MAX) {
        document.add_text(FIELDS.code.field, sku);
    }
    document
}

/// What of a description is searched.
pub(crate) fn description_head(text: &str) -> &str {
    let mut end = text.len().min(DESCRIPTION_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}
