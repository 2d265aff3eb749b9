use data_model::{Product, Quarantined};
use pipeline_parse::{BadRecord, EXCERPT_BYTES_MAX, ParseError, parse_products_page, record_excerpts};
use rustc_hash::FxHashMap;

use crate::product::{Normalised, StoreContext, normalise_product};

/// Quarantine entries kept of one catalogue; beyond it records are left out without one.
pub const QUARANTINE_MAX: usize = 10_000;

/// A whole catalogue.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Catalogue {
    /// Its products, sorted by the platform's id, each id once.
    pub products: Vec<Product>,
    /// What could not be understood, in the order of the pages.
    pub quarantined: Vec<Quarantined>,
}

/// Puts a catalogue together page by page.
///
/// A product that stands on several pages (they shift while a store is read) is taken once: as last updated, and of
/// two with the same moment, or none, as on the later page.
#[derive(Debug)]
pub struct CatalogueBuilder {
    context: StoreContext,
    pages: usize,
    products: Vec<Product>,
    places: FxHashMap<u64, usize>,
    quarantined: Vec<(Option<u64>, Quarantined)>,
}

impl CatalogueBuilder {
    /// An empty catalogue of this store.
    #[must_use]
    pub fn new(context: StoreContext) -> Self {
        Self {
            context,
            pages: 0,
            products: Vec::new(),
            places: FxHashMap::default(),
            quarantined: Vec::new(),
        }
    }

    /// Takes the next page, as answered.
    ///
    /// # Errors
    /// [`ParseError`] if the bytes are no page of products; nothing of it is taken then.
    pub fn page(&mut self, bytes: &[u8]) -> Result<(), ParseError> {
        let page = parse_products_page(bytes)?;
        self.pages += 1;
        // Of records that were read but cannot be understood: their text is looked up once, at the end of the page.
        let mut misfits: Vec<(usize, u64, String, bool)> = Vec::new();
        for (index, record) in page.records.into_iter().enumerate() {
            match record {
                Ok(raw) => match normalise_product(&raw, &self.context) {
                    Ok(Normalised { product, left_out }) => {
                        misfits.extend(left_out.into_iter().map(|reason| (index + 1, raw.id, reason, true)));
                        self.take(product);
                    }
                    Err(rejection) => misfits.push((index + 1, raw.id, rejection.to_string(), false)),
                },
                Err(bad) => self.quarantine_bad(bad),
            }
        }
        if !misfits.is_empty() {
            let positions: Vec<usize> = misfits.iter().map(|(position, ..)| *position).collect();
            let excerpts = record_excerpts(bytes, &positions);
            for ((position, id, reason, taken), excerpt) in misfits.into_iter().zip(excerpts) {
                let subject = if id == 0 { self.place(position) } else { id.to_string() };
                // An entry about a part of a product that was taken stays, whatever other pages hold.
                let id = (id != 0 && !taken).then_some(id);
                self.quarantine(id, subject, reason, excerpt);
            }
        }
        Ok(())
    }

    fn place(&self, position: usize) -> String {
        format!("page {}, product {position}", self.pages)
    }

    fn take(&mut self, product: Product) {
        match self.places.get(&product.key.platform_id) {
            Some(place) => {
                let known = &mut self.products[*place];
                if product.updated_at >= known.updated_at {
                    *known = product;
                }
            }
            None => {
                self.places.insert(product.key.platform_id, self.products.len());
                self.products.push(product);
            }
        }
    }

    fn quarantine_bad(&mut self, bad: BadRecord) {
        let subject = bad.id.map_or_else(|| self.place(bad.position), |id| id.to_string());
        self.quarantine(bad.id, subject, bad.reason, bad.excerpt);
    }

    fn quarantine(&mut self, id: Option<u64>, subject: String, reason: String, mut excerpt: String) {
        if self.quarantined.len() < QUARANTINE_MAX {
            excerpt.truncate(excerpt.floor_char_boundary(EXCERPT_BYTES_MAX));
            let store = self.context.store.clone();
            self.quarantined.push((
                id,
                Quarantined {
                    store,
                    subject,
                    reason,
                    excerpt,
                },
            ));
        }
    }

    /// The catalogue. A record that was understood on another page is not in quarantine.
    #[must_use]
    pub fn finish(self) -> Catalogue {
        let Self {
            mut products,
            places,
            quarantined,
            ..
        } = self;
        let missing = |id: &Option<u64>| id.is_none_or(|id| !places.contains_key(&id));
        let quarantined = quarantined
            .into_iter()
            .filter(|(id, _)| missing(id))
            .map(|(_, entry)| entry)
            .collect();
        products.sort_unstable_by_key(|product| product.key.platform_id);
        Catalogue { products, quarantined }
    }
}
