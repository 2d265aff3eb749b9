//! Meaningful items of a sentence.

use crate::lexicon::Concept;
use crate::words::Words;

/// Words that may be between `free` and the noun that is free.
pub(crate) const QUALIFIES: Words = Words(
    "standard, insured, home, economy, ground, fast, and, secure, regular, surface, der, die, das, den, la, les, \
     los, el, le, the, of, your, all, any, full, entire, normal, normale, for, sur, du, de, des",
);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) clause: u16,
    pub(crate) sense: Sense,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Sense {
    Means(Vec<Concept>, String),
    Money(Amount),
    Days(Days),
    /// Minimum and maximum of numbers without a unit.
    Bare(i64, i64),
    Percent(u16),
    Grams(u32),
    Clock(u16),
    /// Bit mask of days, in which bit 0 is Monday.
    Weekdays(u8),
    Word(String),
    Sign(char),
}

/// An amount or a range of amounts, in minor units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Amount {
    pub(crate) min: i64,
    pub(crate) max: i64,
    pub(crate) is_foreign: bool,
    /// True if a plus sign follows the amount.
    pub(crate) is_open: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Days {
    pub(crate) min: Option<u16>,
    pub(crate) max: Option<u16>,
    pub(crate) in_working_days: bool,
}

impl Item {
    pub(crate) fn means(&self, concept: Concept) -> bool {
        matches!(&self.sense, Sense::Means(concepts, _) if concepts.contains(&concept))
    }

    pub(crate) fn means_any(&self, concepts: &[Concept]) -> bool {
        concepts.iter().any(|concept| self.means(*concept))
    }

    /// Returns the words of the item, which are empty for an amount, a number or a punctuation mark.
    pub(crate) fn word(&self) -> &str {
        match &self.sense {
            Sense::Means(_, word) | Sense::Word(word) => word,
            _ => "",
        }
    }

    /// Returns true for a single word that means free shipping, like `versandkostenfrei`.
    pub(crate) fn names_free_shipping(&self) -> bool {
        let stems = ["versand", "porto", "frei haus", "gratisversand"];
        self.means(Concept::Free)
            && (self.means(Concept::Ship) || stems.iter().any(|stem| self.word().starts_with(stem)))
    }
}

/// Returns true if the items only name cash on delivery without a statement about it.
pub(crate) fn names_cod(items: &[Item]) -> bool {
    let is_plain = |item: &Item| {
        item.means(Concept::Cod)
            || matches!(item.sense, Sense::Sign('(' | ')'))
            || matches!(item.word(), "option" | "facility" | "too" | "also" | "easy")
    };
    items.iter().any(|item| item.means(Concept::Cod)) && items.iter().all(is_plain)
}

/// Returns true for references such as `below that`.
pub(crate) fn refers_back(item: &Item) -> bool {
    matches!(item.word(), "that" | "this" | "it" | "which" | "these" | "those")
}

/// Returns true for an item with a known meaning, unlike the first words of `A: Yes` and `Unfortunately not`.
pub(crate) fn is_told(item: &Item) -> bool {
    !matches!(item.sense, Sense::Word(_) | Sense::Sign(_))
}
