use data_index::{BrandEntry, Release};
use data_text::{Analysis, analyse};
use data_understanding::intent::{BrandNames, NamedBrand, brand_keys};
use rustc_hash::FxHashMap;

use super::TextIndex;

/// The brands of a release by how sentences spell their names. Their places are those in [`Release::brands`].
#[derive(Debug, Default)]
pub(crate) struct SpokenBrands(FxHashMap<Box<str>, NamedBrand>);

impl SpokenBrands {
    /// Of brands with products, those with most products first: of two of one name the first is meant.
    pub(crate) fn of(release: &Release, index: &TextIndex, by_size: &[usize]) -> Self {
        let mut by_key = FxHashMap::default();
        let entries = by_size.iter().filter_map(|at| Some((*at, release.brands().get(*at)?)));
        for (at, entry) in entries.filter(|(_, entry)| entry.product_count > 0) {
            let is_plain_name = index.is_plain(entry);
            for (nth, key) in brand_keys(&entry.facts.brand.name).into_iter().enumerate() {
                // All letters of several words may be another word, which is then meant: `Li-Ning`, `lining`.
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
    /// True where each word of a brand's name stands in more titles and names than the brand has products: such a name
    /// says other things as well.
    pub(crate) fn is_plain(&self, entry: &BrandEntry) -> bool {
        let words = analyse(Analysis::Plain, &entry.facts.brand.name);
        // A product of its own counts for the brand's name, and for its title where that names the brand, too.
        let own = entry.product_count.saturating_mul(2);
        words.iter().all(|word| u64::from(self.count(&word.text)) > own)
    }
}
