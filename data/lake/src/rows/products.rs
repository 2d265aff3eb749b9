use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanBuilder, Float32Array, Int64Array, Int64Builder, ListArray, StringArray, StringBuilder,
    TimestampMicrosecondArray,
};
use arrow::error::ArrowError;
use arrow::record_batch::RecordBatch;
use data_model::{CategoryId, CurrencyCode, PriceSummary, Product, ProductKey, Rating, StoreHost, Timestamp};

use super::build::{Column, table_rows};
use super::columns::{Columns, some_int, some_moment, some_text};
use super::nested::{AttributeBuilder, MediaBuilder, OptionBuilder};
use super::record::{Cell, Lists, Record};
use super::{ID_BYTES, PageCapacity, UID_BYTES, count, id_from_column, id_to_column};
use crate::{LakeError, TableName};

table_rows! {
    /// Builder for the rows of `products` that depend only on a product: the columns between the brand's and the
    /// ratings, and the columns after the ratings.
    ProductRows of Products {
        product_id: StringBuilder,
        product_uid: StringBuilder,
        platform_product_id: Int64Builder,
        handle: StringBuilder,
        title: StringBuilder,
        description: StringBuilder,
        vendor: StringBuilder,
        product_type: StringBuilder,
        categories: Vec<Option<CategoryId>>,
        tags: Lists<StringBuilder>,
        options: Lists<OptionBuilder>,
        attributes: Lists<AttributeBuilder>,
        media: Lists<MediaBuilder>,
        currency: StringBuilder,
        price_min_minor: Int64Builder,
        price_max_minor: Int64Builder,
        compare_at_minor: Int64Builder,
        discount_pct: Int64Builder,
        in_stock: BooleanBuilder,
        on_sale: BooleanBuilder,
        variant_count: Int64Builder,
        created_at: Vec<Option<Timestamp>>,
        published_at: Vec<Option<Timestamp>>,
        updated_at: Vec<Option<Timestamp>>,
    }
}

/// Maximum number of bytes preallocated before any product is added.
const ROOM_BYTES_MAX: usize = 4 << 20;

pub(crate) const NO_VARIANTS: PriceSummary = PriceSummary {
    price_min_minor: 0,
    price_max_minor: 0,
    compare_at_minor: None,
    discount_pct: None,
    in_stock: false,
};

pub(crate) fn text_at(column: &StringBuilder, row: usize) -> &str {
    let offsets = column.offsets_slice();
    let at = |row: usize| offsets.get(row).and_then(|at| usize::try_from(*at).ok());
    let range = at(row).zip(at(row + 1)).map(|(from, to)| from..to);
    let text = range.and_then(|range| column.values_slice().get(range));
    text.and_then(|text| std::str::from_utf8(text).ok()).unwrap_or_default()
}

impl ProductRows {
    pub(crate) fn with_room(room: PageCapacity) -> Self {
        // A large page may contain little data that is stored.
        let bytes = room.bytes.min(ROOM_BYTES_MAX);
        let text = |bytes| StringBuilder::with_capacity(room.products, bytes);
        let mut media = Lists::<MediaBuilder>::default();
        media.elements.url = StringBuilder::with_capacity(bytes / 384, bytes / 6);
        Self {
            product_id: text(room.products * ID_BYTES),
            product_uid: text(room.products * UID_BYTES),
            description: text(bytes / 4),
            media,
            ..Self::default()
        }
    }

    pub(crate) fn push(&mut self, product_id: &str, product: &Product, prices: PriceSummary) {
        self.product_id.append_value(product_id);
        self.product_uid.append_value(product.key.uid().to_string());
        self.platform_product_id
            .append_value(id_to_column(product.key.platform_id));
        self.handle.append_value(&product.handle);
        self.title.append_value(&product.title);
        self.description.append_value(&product.description);
        self.vendor.append_option(product.vendor.as_deref());
        self.product_type.append_option(product.product_type.as_deref());
        self.categories.push(product.category);
        Cell::append(Some(&product.tags), &mut self.tags);
        self.options.push(&product.options, Record::append);
        self.attributes.push(&product.attributes, Record::append);
        self.media.push(&product.media, Record::append);
        self.push_prices(product, prices);
        self.created_at.push(product.created_at);
        self.published_at.push(product.published_at);
        self.updated_at.push(product.updated_at);
    }

    pub(crate) fn handle(&self, row: usize) -> &str {
        text_at(&self.handle, row)
    }

    pub(crate) fn title(&self, row: usize) -> &str {
        text_at(&self.title, row)
    }

    pub(crate) fn category(&self, row: usize) -> Option<CategoryId> {
        self.categories.get(row).copied().flatten()
    }

    pub(crate) fn set_category(&mut self, row: usize, category: Option<CategoryId>) {
        if let Some(filed) = self.categories.get_mut(row) {
            *filed = category;
        }
    }

