use std::sync::{Arc, LazyLock};

use arrow::array::{
    Array, ArrayRef, BooleanArray, FixedSizeBinaryArray, FixedSizeBinaryBuilder, Float32Array, Int64Array, ListArray,
    RecordBatch, StringArray, StringBuilder, UInt8Array, UInt32Array,
};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::error::ArrowError;
use data_model::{CategoryId, CurrencyCode, Kind, PriceSummary, Product, ProductId, ProductUid, Rating, Timestamp};
use roaring::RoaringBitmap;

use super::ipc::{cast, column};
use super::lists::{Ends, Spans, item, list, text};

/// File name within a release part.
pub(crate) const CARDS: &str = "cards.arrow";

static SCHEMA: LazyLock<SchemaRef> = LazyLock::new(|| {
    let column = |name, data_type| Field::new(name, data_type, false);
    let nullable = |name, data_type| Field::new(name, data_type, true);
    Arc::new(Schema::new(vec![
        column("id", DataType::FixedSizeBinary(16)),
        column("uid", DataType::FixedSizeBinary(20)),
        column("store", DataType::UInt32),
        column("title", DataType::Utf8),
        column("price_min_minor", DataType::Int64),
        column("price_max_minor", DataType::Int64),
        nullable("compare_at_minor", DataType::Int64),
        nullable("discount_pct", DataType::UInt8),
        column("currency", DataType::UInt8),
        column("in_stock", DataType::Boolean),
        column("on_sale", DataType::Boolean),
        column("variants_complete", DataType::Boolean),
        column("kind", DataType::UInt8),
        nullable("rating", DataType::Float32),
        nullable("rating_count", DataType::UInt32),
        nullable("image", DataType::Utf8),
        nullable("category", DataType::UInt32),
        nullable("newest_at", DataType::Int64),
        column("quality", DataType::Float32),
        column("variant_count", DataType::UInt32),
        list("facets", DataType::UInt32),
    ]))
});

/// Columns that product cards show, filter and sort by.
#[derive(Debug)]
pub struct Cards {
    pub(crate) id: FixedSizeBinaryArray,
    pub(crate) uid: FixedSizeBinaryArray,
    store: UInt32Array,
    title: StringArray,
    pub(crate) price_min: Int64Array,
    price_max: Int64Array,
    compare_at: Int64Array,
    discount_pct: UInt8Array,
    pub(crate) currency: UInt8Array,
    currencies: Vec<CurrencyCode>,
    pub(crate) in_stock: BooleanArray,
    pub(crate) on_sale: BooleanArray,
    variants_complete: BooleanArray,
    kind: UInt8Array,
    rating: Float32Array,
    rating_count: UInt32Array,
    image: StringArray,
    category: UInt32Array,
    newest_at: Int64Array,
    quality: Float32Array,
    variant_count: UInt32Array,
    facet_spans: Spans,
    facets: UInt32Array,
}

