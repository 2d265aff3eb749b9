use std::collections::hash_map::Entry;

use data_model::{CategoryId, Product, Quarantined, Timestamp};
use pipeline_parse::{BadRecord, ParseError, RawProduct, for_each_product, page_text, record_excerpts};
use rustc_hash::FxHashMap;

use crate::category::{Belief, Reading, TABLE};
use crate::context::StoreContext;
use crate::misfits::{self, Misfits, PagePlace};
use crate::product::{Normalised, normalise_product};

/// A whole catalogue.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Catalogue {
    /// Its products, sorted by the platform's id, each id once.
    pub products: Vec<Product>,
    /// Records and variants that could not be understood, each once: sorted by the platform's id, and behind these the records
    /// without one, in the order of the pages.
    pub quarantined: Vec<Quarantined>,
}

/// Takes in the products of a page, one after another, in the form in which they are wanted.
pub trait Gather {
    /// An empty gatherer, with room for about so many products of a page of so many bytes.
    fn with_room(products: usize, page_bytes: usize) -> Self;

    /// Takes in a product.
    fn push(&mut self, product: Product);

    /// Files the product at this place elsewhere, as the other goods of its store show what it is.
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

/// A record that was read but cannot be understood, or of which a part cannot.
#[derive(Debug)]
struct Misfit {
    position: usize,
    id: u64,
    /// The place among the page's products of the one that was made of it all the same.
    row: Option<usize>,
    reason: String,
}

/// About how long a record is, and how many a page lists: room is made for so many before they are read.
const RECORD_BYTES: usize = 2_000;
const PRODUCTS_EXPECTED: usize = 250;

/// Most bytes of records that the quarantine entries of one page show; beyond it each shows only how its record begins.
const EXCERPTS_BYTES_MAX: usize = 8 << 20;
const EXCERPT_SHORT_BYTES: usize = 200;

/// One page of a store, each record understood or not, apart from the store's other pages. `G` is the form that its products
/// are in.
#[derive(Debug, Default)]
pub struct PageRead<G = Vec<Product>> {
    records: usize,
    ids: Vec<u64>,
    taken: Vec<PageProduct>,
    products: G,
    entries: Vec<misfits::Entry>,
}

/// A product of a page.
#[derive(Debug, Clone, Copy)]
struct PageProduct {
    id: u64,
    updated_at: Option<Timestamp>,
    variants: usize,
    reading: Reading,
}

impl<G: Gather> PageRead<G> {
    /// Reads a page as answered.
    ///
    /// # Errors
    /// [`ParseError`] if the bytes are no page of products.
    pub fn of(bytes: &[u8], context: &StoreContext) -> Result<Self, ParseError> {
        let products = (bytes.len() / RECORD_BYTES).min(PRODUCTS_EXPECTED);
        Self::into(G::with_room(products, bytes.len()), bytes, context)
    }

    /// Reads a page as answered, its products into `products`. Each record is read, understood and let go of before the
    /// next one is looked at.
    ///
    /// # Errors
    /// [`ParseError`] if the bytes are no page of products.
    pub fn into(products: G, bytes: &[u8], context: &StoreContext) -> Result<Self, ParseError> {
        let text = page_text(bytes)?;
        let mut read = Self {
            records: 0,
            ids: Vec::new(),
            taken: Vec::new(),
            products,
            entries: Vec::new(),
        };
        // Of records that were read but cannot be understood: their text is looked up once, at the end of the page.
        let mut misfits: Vec<Misfit> = Vec::new();
        let mut position = 0;
        read.records = for_each_product(&text, |record| {
            position += 1;
            match record {
                Ok(raw) => read.understand(&raw, position, context, &mut misfits),
                Err(bad) => read.note_bad(bad),
            }
        })?;
        read.note_misfits(&text, misfits);
        Ok(read)
    }

