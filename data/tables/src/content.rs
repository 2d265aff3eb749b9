//! Extracts the net content of a product from its texts, and computes the price per kilogram or litre.
//!
//! Only goods that are sold by content have a net content: a washing machine of 7 kg does not contain 7 kg. If a text
//! states several weights or volumes, or a number of items, the content is unknown.

use data_index::Release;
use data_index::columns::VariantRef;
use data_model::CategoryId;
use data_taxonomy::{by_id, lineage};
use data_text::plain_words;

use crate::rows::Row;

/// Categories of goods that are sold by content, including all categories below them.
const BY_CONTENT: [&str; 4] = [
    "food-beverages-tobacco",
    "health-beauty",
    "household-supplies",
    "pet-supplies",
];

/// Units as spelled in texts, with the quantity that they measure and their size.
const UNITS: [(&str, Unit, f64); 5] = [
    ("kg", Unit::Gram, 1_000.0),
    ("mg", Unit::Gram, 0.001),
    ("ml", Unit::Millilitre, 1.0),
    ("g", Unit::Gram, 1.0),
    ("l", Unit::Millilitre, 1_000.0),
];

/// Words that indicate several items.
const SEVERAL: [&str; 12] = [
    "bundle", "combo", "duo", "kit", "pack", "packs", "pc", "pcs", "set", "trio", "twin", "x",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Gram,
    Millilitre,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Content {
    pub(crate) amount: f64,
    pub(crate) unit: Unit,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Statement {
    Nothing,
    One(Content),
    /// The text states several amounts, or several items.
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
    /// Returns the content of the variant that has the product's lowest price.
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
        // A variant's own title takes precedence over the product's title.
        match [variant.title, cards.title(row.row)].map(Statement::of) {
            [Statement::Unclear, _] | [_, Statement::Unclear] => None,
            [Statement::One(content), _] | [Statement::Nothing, Statement::One(content)] => Some(content),
            [Statement::Nothing, Statement::Nothing] => None,
        }
    }

    /// Returns the price per kilogram or litre in minor units, rounded, or `None` if there is no price.
    pub(crate) fn unit_price_minor(self, price_minor: i64) -> Option<i64> {
        let price = (price_minor > 0).then_some(price_minor as f64 * 1_000.0 / self.amount)?;
        // Above this limit, a 64-bit float does not represent every integer.
        (price < 9e15).then_some(price.round() as i64)
    }
}

fn is_by_content(category: CategoryId) -> bool {
    lineage(category).any(|above| BY_CONTENT.contains(&above.slug.as_str()))
}

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

/// Parses a number with its unit, such as `250g`.
fn content(word: &str) -> Option<Content> {
    UNITS.iter().find_map(|(unit, counts, size)| {
        let number: f64 = word.strip_suffix(unit)?.parse().ok()?;
        let amount = number * size;
        (amount.is_finite() && amount > 0.0).then_some(Content { amount, unit: *counts })
    })
}
