use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::counts::WordCount;

/// Words that were searched for, over several days.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopWords {
    /// The words.
    pub words: String,
    /// The last day on which they were searched for.
    pub last_day: String,
    /// Products that the last search of that day answered, at most a page.
    pub hits: u64,
    /// Searches.
    pub count: u64,
    /// Of these, searches that found nothing.
    pub without_hits: u64,
    /// Of these, searches that were answered with products that lack words.
    pub relaxed: u64,
    /// Of these, searches of which more than words was read.
    pub understood: u64,
}

/// The order of words, and which are left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TopOrder {
    /// By searches.
    Searches,
    /// By searches that found nothing; words that always found something are left out.
    WithoutHits,
}

/// The words that were searched for most, at most so many.
#[must_use]
pub fn top(days: BTreeMap<String, Vec<WordCount>>, order: TopOrder, most: usize) -> Vec<TopWords> {
    let mut words: BTreeMap<String, TopWords> = BTreeMap::new();
    // The days come in order: the last one tells what was found last.
    for (day, counts) in days {
        for one in counts {
            let known = words.entry(one.words.clone()).or_insert_with(|| TopWords {
                words: one.words,
                last_day: String::new(),
                hits: 0,
                count: 0,
                without_hits: 0,
                relaxed: 0,
                understood: 0,
            });
            known.last_day.clone_from(&day);
            known.hits = one.hits;
            known.count = known.count.saturating_add(one.count);
            known.without_hits = known.without_hits.saturating_add(one.without_hits);
            known.relaxed = known.relaxed.saturating_add(one.relaxed);
            known.understood = known.understood.saturating_add(one.understood);
        }
    }
    let rank = |one: &TopWords| match order {
        TopOrder::Searches => one.count,
        TopOrder::WithoutHits => one.without_hits,
    };
    let mut top: Vec<TopWords> = words.into_values().filter(|one| rank(one) > 0).collect();
    // Stable: ties stay in the order of the words.
    top.sort_by_key(|one| std::cmp::Reverse(rank(one)));
    top.truncate(most);
    top
}
