use data_model::CategoryId;
use rustc_hash::FxHashMap;

use crate::manifest::BrandEntry;
use crate::taxonomy::{self, Category};

/// A category that the catalogue holds, with what is below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CategoryNode {
    /// The category.
    pub category: &'static Category,
    /// Products filed under it or below it.
    pub product_count: u64,
    /// The categories below it, sorted by path.
    pub children: Vec<CategoryNode>,
}

/// Products under each category, those of its descendants included.
pub(super) fn counts(brands: &[BrandEntry]) -> FxHashMap<CategoryId, u64> {
    let mut counts = FxHashMap::default();
    for filed in brands.iter().flat_map(|brand| &brand.categories) {
        for category in taxonomy::lineage(filed.category) {
            *counts.entry(category.id).or_default() += filed.products;
        }
    }
    counts
}

/// The tree of the categories that are counted.
pub(super) fn tree(counts: &FxHashMap<CategoryId, u64>) -> Vec<CategoryNode> {
    let mut children: FxHashMap<Option<CategoryId>, Vec<CategoryNode>> = FxHashMap::default();
    // Children stand after their parents in the taxonomy: backwards, every category meets its finished children.
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
