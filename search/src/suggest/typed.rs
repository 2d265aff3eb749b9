use std::cmp::Reverse;
use std::ops::Range;

use data_index::Part;
use data_index::suggest::{Nearby, Reading, Work};

use super::shares;
use crate::context::SearchContext;
use crate::names::edits_max;

const ALTERNATIVES_MAX: usize = 3;
/// Maximum number of corrected texts that are used as prefixes of phrases.
const MEANT_MAX: usize = 4;
/// Maximum number of words with the same prefix whose frequencies are compared.
const COMPARED_MAX: u32 = 64;
/// Maximum number of groups of similar words.
const NEAR_MAX: usize = 16;

/// Title words of each part that match each typed word.
#[derive(Debug, Default)]
pub(super) struct Slots {
    pub(super) parts: Vec<Vec<Vec<Range<u32>>>>,
    pub(super) words: usize,
}

/// Typed words, matched with title words of the catalogue.
#[derive(Debug)]
pub(super) struct TypedWords {
    words: Vec<String>,
    /// `None` if no title has one of the words, or a similar word.
    slots: Option<Slots>,
    /// Words to search for in place of each typed word, best first. A typed word in titles is the only one.
    meant: Vec<Vec<String>>,
    known: bool,
}

impl Slots {
    fn push(&mut self, of_parts: impl Iterator<Item = Vec<Range<u32>>>) {
        self.parts
            .iter_mut()
            .zip(of_parts)
            .for_each(|(part, words)| part.push(words));
        self.words += 1;
    }
}

fn some(range: Range<u32>) -> Vec<Range<u32>> {
    if range.is_empty() { Vec::new() } else { vec![range] }
}

impl TypedWords {
    /// Looks up the words. The last one may be a prefix.
    pub(super) fn of(served: &SearchContext, words: Vec<String>, work: &mut Work) -> Self {
        let parts = served.release.parts();
        let mut slots = Slots {
            parts: vec![Vec::with_capacity(words.len()); parts.len()],
            words: 0,
        };
        let (mut meant, mut known) = (Vec::with_capacity(words.len()), true);
        for (at, word) in words.iter().enumerate() {
            let reading = reading(at, words.len());
            let begun = |part: &Part| some(part.suggest().words_beginning_with(word));
            let whole = |part: &Part| some(part.suggest().word(word));
            let mut held: Vec<_> = match reading {
                Reading::Beginning => parts.iter().map(begun).collect(),
                Reading::Whole => parts.iter().map(whole).collect(),
            };
            let nowhere = |held: &[Vec<Range<u32>>]| held.iter().all(Vec::is_empty);
            let mut alternatives = vec![word.clone()];
            if nowhere(&held) {
                known = false;
                let near = near(parts, word, reading, work);
                alternatives = likely(parts, &near, work);
                held = near
                    .into_iter()
                    .map(|near| near.into_iter().map(|near| near.texts).collect())
                    .collect();
                // A word may also be incomplete if the user continues typing elsewhere in the text.
                held.iter_mut()
                    .zip(parts)
                    .for_each(|(held, part)| held.extend(begun(part)));
            }
            if nowhere(&held) {
                return Self {
                    words,
                    slots: None,
                    meant: Vec::new(),
                    known,
                };
            }
            meant.push(alternatives);
            slots.push(held.into_iter());
        }
        Self {
            words,
            slots: Some(slots),
            meant,
            known,
        }
    }

    /// Returns true if titles have every word as typed.
    pub(super) fn is_known(&self) -> bool {
        self.known
    }

    pub(super) fn slots(&self) -> Option<&Slots> {
        self.slots.as_ref()
    }

    /// Returns slots of words at most one edit away from the typed ones.
    pub(super) fn near_slots(&self, served: &SearchContext, work: &mut Work) -> Slots {
        let parts = served.release.parts();
        let mut slots = Slots {
            parts: vec![Vec::with_capacity(self.words.len()); parts.len()],
            words: 0,
        };
        for (at, word) in self.words.iter().enumerate() {
            let (reading, edits) = (reading(at, self.words.len()), edits_max(word).min(1));
            let of_part = |part: &Part| {
                if edits == 0 {
                    return match reading {
                        Reading::Beginning => some(part.suggest().words_beginning_with(word)),
                        Reading::Whole => some(part.suggest().word(word)),
                    };
                }
                let near = part.suggest().words_near(word, edits, reading, work);
                frequent(part, near).into_iter().map(|near| near.texts).collect()
            };
            slots.push(parts.iter().map(of_part));
        }
        slots
    }

    /// Returns the corrected texts, which are used as prefixes of phrases.
    pub(super) fn meant(&self) -> Vec<String> {
        let mut meant = vec![String::new()];
        for alternatives in &self.meant {
            let longer = meant.iter().flat_map(|begun| {
                alternatives.iter().map(move |word| match begun.as_str() {
                    "" => word.clone(),
                    begun => format!("{begun} {word}"),
                })
            });
            meant = longer.take(MEANT_MAX).collect();
        }
        meant.retain(|begun| !begun.is_empty());
        meant
    }
}

fn reading(at: usize, words: usize) -> Reading {
    if at + 1 == words {
        Reading::Beginning
    } else {
        Reading::Whole
    }
}

/// Returns the nearest words of each part. Words farther than the nearest of any part are dropped.
fn near(parts: &[Part], word: &str, reading: Reading, work: &mut Work) -> Vec<Vec<Nearby>> {
    let edits = edits_max(word);
    let near =
        |(left, part): (u32, &Part)| work.share(left, |work| part.suggest().words_near(word, edits, reading, work));
    let mut found: Vec<Vec<Nearby>> = shares(parts).map(near).collect();
    let least = found.iter().flatten().map(|near| near.edits).min();
    for (part, near) in parts.iter().zip(&mut found) {
        near.retain(|near| Some(near.edits) == least);
        *near = frequent(part, std::mem::take(near));
    }
    found
}

/// Returns the groups of words that the most titles have.
fn frequent(part: &Part, mut near: Vec<Nearby>) -> Vec<Nearby> {
    if near.len() > NEAR_MAX {
        near.sort_by_key(|near| Reverse(part.suggest().titles_with(&near.texts)));
        near.truncate(NEAR_MAX);
    }
    near
}

/// Returns the words that the most titles have.
fn likely(parts: &[Part], near: &[Vec<Nearby>], work: &mut Work) -> Vec<String> {
    let mut words: Vec<(Reverse<usize>, &str)> = Vec::new();
    for (part, near) in parts.iter().zip(near) {
        let suggest = part.suggest();
        for word in near
            .iter()
            .flat_map(|near| near.texts.clone().take(COMPARED_MAX as usize))
        {
            if !work.step() {
                break;
            }
            words.push((Reverse(suggest.titles_with(&(word..word + 1))), suggest.word_text(word)));
        }
    }
    words.sort_unstable();
    let mut likely: Vec<String> = Vec::with_capacity(ALTERNATIVES_MAX);
    for (_, word) in words {
        if !likely.iter().any(|held| held == word) {
            likely.push(word.to_owned());
        }
        if likely.len() == ALTERNATIVES_MAX {
            break;
        }
    }
    likely
}
