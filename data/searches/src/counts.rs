use std::collections::HashMap;

use data_model::{ReleaseId, Timestamp};
use data_text::plain_words;
use serde::{Deserialize, Serialize};

/// Words that a server saw less often in a day are not kept.
pub const SEEN_MIN: u64 = 3;
/// Most words of a day that one server keeps.
pub(crate) const KEPT_MAX: usize = 5_000;
/// Longest text that is counted.
const WORDS_CHARS_MAX: usize = 80;
/// From so many digits on a text may be somebody's number.
const DIGITS_MAX: usize = 6;

/// A search by words alone, and what it found.
#[derive(Debug, Clone, Copy)]
pub struct SearchNote<'a> {
    /// As they were typed.
    pub text: &'a str,
    /// The release that was searched.
    pub release: ReleaseId,
    /// Products that were answered.
    pub hits: usize,
    /// True where products that lack words of the query were answered too.
    pub relaxed: bool,
    /// True where more than words was read out of the query.
    pub understood: bool,
}

/// Words that were searched for on one day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WordCount {
    /// The words, folded, in the order in which they were typed.
    pub words: String,
    /// The release that was searched last.
    pub release: ReleaseId,
    /// Products that the last search answered, at most a page.
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

impl WordCount {
    /// Adds the same words of another server.
    pub(crate) fn add(&mut self, other: &Self) {
        self.count = self.count.saturating_add(other.count);
        self.without_hits = self.without_hits.saturating_add(other.without_hits);
        self.relaxed = self.relaxed.saturating_add(other.relaxed);
        self.understood = self.understood.saturating_add(other.understood);
    }
}

/// The day of a moment, in UTC: `2026-11-29`.
pub(crate) fn day_of(moment: Timestamp) -> String {
    moment.to_string().chars().take(10).collect()
}

/// The words of a text as they are counted; `None` where there are none, or where the text may tell of a person: an address, a
/// number, a long sentence.
fn counted_words(text: &str) -> Option<String> {
    let is_personal = text.contains('@') || text.chars().filter(char::is_ascii_digit).count() > DIGITS_MAX;
    if is_personal || text.chars().count() > WORDS_CHARS_MAX {
        return None;
    }
    Some(plain_words(text).join(" ")).filter(|words| !words.is_empty())
}

/// The searches of one day.
#[derive(Debug, Default)]
pub(crate) struct DayCounts {
    pub(crate) day: String,
    words: HashMap<String, WordCount>,
    /// True where something came since the counts were last asked for.
    pub(crate) is_changed: bool,
}

impl DayCounts {
    pub(crate) fn of(day: String) -> Self {
        Self { day, ..Self::default() }
    }

    /// Counts a search; `false` where there is no room for its words.
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

    /// The words that are kept, those first that were searched for most.
    pub(crate) fn kept(&self) -> Vec<WordCount> {
        let seen = self.words.values().filter(|one| one.count >= SEEN_MIN);
        let mut kept: Vec<WordCount> = seen.cloned().collect();
        kept.sort_by(|one, other| other.count.cmp(&one.count).then_with(|| one.words.cmp(&other.words)));
        kept.truncate(KEPT_MAX);
        kept
    }
}
