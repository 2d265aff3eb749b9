use std::collections::hash_map::Entry;

use data_embedding::Vector;
use data_model::{CategoryId, Product, Quarantined, Timestamp};
use pipeline_parse::{BadRecord, ParseError, RawProduct, for_each_product, page_text, record_excerpts};
use rustc_hash::FxHashMap;

use crate::category::{ReadProduct, Reading, StatedProduct, TABLE, believe, settle, vector};
use crate::context::StoreContext;
use crate::misfits::{self, Misfits, PagePlace};
use crate::product::{Normalised, normalise_product};

/// Complete catalogue of a store.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Catalogue {
    /// Products, sorted by Shopify's id, without duplicates.
    pub products: Vec<Product>,
    /// Records and variants that could not be understood, without duplicates, sorted by Shopify's id. Records without
    /// an id follow in page order.
    pub quarantined: Vec<Quarantined>,
}

/// Collection of a page's products in the caller's representation.
pub trait Gather {
    /// Creates an empty collection with capacity for about `products` products on a page of `page_bytes` bytes.
    fn with_room(products: usize, page_bytes: usize) -> Self;

    /// Adds a product.
    fn push(&mut self, product: Product);

    /// Changes the category of the product in this row, because the store's other products indicate another one.
    fn file(&mut self, row: usize, category: Option<CategoryId>);
}

impl Gather for Vec<Product> {
    fn with_room(products: usize, _: usize) -> Self {
        Self::with_capacity(products)
    }

    fn push(&mut self, product: Product) {
        self.push(product);
    }

    fn file(&mut self, row: usize, category: Option<CategoryId>) {
        if let Some(product) = self.get_mut(row) {
            product.category = category;
        }
    }
}

#[derive(Debug)]
struct Misfit {
    position: usize,
    id: u64,
    /// Row of the product that was still made from the record, if any.
    row: Option<usize>,
    reason: String,
}

/// Typical size of a record, to reserve capacity for a page.
const RECORD_BYTES: usize = 2_000;
const PRODUCTS_EXPECTED: usize = 250;

/// Maximum number of a product's variants that the platform lists.
const LISTED_VARIANTS_MAX: usize = 250;

/// Maximum total size in bytes of the excerpts in one page's quarantine entries. Beyond it, entries contain only the
/// start of their record.
const EXCERPTS_BYTES_MAX: usize = 8 << 20;
const EXCERPT_SHORT_BYTES: usize = 200;

/// One page of a store, parsed independently of its other pages. `G` is the representation of its products.
#[derive(Debug, Default)]
pub struct PageRead<G = Vec<Product>> {
    records: usize,
    ids: Vec<u64>,
    taken: Vec<PageProduct>,
    /// Vectors of products whose words may name no category, by row.
    vectors: FxHashMap<usize, Vector>,
    products: G,
    entries: Vec<misfits::Entry>,
}

#[derive(Debug, Clone, Copy)]
struct PageProduct {
    id: u64,
    updated_at: Option<Timestamp>,
    variants: usize,
    /// True if the page may list only the first of the product's variants.
    is_cut: bool,
    reading: Reading,
}

impl<G: Gather> PageRead<G> {
    /// Parses a page as the store sent it.
    ///
    /// # Errors
    /// [`ParseError`] if the bytes are not a page of products.
    pub fn of(bytes: &[u8], context: &StoreContext) -> Result<Self, ParseError> {
        let products = (bytes.len() / RECORD_BYTES).min(PRODUCTS_EXPECTED);
        Self::into(G::with_room(products, bytes.len()), bytes, context, |_| None)
    }

