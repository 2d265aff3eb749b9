use std::borrow::Cow;

use data_index::terms::{Holding, stable_hash};
use data_index::text::letters_of;
use data_index::{Release, RowAddress};
use rustc_hash::FxHashMap;

use super::tier;

/// The brands of a release by their whole names.
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

/// What a whole query names besides what its words are found in: the products of that title, the brands of that name.
#[derive(Debug)]
pub(super) struct Whole<'a> {
    release: &'a Release,
    letters: Cow<'a, str>,
    hash: u32,
    /// The title level below which no word of a title lies that is the query.
    title_level_min: u16,
    /// Positions in [`Release::brands`]; few, for few brands share a name.
    brands: &'a [usize],
}

impl<'a> Whole<'a> {
    pub(super) fn of(release: &'a Release, names: &'a BrandNames, text: &'a str, words: usize) -> Self {
        let letters = letters_of(text);
        let brands = names.0.get(&*letters).map_or(&[][..], Vec::as_slice);
        Self {
            release,
            hash: stable_hash(letters.as_bytes()),
            letters,
            // The same letters may be cut into a few words more: `t-shirt` for `tshirt`.
            title_level_min: Holding::title_level_of(words + 2),
            brands,
        }
    }

    /// Whether the query is the title of a product, all of it.
    pub(super) fn is_title(&self, at: RowAddress) -> bool {
        let Some(part) = self.release.part(at.part) else {
            return false;
        };
        // This is asked of every product whose title holds the words.
        if part.terms().title_hash(at.row) != self.hash {
            return false;
        }
        let title = part.cards().title(at.row);
        if title.is_ascii() {
            // As `letters_of` would have it, without a copy.
            let found = title
                .bytes()
                .filter(u8::is_ascii_alphanumeric)
                .map(|byte| byte.to_ascii_lowercase());
            !self.letters.is_empty() && found.eq(self.letters.bytes())
        } else {
            !self.letters.is_empty() && letters_of(title) == self.letters
        }
    }

    /// Whether the query is the name of a brand.
    pub(super) const fn is_brand(&self) -> bool {
        !self.brands.is_empty()
    }

    /// The tier of a product that holds every word of the query; `title_level`: the least of theirs in its title.
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
