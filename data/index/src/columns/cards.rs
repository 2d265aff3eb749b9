use std::sync::LazyLock;

use arrow::array::{Array, RecordBatch};
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use data_model::{CategoryId, CurrencyCode, Kind, PriceSummary, Product, ProductId, ProductUid, Rating, Timestamp};
use roaring::RoaringBitmap;

use super::table::{Columns, List, columns, number, text};

pub(crate) const CARDS: &str = "cards.arrow";

static SCHEMA: LazyLock<SchemaRef> = LazyLock::new(CardColumns::schema);

columns! {
    /// Columns of the cards' file. Currencies and stores are codes of tables beside it.
    CardColumns, CardColumnsWriter {
        id: [u8; 16],
        uid: [u8; 20],
        store: u32,
        title: String,
        price_min_minor: i64,
        price_max_minor: i64,
        compare_at_minor: Option<i64>,
        discount_pct: Option<u8>,
        currency: u8,
        in_stock: bool,
        on_sale: bool,
        variants_complete: bool,
        kind: u8,
        rating: Option<f32>,
        rating_count: Option<u32>,
        image: Option<String>,
        category: Option<u32>,
        newest_at: Option<i64>,
        quality: f32,
        variant_count: u32,
        facets: List<u32>,
    }
}

/// Columns that product cards show, filter and sort by.
#[derive(Debug)]
pub struct Cards {
    pub(crate) columns: CardColumns,
    currencies: Vec<CurrencyCode>,
}

impl Cards {
    pub(crate) fn schema() -> &'static SchemaRef {
        &SCHEMA
    }

    /// An error is returned if a code is out of range of its table.
    pub(crate) fn of(batch: &RecordBatch, currencies: Vec<CurrencyCode>, stores: usize) -> Result<Self, ArrowError> {
        let columns = CardColumns::of(batch)?;
        let known_currency = |code: &u8| usize::from(*code) < currencies.len();
        if !columns.currency.values().iter().all(known_currency) {
            return Err(ArrowError::InvalidArgumentError(
                "a currency code is not in its table".to_owned(),
            ));
        }
        if !columns
            .kind
            .values()
            .iter()
            .all(|kind| (*kind as usize) < Kind::NAMED.len())
        {
            return Err(ArrowError::InvalidArgumentError(
                "a product kind is not in its table".to_owned(),
            ));
        }
        if !columns.store.values().iter().all(|store| (*store as usize) < stores) {
            return Err(ArrowError::InvalidArgumentError(
                "a store code is not in its table".to_owned(),
            ));
        }
        Ok(Self { columns, currencies })
    }

    /// Returns the number of rows.
    #[must_use]
    pub fn rows(&self) -> u32 {
        u32::try_from(self.columns.title.len()).unwrap_or(u32::MAX)
    }

    /// Returns the UUID of the product.
    #[must_use]
    #[inline]
    pub fn id(&self, row: u32) -> ProductId {
        ProductId::from_bytes(fixed(self.columns.id.value(row as usize)))
    }

    /// Returns the `sha:` uid of the product.
    #[must_use]
    pub fn uid(&self, row: u32) -> ProductUid {
        ProductUid::from_bytes(fixed(self.columns.uid.value(row as usize)))
    }

    /// Returns the store that sells the product, as an index into [`PartEntry::stores`](crate::PartEntry::stores).
    #[must_use]
    pub fn store(&self, row: u32) -> u32 {
        self.columns.store.value(row as usize)
    }

    /// Returns the title of the product.
    #[must_use]
    pub fn title(&self, row: u32) -> &str {
        self.columns.title.value(row as usize)
    }

    /// Returns the lowest price among the variants with a price, in minor units, or 0 if no variant has one.
    #[must_use]
    #[inline]
    pub fn price_min_minor(&self, row: u32) -> i64 {
        self.columns.price_min_minor.value(row as usize)
    }

    /// Returns the highest price among the variants, in minor units.
    #[must_use]
    pub fn price_max_minor(&self, row: u32) -> i64 {
        self.columns.price_max_minor.value(row as usize)
    }

    /// Returns the list price of the variant with the lowest price, in minor units, if that variant is marked down.
    #[must_use]
    pub fn compare_at_minor(&self, row: u32) -> Option<i64> {
        number(&self.columns.compare_at_minor, row as usize)
    }

    /// Returns the markdown of the variant with the lowest price, in percent.
    #[must_use]
    pub fn discount_pct(&self, row: u32) -> Option<u8> {
        number(&self.columns.discount_pct, row as usize)
    }

    /// Returns the currency of the prices.
    #[must_use]
    pub fn currency(&self, row: u32) -> CurrencyCode {
        self.currencies[usize::from(self.columns.currency.value(row as usize))]
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
        self.columns.variants_complete.value(row as usize)
    }

    /// Returns the kind of the product.
    #[must_use]
    pub fn kind(&self, row: u32) -> Kind {
        let named = Kind::NAMED.get(usize::from(self.columns.kind.value(row as usize)));
        named.map_or(Kind::Goods, |(_, kind)| *kind)
    }

    /// In the order of [`Kind::NAMED`]. Most rows are goods.
    pub(crate) fn other_than_goods(&self) -> [RoaringBitmap; Kind::NAMED.len()] {
        let goods = code_of(Kind::Goods);
        let mut of_kinds: [RoaringBitmap; Kind::NAMED.len()] = Default::default();
        for (row, kind) in (0..)
            .zip(self.columns.kind.values())
            .filter(|(_, kind)| **kind != goods)
        {
            if let Some(rows) = of_kinds.get_mut(usize::from(*kind)) {
                rows.insert(row);
            }
        }
        of_kinds
    }

    /// Returns true if any known variant is available.
    #[must_use]
    pub fn in_stock(&self, row: u32) -> bool {
        self.columns.in_stock.value(row as usize)
    }

    /// Returns true if the card shows a list price above the price.
    #[must_use]
    pub fn on_sale(&self, row: u32) -> bool {
        self.columns.on_sale.value(row as usize)
    }

    /// Returns the rating, if the store publishes one.
    #[must_use]
    #[inline]
    pub fn rating(&self, row: u32) -> Option<Rating> {
        let row = row as usize;
        let (average, count) = (&self.columns.rating, &self.columns.rating_count);
        number(average, row)
            .zip(number(count, row))
            .map(|(average, count)| Rating { average, count })
    }

    /// Returns the URL of the first image.
    #[must_use]
    pub fn image(&self, row: u32) -> Option<&str> {
        text(&self.columns.image, row as usize)
    }

    /// Returns the leaf category, if a rule assigns one.
    #[must_use]
    pub fn category(&self, row: u32) -> Option<CategoryId> {
        number(&self.columns.category, row as usize).map(CategoryId)
    }

    /// Returns the publication time, or the creation time if there is none. The sort order `newest` uses this time.
    #[must_use]
    #[inline]
    pub fn newest_at(&self, row: u32) -> Option<Timestamp> {
        number(&self.columns.newest_at, row as usize).map(Timestamp::from_micros)
    }

    /// Returns the quality of the product's presentation, from 0 to 1, which ranking uses as a prior. Stock, ratings,
    /// images and a description raise it.
    #[must_use]
    #[inline]
    pub fn quality(&self, row: u32) -> f32 {
        self.columns.quality.value(row as usize)
    }

    /// Returns the number of variants.
    #[must_use]
    pub fn variant_count(&self, row: u32) -> u32 {
        self.columns.variant_count.value(row as usize)
    }

    /// Returns the codes of the row's facet values in ascending order. The codes are indexes into
    /// [`Facets`](super::Facets).
    #[must_use]
    #[inline]
    pub fn facet_codes(&self, row: u32) -> &[u32] {
        &self.columns.facets.items.values()[self.columns.facets.span(row as usize)]
    }

    pub(crate) fn facet_codes_below(&self, count: usize) -> bool {
        self.columns
            .facets
            .items
            .values()
            .iter()
            .all(|code| (*code as usize) < count)
    }
}