    fn push_prices(&mut self, product: &Product, prices: PriceSummary) {
        self.currency.append_value(product.currency.as_str());
        self.price_min_minor.append_value(prices.price_min_minor);
        self.price_max_minor.append_value(prices.price_max_minor);
        self.compare_at_minor.append_option(prices.compare_at_minor);
        self.discount_pct.append_option(prices.discount_pct.map(i64::from));
        self.in_stock.append_value(prices.in_stock);
        self.on_sale.append_value(prices.compare_at_minor.is_some());
        self.variant_count.append_value(count(product.variants.len()));
    }
}

impl Column for Vec<Option<CategoryId>> {
    fn end(&mut self, columns: &mut Vec<ArrayRef>) -> Result<(), ArrowError> {
        let ids = self.iter().map(|category| category.map(|id| i64::from(id.0)));
        let path = |id: CategoryId| {
            google_taxonomy::ProductCategory::from_id(id.0)
                .ok()
                .map(|category| category.name())
        };
        let paths = self.iter().map(|category| category.and_then(path));
        columns.push(Arc::new(Int64Array::from_iter(ids)));
        columns.push(Arc::new(StringArray::from_iter(paths)));
        Ok(())
    }
}

/// Number of columns of [`ProductRows`] that follow the ratings.
pub(crate) const BEHIND_RATINGS: usize = 3;

/// Columns of a record batch of `products` that make up a [`Product`] without variants and reviews.
#[derive(Debug)]
pub(crate) struct ProductColumns<'a> {
    columns: Columns<'a>,
    pub(crate) store: &'a StringArray,
    pub(crate) platform_product_id: &'a Int64Array,
    handle: &'a StringArray,
    title: &'a StringArray,
    description: &'a StringArray,
    vendor: &'a StringArray,
    product_type: &'a StringArray,
    category_id: &'a Int64Array,
    tags: &'a ListArray,
    options: &'a ListArray,
    attributes: &'a ListArray,
    media: &'a ListArray,
    currency: &'a StringArray,
    rating_average: &'a Float32Array,
    rating_count: &'a Int64Array,
    created_at: &'a TimestampMicrosecondArray,
    published_at: &'a TimestampMicrosecondArray,
    updated_at: &'a TimestampMicrosecondArray,
}

impl<'a> ProductColumns<'a> {
    pub(crate) fn new(batch: &'a RecordBatch) -> Result<Self, LakeError> {
        let columns = Columns::new(TableName::Products, batch);
        Ok(Self {
            columns,
            store: columns.text("store")?,
            platform_product_id: columns.int("platform_product_id")?,
            handle: columns.text("handle")?,
            title: columns.text("title")?,
            description: columns.text("description")?,
            vendor: columns.text("vendor")?,
            product_type: columns.text("product_type")?,
            category_id: columns.int("category_id")?,
            tags: columns.list("tags")?,
            options: columns.list("options")?,
            attributes: columns.list("attributes")?,
            media: columns.list("media")?,
            currency: columns.text("currency")?,
            rating_average: columns.float("rating_average")?,
            rating_count: columns.int("rating_count")?,
            created_at: columns.moment("created_at")?,
            published_at: columns.moment("published_at")?,
            updated_at: columns.moment("updated_at")?,
        })
    }

    pub(crate) fn store_host(&self, row: usize) -> Result<StoreHost, LakeError> {
        self.columns.parse("store", self.store.value(row))
    }

    /// The product has no variants and reviews.
    pub(crate) fn product(&self, row: usize, store: StoreHost) -> Result<Product, LakeError> {
        let list = |name: &'static str| move |value: String| self.columns.invalid(name, value);
        let currency: CurrencyCode = self.columns.parse("currency", self.currency.value(row))?;
        let rating = some_int(self.rating_count, row).map(|count| Rating {
            average: self.rating_average.value(row),
            count,
        });
        Ok(Product {
            key: ProductKey {
                store,
                platform_id: id_from_column(self.platform_product_id.value(row)),
            },
            handle: self.handle.value(row).to_owned(),
            title: self.title.value(row).to_owned(),
            description: self.description.value(row).to_owned(),
            vendor: some_text(self.vendor, row),
            product_type: some_text(self.product_type, row),
            category: some_int(self.category_id, row).map(CategoryId),
            tags: Vec::read(self.tags, row).map_err(list("tags"))?,
            options: Vec::read(self.options, row).map_err(list("options"))?,
            attributes: Vec::read(self.attributes, row).map_err(list("attributes"))?,
            media: Vec::read(self.media, row).map_err(list("media"))?,
            variants: Vec::new(),
            currency,
            rating,
            reviews: Vec::new(),
            created_at: some_moment(self.created_at, row),
            published_at: some_moment(self.published_at, row),
            updated_at: some_moment(self.updated_at, row),
        })
    }
}
