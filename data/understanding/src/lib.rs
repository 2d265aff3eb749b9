//! Parser for shopping queries. It reads prices, unwanted things, the recipient and the purpose of the product, and
//! conditions such as on sale or in stock.
//!
//! Input: the text of a query. Output: the parts that were read, and the remaining text to search for. Each word
//! belongs to at most one part. A text with only search words is returned unchanged.
//!
//! Only rules and the tables of `data/reference/understanding` decide. The crate uses no release, no clock and no I/O.
//! A query takes some microseconds.

mod ages;
mod amounts;
mod denials;
pub mod intent;
pub mod languages;
mod needs;
mod negations;
mod numerals;
mod occasions;
mod phrases;
mod prices;
mod sentence;
mod states;
mod tables;
mod tokenizer;
mod tokens;

#[cfg(test)]
mod tests;

use data_model::{CategoryId, CurrencyCode};

pub use self::denials::denies;
use self::intent::{Audience, BrandNames};
use self::sentence::Sentence;
pub use self::tables::is_kept;

/// Parsed query.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ParsedQuery {
    /// Text to search for. It is the whole query if no part was read.
    pub text: String,
    /// Parts that were read, in text order.
    pub parts: Vec<Part>,
    /// People that the product must be made for, if the text names a recipient or says `for men`.
    pub audience: Option<Audience>,
    /// True if the query is a question or a long sentence.
    pub is_sentence: bool,
}

impl ParsedQuery {
    /// Returns true if the text names a gift, a recipient or an age.
    #[must_use]
    pub fn is_for_somebody(&self) -> bool {
        self.parts.iter().any(|part| part.meaning.is_of_somebody())
    }

    /// Returns true if the query contains a quoted phrase. A query with a quoted phrase is not a title, even if a title
    /// has the same letters.
    #[must_use]
    pub fn has_phrase(&self) -> bool {
        self.parts.iter().any(|part| matches!(part.meaning, Meaning::Phrase(_)))
    }
}

/// Phrase of a query with a meaning other than search words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The phrase as typed.
    pub text: String,
    /// Meaning of the phrase.
    pub meaning: Meaning,
}

/// Meaning of a phrase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Meaning {
    /// A price limit or range.
    Price(Price),
    /// Unwanted things, each as one or several consecutive words of the query.
    Excluded(Vec<String>),
    /// An unwanted brand, as an index in the list of [`BrandNames`].
    ExcludedBrand(usize),
    /// A component or quality that the product must lack. Titles state this in certain ways, or do not name the
    /// component.
    Lacking(Absence),
    /// A quoted phrase whose words must be adjacent.
    Phrase(String),
    /// A gift from one of these categories, most usual first.
    Gift(Vec<CategoryId>),
    /// Clothes for an occasion.
    Wear(Answers),
    /// A need, and the categories that answer it.
    Need(Answers),
    /// The recipient of the product. The query also names a product.
    Recipient,
    /// Age of the recipient in months. The query also names a product.
    Age(u32),
    /// The product is marked down.
    OnSale,
    /// The product can be bought now.
    InStock,
    /// Sort order of the products.
    Order(Superlative),
    /// Words that only form the sentence.
    Asking,
}

impl Meaning {
    /// Returns true if the meaning tells who gets the product.
    const fn is_of_somebody(&self) -> bool {
        matches!(self, Self::Gift(_) | Self::Recipient | Self::Age(_))
    }

    /// Returns the name of the meaning in API responses.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Price(_) => "price",
            Self::Excluded(_) | Self::ExcludedBrand(_) | Self::Lacking(_) => "excluded",
            Self::Phrase(_) => "phrase",
            Self::Gift(_) => "gift",
            Self::Wear(_) => "occasion",
            Self::Need(_) => "need",
            Self::Recipient => "recipient",
            Self::Age(_) => "age",
            Self::OnSale => "on_sale",
            Self::InStock => "in_stock",
            Self::Order(_) => "order",
            Self::Asking => "ignored",
        }
    }
}

