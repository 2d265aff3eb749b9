//! Parses the wishes of a sentence, field by field: price, colours, sizes, recipient, occasion, brand, and unwanted
//! things.
//!
//! The fields include all results of the query parser. This module also reads amounts in words, longer texts and brand
//! names. Plain search does not use it.

mod audience;
mod brands;
mod colours;
mod limits;
mod occasion;
mod sizes;
mod tables;
mod told;
mod words;

#[cfg(test)]
mod tests;

use std::ops::Range;

pub use self::brands::{BrandNames, NamedBrand, NoBrands, brand_keys};
pub(crate) use self::brands::{NAME_WORDS_MAX, spoken};
pub use self::sizes::{SaidSizes, said_sizes};
pub use self::told::{
    audience_words, audiences_named, colour, colour_said, colours as colours_named, numbers,
    occasion as occasion_named, occasions_named, refuses, shades, size, size_values,
};
use self::words::Words;
use crate::sentence::Sentence;
use crate::{Absence, Meaning, Part, Price};

/// People for whom a product is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// The product is for men.
    Men,
    /// The product is for women.
    Women,
    /// The product is for boys.
    Boys,
    /// The product is for girls.
    Girls,
    /// The product is for children.
    Kids,
    /// The product is for babies.
    Baby,
    /// The product is for all people.
    Unisex,
}

impl Audience {
    /// The names are those in API responses.
    pub const NAMED: [(&'static str, Self); 7] = [
        ("men", Self::Men),
        ("women", Self::Women),
        ("boys", Self::Boys),
        ("girls", Self::Girls),
        ("kids", Self::Kids),
        ("baby", Self::Baby),
        ("unisex", Self::Unisex),
    ];

    /// Returns the audience with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let found = Self::NAMED.iter().find(|(known, _)| *known == name);
        found.map(|(_, audience)| *audience)
    }

    /// Returns the name of the audience.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Men => "men",
            Self::Women => "women",
            Self::Boys => "boys",
            Self::Girls => "girls",
            Self::Kids => "kids",
            Self::Baby => "baby",
            Self::Unisex => "unisex",
        }
    }
}

/// Unwanted thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unwanted {
    /// One or more lowercase words.
    pub what: String,
    /// Phrases with which titles state the absence of the thing. They are empty if the thing is a product or a kind of
    /// product.
    pub lacking: Vec<String>,
}

/// Wishes of a sentence.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Intent {
    /// Words to search for, without prices, sizes and the brand name.
    pub text: String,
    /// Price range, open without a price in the sentence.
    pub price: Price,
    /// Accepted colours, by their names in the tables.
    pub colours: Vec<&'static str>,
    /// Accepted sizes, as labels spell them, such as `M`, `9` or `UK 9`.
    pub sizes: Vec<String>,
    /// People for whom the product is made.
    pub audience: Option<Audience>,
    /// Occasion, by its name in the tables, such as `wedding` or `karwa_chauth`.
    pub occasion: Option<&'static str>,
    /// Brand, as an index in the list of [`BrandNames`].
    pub brand: Option<usize>,
    /// Unwanted things.
    pub unwanted: Vec<Unwanted>,
    /// Unwanted brands, as indexes in the list of [`BrandNames`].
    pub unwanted_brands: Vec<usize>,
    /// Age of the recipient in months.
    pub age_months: Option<u32>,
    /// True if the product is a gift.
    pub is_gift: bool,
    /// Parts that a plain query also has, as typed and in sentence order.
    pub parts: Vec<Part>,
}

impl Intent {
    /// Maximum bytes of a sentence. A longer one is truncated.
    pub const BYTES_MAX: usize = 4_000;

    /// Parses a sentence.
    #[must_use]
    pub fn of(text: &str, names: &dyn BrandNames) -> Self {
        Self::read(text, false, names)
    }

    /// Parses a text that accompanies another sentence, which names the product. Here, `not black` without a product
    /// excludes black products.
    #[must_use]
    pub fn beside(text: &str, names: &dyn BrandNames) -> Self {
        Self::read(text, true, names)
    }

