use std::sync::Arc;

use data_model::{Gtin, Kind, Kinds, PriceEvent, PriceSource, Product, ProductIdent, ProductKey, Rating};
use roaring::RoaringBitmap;

use super::opened::OpenPart;
use crate::columns::{Cards, Details, Facets, PAGE, PriceRef, ReviewRef, VariantCodes};
use crate::dictionary::Dictionary;
use crate::manifest::PartEntry;
use crate::reviews::ReviewTable;
use crate::suggest::Suggest;
use crate::terms::{NO_ROW, Terms};
use crate::vectors::Vectors;

/// Opened part of a release. A method panics if the part does not have the row that it is given.
#[derive(Debug)]
pub struct Part {
    pub(super) entry: PartEntry,
    pub(super) opened: Arc<OpenPart>,
    pub(super) dead: RoaringBitmap,
    pub(super) unlisted: RoaringBitmap,
    /// Live rows of each kind except goods, in the order of [`Kind::NAMED`].
    pub(super) others: [RoaringBitmap; Kind::NAMED.len()],
    /// Index in the release's brands for each store of the part. Entries of dead stores are meaningless.
    pub(super) brands: Vec<usize>,
    pub(super) shown: Option<PartReviews>,
}

#[derive(Debug)]
pub(super) struct PartReviews {
    tables: Vec<Option<Arc<ReviewTable>>>,
    /// Index of each row in its store's review table, or [`NOT_SHOWN`].
    rows: Vec<u32>,
}

const NOT_SHOWN: u32 = u32::MAX;

impl Part {
    /// Returns the part's entry in the manifest.
    #[must_use]
    pub fn entry(&self) -> &PartEntry {
        &self.entry
    }

    /// Returns the number of rows, including dead rows.
    #[must_use]
    pub fn rows(&self) -> u32 {
        self.entry.rows
    }

    /// Returns the number of rows that this release serves.
    #[must_use]
    pub fn live_rows(&self) -> u32 {
        self.entry.live_rows
    }

    /// Returns the rows that this release does not serve.
    #[must_use]
    pub fn dead(&self) -> &RoaringBitmap {
        &self.dead
    }

    /// Returns the rows that lists do not show by default: dead rows and products that are not goods. A request that
    /// names the kind of such products gets them.
    #[must_use]
    pub fn unlisted(&self) -> &RoaringBitmap {
        &self.unlisted
    }

    pub(crate) fn unlisted_but(&self, kinds: Kinds) -> RoaringBitmap {
        let mut unlisted = self.unlisted.clone();
        if !kinds.has(Kind::Goods) {
            unlisted.insert_range(0..self.rows());
        }
        self.others(kinds).fold(unlisted, |unlisted, rows| unlisted - rows)
    }

    /// Returns the live rows of each of these kinds except goods.
    pub fn others(&self, kinds: Kinds) -> impl Iterator<Item = &RoaringBitmap> {
        let named = Kind::NAMED.iter().zip(&self.others);
        named
            .filter(move |((_, kind), _)| kinds.has(*kind))
            .map(|(_, rows)| rows)
    }

    /// Returns the terms, each with the rows that contain it and the fields in which it occurs.
    #[must_use]
    pub fn terms(&self) -> &Terms {
        &self.opened.terms
    }

    /// Returns the dictionary of the words of titles as written.
    #[must_use]
    pub fn titles(&self) -> &Dictionary {
        &self.opened.titles
    }

    /// Returns the dictionary of the words of brand names and vendors as written.
    #[must_use]
    pub fn brand_names(&self) -> &Dictionary {
        &self.opened.brand_names
    }

    /// Returns the dictionary of SKUs and handles, each as one code. See [`data_text::code_of`].
    #[must_use]
    pub fn skus(&self) -> &Dictionary {
        &self.opened.skus
    }

    /// Returns true if a live product contains a stem in any of its words.
    #[must_use]
    pub fn holds(&self, stem: &str) -> bool {
        let Some(list) = self.terms().find(stem) else {
            return false;
        };
        if self.dead().is_empty() {
            return true;
        }
        let mut cursor = list.cursor();
        while cursor.row() != NO_ROW && self.dead().contains(cursor.row()) {
            cursor.advance();
        }
        cursor.row() != NO_ROW
    }

    /// Returns the columns that cards show, filter and sort by.
    #[must_use]
    pub fn cards(&self) -> &Cards {
        &self.opened.cards
    }

    /// Returns the rating of a row. The rating from the brand's review app takes precedence over that from the
    /// product's page.
    #[must_use]
    #[inline]
    pub fn rating(&self, row: u32) -> Option<Rating> {
        match self.shown(row) {
            Some((table, at)) => table.rating(at),
            None => self.opened.cards.rating(row),
        }
    }

    /// Returns the publisher of a row's rating and reviews: a review app, or [`PAGE`].
    #[must_use]
    pub fn review_source(&self, row: u32) -> &str {
        self.shown(row).map_or(PAGE, |(table, at)| table.source(at))
    }

