//! Compares the catalogue of a crawl with the one in the lake.

use std::collections::HashSet;

use data_lake::{CatalogueRows, Offering};
use data_model::CurrencyCode;
use data_text::runs;
use serde::{Deserialize, Serialize};

use super::ChangedSample;
use crate::CollapseConfig;

/// Maximum number of examples of each kind of change, and maximum number of characters of an example's title.
const EXAMPLES_MAX: usize = 2;
const TITLE_CHARS_MAX: usize = 60;
/// A title counts as another one if fewer than one in this many of its words stay.
const WORDS_KEPT: usize = 4;

/// Example of a changed product.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum Example {
    /// The product is new.
    Added {
        /// Title of the product.
        title: String,
    },
    /// The product is no longer listed.
    Removed {
        /// Last title of the product.
        title: String,
    },
    /// A variant of the product has another price.
    Price {
        /// Title of the product.
        title: String,
        /// Earlier price in minor units.
        before_minor: i64,
        /// Price now in minor units.
        now_minor: i64,
        /// Currency of both prices.
        currency: CurrencyCode,
    },
}

/// Changes of a brand by a crawl. If the crawl is held back, it would make these changes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changes {
    /// Number of products that the brand did not have before.
    pub products_added: u64,
    /// Number of products that are no longer listed.
    pub products_removed: u64,
    /// Number of existing variants with another price or another currency.
    pub prices_changed: u64,
    /// Some of the changes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<Example>,
}

impl Changes {
    /// Returns the changes by the first crawl of a brand.
    pub(crate) fn of_new(products: u64) -> Self {
        Self {
            products_added: products,
            ..Self::default()
        }
    }
}

/// Counts that show if a catalogue was replaced without having shrunk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Drift {
    /// Number of variants in the lake.
    pub(crate) variants: u64,
    /// Number of variants in the lake whose price fell to almost nothing in the crawl.
    pub(crate) fallen: u64,
    /// Number of products in both the lake and the crawl.
    pub(crate) products: u64,
    /// Number of products in both the lake and the crawl whose titles are completely different.
    pub(crate) retitled: u64,
}

/// Comparison of a crawl with the lake. Without a comparable state of the lake, everything is empty.
#[derive(Debug, Clone, Default)]
pub(crate) struct Comparison {
    pub(crate) changes: Option<Changes>,
    pub(crate) drift: Drift,
    pub(crate) changed: ChangedSample,
}

/// Compares the crawl, in the currency `now_in`, with the lake, in `currency`.
pub(crate) fn compare(
    config: &CollapseConfig,
    before: &Offering,
    now: &CatalogueRows,
    currency: CurrencyCode,
    now_in: CurrencyCode,
) -> Comparison {
    let mut changes = Changes::default();
    let mut drift = Drift {
        variants: before.prices.len() as u64,
        ..Drift::default()
    };
    let changed = compare_titles(before, now, &mut changes, &mut drift);
    let same_money = currency == now_in;
    compare_prices(config, before, now, same_money, &mut changes, &mut drift);
    // Amounts in different currencies cannot be compared.
    if same_money {
        price_examples(before, now, currency, &mut changes);
    }
    Comparison {
        changes: Some(changes),
        drift,
        changed,
    }
}

fn compare_titles(before: &Offering, now: &CatalogueRows, changes: &mut Changes, drift: &mut Drift) -> ChangedSample {
    let mut listed = HashSet::with_capacity(now.len());
    for (id, title) in now.titles() {
        listed.insert(id);
        match before.titles.get(&id) {
            None => {
                changes.products_added += 1;
                if changes.products_added <= EXAMPLES_MAX as u64 {
                    changes.examples.push(Example::Added { title: cut(title) });
                }
            }
            Some(known) => {
                drift.products += 1;
                drift.retitled += u64::from(is_another_title(known, title));
            }
        }
    }
    let mut removed: Vec<_> = before.titles.iter().filter(|(id, _)| !listed.contains(id)).collect();
    changes.products_removed = removed.len() as u64;
    removed.sort_unstable();
    let examples = removed.iter().take(EXAMPLES_MAX);
    changes
        .examples
        .extend(examples.map(|(_, title)| Example::Removed { title: cut(title) }));
    let added = listed.iter().filter(|id| !before.titles.contains_key(id));
    ChangedSample::new(added.chain(removed.into_iter().map(|(id, _)| id)).copied())
}

