//! Whole catalogues in columnar form.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, Float32Builder, Int32Array, Int64Builder, StringArray};
use arrow::compute::interleave;
use arrow::record_batch::RecordBatch;
use data_model::{Brand, CategoryId, PriceSummary, Product, Rating, Review, StatedBarcode, Timestamp};

use super::barcodes::{self, StatedBarcodes};
use super::build::TableRows;
use super::content::{Digest, product_digest};
use super::place::{RowPlace, indices};
use super::products::{BEHIND_RATINGS, NO_VARIANTS, ProductRows};
use super::variants::VariantRows;
use super::{PageCapacity, batch, count};
use crate::error::unfit_columns;
use crate::{LakeError, TableName};

/// Rating and reviews of a product by shoppers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ProductRatings {
    /// Rating, if the store publishes one.
    pub rating: Option<Rating>,
    /// Recent reviews, newest first.
    pub reviews: Vec<Review>,
}

/// State of a product in the lake. Two equal states have the same rows, except for `updated_at` and the texts of
/// reviews.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProductState<'a> {
    digest: &'a Digest,
    category: Option<CategoryId>,
    rating: Option<Rating>,
    reviews: usize,
    in_stock: bool,
    /// Barcodes on the product's page.
    barcodes: Option<&'a BTreeMap<u64, String>>,
}

impl ProductState<'_> {
    /// Returns `true` if a variant of the product is available.
    #[must_use]
    pub const fn in_stock(&self) -> bool {
        self.in_stock
    }
}

/// Products in the columns of the lake's tables, in the order in which they were added. The columns depend only on the
/// products.
#[derive(Debug, Default)]
pub struct ProductColumns {
    products: ProductRows,
    variants: VariantRows,
    rows: Vec<Row>,
    /// Ratings, each with the row of its product.
    rated: Vec<(usize, ProductRatings)>,
    variants_len: usize,
    text_bytes: usize,
    scratch: Vec<u8>,
}

/// Approximate size in bytes of a product and of a variant in columns, without their texts.
const PRODUCT_BYTES: usize = 700;
const VARIANT_BYTES: usize = 600;

#[derive(Debug)]
struct Row {
    platform_id: u64,
    digest: Digest,
    first_variant: usize,
    variants: usize,
    in_stock: bool,
    on_sale: bool,
}

impl ProductColumns {
    /// Creates columns with capacity for about this number of products and of text bytes.
    #[must_use]
    pub fn with_room(products: usize, bytes: usize) -> Self {
        Self {
            products: ProductRows::with_room(PageCapacity { products, bytes }),
            rows: Vec::with_capacity(products),
            ..Self::default()
        }
    }

    /// Appends a product.
    pub fn push(&mut self, product: Product) {
        let id = product.key.id().to_string();
        let prices = PriceSummary::of(&product.variants).unwrap_or(NO_VARIANTS);
        self.products.push(&id, &product, prices);
        self.variants.push(&id, &product);
        self.rows.push(Row {
            platform_id: product.key.platform_id,
            digest: product_digest(&product, &mut self.scratch),
            first_variant: self.variants_len,
            variants: product.variants.len(),
            in_stock: prices.in_stock,
            on_sale: prices.compare_at_minor.is_some(),
        });
        self.variants_len += product.variants.len();
        self.text_bytes += self.scratch.len();
        if product.rating.is_some() || !product.reviews.is_empty() {
            let (rating, reviews) = (product.rating, product.reviews);
            self.rated
                .push((self.rows.len() - 1, ProductRatings { rating, reviews }));
        }
    }

    /// Changes the category of a product. The store's other products may show that another category is right.
    pub fn set_category(&mut self, row: usize, category: Option<CategoryId>) {
        self.products.set_category(row, category);
    }

    /// Returns the approximate size of the columns in memory, in bytes.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        let rows = self.rows.len() * PRODUCT_BYTES + self.variants_len * VARIANT_BYTES;
        // Text columns grow by doubling, so that they may occupy twice the bytes of their texts.
        rows + self.text_bytes * 2
    }

    /// Returns the number of products.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns `true` if there are no products.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

