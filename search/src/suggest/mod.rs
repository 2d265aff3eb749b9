//! Suggestions while the user types.
//!
//! All lookup data is built with the release: phrases, words of titles with their best products, and names of brands
//! and categories. A request resolves the typed words ([`typed`]) and returns the best suggestions of each kind. The
//! number of steps is limited for any input.

mod typed;

use std::cmp::Reverse;

use data_index::suggest::Work;
use data_index::taxonomy::Category;
use data_index::{Part, RowAddress};
use data_model::ProductId;
use data_text::plain_words;
use rustc_hash::FxHashMap;

use typed::{Slots, TypedWords};

use crate::context::SearchContext;
use crate::names::NamePrefix;

/// Further words are ignored.
const WORDS_MAX: usize = 24;
/// Maximum number of steps for each kind of suggestion, and for resolving the typed words. Most requests take some
/// hundred.
const STEPS_MAX: u32 = 8_000;
/// Maximum number of steps for products, where titles are tested for all words one by one.
const PRODUCT_STEPS_MAX: u32 = 40_000;
/// Maximum number of alternative readings if nothing matches the typed text, and the minimum length of the first half
/// of a split word.
const OTHERWISE_MAX: usize = 12;
const PART_CHARS_MIN: usize = 3;
/// Maximum number of alternatives with synonyms.
const OTHER_WORDS_MAX: usize = 3;
/// Extra phrases from each part, because a phrase that ranks lower in one part may have more products in another.
const PHRASES_MORE: usize = 12;

/// Suggestions, with the best of each kind first.
#[derive(Debug, Default)]
pub struct SuggestResult {
    /// Suggested phrases.
    pub queries: Vec<String>,
    /// Products whose titles have the words.
    pub products: Vec<RowAddress>,
    /// Brands, as indexes in the release's brands.
    pub brands: Vec<usize>,
    /// Categories whose names start with the typed text.
    pub categories: Vec<&'static Category>,
}

impl SuggestResult {
    /// Returns true if nothing except categories was found, because a category name may be similar to the typed text
    /// without any matching product.
    fn names_nothing(&self) -> bool {
        self.queries.is_empty() && self.products.is_empty() && self.brands.is_empty()
    }
}