fn compare_prices(
    config: &CollapseConfig,
    before: &Offering,
    now: &CatalogueRows,
    same_money: bool,
    changes: &mut Changes,
    drift: &mut Drift,
) {
    for (key, price) in now.prices() {
        let Some(&known) = before.prices.get(&key) else {
            continue;
        };
        changes.prices_changed += u64::from(known != price || !same_money);
        drift.fallen += u64::from(same_money && is_next_to_nothing(config, known, price));
    }
}

fn price_examples(before: &Offering, now: &CatalogueRows, currency: CurrencyCode, changes: &mut Changes) {
    let moved = now.prices().filter_map(|((product, variant), price)| {
        let known = *before.prices.get(&(product, variant))?;
        (known != price).then_some((product, known, price))
    });
    let mut told = HashSet::new();
    let of_products = moved.filter(|(product, ..)| told.insert(*product)).take(EXAMPLES_MAX);
    for (product, before_minor, now_minor) in of_products.collect::<Vec<_>>() {
        let title = before.titles.get(&product).map(|title| cut(title));
        changes.examples.push(Example::Price {
            title: title.unwrap_or_default(),
            before_minor,
            now_minor,
            currency,
        });
    }
}

/// Returns true if a price fell to the configured share of its earlier value, or to at most one minor unit.
fn is_next_to_nothing(config: &CollapseConfig, before: i64, now: i64) -> bool {
    // The precision of a float is sufficient for a share.
    now < before && (now <= 1 || now as f64 <= before as f64 * config.price_fall_share)
}

/// Returns true if only few words of the title stay. Numbers do not count as words, unless the title has nothing else.
fn is_another_title(before: &str, now: &str) -> bool {
    if before == now {
        return false;
    }
    let (words, now) = (words(before), words(now));
    let kept = words.iter().filter(|word| now.contains(*word)).count();
    kept * WORDS_KEPT < words.len()
}

fn words(title: &str) -> HashSet<String> {
    let of = |named: bool| {
        runs(title)
            .filter(|word| !named || word.chars().any(char::is_alphabetic))
            .map(str::to_lowercase)
            .collect::<HashSet<_>>()
    };
    let named = of(true);
    if named.is_empty() { of(false) } else { named }
}

fn cut(title: &str) -> String {
    match title.char_indices().nth(TITLE_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &title[..end]),
        None => title.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_another_one_when_hardly_a_word_is_kept() {
        for (before, now) in [
            ("Tea 250 g", "Sold out 250"),
            ("चाय पत्ती", "Tea leaves"),
            ("Blue Linen Shirt", "HACKED"),
            ("7 11", "9 12"),
            ("A Very Long Title Here Now", "now or never again, buy it all"),
        ] {
            assert!(is_another_title(before, now), "{before}");
        }
        for (before, now) in [
            ("Tea 250 g", "TEA 500 g"),
            ("Blue Linen Shirt", "Shirt, linen (blue) – new!"),
            ("Kurta", "Kurta Set for Women"),
            ("One Two Three Four", "Four"),
            ("!!!", "???"),
        ] {
            assert!(!is_another_title(before, now), "{before}");
        }
    }

    #[test]
    fn a_price_is_next_to_nothing_at_a_hundredth_of_what_it_was_or_at_the_smallest_amount() {
        let config = CollapseConfig::default();
        let fell = |before, now| is_next_to_nothing(&config, before, now);
        assert!(fell(49_900, 499) && fell(49_900, 0) && fell(50, 1) && fell(1, 0));
        assert!(!fell(49_900, 500) && !fell(0, 0) && !fell(1, 1) && !fell(499, 49_900) && !fell(50, 2));
    }
}