/// Superlative that sorts the products and excludes none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Superlative {
    /// Lowest price first.
    Cheapest,
    /// Highest price first.
    Dearest,
    /// Newest product first.
    Newest,
    /// Best rated first.
    BestRated,
    /// Largest first, by the measure that is usual for the product.
    Largest,
    /// Smallest first, by the measure that is usual for the product.
    Smallest,
    /// Heaviest first.
    Heaviest,
    /// Lightest first.
    Lightest,
}

impl Superlative {
    /// The names are those in tables and API responses.
    pub const NAMED: [(&'static str, Self); 8] = [
        ("price_asc", Self::Cheapest),
        ("price_desc", Self::Dearest),
        ("newest", Self::Newest),
        ("rating", Self::BestRated),
        ("size_desc", Self::Largest),
        ("size_asc", Self::Smallest),
        ("weight_desc", Self::Heaviest),
        ("weight_asc", Self::Lightest),
    ];

    fn named(name: &str) -> Option<Self> {
        let found = Self::NAMED.iter().find(|(known, _)| *known == name);
        found.map(|(_, superlative)| *superlative)
    }

    /// Returns the name of the superlative.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        let found = Self::NAMED.iter().find(|(_, superlative)| *superlative == self);
        found.map_or("", |(name, _)| name)
    }
}

/// Categories that answer a query which does not name a product.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answers {
    /// Categories, most usual first.
    pub categories: Vec<CategoryId>,
    /// Words that find the best products of these categories. They are empty if the query's own words do.
    pub hint: &'static str,
}

/// Price range in thousandths of the currency unit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Price {
    /// Lowest accepted price.
    pub min: Option<u64>,
    /// Highest accepted price.
    pub max: Option<u64>,
    /// Currency, if the text names one.
    pub currency: Option<CurrencyCode>,
    /// True if the words may also be a name, as in `max 97`. The titles of a release decide.
    pub is_unsure: bool,
}

/// Component or quality that a product must lack.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Absence {
    /// Name of the component or quality.
    pub of: String,
    /// Ways in which titles state the lack.
    pub stated: Vec<String>,
    /// True if products advertise their lack of it. A product text that names it then often states its absence.
    pub is_claimed: bool,
    /// True if the words stay in the search text, as in `sugar free`.
    pub is_left: bool,
}

/// Longer texts are pasted titles, which are searched as plain words.
const BYTES_MAX: usize = 200;

/// Parses a query. Of the brand `names`, only refused ones have an effect.
#[must_use]
pub fn read(text: &str, names: &dyn BrandNames) -> ParsedQuery {
    with_prices(text, true, names)
}

/// Parses a query without prices that may also be names.
#[must_use]
pub fn read_sure(text: &str, names: &dyn BrandNames) -> ParsedQuery {
    with_prices(text, false, names)
}

fn with_prices(text: &str, unsure: bool, names: &dyn BrandNames) -> ParsedQuery {
    let whole = || ParsedQuery {
        text: text.to_owned(),
        ..ParsedQuery::default()
    };
    if text.len() > BYTES_MAX {
        return whole();
    }
    let sentence = passed(Sentence::of(text), unsure, names);
    let audience = if sentence.is_for_somebody() {
        intent::audience_of(&sentence)
    } else {
        intent::audience_behind_for(&sentence)
    };
    let is_sentence = sentence.is_sentence();
    let understood = sentence.finish().map(|understood| ParsedQuery {
        is_sentence,
        ..understood
    });
    ParsedQuery {
        audience,
        ..understood.unwrap_or_else(whole)
    }
}

/// Returns true for a lowercase word that is purely grammatical.
#[must_use]
pub fn is_of_sentences(word: &str) -> bool {
    tables::TABLES.makes_sentences(word)
}

fn passed<'a>(mut sentence: Sentence<'a>, unsure: bool, names: &dyn BrandNames) -> Sentence<'a> {
    sentence.quotes();
    prices::read(&mut sentence, unsure);
    states::read(&mut sentence);
    negations::read(&mut sentence, names);
    ages::read(&mut sentence);
    occasions::read(&mut sentence);
    needs::read(&mut sentence);
    sentence.grammar();
    sentence
}
