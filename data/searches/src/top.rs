use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::counts::CountedDays;

/// Counts of one searched text over several days.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopWords {
    /// Words that were searched.
    pub words: String,
    /// Last day on which the words were searched.
    pub last_day: String,
    /// Number of products that the last search of that day returned, at most one page.
    pub hits: u64,
    /// Number of searches.
    pub count: u64,
    /// Number of searches that found nothing.
    pub without_hits: u64,
    /// Number of searches whose results include products that lack words.
    pub relaxed: u64,
    /// Number of searches from which more than words was parsed.
    pub understood: u64,
    /// Number of products that were opened on the page from the results.
    pub clicks: u64,
}

/// Order of the top words, which also determines the words that are left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TopOrder {
    /// Orders by the number of searches.
    Searches,
    /// Orders by the number of searches that found nothing. Words that always found something are left out.
    WithoutHits,
}

/// Returns at most `most` of the most searched words.
#[must_use]
pub fn top(days: CountedDays, order: TopOrder, most: usize) -> Vec<TopWords> {
    let mut words: BTreeMap<String, TopWords> = BTreeMap::new();
    // The last day has the newest results.
    for (day, servers) in days {
        for one in servers.into_values().flatten() {
            let known = words.entry(one.words.clone()).or_insert_with(|| TopWords {
                words: one.words,
                last_day: String::new(),
                hits: 0,
                count: 0,
                without_hits: 0,
                relaxed: 0,
                understood: 0,
                clicks: 0,
            });
            known.last_day.clone_from(&day);
            known.hits = one.hits;
            known.count = known.count.saturating_add(one.count);
            known.without_hits = known.without_hits.saturating_add(one.without_hits);
            known.relaxed = known.relaxed.saturating_add(one.relaxed);
            known.understood = known.understood.saturating_add(one.understood);
            known.clicks = known.clicks.saturating_add(one.clicks);
        }
    }
    let rank = |one: &TopWords| match order {
        TopOrder::Searches => one.count,
        TopOrder::WithoutHits => one.without_hits,
    };
    let mut top: Vec<TopWords> = words.into_values().filter(|one| rank(one) > 0).collect();
    // The sort is stable, so that ties stay in alphabetical order.
    top.sort_by_key(|one| std::cmp::Reverse(rank(one)));
    top.truncate(most);
    top
}