    /// Parses a page as the store sent it, and adds its products to `products`. The page is processed one record at a
    /// time to save memory. `rest_of` returns the variants that a page omits of a product, as a page of products whose
    /// records have these variants.
    ///
    /// # Errors
    /// [`ParseError`] if the bytes are not a page of products.
    pub fn into<'r>(
        products: G,
        bytes: &[u8],
        context: &StoreContext,
        rest_of: impl Fn(u64) -> Option<&'r str>,
    ) -> Result<Self, ParseError> {
        let text = page_text(bytes)?;
        let mut read = Self {
            records: 0,
            ids: Vec::new(),
            taken: Vec::new(),
            vectors: FxHashMap::default(),
            products,
            entries: Vec::new(),
        };
        // The text of these records is looked up once, at the end of the page.
        let mut misfits: Vec<Misfit> = Vec::new();
        let mut position = 0;
        read.records = for_each_product(&text, |record| {
            position += 1;
            match record {
                Ok(raw) => {
                    let rest = rest_of(raw.id);
                    read.understand(raw, rest, position, context, &mut misfits);
                }
                Err(bad) => read.note_bad(bad),
            }
        })?;
        read.note_misfits(&text, misfits);
        Ok(read)
    }

    fn understand<'r>(
        &mut self,
        mut raw: RawProduct<'r>,
        rest: Option<&'r str>,
        position: usize,
        context: &StoreContext,
        misfits: &mut Vec<Misfit>,
    ) {
        self.ids.push(raw.id);
        let is_capped = raw.variants_stated == LISTED_VARIANTS_MAX;
        let rest = rest.filter(|_| is_capped);
        if let Some(rest) = rest {
            add_rest(&mut raw, rest);
        }
        let misfit = |row, reason| Misfit {
            position,
            id: raw.id,
            row,
            reason,
        };
        match normalise_product(&raw, context) {
            Ok(Normalised {
                product,
                left_out,
                reading,
            }) => {
                let row = self.taken.len();
                let vector = vector(&reading, product.product_type.as_deref(), &product.title);
                self.vectors.extend(vector.map(|vector| (row, vector)));
                let row = Some(row);
                let room = misfits::QUARANTINE_MAX.saturating_sub(misfits.len());
                misfits.extend(left_out.into_iter().take(room).map(|reason| misfit(row, reason)));
                self.taken.push(PageProduct {
                    id: product.key.platform_id,
                    updated_at: product.updated_at,
                    variants: product.variants.len(),
                    is_cut: is_capped && (rest.is_some() || !product.variants_complete()),
                    reading,
                });
                self.products.push(product);
            }
            Err(rejection) => misfits.push(misfit(None, rejection.to_string())),
        }
    }
}

/// Adds the variants in a page of products to a product.
fn add_rest<'r>(product: &mut RawProduct<'r>, rest: &'r str) {
    // A rest that cannot be parsed adds nothing.
    let _ = for_each_product(rest, |record| {
        if let Ok(record) = record {
            product.variants_stated += record.variants_stated;
            product.variants.extend(record.variants);
        }
    });
}

impl<G> PageRead<G> {
    /// Returns the products in the caller's representation.
    #[must_use]
    pub const fn products(&self) -> &G {
        &self.products
    }

