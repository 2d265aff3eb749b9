use data_index::Release;
use data_model::CurrencyCode;
use rustc_hash::FxHashSet;

use super::fuse::FusedRow;
use super::query::SearchQuery;
use crate::context::SearchContext;
use crate::lexical::{Correction, LexicalHits, Relaxation, RowSet, Synonym, tier};
use crate::request::Mode;
use crate::semantic::DegradedReason;

/// The products of a search, and the way in which they were found.
#[derive(Debug)]
pub struct Answer {
    /// Best first.
    pub rows: Vec<FusedRow>,
    /// True where there are products beyond those.
    pub more: bool,
    /// The mode that was searched with.
    pub engine: Mode,
    /// The reason why meaning was left out though it was asked for.
    pub degraded: Option<DegradedReason>,
    /// The extent to which the demand for every word was given up.
    pub relaxed: Relaxation,
    /// Words that were looked for in place of words that no product holds.
    pub corrections: Vec<Correction>,
    /// Words that were looked for beside the query's own.
    pub synonyms: Vec<Synonym>,
    /// The rows of each part that the words match before any filter, with all others that are shown, or would be on a
    /// page of usual length. Empty unless they were asked for.
    pub(crate) matches: Vec<RowSet>,
    /// True where so many products have every word that filters leave of them what they leave.
    pub(super) fits: bool,
    /// True where the query's last word stood for the words that begin with it.
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

    /// True where any product was found that has every word.
    pub(crate) fn has_every_word(&self) -> bool {
        let is_whole = |row: &FusedRow| row.by_words.is_some_and(|found| found.tier >= tier::ALL);
        self.rows.iter().any(is_whole)
    }

    /// The currency of most products that fit as well as the best; of two, that of the first product.
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

    /// Adds the rows of another search behind its own, up to so many.
    pub(crate) fn add(&mut self, other: Self, limit: usize) {
        let known: FxHashSet<_> = self.rows.iter().map(|row| row.at).collect();
        self.rows
            .extend(other.rows.into_iter().filter(|row| !known.contains(&row.at)));
        self.more |= other.more || self.rows.len() > limit;
        self.rows.truncate(limit);
    }

    /// The extent to which its rows lack words of the query.
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

    /// The same with the notes of the search by words on the way.
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

    /// Leaves as many rows as a query asks for. Rows that were found by meaning alone or by fewer words count besides
    /// those that the words match, unless filters would leave it out; meaning alone, and likeness to a product, match
    /// to a degree: there is no set but the shown rows.
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
