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

/// A row of a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowAddress {
    /// The part: an index of [`Release::parts`].
    pub part: u32,
    /// The row within the part.
    pub row: u32,
}

/// An opened release: immutable, memory-mapped, shared by as many threads as like. Its files stay readable until
/// it is dropped, even when the cache removes them.
pub struct Release {
    manifest: Manifest,
    parts: Vec<Part>,
    brand_of_slug: FxHashMap<BrandSlug, usize>,
    category_tree: Vec<CategoryNode>,
    category_counts: FxHashMap<CategoryId, u64>,
    /// The delivery facts of each brand, in the order of the brands.
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
    /// The release's id.
    #[must_use]
    pub fn id(&self) -> ReleaseId {
        self.manifest.id
    }

    /// The release's contents.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Totals.
    #[must_use]
    pub fn counts(&self) -> &Counts {
        &self.manifest.counts
    }

    /// The parts.
    #[must_use]
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The part with this index.
    #[must_use]
    pub fn part(&self, part: u32) -> Option<&Part> {
        self.parts.get(part as usize)
    }

    /// The live row of a product.
    #[must_use]
    pub fn find(&self, ident: &ProductIdent) -> Option<RowAddress> {
        (0..)
            .zip(&self.parts)
            .find_map(|(at, part)| part.find(ident).map(|row| RowAddress { part: at, row }))
    }

    /// Every brand, sorted by store; those without products too.
    #[must_use]
    pub fn brands(&self) -> &[BrandEntry] {
        &self.manifest.brands
    }

    /// The brand with this slug.
    #[must_use]
    pub fn brand_by_slug(&self, slug: &BrandSlug) -> Option<&BrandEntry> {
        self.brand_of_slug
            .get(slug)
            .and_then(|at| self.manifest.brands.get(*at))
    }

    /// The brand whose store this is.
    #[must_use]
    pub fn brand_by_store(&self, store: &StoreHost) -> Option<&BrandEntry> {
        self.brand_index(store).and_then(|at| self.manifest.brands.get(at))
    }

    /// The index in [`Release::brands`] of this store's brand.
    #[must_use]
    pub fn brand_index(&self, store: &StoreHost) -> Option<usize> {
        self.manifest
            .brands
            .binary_search_by(|brand| brand.facts.brand.store.cmp(store))
            .ok()
    }

    /// The brand that sells the product of a live row.
    ///
    /// # Panics
    /// For a row that is not of this release.
    #[must_use]
    pub fn brand_of(&self, address: RowAddress) -> &BrandEntry {
        let part = &self.parts[address.part as usize];
        &self.manifest.brands[part.brand_index(address.row)]
    }

    /// The taxonomy, pruned to what the catalogue holds; roots and children sorted by path.
    #[must_use]
    pub fn category_tree(&self) -> &[CategoryNode] {
        &self.category_tree
    }

    /// The number of products filed under a category or below it.
    #[must_use]
    pub fn category_count(&self, category: CategoryId) -> u64 {
        self.category_counts.get(&category).copied().unwrap_or(0)
    }

    /// The delivery facts of the brand at this place of [`Release::brands`].
    #[must_use]
    pub fn delivery(&self, brand: usize) -> Option<&DeliveryMatrix> {
        self.delivery.get(brand)?.as_ref()
    }

    /// The same products of different brands; `None` where the release was built without looking for them.
    #[must_use]
    pub fn matches(&self) -> Option<&Matches> {
        self.matches.as_ref()
    }

    /// Products that went last; `None` where the release was built without looking for them.
    #[must_use]
    pub fn gone(&self) -> Option<&GoneProducts> {
        self.gone.as_ref()
    }

    /// Pincodes that delivery by some brand is known for.
    #[must_use]
    pub fn pincodes_covered(&self) -> u64 {
        self.pincodes_covered
    }
}
