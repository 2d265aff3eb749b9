use data_index::{BrandEntry, Release};
use data_text::{Analysis, analyse};
use data_understanding::intent::{BrandNames, NamedBrand, brand_keys};
use rustc_hash::FxHashMap;

use super::TextIndex;

/// Brands by the spellings of their names in sentences, as indexes in [`Release::brands`].
#[derive(Debug, Default)]
pub(crate) struct SpokenBrands(FxHashMap<Box<str>, NamedBrand>);

impl SpokenBrands {
    /// Returns the brands with products. Of brands with the same name, the largest is meant.
    pub(crate) fn of(release: &Release, index: &TextIndex, by_size: &[usize]) -> Self {
        let mut by_key = FxHashMap::default();
        let entries = by_size.iter().filter_map(|at| Some((*at, release.brands().get(*at)?)));
        for (at, entry) in entries.filter(|(_, entry)| entry.product_count > 0) {
            let is_plain_name = index.is_plain(entry);
            for (nth, key) in brand_keys(&entry.facts.brand.name).into_iter().enumerate() {
                // The joined letters of a name may be another word, such as `lining` for `Li-Ning`. They are then
                // ambiguous.
                let is_plain = is_plain_name || nth > 0 && index.count(&key) > 0;
                by_key
                    .entry(key.into_boxed_str())
                    .or_insert(NamedBrand { at, is_plain });
            }
        }
        Self(by_key)
    }
}

impl BrandNames for SpokenBrands {
    fn named(&self, key: &str) -> Option<NamedBrand> {
        self.0.get(key).copied()
    }
}

impl TextIndex {
    /// Returns true for an ambiguous brand name. Each of its words occurs in more titles and names than the brand has
    /// products.
    pub(crate) fn is_plain(&self, entry: &BrandEntry) -> bool {
        let words = analyse(Analysis::Plain, &entry.facts.brand.name);
        // A product of the brand counts once for the brand name, and once more if its title has the name.
        let own = entry.product_count.saturating_mul(2);
        words.iter().all(|word| u64::from(self.count(&word.text)) > own)
    }
}