impl Cards {
    pub(crate) fn schema() -> &'static SchemaRef {
        &SCHEMA
    }

    /// Reads the columns from the only batch of the file. `Err` when a code is out of range of its table.
    pub(crate) fn of(batch: &RecordBatch, currencies: Vec<CurrencyCode>, stores: usize) -> Result<Self, ArrowError> {
        let facets: ListArray = column(batch, "facets")?;
        let cards = Self {
            id: column(batch, "id")?,
            uid: column(batch, "uid")?,
            store: column(batch, "store")?,
            title: column(batch, "title")?,
            price_min: column(batch, "price_min_minor")?,
            price_max: column(batch, "price_max_minor")?,
            compare_at: column(batch, "compare_at_minor")?,
            discount_pct: column(batch, "discount_pct")?,
            currency: column(batch, "currency")?,
            currencies,
            in_stock: column(batch, "in_stock")?,
            on_sale: column(batch, "on_sale")?,
            variants_complete: column(batch, "variants_complete")?,
            kind: column(batch, "kind")?,
            rating: column(batch, "rating")?,
            rating_count: column(batch, "rating_count")?,
            image: column(batch, "image")?,
            category: column(batch, "category")?,
            newest_at: column(batch, "newest_at")?,
            quality: column(batch, "quality")?,
            variant_count: column(batch, "variant_count")?,
            facet_spans: Spans::of(&facets),
            facets: cast(facets.values(), "facets")?,
        };
        let known_currency = |code: &u8| usize::from(*code) < cards.currencies.len();
        if !cards.currency.values().iter().all(known_currency) {
            return Err(ArrowError::InvalidArgumentError(
                "a currency code is not in its table".to_owned(),
            ));
        }
        if !cards
            .kind
            .values()
            .iter()
            .all(|kind| (*kind as usize) < Kind::NAMED.len())
        {
            return Err(ArrowError::InvalidArgumentError(
                "a product kind is not in its table".to_owned(),
            ));
        }
        if !cards.store.values().iter().all(|store| (*store as usize) < stores) {
            return Err(ArrowError::InvalidArgumentError(
                "a store code is not in its table".to_owned(),
            ));
        }
        Ok(cards)
    }

    /// Returns the number of rows.
    #[must_use]
    pub fn rows(&self) -> u32 {
        u32::try_from(self.title.len()).unwrap_or(u32::MAX)
    }

    /// Returns the UUID of the product.
    #[must_use]
    #[inline]
    pub fn id(&self, row: u32) -> ProductId {
        ProductId::from_bytes(fixed(self.id.value(row as usize)))
    }

    /// Returns the `sha:` uid of the product.
    #[must_use]
    pub fn uid(&self, row: u32) -> ProductUid {
        ProductUid::from_bytes(fixed(self.uid.value(row as usize)))
    }

    /// Returns the store that sells the product, as an index into [`PartEntry::stores`](crate::PartEntry::stores).
    #[must_use]
    pub fn store(&self, row: u32) -> u32 {
        self.store.value(row as usize)
    }

    /// Returns the title of the product.
    #[must_use]
    pub fn title(&self, row: u32) -> &str {
        self.title.value(row as usize)
    }

    /// Returns the lowest price among the variants with a price, in minor units; 0 if no variant has one.
    #[must_use]
    #[inline]
    pub fn price_min_minor(&self, row: u32) -> i64 {
        self.price_min.value(row as usize)
    }

    /// Returns the highest price among the variants, in minor units.
    #[must_use]
    pub fn price_max_minor(&self, row: u32) -> i64 {
        self.price_max.value(row as usize)
    }

    /// Returns the list price of the variant with the lowest price, in minor units, if that variant is marked down.
    #[must_use]
    pub fn compare_at_minor(&self, row: u32) -> Option<i64> {
        let row = row as usize;
        self.compare_at.is_valid(row).then(|| self.compare_at.value(row))
    }

    /// Returns the markdown of the variant with the lowest price, in percent.
    #[must_use]
    pub fn discount_pct(&self, row: u32) -> Option<u8> {
        let row = row as usize;
        self.discount_pct.is_valid(row).then(|| self.discount_pct.value(row))
    }

    /// Returns the currency of the prices.
    #[must_use]
    pub fn currency(&self, row: u32) -> CurrencyCode {
        self.currencies[usize::from(self.currency.value(row as usize))]
    }

    pub(crate) fn currency_code(&self, currency: CurrencyCode) -> Option<u8> {
        self.currencies
            .iter()
            .position(|known| *known == currency)
            .and_then(|at| u8::try_from(at).ok())
    }

    /// Returns true if all variants of the product are known. If some variants are unknown, prices and stock cover only
    /// the known variants.
    #[must_use]
    pub fn variants_complete(&self, row: u32) -> bool {
        self.variants_complete.value(row as usize)
    }

    /// Returns the kind of the product.
    #[must_use]
    pub fn kind(&self, row: u32) -> Kind {
        let named = Kind::NAMED.get(usize::from(self.kind.value(row as usize)));
        named.map_or(Kind::Goods, |(_, kind)| *kind)
    }

    /// Returns the rows of each kind except goods, in the order of [`Kind::NAMED`]. Most rows are goods.
    pub(crate) fn other_than_goods(&self) -> [RoaringBitmap; Kind::NAMED.len()] {
        let goods = code_of(Kind::Goods);
        let mut of_kinds: [RoaringBitmap; Kind::NAMED.len()] = Default::default();
        for (row, kind) in (0..).zip(self.kind.values()).filter(|(_, kind)| **kind != goods) {
            if let Some(rows) = of_kinds.get_mut(usize::from(*kind)) {
                rows.insert(row);
            }
        }
        of_kinds
    }

    /// Returns true if any known variant is available.
    #[must_use]
    pub fn in_stock(&self, row: u32) -> bool {
        self.in_stock.value(row as usize)
    }

    /// Returns true if the card shows a list price above the price.
    #[must_use]
    pub fn on_sale(&self, row: u32) -> bool {
        self.on_sale.value(row as usize)
    }

    /// Returns the rating, if the store publishes one.
    #[must_use]
    #[inline]
    pub fn rating(&self, row: u32) -> Option<Rating> {
        let row = row as usize;
        let rated = self.rating.is_valid(row) && self.rating_count.is_valid(row);
        rated.then(|| Rating {
            average: self.rating.value(row),
            count: self.rating_count.value(row),
        })
    }

    /// Returns the URL of the first image.
    #[must_use]
    pub fn image(&self, row: u32) -> Option<&str> {
        text(&self.image, row as usize)
    }

    /// Returns the leaf category, if a rule assigns one.
    #[must_use]
    pub fn category(&self, row: u32) -> Option<CategoryId> {
        let row = row as usize;
        self.category
            .is_valid(row)
            .then(|| CategoryId(self.category.value(row)))
    }

    /// Returns the publication time, or the creation time if there is none. The sort order `newest` uses this time.
    #[must_use]
    #[inline]
    pub fn newest_at(&self, row: u32) -> Option<Timestamp> {
        let row = row as usize;
        self.newest_at
            .is_valid(row)
            .then(|| Timestamp::from_micros(self.newest_at.value(row)))
    }

    /// Returns the quality of the product's presentation, from 0 to 1. Products score higher if they are in stock and
    /// have ratings, images and a description. Ranking uses this quality as a prior.
    #[must_use]
    #[inline]
    pub fn quality(&self, row: u32) -> f32 {
        self.quality.value(row as usize)
    }

    /// Returns the number of variants.
    #[must_use]
    pub fn variant_count(&self, row: u32) -> u32 {
        self.variant_count.value(row as usize)
    }

    /// Returns the codes of the row's facet values in ascending order. The codes are indexes into
    /// [`Facets`](super::Facets).
    #[must_use]
    #[inline]
    pub fn facet_codes(&self, row: u32) -> &[u32] {
        &self.facets.values()[self.facet_spans.at(row as usize)]
    }

    pub(crate) fn facet_codes_below(&self, count: usize) -> bool {
        self.facets.values().iter().all(|code| (*code as usize) < count)
    }
}

