mod categories;
mod files;
mod open;
mod opened;
mod part;

pub use categories::CategoryNode;
pub use files::ReadFile;
pub use part::Part;

use std::fmt;

use data_model::{BrandSlug, CategoryId, ProductIdent, ReleaseId, StoreHost};
use rustc_hash::FxHashMap;

use crate::columns::{GoneProducts, Matches};
use crate::delivery::DeliveryMatrix;
use crate::manifest::{BrandEntry, Counts, Manifest};

/// Address of a row in a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowAddress {
    /// Index of the part in [`Release::parts`].
    pub part: u32,
    /// Row within the part.
    pub row: u32,
}

/// Opened release: immutable, memory-mapped, and shareable between threads. The files stay readable until the release
/// is dropped, even if the cache removes them.
pub struct Release {
    manifest: Manifest,
    parts: Vec<Part>,
    brand_of_slug: FxHashMap<BrandSlug, usize>,
    category_tree: Vec<CategoryNode>,
    category_counts: FxHashMap<CategoryId, u64>,
    delivery: Vec<Option<DeliveryMatrix>>,
    pincodes_covered: u64,
    matches: Option<Matches>,
    gone: Option<GoneProducts>,
}

impl fmt::Debug for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Release")
            .field("id", &self.manifest.id)
            .field("parts", &self.parts.len())
            .finish_non_exhaustive()
    }
}

impl Release {
    /// Returns the id of the release.
    #[must_use]
    pub fn id(&self) -> ReleaseId {
        self.manifest.id
    }

    /// Returns the manifest of the release.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Returns the totals of the release.
    #[must_use]
    pub fn counts(&self) -> &Counts {
        &self.manifest.counts
    }

    /// Returns all parts.
    #[must_use]
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Returns the part with this index.
    #[must_use]
    pub fn part(&self, part: u32) -> Option<&Part> {
        self.parts.get(part as usize)
    }

    /// Returns the address of the live row of a product.
    #[must_use]
    pub fn find(&self, ident: &ProductIdent) -> Option<RowAddress> {
        (0..)
            .zip(&self.parts)
            .find_map(|(at, part)| part.find(ident).map(|row| RowAddress { part: at, row }))
    }

    /// Returns all brands sorted by store, including those without products.
    #[must_use]
    pub fn brands(&self) -> &[BrandEntry] {
        &self.manifest.brands
    }

    /// Returns the brand with this slug.
    #[must_use]
    pub fn brand_by_slug(&self, slug: &BrandSlug) -> Option<&BrandEntry> {
        self.brand_of_slug
            .get(slug)
            .and_then(|at| self.manifest.brands.get(*at))
    }

    /// Returns the brand of this store.
    #[must_use]
    pub fn brand_by_store(&self, store: &StoreHost) -> Option<&BrandEntry> {
        self.brand_index(store).and_then(|at| self.manifest.brands.get(at))
    }

    /// Returns the index in [`Release::brands`] of this store's brand.
    #[must_use]
    pub fn brand_index(&self, store: &StoreHost) -> Option<usize> {
        self.manifest
            .brands
            .binary_search_by(|brand| brand.facts.brand.store.cmp(store))
            .ok()
    }

    /// Returns the brand that sells the product of a live row.
    ///
    /// # Panics
    /// The release does not have the row.
    #[must_use]
    pub fn brand_of(&self, address: RowAddress) -> &BrandEntry {
        let part = &self.parts[address.part as usize];
        &self.manifest.brands[part.brand_index(address.row)]
    }

    /// Returns the taxonomy, reduced to categories with products. Roots and children are sorted by path.
    #[must_use]
    pub fn category_tree(&self) -> &[CategoryNode] {
        &self.category_tree
    }

    /// Returns the number of products in a category and its descendants.
    #[must_use]
    pub fn category_count(&self, category: CategoryId) -> u64 {
        self.category_counts.get(&category).copied().unwrap_or(0)
    }

    /// Returns the delivery facts of the brand with this index in [`Release::brands`].
    #[must_use]
    pub fn delivery(&self, brand: usize) -> Option<&DeliveryMatrix> {
        self.delivery.get(brand)?.as_ref()
    }

    /// Returns the matches between products of different brands. `None` if the release was built without a search for
    /// matches.
    #[must_use]
    pub fn matches(&self) -> Option<&Matches> {
        self.matches.as_ref()
    }

    /// Returns the products that disappeared last. `None` if the release was built without a search for them.
    #[must_use]
    pub fn gone(&self) -> Option<&GoneProducts> {
        self.gone.as_ref()
    }

    /// Returns the number of pincodes for which the delivery of at least one brand is known.
    #[must_use]
    pub fn pincodes_covered(&self) -> u64 {
        self.pincodes_covered
    }
}