    /// Returns the reviews of a row, newest first, from the same source as its rating.
    pub fn reviews(&self, row: u32) -> impl ExactSizeIterator<Item = ReviewRef<'_>> {
        let (lists, at) = match self.shown(row) {
            Some((table, at)) => (table.reviews(), at as usize),
            None => self.opened.details.row(row).review_list(),
        };
        lists.at(at, self.review_source(row))
    }

    #[inline]
    fn shown(&self, row: u32) -> Option<(&ReviewTable, u32)> {
        let shown = self.shown.as_ref()?;
        let at = shown.rows[row as usize];
        if at == NOT_SHOWN {
            return None;
        }
        let store = self.opened.cards.store(row) as usize;
        Some((shown.tables[store].as_deref()?, at))
    }

    pub(super) fn with_reviews(mut self, of_brands: &[Option<Arc<ReviewTable>>]) -> Self {
        let table = |brand: &usize| of_brands.get(*brand).cloned().flatten();
        let tables: Vec<Option<Arc<ReviewTable>>> = self.brands.iter().map(table).collect();
        if tables.iter().all(Option::is_none) {
            return self;
        }
        let mut rows = vec![NOT_SHOWN; self.entry.rows as usize];
        let held = self.entry.stores.iter().zip(&tables).filter(|(held, _)| held.live);
        for (held, table) in held {
            let Some(table) = table else { continue };
            for row in held.row_range() {
                let product = self.opened.details.row(row).platform_id();
                rows[row as usize] = table.find(product).unwrap_or(NOT_SHOWN);
            }
        }
        self.shown = Some(PartReviews { tables, rows });
        self
    }

    /// Returns the details of the products.
    #[must_use]
    pub fn details(&self) -> &Details {
        &self.opened.details
    }

    /// Returns the barcode and size of the variant at `position` in a row.
    #[must_use]
    pub fn variant_codes(&self, row: u32, position: usize) -> VariantCodes {
        self.opened.codes.at(row, position)
    }

    /// Returns the barcodes of a row's variants, with the positions of the variants.
    pub fn barcodes(&self, row: u32) -> impl Iterator<Item = (usize, Gtin)> {
        self.opened.codes.barcodes(row)
    }

    /// Returns the facet values and their rows.
    #[must_use]
    pub fn facets(&self) -> &Facets {
        &self.opened.facets
    }

    /// Returns the index for typing suggestions. The index includes dead rows.
    #[must_use]
    pub fn suggest(&self) -> &Suggest {
        &self.opened.suggest
    }

    pub(crate) fn vectors(&self) -> Option<&Vectors> {
        self.opened.vectors.as_ref()
    }

    /// Returns the live row of a product.
    #[must_use]
    pub fn find(&self, ident: &ProductIdent) -> Option<u32> {
        self.opened.lookup.find(ident).filter(|row| !self.dead.contains(*row))
    }

    /// Returns the index in [`Release::brands`](crate::Release::brands) of a live row's brand.
    #[must_use]
    #[inline]
    pub fn brand_index(&self, row: u32) -> usize {
        self.brands[self.opened.cards.store(row) as usize]
    }

    /// Returns the complete product of a row, as it was indexed.
    #[must_use]
    pub fn product(&self, row: u32) -> Product {
        let (cards, details) = (&self.opened.cards, self.opened.details.row(row));
        let store = self.entry.stores[cards.store(row) as usize].store.clone();
        Product {
            key: ProductKey {
                store,
                platform_id: details.platform_id(),
            },
            handle: details.handle().to_owned(),
            title: cards.title(row).to_owned(),
            description: details.description().to_owned(),
            vendor: details.vendor().map(str::to_owned),
            product_type: details.product_type().map(str::to_owned),
            category: cards.category(row),
            tags: details.tags().map(str::to_owned).collect(),
            options: details.options().map(|option| option.to_option()).collect(),
            attributes: details.attributes().map(|held| held.to_attribute()).collect(),
            media: details.media().map(|media| media.to_media()).collect(),
            variants: (0..)
                .zip(details.variants())
                .map(|(position, variant)| variant.to_variant(self.variant_codes(row, position)))
                .collect(),
            currency: cards.currency(row),
            rating: self.rating(row),
            reviews: self.reviews(row).map(|review| review.to_review()).collect(),
            created_at: details.created_at(),
            published_at: details.published_at(),
            updated_at: details.updated_at(),
        }
    }

    /// Returns the known price history of a row, newest first.
    pub fn price_history(&self, row: u32) -> impl Iterator<Item = PriceRef<'_>> {
        let currency = self.opened.cards.currency(row).as_str();
        let since = self.opened.history.unchanged_since(row).into_iter();
        let first_seen = since.flat_map(move |observed_at| {
            self.opened.details.row(row).variants().map(move |variant| PriceRef {
                observed_at,
                variant: variant.id,
                event: PriceEvent::FirstSeen,
                currency,
                price_minor: Some(variant.price_minor),
                compare_at_minor: variant.compare_at_minor,
                available: Some(variant.available),
                // A live query can only be about a product that a crawl found before.
                source: PriceSource::Crawl,
            })
        });
        first_seen.chain(self.opened.history.points(row))
    }

    /// Returns the number of points of [`Part::price_history`].
    #[must_use]
    pub fn price_points(&self, row: u32) -> usize {
        match self.opened.history.unchanged_since(row) {
            Some(_) => self.opened.details.row(row).variants().len(),
            None => self.opened.history.points(row).len(),
        }
    }
}
