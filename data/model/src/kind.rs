use std::collections::HashSet;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization;

/// Kind of a product. Stores also list gift cards, fees and notices among their products.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A physical product. The default when nothing suggests another kind.
    #[default]
    Goods,
    /// A gift card or other prepaid credit.
    GiftCard,
    /// A service, such as a repair, a warranty or a class.
    Service,
    /// A charge in addition to goods, such as shipping, insurance or a surcharge.
    Fee,
    /// A trial sample or a giveaway.
    Sample,
    /// A text for customers that is listed as a product.
    Notice,
    /// An entry with which the store tests itself.
    Test,
}

impl Kind {
    /// Every kind with its name in API responses.
    pub const NAMED: [(&'static str, Self); 7] = [
        ("goods", Self::Goods),
        ("gift_card", Self::GiftCard),
        ("service", Self::Service),
        ("fee", Self::Fee),
        ("sample", Self::Sample),
        ("notice", Self::Notice),
        ("test", Self::Test),
    ];

    /// Returns the name of the kind in API responses.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        let named = Self::NAMED.iter().find(|(_, kind)| *kind == self);
        named.map_or("goods", |(name, _)| name)
    }

    /// `is_free` is true for a product without a price. Returns `Goods` if neither text states a kind.
    pub(crate) fn of(title: &str, product_type: Option<&str>, is_free: bool) -> Self {
        if !may_tell(title) && !product_type.is_some_and(may_tell) {
            return Self::Goods;
        }
        let title = words(title);
        let product_type = product_type.map(words).unwrap_or_default();
        let tells = |rule: &&Rule| {
            let phrase = &rule.phrase;
            match rule.place {
                // Stores leave default types such as `Placeholder` and `Product` unchanged.
                Place::Whole => title == *phrase || rule.kind != Self::Notice && product_type == *phrase,
                Place::Start => title.starts_with(phrase) && stands(&title, phrase) || product_type == *phrase,
                Place::End => title.ends_with(phrase) && stands(&title, phrase) || product_type == *phrase,
                Place::Any => [&title, &product_type]
                    .into_iter()
                    .any(|text| text.len() <= phrase.len() + OTHER_WORDS_MAX && stands(text, phrase)),
                Place::Free => is_free && (stands(&title, phrase) || stands(&product_type, phrase)),
            }
        };
        RULES.iter().find(tells).map_or(Self::Goods, |rule| rule.kind)
    }
}

/// A set of product kinds. The default contains `Goods` only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Kinds(u8);

impl Kinds {
    /// The set that contains `Goods` only.
    pub const GOODS: Self = Self::of(Kind::Goods);
    /// The set of all kinds.
    pub const ALL: Self = Self((1 << Kind::NAMED.len()) - 1);
    /// Names of the sets in requests: the names of the kinds, and `all`.
    pub const NAMED: [(&'static str, Self); Kind::NAMED.len() + 1] = {
        let mut named = [("all", Self::ALL); Kind::NAMED.len() + 1];
        let mut at = 0;
        while at < Kind::NAMED.len() {
            named[at] = (Kind::NAMED[at].0, Self::of(Kind::NAMED[at].1));
            at += 1;
        }
        named
    };

    /// Returns the set that contains one kind.
    #[must_use]
    pub const fn of(kind: Kind) -> Self {
        Self(1 << kind as u8)
    }

    /// Returns the union of two sets.
    #[must_use]
    pub const fn and(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    /// Returns `true` if the set contains the kind.
    #[must_use]
    pub const fn has(self, kind: Kind) -> bool {
        self.0 & Self::of(kind).0 != 0
    }
}

impl Default for Kinds {
    fn default() -> Self {
        Self::GOODS
    }
}

/// Words before or after a phrase that make it an extra. In "with gift card", for example, the product is something
/// else.
const BESIDE: [&str; 9] = ["with", "for", "plus", "mit", "avec", "con", "pour", "para", "per"];
const HOLDERS: [&str; 15] = [
    "holder",
    "holders",
    "box",
    "boxes",
    "envelope",
    "envelopes",
    "sleeve",
    "case",
    "stand",
    "tin",
    "bag",
    "paper",
    "tray",
    "jar",
    "jars",
];

/// Maximum number of other words beside a phrase. A text with more words describes something else.
const OTHER_WORDS_MAX: usize = 5;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Whole,
    Start,
    End,
    Any,
    Free,
}

#[derive(Debug)]
struct Rule {
    kind: Kind,
    place: Place,
    phrase: Vec<String>,
}

static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    let lines = include_str!("../../reference/kinds.tsv").lines();
    let rules = lines.filter(|line| !line.starts_with('#')).filter_map(|line| {
        let mut columns = line.split('\t');
        let name = columns.next()?;
        let (_, kind) = Kind::NAMED.iter().find(|(known, _)| *known == name)?;
        let place = match columns.next()? {
            "whole" => Place::Whole,
            "start" => Place::Start,
            "end" => Place::End,
            "any" => Place::Any,
            "free" => Place::Free,
            _ => return None,
        };
        let phrases = columns.next()?.split(',').map(words);
        Some(phrases.map(move |phrase| Rule {
            kind: *kind,
            place,
            phrase,
        }))
    });
    rules.flatten().collect()
});

