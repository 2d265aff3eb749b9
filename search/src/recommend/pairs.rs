use std::sync::LazyLock;

use data_index::taxonomy;
use data_model::CategoryId;
use rustc_hash::FxHashMap;

/// Complementary categories of each category.
static PAIRS: LazyLock<FxHashMap<u32, Vec<CategoryId>>> = LazyLock::new(|| {
    let mut pairs: FxHashMap<u32, Vec<CategoryId>> = FxHashMap::default();
    let mut thing = None;
    for line in include_str!("../../../data/reference/complements.tsv").lines() {
        let Some((path, beside)) = line.split_once('\t') else {
            continue;
        };
        if !path.is_empty() {
            thing = taxonomy::by_slug_or_id(path);
        }
        if let Some((thing, beside)) = thing.zip(taxonomy::by_slug_or_id(beside)) {
            pairs.entry(thing.id.0).or_default().push(beside.id);
        }
    }
    pairs
});

/// Returns the categories whose products are used with products of this one, or of its nearest ancestor with any.
pub(super) fn beside(category: CategoryId) -> &'static [CategoryId] {
    taxonomy::lineage(category)
        .find_map(|above| PAIRS.get(&above.id.0))
        .map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_is_of_the_taxonomy_and_of_two_branches() {
        let mut read = 0;
        let mut thing = "";
        let lines = include_str!("../../../data/reference/complements.tsv").lines();
        for line in lines.filter(|line| !line.starts_with('#')) {
            let (path, other) = line.split_once('\t').unwrap();
            thing = if path.is_empty() { thing } else { path };
            let one = taxonomy::by_slug_or_id(thing).unwrap_or_else(|| panic!("{thing}: no category"));
            let other = taxonomy::by_slug_or_id(other).unwrap_or_else(|| panic!("{other}: no category"));
            let is_below = |one: CategoryId, above: CategoryId| taxonomy::lineage(one).any(|held| held.id == above);
            assert!(!is_below(one.id, other.id) && !is_below(other.id, one.id), "{line}");
            assert!(
                beside(one.id).contains(&other.id),
                "{line}: a row of the same category stands elsewhere"
            );
            read += 1;
        }
        assert_eq!(PAIRS.values().map(Vec::len).sum::<usize>(), read);
    }
}
