use data_index::Release;
use data_model::CurrencyCode;
use rustc_hash::FxHashSet;

use super::fuse::FusedRow;
use super::question::Question;
use crate::context::SearchContext;
use crate::lexical::{Correction, Found, Relaxed, RowSet, Synonym, tier};
use crate::request::Mode;
use crate::semantic::Lacking;

/// What a search found, and how.
#[derive(Debug)]
pub struct Answer {
    /// Best first.
    pub rows: Vec<FusedRow>,
    /// True where there are products beyond those.
    pub more: bool,
    /// What was searched with.
    pub engine: Mode,
    /// Why meaning was left out though it was asked for.
    pub degraded: Option<Lacking>,
    /// How far the demand for every word was let go.
    pub relaxed: Relaxed,
    /// Words that were looked for in place of words that no product holds.
    pub corrections: Vec<Correction>,
    /// Words that were looked for beside the query's own.
    pub synonyms: Vec<Synonym>,
    /// Where it was asked for, what the words match, before any filter, and what else is shown, or would be on a page of
    /// usual length: rows of each part.
    pub(crate) matches: Vec<RowSet>,
    /// True where so many products have every word that filters leave of them what they leave.
    pub(super) fits: bool,
    /// True where the query's last word stood for the words that begin with it.
    pub(super) completed: bool,
}

impl Answer {
    pub(super) fn new(rows: Vec<FusedRow>, engine: Mode, degraded: Option<Lacking>) -> Self {
        Self {
            rows,
            more: false,
            engine,
            degraded,
            relaxed: Relaxed::No,
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

    /// The currency that most of what fits as well as the best is sold in; of two the one of what stands first.
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

    /// Adds what another search found behind its own rows, up to so many.
    pub(crate) fn add(&mut self, other: Self, limit: usize) {
        let known: FxHashSet<_> = self.rows.iter().map(|row| row.at).collect();
        self.rows
            .extend(other.rows.into_iter().filter(|row| !known.contains(&row.at)));
        self.more |= other.more || self.rows.len() > limit;
        self.rows.truncate(limit);
    }

    /// How far its rows are from having every word.
    fn relaxed(&self) -> Relaxed {
        let words = self.rows.iter().map(|row| row.by_words);
        if self.completed {
            Relaxed::Prefix
        } else if self.engine == Mode::Hybrid && !self.rows.is_empty() && words.clone().all(|found| found.is_none()) {
            Relaxed::Meaning
        } else {
            Relaxed::of(words.flatten().map(|found| found.tier))
        }
    }

    /// With what was found by words on the way.
    pub(super) fn telling(self, found: Found) -> Self {
        Self {
            corrections: found.corrections,
            synonyms: found.synonyms,
            matches: found.matches,
            fits: found.fits,
            completed: found.completed.is_some() && !found.hits.is_empty(),
            ..self
        }
    }

    /// Leaves as many rows as a question asks for. What was found by meaning alone or by fewer words counts besides what the
    /// words match, unless filters would leave it out; meaning alone, and likeness to a product, match to a degree: there is no
    /// set but what is shown.
    pub(super) fn cut(&mut self, served: &SearchContext, question: &Question<'_>) {
        self.more = self.rows.len() > question.limit;
        self.rows.truncate(question.page());
        if question.with_matches && (self.matches.is_empty() || !self.fits) {
            if self.matches.is_empty() {
                self.matches = RowSet::none_of(&served.release);
            }
            for row in &self.rows {
                if let Some(rows) = self.matches.get_mut(row.at.part as usize) {
                    rows.insert(row.at.row);
                }
            }
        }
        self.rows.truncate(question.limit);
        self.relaxed = self.relaxed();
    }
}
