//! The content of a product, read from its texts, and the price of a kilogram or a litre of it.
//!
//! In goods that are sold by content alone: a washing machine of 7 kg holds nothing. A text that states several weights or
//! volumes, or how many pieces there are, leaves it unknown.

use data_index::Release;
use data_index::columns::VariantRef;
use data_model::CategoryId;
use data_taxonomy::{by_id, lineage};
use data_text::plain_words;

use crate::rows::Row;

/// Categories of goods that are sold by content, with all that is below them.
const BY_CONTENT: [&str; 4] = [
    "food-beverages-tobacco",
    "health-beauty",
    "household-supplies",
    "pet-supplies",
];

/// Units as texts have them, the quantities that they measure, and their sizes.
const UNITS: [(&str, Unit, f64); 5] = [
    ("kg", Unit::Gram, 1_000.0),
    ("mg", Unit::Gram, 0.001),
    ("ml", Unit::Millilitre, 1.0),
    ("g", Unit::Gram, 1.0),
    ("l", Unit::Millilitre, 1_000.0),
];

/// Words that say that there are several.
const SEVERAL: [&str; 12] = [
    "bundle", "combo", "duo", "kit", "pack", "packs", "pc", "pcs", "set", "trio", "twin", "x",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Gram,
    Millilitre,
}

/// A weight or a volume.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Content {
    pub(crate) amount: f64,
    pub(crate) unit: Unit,
}

/// A text's statement of content.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Statement {
    Nothing,
    One(Content),
    /// Several amounts, or several pieces.
    Unclear,
}

impl Unit {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Gram => "g",
            Self::Millilitre => "ml",
        }
    }
}

impl Content {
    /// The content of the variant at a row, else of the variant that gives the product's lowest price.
    pub(crate) fn of_product(release: &Release, row: Row) -> Option<Self> {
        let part = row.part(release)?;
        let price_minor = part.cards().price_min_minor(row.row);
        let mut variants = part.details().row(row.row).variants();
        Self::of_variant(
            release,
            row,
            &variants.find(|variant| variant.price_minor == price_minor)?,
        )
    }

    pub(crate) fn of_variant(release: &Release, row: Row, variant: &VariantRef<'_>) -> Option<Self> {
        let cards = row.part(release)?.cards();
        if !is_by_content(cards.category(row.row)?) {
            return None;
        }
        // A variant's own title counts before the product's.
        match [variant.title, cards.title(row.row)].map(Statement::of) {
            [Statement::Unclear, _] | [_, Statement::Unclear] => None,
            [Statement::One(content), _] | [Statement::Nothing, Statement::One(content)] => Some(content),
            [Statement::Nothing, Statement::Nothing] => None,
        }
    }

    /// The price of a kilogram or a litre, in whole minor units; `None` where there is no price.
    pub(crate) fn unit_price_minor(self, price_minor: i64) -> Option<i64> {
        let price = (price_minor > 0).then_some(price_minor as f64 * 1_000.0 / self.amount)?;
        // Beyond this a number of 64 bits is no whole one.
        (price < 9e15).then_some(price.round() as i64)
    }
}

fn is_by_content(category: CategoryId) -> bool {
    lineage(category).any(|above| BY_CONTENT.contains(&above.slug.as_str()))
}

/// The name of the top category.
pub(crate) fn department(category: CategoryId) -> Option<&'static str> {
    by_id(category)?.path.split(" > ").next()
}

impl Statement {
    fn of(text: &str) -> Self {
        let words = plain_words(text);
        if words.iter().any(|word| SEVERAL.contains(&word.as_str())) {
            return Self::Unclear;
        }
        let mut stated = words.iter().filter_map(|word| content(word));
        match (stated.next(), stated.next()) {
            (None, _) => Self::Nothing,
            (Some(content), None) => Self::One(content),
            (Some(_), Some(_)) => Self::Unclear,
        }
    }
}

/// `250g`: a number and its unit are one word.
fn content(word: &str) -> Option<Content> {
    UNITS.iter().find_map(|(unit, counts, size)| {
        let number: f64 = word.strip_suffix(unit)?.parse().ok()?;
        let amount = number * size;
        (amount.is_finite() && amount > 0.0).then_some(Content { amount, unit: *counts })
    })
}