    fn understand(&mut self, raw: &RawProduct<'_>, position: usize, context: &StoreContext, misfits: &mut Vec<Misfit>) {
        self.ids.push(raw.id);
        let misfit = |row, reason| Misfit {
            position,
            id: raw.id,
            row,
            reason,
        };
        match normalise_product(raw, context) {
            Ok(Normalised {
                product,
                left_out,
                reading,
            }) => {
                let row = Some(self.taken.len());
                let room = misfits::QUARANTINE_MAX.saturating_sub(misfits.len());
                misfits.extend(left_out.into_iter().take(room).map(|reason| misfit(row, reason)));
                self.taken.push(PageProduct {
                    id: product.key.platform_id,
                    updated_at: product.updated_at,
                    variants: product.variants.len(),
                    reading,
                });
                self.products.push(product);
            }
            Err(rejection) => misfits.push(misfit(None, rejection.to_string())),
        }
    }
}

impl<G> PageRead<G> {
    /// The products, in the form that they were wanted in.
    #[must_use]
    pub const fn products(&self) -> &G {
        &self.products
    }

    /// About how many bytes of memory all but the products take.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        let entries = self.entries.iter();
        let entries: usize = entries
            .map(|entry| size_of::<misfits::Entry>() + entry.reason.len() + entry.excerpt.len())
            .sum();
        // In the catalogue each product has a place as well.
        entries
            + self.ids.len() * size_of::<u64>()
            + self.taken.len() * (size_of::<PageProduct>() + 2 * size_of::<Place>())
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
        // Each of a record's variants may be one: their excerpts are bounded together.
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

    /// The number of variants that were understood.
    #[must_use]
    pub fn variants(&self) -> usize {
        self.taken.iter().map(|taken| taken.variants).sum()
    }

    /// The number of records that the page lists.
    #[must_use]
    pub const fn records(&self) -> usize {
        self.records
    }

    /// The platform's ids of those records that have one, in their order.
    #[must_use]
    pub fn ids(&self) -> &[u64] {
        &self.ids
    }
}

/// Puts a catalogue together page by page.
///
/// A product that stands on several pages (they shift while a store is read) is taken once: as last updated, and of
/// two with the same moment, or none, as on the later page.
#[derive(Debug)]
pub struct CatalogueBuilder<G = Vec<Product>> {
    context: StoreContext,
    variants: usize,
    pages: Vec<G>,
    /// The product of each id that was found: its page, and which of those there it is.
    places: FxHashMap<u64, Place>,
    misfits: Misfits,
}

/// The place where a product was found.
#[derive(Debug, Clone, Copy)]
struct Place {
    page: usize,
    row: usize,
    taken: PageProduct,
}

/// A whole catalogue, its products still page by page.
#[derive(Debug)]
pub struct Gathered<G> {
    /// The products of each page, those too that stand on another page as well.
    pub pages: Vec<G>,
    /// The place of each product, sorted by the platform's id, each id once.
    pub order: Vec<PagePlace>,
    /// The platform's id of each product, in that order.
    pub ids: Vec<u64>,
    /// Records and variants that could not be understood, each once: sorted by the platform's id, and behind these the records
    /// without one, in the order of the pages.
    pub quarantined: Vec<Quarantined>,
}

impl CatalogueBuilder {
    /// Takes the next page, as answered.
    ///
    /// # Errors
    /// [`ParseError`] if the bytes are no page of products; nothing of it is taken then.
    pub fn page(&mut self, bytes: &[u8]) -> Result<(), ParseError> {
        let page = PageRead::of(bytes, &self.context)?;
        self.add(page);
        Ok(())
    }

    /// The catalogue. A record that was understood on another page is not in quarantine.
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
    /// An empty catalogue of this store.
    #[must_use]
    pub fn new(context: StoreContext) -> Self {
        Self {
            context,
            variants: 0,
            pages: Vec::new(),
            places: FxHashMap::default(),
            misfits: Misfits::default(),
        }
    }

    /// Takes the next page, which was read for this store before.
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
        self.pages.push(page.products);
    }

    /// The number of variants of its products.
    #[must_use]
    pub const fn variants(&self) -> usize {
        self.variants
    }
}

impl<G: Gather> CatalogueBuilder<G> {
    /// The catalogue, page by page, each product in the category that its store's products show. A record that was
    /// understood on another page is not in quarantine, nor is a part of a product that was taken from another page.
    #[must_use]
    pub fn gathered(self) -> Gathered<G> {
        let Self {
            context,
            mut pages,
            places,
            misfits,
            ..
        } = self;
        let belief = Belief::of(&TABLE, places.values().map(|place| &place.taken.reading));
        for Place { page, row, taken } in places.values() {
            let settled = belief.settle(&taken.reading);
            if settled != taken.reading.category()
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