    /// Returns the approximate bytes in memory, without the products.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        let entries = self.entries.iter();
        let entries: usize = entries
            .map(|entry| size_of::<misfits::Entry>() + entry.reason.len() + entry.excerpt.len())
            .sum();
        // In the catalogue, each product also has an entry in the index of positions.
        entries
            + self.ids.len() * size_of::<u64>()
            + self.taken.len() * (size_of::<PageProduct>() + 2 * size_of::<Place>())
            + self
                .vectors
                .values()
                .map(|vector| 64 + vector.dimensions())
                .sum::<usize>()
    }

    fn note_bad(&mut self, bad: BadRecord) {
        self.ids.extend(bad.id);
        let entry = misfits::Entry {
            id: bad.id.filter(|id| *id != 0),
            row: None,
            position: bad.position,
            reason: bad.reason,
            excerpt: bad.excerpt,
        };
        self.entries.push(entry.escaped());
    }

    fn note_misfits(&mut self, text: &str, misfits: Vec<Misfit>) {
        if misfits.is_empty() {
            return;
        }
        let mut positions: Vec<usize> = misfits.iter().map(|misfit| misfit.position).collect();
        positions.dedup();
        let excerpts = record_excerpts(text, &positions);
        // Each variant of a record may have a quarantine entry, so that the total size of the excerpts is limited.
        let mut excerpt_bytes = 0;
        for misfit in misfits {
            let found = positions.binary_search(&misfit.position).ok();
            let excerpt = found.and_then(|at| excerpts.get(at)).map_or("", String::as_str);
            let bytes_max = if excerpt_bytes < EXCERPTS_BYTES_MAX {
                excerpt.len()
            } else {
                EXCERPT_SHORT_BYTES
            };
            let excerpt = &excerpt[..excerpt.floor_char_boundary(bytes_max)];
            excerpt_bytes += excerpt.len();
            let entry = misfits::Entry {
                id: (misfit.id != 0).then_some(misfit.id),
                row: misfit.row,
                position: misfit.position,
                reason: misfit.reason,
                excerpt: excerpt.to_owned(),
            };
            self.entries.push(entry.escaped());
        }
    }

    /// Returns the number of variants that were understood.
    #[must_use]
    pub fn variants(&self) -> usize {
        self.taken.iter().map(|taken| taken.variants).sum()
    }

    /// Returns the number of records on the page.
    #[must_use]
    pub const fn records(&self) -> usize {
        self.records
    }

    /// Returns Shopify's ids of the records that have one, in page order.
    #[must_use]
    pub fn ids(&self) -> &[u64] {
        &self.ids
    }
}

/// Builder of a catalogue from its pages.
///
/// Pages shift while a store is read, so that several pages may have one product. The version with the latest update
/// time counts. Of versions with the same time or none, the one on the later page counts.
#[derive(Debug)]
pub struct CatalogueBuilder<G = Vec<Product>> {
    context: StoreContext,
    variants: usize,
    pages: Vec<G>,
    /// Vectors of the products of each page, by row.
    vectors: Vec<FxHashMap<usize, Vector>>,
    /// Position of each product by id: its page and its row on that page.
    places: FxHashMap<u64, Place>,
    misfits: Misfits,
}

#[derive(Debug, Clone, Copy)]
struct Place {
    page: usize,
    row: usize,
    taken: PageProduct,
}

/// A complete catalogue with its products grouped by page.
#[derive(Debug)]
pub struct Gathered<G> {
    /// Products of each page, including those that another page also has.
    pub pages: Vec<G>,
    /// Position of each product, sorted by Shopify's id, without duplicates.
    pub order: Vec<PagePlace>,
    /// Shopify's id of each product, in the same order.
    pub ids: Vec<u64>,
    /// Records and variants that could not be understood, without duplicates, sorted by Shopify's id. Records without
    /// an id follow in page order.
    pub quarantined: Vec<Quarantined>,
}

impl CatalogueBuilder {
    /// Adds the next page as the store sent it.
    ///
    /// # Errors
    /// [`ParseError`] if the bytes are not a page of products. Nothing of the page is then added.
    pub fn page(&mut self, bytes: &[u8]) -> Result<(), ParseError> {
        let page = PageRead::of(bytes, &self.context)?;
        self.add(page);
        Ok(())
    }

    /// Returns the catalogue. A record that was understood on another page is not in quarantine.
    #[must_use]
    pub fn finish(self) -> Catalogue {
        let Gathered {
            pages,
            order,
            quarantined,
            ..
        } = self.gathered();
        let mut pages: Vec<Vec<Option<Product>>> = pages
            .into_iter()
            .map(|page| page.into_iter().map(Some).collect())
            .collect();
        let products = order
            .into_iter()
            .filter_map(|place| pages[place.page][place.row].take());
        Catalogue {
            products: products.collect(),
            quarantined,
        }
    }
}

