use std::fmt;

use data_model::Gtin;

/// Minimum confidence of a match. Pairs below it are left out.
pub const CONFIDENCE_MIN: f32 = 0.8;

data_model::named! {
    /// Main evidence that two products are the same.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Basis {
        /// Equal barcodes.
        Barcode = "barcode",
        /// The products have the same maker and stock keeping unit.
        Model = "model",
        /// The products have the same maker, and their titles and attributes agree.
        Title = "title",
    }
}

/// A reason for a match, written as `code` or `code:value`.
#[derive(Debug, Clone, PartialEq)]
pub enum Reason {
    /// Both products have this barcode.
    Barcode(Gtin),
    /// Both products have the same maker and this stock keeping unit.
    Model(String),
    /// Both products have this maker.
    Brand(String),
    /// All words of the two titles agree.
    Title,
    /// Number of title words that agree, and number of all title words.
    Words(usize, usize),
    /// A word that the two titles spell differently.
    Spelling(String),
    /// A word of one title that the other product has in its type, attributes or options.
    Attribute(String),
    /// The amounts are equal.
    Quantity,
    /// The prices are nearly equal.
    Price,
    /// Cosine similarity of the products' vectors.
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

/// Reason why two products do not match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Veto {
    /// The makers differ or are unknown.
    Maker,
    /// The barcodes differ.
    Barcode,
    /// The numbers of items per pack differ.
    Pack,
    /// A weight, volume, length, strength or count differs.
    Quantity,
    /// One product has a word without a counterpart in the other product.
    Words,
    /// The colour, flavour, material, model or audience differs.
    Trait,
    /// The prices differ too much.
    Price,
    /// The products state too little for a judgement.
    Thin,
    /// Several small doubts add up.
    Doubt,
}

/// A judgement that two products are the same, with its confidence.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// Confidence from [`CONFIDENCE_MIN`] to 1.
    pub confidence: f32,
    /// Main evidence for the judgement.
    pub basis: Basis,
    /// Reasons for the judgement, the strongest first.
    pub reasons: Vec<Reason>,
    /// Ids of the first pair of matching variants, if variants can be matched.
    pub variants: Option<(u64, u64)>,
}