    fn read(text: &str, is_beside: bool, names: &dyn BrandNames) -> Self {
        let text = text.get(..text.floor_char_boundary(Self::BYTES_MAX)).unwrap_or(text);
        let bounded = limits::plain(text);
        let written = crate::numerals::in_digits(&bounded);
        // Sizes are read first, because the words around them are neither prices nor refusals.
        let (sizes, unsized_text) = sizes::taken_out(&written);
        let mut sentence = Sentence::of(&unsized_text);
        sentence.is_beside = is_beside;
        let sentence = crate::passed(sentence, true, names);
        let mut intent = Self {
            sizes,
            is_gift: sentence.has_gift(),
            age_months: sentence.age,
            parts: sentence.parts_of(text, &written),
            ..Self::default()
        };
        let mut gone: Vec<Range<usize>> = Vec::new();
        let (mut taken, mut refused): (Vec<Range<usize>>, Vec<Range<usize>>) = (Vec::new(), Vec::new());
        for (tokens, meaning) in sentence.parts() {
            match meaning {
                Meaning::Price(price) => {
                    intent.price = narrower(intent.price, *price);
                    gone.push(tokens.clone());
                }
                Meaning::Excluded(phrases) => intent.refuse(phrases),
                Meaning::ExcludedBrand(brand) => intent.refuse_brand(*brand),
                Meaning::Lacking(lacking) => intent.lack(lacking),
                Meaning::Age(_) => {}
                _ => continue,
            }
            let mut tokens = tokens.clone();
            if matches!(meaning, Meaning::Excluded(_) | Meaning::Lacking(_)) {
                // A colour after an unwanted thing is wanted.
                tokens.end -= usize::from(intent.keep_colour());
            }
            if !matches!(meaning, Meaning::Price(_) | Meaning::Age(_)) {
                refused.push(tokens.clone());
            }
            taken.push(tokens);
        }
        let named = brands::read(&Words::of(&sentence.tokens, gone.iter().cloned()), names);
        let (unwanted, named): (Vec<_>, Vec<_>) = named
            .into_iter()
            .partition(|named| refused.iter().any(|refused| refused.contains(&named.name.start)));
        for brand in unwanted {
            intent.refuse_brand(brand.at);
            intent
                .unwanted
                .retain(|unwanted| !brand.words.starts_with(&unwanted.what));
            let words = Words::of(&sentence.tokens, taken.iter().cloned());
            if let Some((range, colour)) = colours::also(&words, brand.name.end) {
                intent.refuse(&[colour.to_owned()]);
                taken.push(range);
            }
            taken.push(brand.name);
        }
        if let Some(brand) = brands::meant(named) {
            intent.brand = Some(brand.at);
            taken.push(brand.name);
            gone.push(brand.with_cues);
        }
        let mut words = Words::of(&sentence.tokens, taken.into_iter());
        intent.colours = colours::read(&mut words);
        intent.occasion = occasion::read(&mut words);
        intent.audience = audience::read(&mut words, intent.age_months, intent.is_gift);
        intent.text = sentence.without(&gone);
        intent
    }

    fn refuse(&mut self, phrases: &[String]) {
        self.unwanted.extend(phrases.iter().map(|phrase| Unwanted {
            what: phrase.clone(),
            lacking: Vec::new(),
        }));
    }

    fn refuse_brand(&mut self, at: usize) {
        if !self.unwanted_brands.contains(&at) {
            self.unwanted_brands.push(at);
        }
    }

    /// In `without polyester white`, the colour is wanted.
    fn keep_colour(&mut self) -> bool {
        let last = self.unwanted.last_mut();
        let kept = last.and_then(|unwanted| {
            let (thing, behind) = unwanted.what.rsplit_once(' ')?;
            let is_kept = colour(behind).is_some() && colour(&unwanted.what).is_none() && colour(thing).is_none();
            is_kept.then(|| thing.to_owned()).map(|thing| unwanted.what = thing)
        });
        kept.is_some()
    }

    fn lack(&mut self, lacking: &Absence) {
        self.unwanted.push(Unwanted {
            what: lacking.of.clone(),
            lacking: lacking.stated.clone(),
        });
    }
}

/// Returns the people for whom the product must be made, if a sentence names a recipient.
pub(crate) fn audience_of(sentence: &Sentence<'_>) -> Option<Audience> {
    let mut words = Words::of(&sentence.tokens, std::iter::empty());
    audience::read(&mut words, sentence.age, true)
}

/// Returns the people in a phrase such as `bracelet for men`.
pub(crate) fn audience_behind_for(sentence: &Sentence<'_>) -> Option<Audience> {
    (2..sentence.tokens.len()).find_map(|at| {
        let (_, audience) = tables::TABLES.audiences.at(sentence.tokens.get(at..)?)?;
        sentence.is(at - 1, &["for"]).then_some(*audience)
    })
}

/// Combines two price ranges to the narrower range. A minimum above the maximum is dropped.
fn narrower(one: Price, other: Price) -> Price {
    let max = one.max.into_iter().chain(other.max).min();
    let min = one.min.max(other.min);
    Price {
        min: min.filter(|min| max.is_none_or(|max| *min <= max)),
        max,
        currency: one.currency.or(other.currency),
        is_unsure: one.is_unsure || other.is_unsure,
    }
}