static FIRST: LazyLock<HashSet<&[u8]>> = LazyLock::new(|| {
    let first = RULES.iter().filter_map(|rule| rule.phrase.first());
    first.map(String::as_bytes).collect()
});

/// Length of the longest first word of a phrase, in bytes.
const FIRST_BYTES_MAX: usize = 32;

/// Returns `false` if no phrase can begin in the text. Most texts have none.
fn may_tell(text: &str) -> bool {
    if !text.is_ascii() || text.contains('\'') {
        return true;
    }
    let mut words = text.as_bytes().split(|letter| !letter.is_ascii_alphanumeric());
    words.any(|word| {
        let mut small = [0; FIRST_BYTES_MAX];
        let slot = small.get_mut(..word.len());
        slot.is_some_and(|slot| {
            slot.copy_from_slice(word);
            slot.make_ascii_lowercase();
            FIRST.contains(&*slot)
        })
    })
}

/// Returns `true` if the phrase states what the text is about.
fn stands(text: &[String], phrase: &[String]) -> bool {
    let is_in = |words: &[&str], word: Option<&String>| word.is_some_and(|word| words.contains(&word.as_str()));
    let mut places = text
        .windows(phrase.len())
        .enumerate()
        .filter(|(_, words)| *words == phrase);
    places.any(|(at, _)| {
        let before = text.get(..at).unwrap_or_default();
        let is_beside = before.iter().any(|word| is_in(&BESIDE, Some(word)));
        !is_beside && !is_in(&HOLDERS, text.get(at + phrase.len()))
    })
}

/// Splits a text into lowercase words without accents on Latin letters.
fn words(text: &str) -> Vec<String> {
    let plain: String = text
        .nfkd()
        .filter(|letter| !('\u{300}'..='\u{36f}').contains(letter) && !matches!(letter, '\'' | '’'))
        .flat_map(char::to_lowercase)
        .map(|letter| {
            if letter.is_ascii() && !letter.is_ascii_alphanumeric() {
                ' '
            } else {
                letter
            }
        })
        .collect();
    let words =
        plain.split(|letter: char| letter.is_whitespace() || matches!(letter, '–' | '—' | '“' | '”' | '|' | '•'));
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_is_read_and_each_of_its_phrases_tells_its_kind() {
        let lines = include_str!("../../reference/kinds.tsv").lines();
        let phrases = lines
            .filter(|line| !line.starts_with('#'))
            .flat_map(|line| line.split(','));
        assert_eq!(RULES.len(), phrases.count());
        for rule in RULES.iter() {
            let told = Kind::of(&rule.phrase.join(" "), None, true);
            assert_ne!(told, Kind::Goods, "{:?}", rule.phrase);
        }
    }

    #[test]
    fn what_is_no_thing_that_is_sold_is_told_from_goods() {
        for (title, product_type, price, kind) in [
            ("Test", None, 1, Kind::Test),
            ("TEST PRODUCT - DO NOT BUY", None, 1, Kind::Test),
            ("Pregnancy Test", None, 1, Kind::Goods),
            ("Water Test Kit", Some("Tests"), 1, Kind::Goods),
            ("E-Gift Card", None, 1, Kind::GiftCard),
            ("Carte-cadeau électronique", None, 1, Kind::GiftCard),
            ("My Shop ₹500", Some("Gift Cards"), 1, Kind::GiftCard),
            ("Wooden Gift Card Holder", None, 1, Kind::Goods),
            ("Hamper with Gift Card", None, 1, Kind::Goods),
            ("Shipping Protection", None, 1, Kind::Fee),
            ("Delivery Charges (COD)", None, 1, Kind::Fee),
            ("Frais de port", None, 1, Kind::Fee),
            ("Customization Fee", None, 1, Kind::Fee),
            ("USB-C Fast Charge Cable", None, 1, Kind::Goods),
            ("2 Year Extended Warranty", None, 1, Kind::Service),
            ("Drill", Some("Services"), 1, Kind::Service),
            ("Dinner Service for Six", None, 1, Kind::Goods),
            ("Échantillon lubrifiant fluide", None, 0, Kind::Sample),
            ("Linen Fabric Swatch", None, 1, Kind::Sample),
            ("Coffee Sample Pack", None, 1, Kind::Goods),
            ("ALL SALES FINAL - please read", None, 0, Kind::Notice),
            ("Notice Board", None, 1, Kind::Goods),
            ("Clearance Dress - All Sales Final", None, 1, Kind::Goods),
            ("Linen Shirt", Some("Shirts"), 0, Kind::Goods),
        ] {
            assert_eq!(Kind::of(title, product_type, price == 0), kind, "{title}");
        }
        for (name, kind) in Kind::NAMED {
            assert_eq!(kind.as_str(), name);
            assert!(Kinds::ALL.has(kind) && Kinds::NAMED.contains(&(name, Kinds::of(kind))));
            assert_eq!(Kinds::default().has(kind), kind == Kind::Goods);
        }
    }
}
