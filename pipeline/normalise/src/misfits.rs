//! Collects the records and variants that could not be understood, without duplicates across pages.

use data_model::{Quarantined, StoreHost};
use data_text::escaped_line;
use pipeline_parse::EXCERPT_BYTES_MAX;
use rustc_hash::FxHashMap;

use crate::product::REASON_CHARS_MAX;

/// Maximum number of quarantine entries per catalogue. Further bad records get no entry.
pub const QUARANTINE_MAX: usize = 10_000;

/// A record, or a part of one, that could not be understood.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) id: Option<u64>,
    /// Row of the product that was still made from the record, if any.
    pub(crate) row: Option<usize>,
    pub(crate) position: usize,
    pub(crate) reason: String,
    pub(crate) excerpt: String,
}

impl Entry {
    /// Escapes the reason and excerpt for display, each on one line of bounded length.
    pub(crate) fn escaped(self) -> Self {
        let mut excerpt = escaped_line(&self.excerpt, EXCERPT_BYTES_MAX);
        excerpt.truncate(excerpt.floor_char_boundary(EXCERPT_BYTES_MAX));
        Self {
            reason: escaped_line(&self.reason, REASON_CHARS_MAX),
            excerpt,
            ..self
        }
    }
}

/// Position of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PagePlace {
    /// Index of the page.
    pub page: usize,
    /// Row among the understood records of the page.
    pub row: usize,
}

#[derive(Debug, Default)]
pub(crate) struct Misfits {
    /// In page order, each with the index of its page.
    entries: Vec<(usize, Entry)>,
}

impl Misfits {
    pub(crate) fn note(&mut self, page: usize, entries: Vec<Entry>) {
        let room = QUARANTINE_MAX.saturating_sub(self.entries.len());
        self.entries
            .extend(entries.into_iter().take(room).map(|entry| (page, entry)));
    }

    /// Returns one entry for each record and variant, sorted independently of page boundaries. The entry of a record
    /// without a product comes from the last page that lists the record. Otherwise it comes from the page and row of
    /// the product, as `place` returns them.
    pub(crate) fn quarantined(self, store: &StoreHost, place: impl Fn(u64) -> Option<PagePlace>) -> Vec<Quarantined> {
        let mut last: FxHashMap<u64, usize> = FxHashMap::default();
        for (index, (_, entry)) in self.entries.iter().enumerate() {
            last.extend(entry.id.map(|id| (id, index)));
        }
        let mut nameless = Nameless::default();
        let mut kept: Vec<(u64, usize, Entry)> = Vec::new();
        for (index, (page, entry)) in self.entries.into_iter().enumerate() {
            let keeps = match entry.id {
                None => nameless.is_new(page, &entry),
                Some(id) => match place(id) {
                    None => last.get(&id) == Some(&index),
                    Some(taken) => entry.row.is_some_and(|row| PagePlace { page, row } == taken),
                },
            };
            if keeps {
                kept.push((entry.id.unwrap_or(u64::MAX), page, entry));
            }
        }
        // The sort is stable, so that entries of one product keep the order of its variants.
        kept.sort_by_key(|(id, ..)| *id);
        let quarantined = kept.into_iter().map(|(_, page, entry)| Quarantined {
            store: store.clone(),
            subject: entry.id.map_or_else(
                || format!("page {}, product {}", page + 1, entry.position),
                |id| id.to_string(),
            ),
            reason: entry.reason,
            excerpt: entry.excerpt,
        });
        quarantined.collect()
    }
}

/// Detects duplicate records without an id. A record is a duplicate if an earlier page has an equal one. Equal records
/// on one page are counted separately.
#[derive(Debug, Default)]
struct Nameless {
    /// By reason and text, the number of known records, the last page, and the number found on that page.
    met: FxHashMap<(String, String), (usize, usize, usize)>,
}

impl Nameless {
    fn is_new(&mut self, page: usize, entry: &Entry) -> bool {
        let alike = (entry.reason.clone(), entry.excerpt.clone());
        let (known, last, of_page) = self.met.entry(alike).or_insert((0, page, 0));
        if *last != page {
            (*last, *of_page) = (page, 0);
        }
        *of_page += 1;
        let is_new = *of_page > *known;
        *known = (*known).max(*of_page);
        is_new
    }
}
