//! What a shopper's sentence asks for besides words: a price, what is not wanted, whom a gift is for, what is to be done
//! with it, whether it is on sale or in stock.
//!
//! In: the text of a query. Out: what of it was read, and the text that is left to be looked for. Rules and the tables of
//! `data/reference/understanding` decide, nothing else: no release, no clock, no input or output; what a release makes of
//! what was read is told elsewhere. A word is read once. A text that says nothing but words comes back as it was.
//! It takes some microseconds a query.

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
mod tokens;

#[cfg(test)]
mod tests;

use data_model::{CategoryId, CurrencyCode};

use self::intent::{Audience, BrandNames};
use self::sentence::Sentence;
pub use self::tables::is_kept;

/// What a query asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Understood {
    /// What is left to be looked for by words; the whole query where nothing was read.
    pub text: String,
    /// What was read, in the order of the text.
    pub parts: Vec<Part>,
    /// For whom a thing must be made, where somebody is told that it is for.
    pub audience: Option<Audience>,
}

impl Understood {
    /// Whether it has words between quotation marks: then it is no title, though a title may have its letters.
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
    /// What it means.
    pub meaning: Meaning,
}

/// What a stretch of a query means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Meaning {
    /// What it may cost.
    Price(Price),
    /// None of these, each a word or some in a row.
    Excluded(Vec<String>),
    /// Nothing of this brand, by its place in the list of whoever knows brands.
    ExcludedBrand(usize),
    /// Without something: titles say so in one of these ways, or do not name it.
    Lacking(Lacking),
    /// These words, beside each other.
    Phrase(String),
    /// A gift: one of these categories, the most usual first.
    Gift(Vec<CategoryId>),
    /// What is worn for an occasion.
    Wear(Answers),
    /// What is to be done with it.
    Need(Answers),
    /// For whom it is, though a thing is named that decides.
    Recipient,
    /// How old somebody is, in months, though a thing is named that decides.
    Age(u32),
    /// It is marked down.
    OnSale,
    /// It can be bought now.
    InStock,
    /// The order of what fits.
    Order(Superlative),
    /// Words of the sentence alone.
    Asking,
}

impl Meaning {
    /// The word by which answers tell it.
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

/// What answers those who do not name it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answers {
    /// One of these, the most usual first.
    pub categories: Vec<CategoryId>,
    /// Words that tell the best of them; none where the query's own do.
    pub hint: &'static str,
}

/// A price in hundredths of the currency's unit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Price {
    /// The least.
    pub min: Option<u64>,
    /// The most.
    pub max: Option<u64>,
    /// Where the text says which.
    pub currency: Option<CurrencyCode>,
    /// Whether the words may be a name as well: `max 97`. What a release holds decides.
    pub is_unsure: bool,
}

/// What a thing must not have.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lacking {
    /// What it is called.
    pub of: String,
    /// How titles say that they lack it.
    pub stated: Vec<String>,
    /// Goods are known for lacking it: a text that names it may well say that it is not in there.
    pub is_claimed: bool,
    /// Whether its words still stand in the text, to be looked for as others: `sugar free`.
    pub is_left: bool,
}

/// Longest text that is read, in bytes: nobody says so much in one sentence, and titles that are pasted mean words.
const BYTES_MAX: usize = 200;

/// Reads a query. Of `names` those count that are refused.
#[must_use]
pub fn read(text: &str, names: &dyn BrandNames) -> Understood {
    with_prices(text, true, names)
}

/// Reads a query without prices that may be names as well.
#[must_use]
pub fn read_sure(text: &str, names: &dyn BrandNames) -> Understood {
    with_prices(text, false, names)
}

fn with_prices(text: &str, unsure: bool, names: &dyn BrandNames) -> Understood {
    let whole = || Understood {
        text: text.to_owned(),
        ..Understood::default()
    };
    if text.len() > BYTES_MAX {
        return whole();
    }
    let sentence = passed(Sentence::of(text), unsure, names);
    let audience = sentence.is_for_somebody().then(|| intent::audience_of(&sentence));
    let understood = sentence.finish().map(|understood| Understood {
        audience: audience.flatten(),
        ..understood
    });
    understood.unwrap_or_else(whole)
}

/// Whether a word, in small letters, only makes sentences: it names nothing that can be looked for.
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
