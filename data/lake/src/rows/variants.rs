use arrow::array::{BooleanBuilder, Float64Builder, Int64Builder, StringBuilder};
use data_model::{Gtin, OptionValue, Product, Size, Variant, VariantId};

use super::build::table_rows;
use super::nested::OptionValueBuilder;
use super::products::text_at;
use super::record::{Lists, Record, read_record};
use super::{count, id_from_column, id_to_column};

/// Positions of columns among those after the brand columns.
pub(crate) const PLATFORM_PRODUCT_ID: usize = 1;
pub(crate) const VARIANT_ID: usize = 2;
pub(crate) const BARCODE: usize = 13;
pub(crate) const BARCODE_STATED: usize = 14;

table_rows! {
    /// Builder for the rows of `variants` that depend only on a product: the columns after the brand's.
    VariantRows of Variants {
        product_id: StringBuilder,
        platform_product_id: Int64Builder,
        variant_id: Int64Builder,
        position: Int64Builder,
        title: StringBuilder,
        sku: StringBuilder,
        options: Lists<OptionValueBuilder>,
        currency: StringBuilder,
        price_minor: Int64Builder,
        compare_at_minor: Int64Builder,
        available: BooleanBuilder,
        grams: Int64Builder,
        image: StringBuilder,
        barcode: StringBuilder,
        barcode_stated: StringBuilder,
        size_normalized: StringBuilder,
        size_system: StringBuilder,
        size_ordinal: Float64Builder,
    }
}

impl VariantRows {
    pub(crate) fn push(&mut self, product_id: &str, product: &Product) {
        for (position, variant) in product.variants.iter().enumerate() {
            self.product_id.append_value(product_id);
            self.platform_product_id
                .append_value(id_to_column(product.key.platform_id));
            self.variant_id.append_value(id_to_column(variant.id.0));
            self.position.append_value(count(position));
            self.title.append_value(&variant.title);
            self.sku.append_option(variant.sku.as_deref());
            self.options.push(&variant.options, Record::append);
            self.currency.append_value(product.currency.as_str());
            self.price_minor.append_value(variant.price_minor);
            self.compare_at_minor.append_option(variant.compare_at_minor);
            self.available.append_value(variant.available);
            self.grams.append_option(variant.grams.map(i64::from));
            self.image.append_option(variant.image.as_deref());
            self.barcode_stated.append_option(variant.barcode.as_deref());
            let gtin = variant.barcode.as_deref().and_then(Gtin::read);
            self.barcode.append_option(gtin.map(|gtin| gtin.to_string()));
            let size = variant.size;
            self.size_normalized.append_option(size.map(|size| size.to_string()));
            self.size_system.append_option(size.map(|size| size.system().as_str()));
            self.size_ordinal.append_option(size.map(Size::ordinal));
        }
    }

    pub(crate) fn prices(&self, rows: std::ops::Range<usize>) -> impl Iterator<Item = (u64, i64)> {
        let ids = self.variant_id.values_slice().get(rows.clone()).unwrap_or_default();
        let prices = self.price_minor.values_slice().get(rows).unwrap_or_default();
        ids.iter().map(|id| id_from_column(*id)).zip(prices.iter().copied())
    }

    pub(crate) fn id(&self, row: usize) -> u64 {
        let id = self.variant_id.values_slice().get(row);
        id.copied().map_or(0, id_from_column)
    }

    /// Returns the stock keeping unit (SKU) in a row, which is empty if there is none.
    pub(crate) fn sku(&self, row: usize) -> &str {
        text_at(&self.sku, row)
    }

    /// Returns `true` if the variant's own record states a barcode.
    pub(crate) fn has_barcode(&self, row: usize) -> bool {
        !text_at(&self.barcode_stated, row).is_empty()
    }
}

read_record! {
    Variant {
        id as variant_id: VariantId,
        title: String,
        sku: Option<String>,
        barcode as barcode_stated: Option<String>,
        size as size_normalized: Option<Size>,
        options: Vec<OptionValue>,
        price_minor: i64,
        compare_at_minor: Option<i64>,
        available: bool,
        grams: Option<u32>,
        image: Option<String>,
    }
}