/// Returns `bytes` as an array. The column's width was validated, so the fallback is unreachable.
fn fixed<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.try_into().unwrap_or([0; N])
}

/// Collects cards while a part is built.
#[derive(Debug)]
pub(crate) struct CardsWriter {
    ids: Vec<ProductId>,
    uids: Vec<ProductUid>,
    store: Vec<u32>,
    title: StringBuilder,
    price_min: Vec<i64>,
    price_max: Vec<i64>,
    compare_at: Vec<Option<i64>>,
    discount_pct: Vec<Option<u8>>,
    currency: Vec<u8>,
    currencies: Vec<CurrencyCode>,
    in_stock: Vec<bool>,
    on_sale: Vec<bool>,
    variants_complete: Vec<bool>,
    kind: Vec<u8>,
    rating: Vec<Option<f32>>,
    rating_count: Vec<Option<u32>>,
    image: StringBuilder,
    category: Vec<Option<u32>>,
    newest_at: Vec<Option<i64>>,
    quality: Vec<f32>,
    variant_count: Vec<u32>,
}

impl CardsWriter {
    pub(crate) fn new() -> Self {
        Self {
            ids: Vec::new(),
            uids: Vec::new(),
            store: Vec::new(),
            title: StringBuilder::new(),
            price_min: Vec::new(),
            price_max: Vec::new(),
            compare_at: Vec::new(),
            discount_pct: Vec::new(),
            currency: Vec::new(),
            currencies: Vec::new(),
            in_stock: Vec::new(),
            on_sale: Vec::new(),
            variants_complete: Vec::new(),
            kind: Vec::new(),
            rating: Vec::new(),
            rating_count: Vec::new(),
            image: StringBuilder::new(),
            category: Vec::new(),
            newest_at: Vec::new(),
            quality: Vec::new(),
            variant_count: Vec::new(),
        }
    }

    /// Returns the presentability of the row that was added last.
    pub(crate) fn last_quality(&self) -> f32 {
        self.quality.last().copied().unwrap_or(0.0)
    }

    /// Adds the next product. `seen_at` is the time at which its store was last seen to have the product.
    pub(crate) fn push(&mut self, product: &Product, prices: &PriceSummary, store: u32, seen_at: Timestamp) {
        self.ids.push(product.key.id());
        self.uids.push(product.key.uid());
        self.store.push(store);
        self.title.append_value(&product.title);
        self.price_min.push(prices.price_min_minor);
        self.price_max.push(prices.price_max_minor);
        self.compare_at.push(prices.compare_at_minor);
        self.discount_pct.push(prices.discount_pct);
        let code = self.code_of(product.currency);
        self.currency.push(code);
        self.in_stock.push(prices.in_stock);
        self.on_sale.push(prices.compare_at_minor.is_some());
        self.variants_complete.push(product.variants_complete());
        self.kind.push(code_of(product.kind()));
        self.rating.push(product.rating.map(|rating| rating.average));
        self.rating_count.push(product.rating.map(|rating| rating.count));
        self.image.append_option(first_image(product));
        self.category.push(product.category.map(|category| category.0));
        // A publication date in the future must not make a product the newest.
        let published_at = product.published_at.or(product.created_at);
        self.newest_at.push(published_at.map(|at| at.min(seen_at).micros()));
        self.quality.push(quality(product, prices));
        self.variant_count
            .push(u32::try_from(product.variants.len()).unwrap_or(u32::MAX));
    }

