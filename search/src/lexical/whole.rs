use std::borrow::Cow;

use data_index::terms::{PostingPayload, stable_hash};
use data_index::{Part, Release, RowAddress};
use data_text::letters_of;
use rustc_hash::FxHashMap;

use super::tier;

#[derive(Debug, Default)]
pub(super) struct BrandNames(FxHashMap<Box<str>, Vec<usize>>);

impl BrandNames {
    pub(super) fn of(release: &Release) -> Self {
        let mut names: FxHashMap<Box<str>, Vec<usize>> = FxHashMap::default();
        for (at, entry) in release.brands().iter().enumerate() {
            let name = letters_of(&entry.facts.brand.name);
            if !name.is_empty() {
                names.entry(name.into()).or_default().push(at);
            }
        }
        Self(names)
    }
}

/// Products and brands that the whole query names by their title or name.
#[derive(Debug)]
pub(super) struct Whole<'a> {
    release: &'a Release,
    letters: Cow<'a, str>,
    hash: u32,
    /// Lowest title level of a word in a title that equals the query.
    title_level_min: u16,
    /// Hash of a title that equals the query, by the title level of its words. For impossible levels it matches no
    /// title. The table avoids a branch on the level, which would be unpredictable.
    hashes: [u64; 8],
    /// Indexes in [`Release::brands`]. The list is short because few brands share a name.
    brands: &'a [usize],
}

impl<'a> Whole<'a> {
    pub(super) fn of(release: &'a Release, names: &'a BrandNames, text: &'a str, words: usize) -> Self {
        let letters = letters_of(text);
        let brands = names.0.get(&*letters).map_or(&[][..], Vec::as_slice);
        let hash = stable_hash(letters.as_bytes());
        // A title with the same letters as the query may have a few more words, as `t-shirt` has for `tshirt`.
        let title_level_min = PostingPayload::title_level_of(words + 2);
        let of_level = |level: usize| {
            if level >= usize::from(title_level_min) {
                u64::from(hash)
            } else {
                u64::MAX
            }
        };
        Self {
            release,
            letters,
            hash,
            title_level_min,
            hashes: std::array::from_fn(of_level),
            brands,
        }
    }

    #[inline]
    pub(super) fn is_title(&self, at: RowAddress) -> bool {
        // This code runs for every product with the words in its title.
        let part = self.release.part(at.part);
        part.is_some_and(|part| part.terms().title_hash(at.row) == self.hash && self.is_title_of(part, at))
    }

    /// The title hash of the product must equal that of the query.
    #[cold]
    fn is_title_of(&self, part: &Part, at: RowAddress) -> bool {
        let title = part.cards().title(at.row);
        if title.is_ascii() {
            // This is `letters_of` without a copy.
            let found = title
                .bytes()
                .filter(u8::is_ascii_alphanumeric)
                .map(|byte| byte.to_ascii_lowercase());
            !self.letters.is_empty() && found.eq(self.letters.bytes())
        } else {
            !self.letters.is_empty() && letters_of(title) == self.letters
        }
    }

    /// Returns true if a product with this maximum title level may have the query as its title or brand.
    pub(super) const fn may_name(&self, title_level: u16) -> bool {
        title_level >= self.title_level_min || !self.brands.is_empty()
    }

    /// Returns true if the query may name a product of a part with this title level. False positives are rare, and
    /// there are no false negatives.
    #[inline]
    pub(super) fn seems_to_name(&self, part: &Part, row: u32, title_level: u16) -> bool {
        let hash = self.hashes[usize::from(title_level) % self.hashes.len()];
        !self.brands.is_empty() || u64::from(part.terms().title_hash(row)) == hash
    }

    /// Returns the tier of a product with every word of the query. `title_level` is the lowest level of the words in
    /// its title.
    #[inline]
    pub(super) fn tier(&self, at: RowAddress, title_level: u16) -> u8 {
        if title_level >= self.title_level_min && self.is_title(at) {
            return tier::TITLE;
        }
        let of_brand = || {
            let part = self.release.part(at.part);
            part.is_some_and(|part| self.brands.contains(&part.brand_index(at.row)))
        };
        if !self.brands.is_empty() && of_brand() {
            tier::BRAND
        } else {
            tier::ALL
        }
    }
}