/// The width of the column was validated, so the fallback is unreachable.
fn fixed<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.try_into().unwrap_or([0; N])
}

/// Collects cards while a part is built.
#[derive(Debug, Default)]
pub(crate) struct CardsWriter {
    columns: CardColumnsWriter,
    ids: Vec<ProductId>,
    uids: Vec<ProductUid>,
    currencies: Vec<CurrencyCode>,
}

impl CardsWriter {
    /// Returns the presentability of the row that was added last.
    pub(crate) fn last_quality(&self) -> f32 {
        self.columns.quality.last().copied().unwrap_or(0.0)
    }

    /// Adds the next product. `seen_at` is the time of the last crawl that found the product.
    pub(crate) fn push(&mut self, product: &Product, prices: &PriceSummary, store: u32, seen_at: Timestamp) {
        self.ids.push(product.key.id());
        self.uids.push(product.key.uid());
        let code = self.code_of(product.currency);
        let columns = &mut self.columns;
        columns.store.push(store);
        columns.title.append_value(&product.title);
        columns.price_min_minor.push(prices.price_min_minor);
        columns.price_max_minor.push(prices.price_max_minor);
        columns.compare_at_minor.push(prices.compare_at_minor);
        columns.discount_pct.push(prices.discount_pct);
        columns.currency.push(code);
        columns.in_stock.push(prices.in_stock);
        columns.on_sale.push(prices.compare_at_minor.is_some());
        columns.variants_complete.push(product.variants_complete());
        columns.kind.push(code_of(product.kind()));
        columns.rating.push(product.rating.map(|rating| rating.average));
        columns.rating_count.push(product.rating.map(|rating| rating.count));
        columns.image.append_option(first_image(product));
        columns.category.push(product.category.map(|category| category.0));
        // A publication date in the future must not make a product the newest.
        let published_at = product.published_at.or(product.created_at);
        columns.newest_at.push(published_at.map(|at| at.min(seen_at).micros()));
        columns.quality.push(quality(product, prices));
        columns
            .variant_count
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

    /// Returns the batch, and the table that its currency codes index. `facets` contains the codes of each row.
    pub(crate) fn finish(mut self, facets: Vec<Vec<u32>>) -> Result<(RecordBatch, Vec<CurrencyCode>), ArrowError> {
        let columns = &mut self.columns;
        columns.id = self.ids.iter().map(|id| *id.as_bytes()).collect();
        columns.uid = self.uids.iter().map(|uid| *uid.as_bytes()).collect();
        facets.into_iter().for_each(|row| columns.facets.push(row, Vec::push));
        Ok((CardColumns::batch(columns, &SCHEMA)?, self.currencies))
    }
}

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
