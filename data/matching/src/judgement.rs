use std::fmt;

use data_model::Gtin;

/// Pairs of less confidence are left out.
pub const CONFIDENCE_MIN: f32 = 0.8;

/// The ground on which two products are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Basis {
    /// The number below their bar codes.
    Barcode,
    /// Their maker and its stock keeping unit.
    Model,
    /// Their maker, and all that their titles and attributes say.
    Title,
}

impl Basis {
    /// As tables and answers name it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Barcode => "barcode",
            Self::Model => "model",
            Self::Title => "title",
        }
    }
}

/// A reason for a pair; written as `code` or `code:value`.
#[derive(Debug, Clone, PartialEq)]
pub enum Reason {
    /// The same number below the bar code.
    Barcode(Gtin),
    /// The same stock keeping unit of the same maker.
    Model(String),
    /// The same maker.
    Brand(String),
    /// All words of their titles are the same.
    Title,
    /// So many of so many words of their titles are the same.
    Words(usize, usize),
    /// A word that they spell in two ways.
    Spelling(String),
    /// A word of one title stands in the other's type, attributes or options.
    Attribute(String),
    /// The same amounts.
    Quantity,
    /// Prices that are as good as the same.
    Price,
    /// The cosine of their vectors.
    Meaning(f32),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Barcode(number) => write!(f, "barcode:{number}"),
            Self::Model(sku) => write!(f, "model:{sku}"),
            Self::Brand(name) => write!(f, "brand:{name}"),
            Self::Title => f.write_str("title"),
            Self::Words(same, all) => write!(f, "words:{same}/{all}"),
            Self::Spelling(word) => write!(f, "spelling:{word}"),
            Self::Attribute(word) => write!(f, "attribute:{word}"),
            Self::Quantity => f.write_str("quantity"),
            Self::Price => f.write_str("price"),
            Self::Meaning(cosine) => write!(f, "meaning:{cosine:.2}"),
        }
    }
}

/// The reason why two products are not taken for the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Veto {
    /// Other makers, or nobody says which.
    Maker,
    /// Other numbers below their bar codes.
    Barcode,
    /// Another number of pieces sold together.
    Pack,
    /// Another weight, volume, length, strength or count.
    Quantity,
    /// A word of one that nothing of the other says.
    Words,
    /// Another colour, flavour, material, model, or for others.
    Trait,
    /// Prices too far apart.
    Price,
    /// Too little is said for a judgement.
    Thin,
    /// Doubts add up.
    Doubt,
}

/// The judgement that two products are the same, as far as can be known.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// From [`CONFIDENCE_MIN`] to 1.
    pub confidence: f32,
    /// The ground of the judgement.
    pub basis: Basis,
    /// The reasons for it, the strongest first.
    pub reasons: Vec<Reason>,
    /// The variants of both that are the same, by their ids, where that can be known.
    pub variants: Option<(u64, u64)>,
}