impl FromIterator<Product> for ProductColumns {
    fn from_iter<I: IntoIterator<Item = Product>>(products: I) -> Self {
        let mut columns = Self::default();
        products.into_iter().for_each(|product| columns.push(product));
        columns
    }
}

/// A catalogue in columns: pages of products, and the selection and order of their products.
#[derive(Debug, Default)]
pub struct CatalogueRows {
    pages: Vec<ProductColumns>,
    /// Positions of the products, sorted by Shopify id, each id once.
    order: Vec<RowPlace>,
    rated: BTreeMap<u64, ProductRatings>,
    barcodes: StatedBarcodes,
}

impl CatalogueRows {
    /// Creates a catalogue of the products in `pages` that `order` selects, sorted by id. The first of several products
    /// with one id is kept, and positions that do not exist are ignored.
    #[must_use]
    pub fn new(pages: Vec<ProductColumns>, mut order: Vec<RowPlace>) -> Self {
        order.retain(|place| pages.get(place.batch).is_some_and(|page| place.row < page.rows.len()));
        let id = |place: &RowPlace| pages[place.batch].rows[place.row].platform_id;
        if !order.is_sorted_by_key(id) {
            order.sort_by_key(id);
        }
        order.dedup_by_key(|place| id(place));
        let mut catalogue = Self {
            pages,
            order,
            rated: BTreeMap::new(),
            barcodes: StatedBarcodes::new(),
        };
        for batch in 0..catalogue.pages.len() {
            for (row, rated) in std::mem::take(&mut catalogue.pages[batch].rated) {
                let place = RowPlace { batch, row };
                let id = catalogue.row(place).platform_id;
                // Ratings from a duplicate page of the product are ignored.
                if catalogue.place(id) == Some(place) {
                    catalogue.rate(id, rated);
                }
            }
        }
        catalogue
    }

    fn place(&self, id: u64) -> Option<RowPlace> {
        let found = self
            .order
            .binary_search_by_key(&id, |place| self.row(*place).platform_id);
        found.ok().map(|at| self.order[at])
    }

    /// Sets the rating and reviews of a product in the catalogue. The first of several calls for a product counts.
    pub fn rate(&mut self, id: u64, rated: ProductRatings) {
        let stated = rated.rating.is_some() || !rated.reviews.is_empty();
        if stated && self.place(id).is_some() {
            self.rated.entry(id).or_insert(rated);
        }
    }

    /// Sets the barcodes that a product's page states on its variants. A product outside of the catalogue is ignored.
    pub fn tell_barcodes(&mut self, id: u64, told: Vec<StatedBarcode>) {
        let Some(place) = self.place(id) else { return };
        let (page, row) = (&self.pages[place.batch], self.row(place));
        let rows = row.first_variant..row.first_variant + row.variants;
        let found = barcodes::barcodes_of(&page.variants, &rows, told);
        if !found.is_empty() {
            self.barcodes.insert(id, found);
        }
    }

    fn row(&self, place: RowPlace) -> &Row {
        &self.pages[place.batch].rows[place.row]
    }

    fn rows(&self) -> impl Iterator<Item = &Row> {
        self.order.iter().map(|place| self.row(*place))
    }

    /// Returns the number of products.
    #[must_use]
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Returns `true` if there are no products.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Returns the number of variants.
    #[must_use]
    pub fn variants(&self) -> usize {
        self.rows().map(|row| row.variants).sum()
    }

    /// Returns the Shopify ids of the products in ascending order.
    pub fn ids(&self) -> impl Iterator<Item = u64> {
        self.rows().map(|row| row.platform_id)
    }

    /// Returns the Shopify id and the handle of each product.
    pub fn handles(&self) -> impl Iterator<Item = (u64, &str)> {
        let handle = |place: &RowPlace| self.pages[place.batch].products.handle(place.row);
        self.ids().zip(self.order.iter().map(handle))
    }