impl<G> CatalogueBuilder<G> {
    /// Creates an empty catalogue of a store.
    #[must_use]
    pub fn new(context: StoreContext) -> Self {
        Self {
            context,
            variants: 0,
            pages: Vec::new(),
            vectors: Vec::new(),
            places: FxHashMap::default(),
            misfits: Misfits::default(),
        }
    }

    /// Adds the next page, which must have been parsed for this store.
    pub fn add(&mut self, page: PageRead<G>) {
        for (row, &taken) in page.taken.iter().enumerate() {
            let page = self.pages.len();
            let place = Place { page, row, taken };
            match self.places.entry(taken.id) {
                Entry::Vacant(vacant) => {
                    self.variants += taken.variants;
                    vacant.insert(place);
                }
                Entry::Occupied(mut known) if taken.updated_at >= known.get().taken.updated_at => {
                    let before = known.insert(place);
                    self.variants = self.variants - before.taken.variants + taken.variants;
                }
                Entry::Occupied(_) => {}
            }
        }
        self.misfits.note(self.pages.len(), page.entries);
        self.vectors.push(page.vectors);
        self.pages.push(page.products);
    }

    /// Returns Shopify's id and the last update time of each product, in any order.
    pub fn listed(&self) -> impl Iterator<Item = (u64, Option<Timestamp>)> {
        self.places
            .values()
            .map(|place| (place.taken.id, place.taken.updated_at))
    }

    /// Returns Shopify's id and the time of the last update of each product whose page may omit variants, in any order.
    pub fn cut(&self) -> impl Iterator<Item = (u64, Option<Timestamp>)> {
        let cut = self.places.values().filter(|place| place.taken.is_cut);
        cut.map(|place| (place.taken.id, place.taken.updated_at))
    }

    /// Takes the categories that the store itself states: `path_of` returns the names from the department on, joined by
    /// ` > `, of Shopify's taxonomy or Google's. To be called once, after the last page.
    pub fn believe_store<'p>(&mut self, path_of: impl Fn(u64) -> Option<&'p str>) {
        let places = self.places.values_mut();
        let stated = places.filter_map(|place| {
            let path = path_of(place.taken.id)?;
            let reading = &mut place.taken.reading;
            Some(StatedProduct { reading, path })
        });
        believe(&TABLE, stated.collect());
    }

    /// Number of variants of all products.
    #[must_use]
    pub const fn variants(&self) -> usize {
        self.variants
    }
}

impl<G: Gather> CatalogueBuilder<G> {
    /// Returns the catalogue grouped by page. Categories are decided from all products of the store. A record or a part
    /// of a product that was parsed on another page is not in quarantine.
    #[must_use]
    pub fn gathered(self) -> Gathered<G> {
        let Self {
            context,
            mut pages,
            vectors,
            places,
            misfits,
            ..
        } = self;
        let mut found: Vec<&Place> = places.values().collect();
        found.sort_unstable_by_key(|place| place.taken.id);
        let read = found.iter().map(|Place { page, row, taken }| ReadProduct {
            reading: &taken.reading,
            vector: vectors.get(*page).and_then(|of_page| of_page.get(row)),
        });
        let settled = settle(&TABLE, &read.collect::<Vec<_>>());
        for (Place { page, row, taken }, settled) in found.into_iter().zip(settled) {
            if (taken.reading.is_stated() || settled != taken.reading.category())
                && let Some(page) = pages.get_mut(*page)
            {
                page.file(*row, settled);
            }
        }
        let place = |id| {
            places.get(&id).map(|place| PagePlace {
                page: place.page,
                row: place.row,
            })
        };
        let quarantined = misfits.quarantined(&context.store, place);
        let mut order: Vec<(u64, usize, usize)> = places
            .into_iter()
            .map(|(id, place)| (id, place.page, place.row))
            .collect();
        order.sort_unstable();
        Gathered {
            pages,
            ids: order.iter().map(|(id, ..)| *id).collect(),
            order: order
                .into_iter()
                .map(|(_, page, row)| PagePlace { page, row })
                .collect(),
            quarantined,
        }
    }
}
