use data_model::CategoryId;
use rustc_hash::FxHashMap;

use crate::manifest::BrandEntry;
use crate::taxonomy::{self, Category};

/// Category with products in the catalogue, and the categories below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CategoryNode {
    /// Category of the taxonomy.
    pub category: &'static Category,
    /// Number of products in the category and its descendants.
    pub product_count: u64,
    /// Child categories, sorted by path.
    pub children: Vec<CategoryNode>,
}

/// Counts the products of each category, including those of its descendants.
pub(super) fn counts(brands: &[BrandEntry]) -> FxHashMap<CategoryId, u64> {
    let mut counts = FxHashMap::default();
    for filed in brands.iter().flat_map(|brand| &brand.categories) {
        for category in taxonomy::lineage(filed.category) {
            *counts.entry(category.id).or_default() += filed.products;
        }
    }
    counts
}

pub(super) fn tree(counts: &FxHashMap<CategoryId, u64>) -> Vec<CategoryNode> {
    let mut children: FxHashMap<Option<CategoryId>, Vec<CategoryNode>> = FxHashMap::default();
    // In the taxonomy, children follow their parents. In reverse order, the children of every category are complete
    // before the category itself.
    for category in taxonomy::all().iter().rev() {
        let Some(product_count) = counts.get(&category.id).copied().filter(|count| *count > 0) else {
            continue;
        };
        let mut below = children.remove(&Some(category.id)).unwrap_or_default();
        below.reverse();
        let node = CategoryNode {
            category,
            product_count,
            children: below,
        };
        children.entry(category.parent).or_default().push(node);
    }
    let mut roots = children.remove(&None).unwrap_or_default();
    roots.reverse();
    roots
}