    /// Returns the Shopify id and the title of each product.
    pub fn titles(&self) -> impl Iterator<Item = (u64, &str)> {
        let title = |place: &RowPlace| self.pages[place.batch].products.title(place.row);
        self.ids().zip(self.order.iter().map(title))
    }

    /// Returns the price of each variant in minor units, keyed by the Shopify ids of the product and of the variant.
    pub fn prices(&self) -> impl Iterator<Item = ((u64, u64), i64)> {
        self.order.iter().flat_map(|place| {
            let page = &self.pages[place.batch];
            let row = &page.rows[place.row];
            let product = row.platform_id;
            let prices = page
                .variants
                .prices(row.first_variant..row.first_variant + row.variants);
            prices.map(move |(variant, price)| ((product, variant), price))
        })
    }

    /// Returns the Shopify id and the state of each product, ordered by id.
    pub fn states(&self) -> impl Iterator<Item = (u64, ProductState<'_>)> {
        self.order.iter().map(|place| {
            let (page, at) = (&self.pages[place.batch], place.row);
            let row = &page.rows[at];
            let rated = self.rated.get(&row.platform_id);
            let state = ProductState {
                digest: &row.digest,
                category: page.products.category(at),
                rating: rated.and_then(|rated| rated.rating),
                reviews: rated.map_or(0, |rated| rated.reviews.len()),
                in_stock: row.in_stock,
                barcodes: self.barcodes.get(&row.platform_id),
            };
            (row.platform_id, state)
        })
    }

    pub(crate) fn digests(&self) -> impl Iterator<Item = &Digest> {
        self.rows().map(|row| &row.digest)
    }

    pub(crate) fn categories(&self) -> impl Iterator<Item = Option<CategoryId>> {
        let category = |place: &RowPlace| self.pages[place.batch].products.category(place.row);
        self.order.iter().map(category)
    }

    pub(crate) const fn rated(&self) -> &BTreeMap<u64, ProductRatings> {
        &self.rated
    }

    pub(crate) const fn told_barcodes(&self) -> &StatedBarcodes {
        &self.barcodes
    }

