use data_index::Release;
use data_model::CurrencyCode;
use rustc_hash::FxHashSet;

use super::fuse::FusedRow;
use super::query::SearchQuery;
use crate::context::SearchContext;
use crate::lexical::{Correction, LexicalHits, Relaxation, RowSet, Synonym, tier};
use crate::request::Mode;
use crate::semantic::DegradedReason;

/// Products of a search, with notes on the search.
#[derive(Debug)]
pub struct Answer {
    /// Products, best first.
    pub rows: Vec<FusedRow>,
    /// True if more products follow.
    pub more: bool,
    /// Search engine that was used.
    pub engine: Mode,
    /// Reason for a search without meaning although meaning was requested.
    pub degraded: Option<DegradedReason>,
    /// Degree to which the requirement of every word was relaxed.
    pub relaxed: Relaxation,
    /// Words that replaced words which no product has.
    pub corrections: Vec<Correction>,
    /// Words that were searched in addition to the query's own.
    pub synonyms: Vec<Synonym>,
    /// Rows of each part that match the words before any filter, and other rows on the page or on a page of usual
    /// length. The list is empty unless requested.
    pub(crate) matches: Vec<RowSet>,
    /// True if enough products have every word, so that a filter may shorten the page.
    pub(crate) fits: bool,
    /// True if the last word of the query was completed as a prefix.
    pub(super) completed: bool,
}

impl Answer {
    pub(super) fn new(rows: Vec<FusedRow>, engine: Mode, degraded: Option<DegradedReason>) -> Self {
        Self {
            rows,
            more: false,
            engine,
            degraded,
            relaxed: Relaxation::No,
            corrections: Vec::new(),
            synonyms: Vec::new(),
            matches: Vec::new(),
            fits: false,
            completed: false,
        }
    }

    pub(crate) fn has_every_word(&self) -> bool {
        let is_whole = |row: &FusedRow| row.by_words.is_some_and(|found| found.tier >= tier::ALL);
        self.rows.iter().any(is_whole)
    }

    /// Returns the currency of most products that fit as well as the best. The first product decides a tie.
    pub(crate) fn currency(&self, release: &Release) -> Option<CurrencyCode> {
        let tier = |row: &FusedRow| row.by_words.map_or(0, |found| found.tier);
        let best = self.rows.first().map(tier)?;
        let fitting = self.rows.iter().filter(|row| tier(row) == best);
        let held: Vec<CurrencyCode> = fitting
            .filter_map(|row| Some(release.part(row.at.part)?.cards().currency(row.at.row)))
            .collect();
        let count = |currency: &&CurrencyCode| held.iter().filter(|other| other == currency).count();
        held.iter().rev().max_by_key(count).copied()
    }

    /// Appends the rows of another search, up to `limit` rows in total.
    pub(crate) fn add(&mut self, other: Self, limit: usize) {
        let known: FxHashSet<_> = self.rows.iter().map(|row| row.at).collect();
        self.rows
            .extend(other.rows.into_iter().filter(|row| !known.contains(&row.at)));
        self.more |= other.more || self.rows.len() > limit;
        self.rows.truncate(limit);
    }

    fn relaxed(&self) -> Relaxation {
        let words = self.rows.iter().map(|row| row.by_words);
        if self.completed {
            Relaxation::Prefix
        } else if self.engine == Mode::Hybrid && !self.rows.is_empty() && words.clone().all(|found| found.is_none()) {
            Relaxation::Meaning
        } else {
            Relaxation::of(words.flatten().map(|found| found.tier))
        }
    }

    /// Adds the notes of the lexical search.
    pub(super) fn telling(self, found: LexicalHits) -> Self {
        Self {
            corrections: found.corrections,
            synonyms: found.synonyms,
            matches: found.matches,
            fits: found.fits,
            completed: found.completed.is_some() && !found.hits.is_empty(),
            ..self
        }
    }

    /// Truncates the rows to the page. If matches are requested, the page's rows are added to them, unless enough
    /// products have every word. A search by meaning or similarity has no other matches, because both are matters of
    /// degree.
    pub(super) fn cut(&mut self, served: &SearchContext, query: &SearchQuery<'_>) {
        self.more = self.rows.len() > query.limit;
        self.rows.truncate(query.page());
        if query.with_matches && (self.matches.is_empty() || !self.fits) {
            if self.matches.is_empty() {
                self.matches = RowSet::none_of(&served.release);
            }
            for row in &self.rows {
                if let Some(rows) = self.matches.get_mut(row.at.part as usize) {
                    rows.insert(row.at.row);
                }
            }
        }
        self.rows.truncate(query.limit);
        self.relaxed = self.relaxed();
    }
}