/// Returns at most `limit` suggestions of each kind.
pub fn suggest(served: &SearchContext, text: &str, limit: usize) -> SuggestResult {
    let mut words: Vec<String> = plain_words(text);
    words.truncate(WORDS_MAX);
    if words.is_empty() && !text.trim().is_empty() {
        return SuggestResult::default();
    }
    let found = of_words(served, words.clone(), limit, Words::AsMeant, &mut Allowance::new());
    if !found.names_nothing() {
        return found;
    }
    // All other readings together may take as many steps as the first one.
    let mut allowance = Allowance::new();
    let said = said_otherwise(served, &words);
    let otherwise = said.into_iter().chain(otherwise(&words)).take(OTHERWISE_MAX);
    let mut ways = otherwise.map(|words| of_words(served, words, limit, Words::AsTyped, &mut allowance));
    match ways.find(|other| !other.names_nothing()) {
        Some(other) if found.categories.is_empty() => other,
        Some(other) => SuggestResult {
            categories: found.categories,
            ..other
        },
        None => found,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Words {
    /// Words as typed, or their corrections.
    AsMeant,
    /// Words as typed that titles contain. The last word is a prefix.
    AsTyped,
}

/// Remaining steps for each kind of suggestion, and for resolving the typed words.
struct Allowance {
    words: Work,
    queries: Work,
    products: Work,
    brands: Work,
    categories: Work,
}

impl Allowance {
    fn new() -> Self {
        let steps = || Work::of(STEPS_MAX);
        Self {
            words: steps(),
            queries: steps(),
            products: Work::of(PRODUCT_STEPS_MAX),
            brands: steps(),
            categories: steps(),
        }
    }
}

fn of_words(
    served: &SearchContext,
    words: Vec<String>,
    limit: usize,
    which: Words,
    allowance: &mut Allowance,
) -> SuggestResult {
    let begun = words.join(" ");
    let typed = TypedWords::of(served, words, &mut allowance.words);
    if which == Words::AsTyped && !typed.is_known() {
        return SuggestResult::default();
    }
    let name = NamePrefix {
        text: &begun,
        may_be_mistyped: !typed.is_known(),
    };
    SuggestResult {
        queries: queries(served, &begun, &typed, limit, &mut allowance.queries),
        products: products(served, &typed, limit, &mut allowance.products),
        brands: served.names.brands(name, limit, &mut allowance.brands),
        categories: served.names.categories(name, limit, &mut allowance.categories),
    }
}

/// Returns alternative readings: the last two words joined, the last word split in two, or without the first words.
fn otherwise(words: &[String]) -> Vec<Vec<String>> {
    let mut ways = Vec::new();
    if let [before @ .., one, other] = words {
        ways.push(before.iter().cloned().chain([format!("{one}{other}")]).collect());
        ways.extend((1..words.len()).map(|from| words.get(from..).unwrap_or_default().to_vec()));
    }
    if let [before @ .., last] = words {
        let places = last.char_indices().map(|(at, _)| at).skip(PART_CHARS_MIN);
        let halves = places.filter_map(|at| last.split_at_checked(at));
        let two = |(one, other): (&str, &str)| {
            before
                .iter()
                .cloned()
                .chain([one.to_owned(), other.to_owned()])
                .collect()
        };
        ways.extend(halves.map(two));
    }
    ways
}

/// Replaces words by synonyms, for example in another script.
fn said_otherwise(served: &SearchContext, words: &[String]) -> Vec<Vec<String>> {
    let others: Vec<Vec<String>> = words.iter().map(|word| served.text.other_words(word)).collect();
    let ways = others.iter().map(Vec::len).max().unwrap_or(0).min(OTHER_WORDS_MAX);
    let way = |nth: usize| {
        let said = words.iter().zip(&others);
        let said = said.map(|(word, others)| others.get(nth).or_else(|| others.first()).unwrap_or(word).clone());
        said.collect()
    };
    (0..ways).map(way).collect()
}

/// Returns each part with the number of parts left, by which the remaining work is divided.
fn shares(parts: &[Part]) -> impl Iterator<Item = (u32, &Part)> {
    let left = (1..=u32::try_from(parts.len()).unwrap_or(u32::MAX)).rev();
    left.zip(parts)
}

/// Returns phrases that start with the typed text, or else with the corrected text.
fn queries(served: &SearchContext, begun: &str, typed: &TypedWords, limit: usize, work: &mut Work) -> Vec<String> {
    let found = phrases(served, &[begun.to_owned()], limit, work);
    if !found.is_empty() || typed.is_known() {
        return found;
    }
    phrases(served, &typed.meant(), limit, work)
}

/// Returns true if a row is listed and not hidden by default.
fn is_suggested(served: &SearchContext, part: &Part, at: RowAddress) -> bool {
    !part.unlisted().contains(at.row) && served.safe_rows().is_none_or(|safe| safe.has(at.part, at.row))
}

fn phrases(served: &SearchContext, begun: &[String], limit: usize, work: &mut Work) -> Vec<String> {
    let mut merged: FxHashMap<&str, (bool, u32, &str)> = FxHashMap::default();
    for (at, (left, part)) in (0..).zip(shares(served.release.parts())) {
        let live = |row| is_suggested(served, part, RowAddress { part: at, row });
        for begin in begun {
            let phrases = |work: &mut Work| part.suggest().phrases(begin, limit + PHRASES_MORE, live, work);
            for phrase in work.share(left, phrases) {
                let (begins, count, _) = merged.entry(phrase.key).or_insert((false, 0, phrase.text));
                *begins |= phrase.begins;
                *count = count.saturating_add(phrase.count);
            }
        }
    }
    let mut found: Vec<_> = merged.into_values().collect();
    found.sort_unstable_by_key(|(begins, count, text)| (!begins, Reverse(*count), text.len(), *text));
    found.truncate(limit);
    found.into_iter().map(|(_, _, text)| text.to_owned()).collect()
}

/// Returns products with all words in their titles. If there are none, similar words are used.
fn products(served: &SearchContext, typed: &TypedWords, limit: usize, work: &mut Work) -> Vec<RowAddress> {
    let Some(slots) = typed.slots() else {
        return Vec::new();
    };
    let found = best(served, slots, limit, work);
    if !found.is_empty() || slots.words == 0 {
        return found;
    }
    best(served, &typed.near_slots(served, work), limit, work)
}

fn best(served: &SearchContext, slots: &Slots, limit: usize, work: &mut Work) -> Vec<RowAddress> {
    let mut found: Vec<(f32, ProductId, RowAddress)> = Vec::with_capacity(limit);
    for ((at, (left, part)), wanted) in (0..).zip(shares(served.release.parts())).zip(&slots.parts) {
        if wanted.iter().any(Vec::is_empty) {
            continue;
        }
        let live = |row| is_suggested(served, part, RowAddress { part: at, row });
        let rows = work.share(left, |work| part.suggest().best_rows(wanted, limit, live, work));
        found.extend(rows.into_iter().map(|row| {
            let cards = part.cards();
            (cards.quality(row), cards.id(row), RowAddress { part: at, row })
        }));
    }
    // Ties go to the smaller id, so that the order does not depend on the division of the release into parts.
    found.sort_unstable_by(|(one, id, _), (other, other_id, _)| other.total_cmp(one).then_with(|| id.cmp(other_id)));
    found.truncate(limit);
    found.into_iter().map(|(_, _, at)| at).collect()
}