    fn code_of(&mut self, currency: CurrencyCode) -> u8 {
        let at = self
            .currencies
            .iter()
            .position(|known| *known == currency)
            .unwrap_or_else(|| {
                self.currencies.push(currency);
                self.currencies.len() - 1
            });
        // ISO 4217 has fewer than 200 currencies.
        u8::try_from(at).unwrap_or(u8::MAX)
    }

    pub(crate) fn ids(&self) -> (&[ProductId], &[ProductUid]) {
        (&self.ids, &self.uids)
    }

    /// Returns the batch and the table that its currency codes index. `facets` contains the codes of each row.
    pub(crate) fn finish(mut self, facets: Vec<Vec<u32>>) -> Result<(RecordBatch, Vec<CurrencyCode>), ArrowError> {
        let mut ids = FixedSizeBinaryBuilder::with_capacity(self.ids.len(), 16);
        self.ids.iter().try_for_each(|id| ids.append_value(id.as_bytes()))?;
        let mut uids = FixedSizeBinaryBuilder::with_capacity(self.uids.len(), 20);
        self.uids.iter().try_for_each(|uid| uids.append_value(uid.as_bytes()))?;
        let (mut ends, mut codes) = (Ends::default(), Vec::new());
        for row in facets {
            codes.extend(row);
            ends.close(codes.len());
        }
        let columns: Vec<ArrayRef> = vec![
            Arc::new(ids.finish()),
            Arc::new(uids.finish()),
            Arc::new(UInt32Array::from(self.store)),
            Arc::new(self.title.finish()),
            Arc::new(Int64Array::from(self.price_min)),
            Arc::new(Int64Array::from(self.price_max)),
            Arc::new(Int64Array::from(self.compare_at)),
            Arc::new(UInt8Array::from(self.discount_pct)),
            Arc::new(UInt8Array::from(self.currency)),
            Arc::new(BooleanArray::from(self.in_stock)),
            Arc::new(BooleanArray::from(self.on_sale)),
            Arc::new(BooleanArray::from(self.variants_complete)),
            Arc::new(UInt8Array::from(self.kind)),
            Arc::new(Float32Array::from(self.rating)),
            Arc::new(UInt32Array::from(self.rating_count)),
            Arc::new(self.image.finish()),
            Arc::new(UInt32Array::from(self.category)),
            Arc::new(Int64Array::from(self.newest_at)),
            Arc::new(Float32Array::from(self.quality)),
            Arc::new(UInt32Array::from(self.variant_count)),
            ends.finish(&item(DataType::UInt32), Arc::new(UInt32Array::from(codes)))?,
        ];
        Ok((RecordBatch::try_new(Arc::clone(&SCHEMA), columns)?, self.currencies))
    }
}

/// Returns the index of a kind among all kinds.
fn code_of(kind: Kind) -> u8 {
    let place = (0..).zip(Kind::NAMED).find(|(_, (_, known))| *known == kind);
    place.map_or(0, |(place, _)| place)
}

fn first_image(product: &Product) -> Option<&str> {
    let image = product
        .media
        .iter()
        .find(|media| media.kind == data_model::MediaKind::Image);
    image.map(|media| media.url.as_str())
}

/// Mean rating that is assumed in advance with the weight of eight ratings, so that a few ratings change little.
const PRIOR_RATING: f32 = 3.5;
const PRIOR_RATINGS: f32 = 8.0;

fn quality(product: &Product, prices: &PriceSummary) -> f32 {
    let (average, count) = product
        .rating
        .map_or((0.0, 0.0), |rating| (rating.average, rating.count as f32));
    let rating = (average * count + PRIOR_RATING * PRIOR_RATINGS) / ((count + PRIOR_RATINGS) * 5.0);
    // A square root is rounded identically on every machine, but a logarithm is not. The id of the release depends on
    // this number.
    let popularity = count.sqrt() / (count.sqrt() + 10.0);
    let yes = |fact: bool| if fact { 1.0 } else { 0.0 };
    let quality = 0.35 * yes(prices.in_stock)
        + 0.25 * rating
        + 0.2 * popularity
        + 0.1 * yes(first_image(product).is_some())
        + 0.05 * yes(product.description.len() >= 80)
        + 0.05 * yes(prices.compare_at_minor.is_some());
    if quality.is_finite() {
        quality.clamp(0.0, 1.0)
    } else {
        0.0
    }
}
