//! The meaning of a shopper's sentence besides its words: a price, things that are not wanted, the person a gift is
//! for, the purpose of the thing, a sale, stock.
//!
//! In: the text of a query. Out: the parts that were read, and the text that is left to be looked for. Rules and the
//! tables of `data/reference/understanding` decide, nothing else: no release, no clock, no input or output. The parts
//! say nothing about a release. A word is read once. A text that says nothing but words comes back as it was. It takes
//! some microseconds a query.

mod ages;
mod amounts;
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

use self::intent::{Audience, BrandNames};
use self::sentence::Sentence;
pub use self::tables::is_kept;

/// The meaning of a query.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ParsedQuery {
    /// The text that is left to be looked for by words; the whole query where nothing was read.
    pub text: String,
    /// The parts that were read, in the order of the text.
    pub parts: Vec<Part>,
    /// The people whom a thing must be made for, where the text says whom it is for.
    pub audience: Option<Audience>,
}

impl ParsedQuery {
    /// True where it has words between quotation marks: then it is no title, though a title may have its letters.
    #[must_use]
    pub fn has_phrase(&self) -> bool {
        self.parts.iter().any(|part| matches!(part.meaning, Meaning::Phrase(_)))
    }
}

/// A stretch of a query that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// As it was typed.
    pub text: String,
    /// The meaning of the stretch.
    pub meaning: Meaning,
}

/// The meaning of a stretch of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Meaning {
    /// A price.
    Price(Price),
    /// None of these, each a word or some in a row.
    Excluded(Vec<String>),
    /// A brand that is not wanted, by its place in the list of [`BrandNames`].
    ExcludedBrand(usize),
    /// Without something: titles say so in one of these ways, or do not name it.
    Lacking(Absence),
    /// These words, beside each other.
    Phrase(String),
    /// A gift: one of these categories, the most usual first.
    Gift(Vec<CategoryId>),
    /// Clothes for an occasion.
    Wear(Answers),
    /// A need.
    Need(Answers),
    /// The person whom it is for, though a thing is named that decides.
    Recipient,
    /// The age of somebody, in months, though a thing is named that decides.
    Age(u32),
    /// It is marked down.
    OnSale,
    /// It can be bought now.
    InStock,
    /// The order of the products.
    Order(Superlative),
    /// Words of the sentence alone.
    Asking,
}

impl Meaning {
    /// The word that answers state it by.
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

/// A word for the most or the least of something: it puts in order, and leaves nothing out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Superlative {
    /// The lowest price first.
    Cheapest,
    /// The highest price first.
    Dearest,
    /// The newest first.
    Newest,
    /// The best rated first.
    BestRated,
    /// The largest first, by whatever such things are measured in.
    Largest,
    /// The smallest first.
    Smallest,
    /// The heaviest first.
    Heaviest,
    /// The lightest first.
    Lightest,
}

impl Superlative {
    /// Every superlative, with the name that tables and answers spell it by.
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

    /// Its name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        let found = Self::NAMED.iter().find(|(_, superlative)| *superlative == self);
        found.map_or("", |(name, _)| name)
    }
}

/// The answer to a query that names no thing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answers {
    /// One of these, the most usual first.
    pub categories: Vec<CategoryId>,
    /// Words that find the best of them; none where the query's own do.
    pub hint: &'static str,
}

/// A price in hundredths of the currency's unit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Price {
    /// The least.
    pub min: Option<u64>,
    /// The most.
    pub max: Option<u64>,
    /// The currency, where the text names one.
    pub currency: Option<CurrencyCode>,
    /// True where the words may be a name as well: `max 97`. The titles of a release decide.
    pub is_unsure: bool,
}

/// A part or quality that a thing must not have.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Absence {
    /// The name of it.
    pub of: String,
    /// The ways in which titles say that they lack it.
    pub stated: Vec<String>,
    /// Goods are known for lacking it: a text that names it may well say that it is not in there.
    pub is_claimed: bool,
    /// True where its words still stand in the text, to be looked for as others: `sugar free`.
    pub is_left: bool,
}

/// Longest text that is read, in bytes: nobody says so much in one sentence, and titles that are pasted mean words.
const BYTES_MAX: usize = 200;

/// Reads a query. Of `names` those count that are refused.
#[must_use]
pub fn read(text: &str, names: &dyn BrandNames) -> ParsedQuery {
    with_prices(text, true, names)
}

/// Reads a query without prices that may be names as well.
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
    let audience = sentence.is_for_somebody().then(|| intent::audience_of(&sentence));
    let understood = sentence.finish().map(|understood| ParsedQuery {
        audience: audience.flatten(),
        ..understood
    });
    understood.unwrap_or_else(whole)
}

/// True where a word, in small letters, only makes sentences: it names nothing that can be looked for.
#[must_use]
pub fn is_of_sentences(word: &str) -> bool {
    tables::TABLES.makes_sentences(word)
}

/// A sentence that every rule has passed.
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
