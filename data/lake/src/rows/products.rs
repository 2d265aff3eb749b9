use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, BooleanBuilder, Int64Array, Int64Builder, StringArray, StringBuilder};
use arrow::error::ArrowError;
use data_model::{
    Attribute, CategoryId, CurrencyCode, Media, PriceSummary, Product, ProductKey, ProductOption, Rating, StoreHost,
    Timestamp,
};

use super::build::{Column, table_rows};
use super::nested::{AttributeBuilder, MediaBuilder, OptionBuilder};
use super::record::{Cell, InvalidCell, Lists, ReadRecord, Record, array, read_record};
use super::{ID_BYTES, PageCapacity, UID_BYTES, count, id_from_column, id_to_column};

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

read_record! {
    Product {
        handle: String,
        title: String,
        description: String,
        vendor: Option<String>,
        product_type: Option<String>,
        category as category_id: Option<CategoryId>,
        tags: Vec<String>,
        options: Vec<ProductOption>,
        attributes: Vec<Attribute>,
        media: Vec<Media>,
        currency: CurrencyCode,
        created_at: Option<Timestamp>,
        published_at: Option<Timestamp>,
        updated_at: Option<Timestamp>,
    } nested {
        key: ProductKey,
        rating: Option<Rating>,
    } with {
        variants: Vec::new(),
        reviews: Vec::new(),
    }
}

impl ReadRecord for ProductKey {
    fn read<'a>(
        column: impl Fn(&'static str) -> Option<&'a ArrayRef> + Copy,
        rows: Range<usize>,
    ) -> Result<Vec<Self>, InvalidCell> {
        let stores = array::<String>("store", column("store"))?;
        let ids = array::<u64>("platform_product_id", column("platform_product_id"))?;
        let mut keys: Vec<Self> = Vec::with_capacity(rows.len());
        for row in rows {
            // Most rows have the store of the previous row.
            let last = keys.last().map(|key| &key.store);
            let store = match last.filter(|last| last.as_str() == stores.value(row)) {
                Some(last) => last.clone(),
                None => StoreHost::read(stores, row).map_err(|value| InvalidCell::new("store", value))?,
            };
            let platform_id = id_from_column(ids.value(row));
            keys.push(Self { store, platform_id });
        }
        Ok(keys)
    }
}

impl ReadRecord for Option<Rating> {
    fn read<'a>(
        column: impl Fn(&'static str) -> Option<&'a ArrayRef> + Copy,
        rows: Range<usize>,
    ) -> Result<Vec<Self>, InvalidCell> {
        let averages = array::<f32>("rating_average", column("rating_average"))?;
        let counts = array::<u32>("rating_count", column("rating_count"))?;
        let invalid = |value| InvalidCell::new("rating_count", value);
        let rating = |row| {
            let count = u32::read_optional(counts, row).map_err(invalid)?;
            let average = averages.is_valid(row).then(|| averages.value(row));
            Ok(average.zip(count).map(|(average, count)| Rating { average, count }))
        };
        rows.map(rating).collect()
    }
}
