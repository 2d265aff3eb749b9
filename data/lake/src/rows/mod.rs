//! Rows of the tables: from the model to Arrow and back.

pub(crate) mod brands;
pub(crate) mod columns;
pub(crate) mod delivery;
pub(crate) mod history;
pub(crate) mod nested;
pub(crate) mod products;
pub(crate) mod quarantine;
pub(crate) mod reviews;
pub(crate) mod runs;
pub(crate) mod shipping;
pub(crate) mod variants;

use std::sync::Arc;

use arrow::array::ArrayRef;
use arrow::record_batch::RecordBatch;
use data_model::BrandRefresh;

use crate::{LakeError, TableName};

/// How much a tick's rows will hold. A column that grows by doubling is copied again and again, and a tick's are large.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Room {
    pub(crate) products: usize,
    pub(crate) variants: usize,
    pub(crate) media: usize,
    /// Bytes of texts.
    pub(crate) descriptions: usize,
    pub(crate) titles: usize,
    pub(crate) handles: usize,
    pub(crate) media_urls: usize,
    pub(crate) variant_images: usize,
    /// Of the store's host and the brand's slug, once a product and once a variant.
    pub(crate) product_brands: [usize; 2],
    pub(crate) variant_brands: [usize; 2],
}

impl Room {
    pub(crate) fn add(&mut self, refresh: &BrandRefresh) {
        let names = [refresh.brand.store.as_str().len(), refresh.brand.slug.as_str().len()];
        let mut variants = 0;
        for product in &refresh.products {
            variants += product.variants.len();
            self.media += product.media.len();
            self.descriptions += product.description.len();
            self.titles += product.title.len();
            self.handles += product.handle.len();
            self.media_urls += product.media.iter().map(|media| media.url.len()).sum::<usize>();
            let images = product.variants.iter().filter_map(|variant| variant.image.as_ref());
            self.variant_images += images.map(String::len).sum::<usize>();
        }
        self.products += refresh.products.len();
        self.variants += variants;
        for (place, name) in names.into_iter().enumerate() {
            self.product_brands[place] += refresh.products.len() * name;
            self.variant_brands[place] += variants * name;
        }
    }
}

/// Bytes of a product's id and uid as texts.
pub(crate) const ID_BYTES: usize = 36;
pub(crate) const UID_BYTES: usize = 44;

/// Puts columns together that are in the order of the table's schema.
pub(crate) fn batch(table: TableName, columns: Vec<ArrayRef>) -> Result<RecordBatch, LakeError> {
    RecordBatch::try_new(Arc::clone(&table.spec().schema), columns).map_err(|source| LakeError::Columns {
        table: table.as_str(),
        source,
    })
}

/// The platform's ids are unsigned; tables know signed integers only. The cast keeps every bit.
pub(crate) const fn id_to_column(id: u64) -> i64 {
    id.cast_signed()
}

pub(crate) const fn id_from_column(id: i64) -> u64 {
    id.cast_unsigned()
}

pub(crate) fn count(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