    pub(crate) fn finish(self) -> Result<StoreRows, LakeError> {
        let counts = StoreCounts {
            variants: self.variants(),
            reviews: self.rated.values().map(|rated| rated.reviews.len()).sum(),
            in_stock: self.rows().filter(|row| row.in_stock).count(),
            on_sale: self.rows().filter(|row| row.on_sale).count(),
        };
        let ids: Vec<u64> = self.ids().collect();
        let places = places(&self.pages, &self.order);
        let text_bytes = self.pages.iter().map(|page| page.text_bytes).sum();
        let (mut products, mut variants) = (Vec::new(), Vec::new());
        for page in self.pages {
            products.push(page.products.columns()?);
            variants.push(page.variants.columns()?);
        }
        if let Some(places) = places {
            products = gathered(TableName::Products, &products, &places.products)?;
            variants = gathered(TableName::Variants, &variants, &places.variants)?;
        }
        if !self.barcodes.is_empty() {
            variants
                .iter_mut()
                .for_each(|columns| barcodes::tell(columns, &self.barcodes));
        }
        let mut start = 0;
        for columns in &mut products {
            let rows = columns.first().map_or(0, |column| column.len());
            let behind = columns.split_off(columns.len().saturating_sub(BEHIND_RATINGS));
            columns.extend(ratings(&ids[start..start + rows], &self.rated));
            columns.extend(behind);
            start += rows;
        }
        Ok(StoreRows {
            products,
            variants,
            ids,
            rated: self.rated,
            counts,
            text_bytes,
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StoreCounts {
    pub(crate) variants: usize,
    pub(crate) reviews: usize,
    pub(crate) in_stock: usize,
    pub(crate) on_sale: usize,
}

/// Rows of one store's catalogue in its order, without the columns that all rows share.
#[derive(Debug)]
pub(crate) struct StoreRows {
    /// Columns of `products` that follow the brand columns, one set per record batch. The same applies to `variants`.
    products: Vec<Vec<ArrayRef>>,
    variants: Vec<Vec<ArrayRef>>,
    /// Shopify ids in ascending order.
    pub(crate) ids: Vec<u64>,
    pub(crate) rated: BTreeMap<u64, ProductRatings>,
    pub(crate) counts: StoreCounts,
    /// Approximate number of text bytes.
    pub(crate) text_bytes: usize,
}

impl StoreRows {
    pub(crate) fn len(&self) -> usize {
        self.ids.len() + self.counts.variants + self.counts.reviews
    }

    pub(crate) fn products(&self, brand: &Brand, bucket: i32) -> Result<Vec<RecordBatch>, LakeError> {
        let whole = |columns: &Vec<ArrayRef>| whole(TableName::Products, brand, bucket, columns);
        self.products.iter().map(whole).collect()
    }

    pub(crate) fn variants(&self, brand: &Brand, bucket: i32) -> Result<Vec<RecordBatch>, LakeError> {
        let whole = |columns: &Vec<ArrayRef>| whole(TableName::Variants, brand, bucket, columns);
        self.variants.iter().map(whole).collect()
    }
}

struct Places {
    products: Vec<RowPlace>,
    variants: Vec<RowPlace>,
}

/// Returns `None` if the concatenated pages already are the catalogue.
fn places(pages: &[ProductColumns], order: &[RowPlace]) -> Option<Places> {
    let all = pages
        .iter()
        .enumerate()
        .flat_map(|(batch, columns)| (0..columns.rows.len()).map(move |row| RowPlace { batch, row }));
    if all.eq(order.iter().copied()) {
        return None;
    }
    let mut variants = Vec::with_capacity(order.len() * 2);
    for place in order {
        let (batch, row) = (place.batch, &pages[place.batch].rows[place.row]);
        let rows = row.first_variant..row.first_variant + row.variants;
        variants.extend(rows.map(|row| RowPlace { batch, row }));
    }
    Some(Places {
        products: order.to_vec(),
        variants,
    })
}

fn gathered(table: TableName, pages: &[Vec<ArrayRef>], order: &[RowPlace]) -> Result<Vec<Vec<ArrayRef>>, LakeError> {
    let order = indices(order);
    let columns = pages.first().map_or(0, Vec::len);
    let column = |column: usize| {
        let parts: Vec<&dyn Array> = pages.iter().map(|page| &*page[column]).collect();
        interleave(&parts, &order).map_err(unfit_columns(table))
    };
    Ok(vec![(0..columns).map(column).collect::<Result<_, _>>()?])
}

fn ratings(ids: &[u64], rated: &BTreeMap<u64, ProductRatings>) -> [ArrayRef; 3] {
    let (mut average, mut ratings, mut reviews) = (Float32Builder::new(), Int64Builder::new(), Int64Builder::new());
    for id in ids {
        let rated = rated.get(id);
        let rating = rated.and_then(|rated| rated.rating);
        average.append_option(rating.map(|rating| rating.average));
        ratings.append_option(rating.map(|rating| i64::from(rating.count)));
        reviews.append_value(count(rated.map_or(0, |rated| rated.reviews.len())));
    }
    [
        Arc::new(average.finish()),
        Arc::new(ratings.finish()),
        Arc::new(reviews.finish()),
    ]
}

/// Prepends the columns that all rows of a store share to its own columns.
fn whole(table: TableName, brand: &Brand, bucket: i32, columns: &[ArrayRef]) -> Result<RecordBatch, LakeError> {
    let rows = columns.first().map_or(0, |column| column.len());
    let mut all: Vec<ArrayRef> = vec![
        Arc::new(Int32Array::from_value(bucket, rows)),
        repeated(brand.store.as_str(), rows),
        repeated(brand.slug.as_str(), rows),
    ];
    all.extend_from_slice(columns);
    batch(table, all)
}

pub(crate) fn repeated(text: &str, rows: usize) -> ArrayRef {
    Arc::new(StringArray::new_repeated(text, rows))
}

pub(crate) fn repeated_moment(moment: Timestamp, rows: usize) -> ArrayRef {
    super::columns::moments(std::iter::repeat_n(Some(moment), rows))
}
