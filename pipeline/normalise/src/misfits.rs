//! The records and variants of a catalogue that could not be understood, each once however many pages list it.

use data_model::{Quarantined, StoreHost};
use data_text::escaped_line;
use pipeline_parse::EXCERPT_BYTES_MAX;
use rustc_hash::FxHashMap;

use crate::product::REASON_CHARS_MAX;

/// Quarantine entries kept of one catalogue; beyond it records are left out without one.
pub const QUARANTINE_MAX: usize = 10_000;

/// A record, or a part of one, that could not be understood.
#[derive(Debug)]
pub(crate) struct Entry {
    /// The record's id, where it has one.
    pub(crate) id: Option<u64>,
    /// The place among the page's products of the one that was made of the record all the same.
    pub(crate) row: Option<usize>,
    pub(crate) position: usize,
    pub(crate) reason: String,
    pub(crate) excerpt: String,
}

impl Entry {
    /// The entry with reason and excerpt as an operator may read them: each on one line of bounded length.
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

/// The place of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PagePlace {
    /// The number of its page.
    pub page: usize,
    /// The number of its row among those of the page that were understood.
    pub row: usize,
}

/// The entries of a catalogue's pages.
#[derive(Debug, Default)]
pub(crate) struct Misfits {
    /// In the order of the pages, each with its page.
    entries: Vec<(usize, Entry)>,
}

impl Misfits {
    /// Takes in the entries of a page.
    pub(crate) fn note(&mut self, page: usize, entries: Vec<Entry>) {
        let room = QUARANTINE_MAX.saturating_sub(self.entries.len());
        self.entries
            .extend(entries.into_iter().take(room).map(|entry| (page, entry)));
    }

    /// One entry for each record and variant: of a record without a product that of the last page that lists it, of a
    /// product those of the page and row that it was taken from, which `place` gives. They are sorted so that where a
    /// page ends makes no difference.
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
        // Entries of one product stay as its variants are.
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

/// Records without an id: those of a page that read like those of a page before it are the same ones, listed again.
#[derive(Debug, Default)]
struct Nameless {
    /// By reason and text: how many there are, the page that was read last, and how many of it were met.
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
