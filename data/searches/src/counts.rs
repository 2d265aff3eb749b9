use std::collections::{BTreeMap, HashMap};

use data_model::{ReleaseId, Timestamp};
use data_text::plain_words;
use serde::{Deserialize, Serialize};

/// Minimum number of searches per server and day. Words with fewer searches are not stored.
pub const SEEN_MIN: u64 = 3;
/// Maximum number of texts per day that one server stores.
pub(crate) const KEPT_MAX: usize = 5_000;
const WORDS_CHARS_MAX: usize = 80;
/// Maximum number of digits in a counted text, because a longer number may identify a person.
const DIGITS_MAX: usize = 6;
/// Time in milliseconds after the end of a day within which a server writes its last counts of the day.
const WRITTEN_WITHIN_MS: i64 = 3_600_000;
const DAY_MS: i64 = 24 * 3_600_000;

/// A search by words only, and its results.
#[derive(Debug, Clone, Copy)]
pub struct SearchNote<'a> {
    /// Text as typed by the shopper.
    pub text: &'a str,
    /// Release that was searched.
    pub release: ReleaseId,
    /// Number of products that were returned.
    pub hits: usize,
    /// `true` if products that lack words of the query were returned too.
    pub relaxed: bool,
    /// `true` if more than words was parsed from the query, such as a price.
    pub understood: bool,
}

/// Counts of one searched text on one day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WordCount {
    /// Searched words, folded, in the order in which they were typed.
    pub words: String,
    /// Release that was searched last.
    pub release: ReleaseId,
    /// Number of products that the last search returned, at most one page.
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
    #[serde(default)]
    pub clicks: u64,
}

/// Counts by day (such as `2026-11-29`, in UTC) and, for each day, by the server that counted.
pub type CountedDays = BTreeMap<String, BTreeMap<String, Vec<WordCount>>>;

/// Returns the day of a timestamp in UTC, such as `2026-11-29`.
pub(crate) fn day_of(moment: Timestamp) -> String {
    moment.to_string().chars().take(10).collect()
}

/// Returns the first of the last `days` days, with today.
#[must_use]
pub fn first_day(now: Timestamp, days: u32) -> String {
    day_of(now.plus_millis(-(i64::from(days.max(1)) - 1) * DAY_MS))
}

/// Returns the first day that is not over, or that ended so recently that servers may still write its counts.
#[must_use]
pub fn first_open_day(now: Timestamp) -> String {
    day_of(now.plus_millis(-WRITTEN_WITHIN_MS))
}

/// Returns `None` if the text has no words, or may identify a person: an e-mail address, a number, or a long sentence.
fn counted_words(text: &str) -> Option<String> {
    let is_personal = text.contains('@') || text.chars().filter(char::is_ascii_digit).count() > DIGITS_MAX;
    if is_personal || text.chars().count() > WORDS_CHARS_MAX {
        return None;
    }
    Some(plain_words(text).join(" ")).filter(|words| !words.is_empty())
}

#[derive(Debug, Default)]
pub(crate) struct DayCounts {
    pub(crate) day: String,
    words: HashMap<String, WordCount>,
    /// `true` if a search was counted since the counts were last written.
    pub(crate) is_changed: bool,
}

impl DayCounts {
    pub(crate) fn of(day: String) -> Self {
        Self { day, ..Self::default() }
    }

    /// Returns `false` if there is no free capacity for the words of the search.
    pub(crate) fn note(&mut self, note: &SearchNote<'_>, words_max: usize) -> bool {
        let Some(words) = counted_words(note.text) else {
            return true;
        };
        if self.words.len() >= words_max && !self.words.contains_key(&words) {
            self.words.retain(|_, known| known.count > 1);
            if self.words.len() >= words_max {
                return false;
            }
        }
        let known = self.words.entry(words).or_insert_with_key(|words| WordCount {
            words: words.clone(),
            release: note.release,
            hits: 0,
            count: 0,
            without_hits: 0,
            relaxed: 0,
            understood: 0,
            clicks: 0,
        });
        known.release = note.release;
        known.hits = note.hits as u64;
        known.count += 1;
        known.without_hits += u64::from(note.hits == 0);
        known.relaxed += u64::from(note.relaxed);
        known.understood += u64::from(note.understood);
        self.is_changed = true;
        true
    }

    /// Counts a click on a result. Clicks on results of words that were not searched here today are ignored.
    pub(crate) fn click(&mut self, text: &str) {
        let known = counted_words(text).and_then(|words| self.words.get_mut(&words));
        if let Some(known) = known {
            known.clicks += 1;
            self.is_changed = true;
        }
    }

    pub(crate) fn kept(&self) -> Vec<WordCount> {
        let seen = self.words.values().filter(|one| one.count >= SEEN_MIN);
        let mut kept: Vec<WordCount> = seen.cloned().collect();
        kept.sort_by(|one, other| other.count.cmp(&one.count).then_with(|| one.words.cmp(&other.words)));
        kept.truncate(KEPT_MAX);
        kept
    }
}
