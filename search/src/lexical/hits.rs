use data_index::RowAddress;

use super::categories::QuerySubject;
use super::repair::Correction;
use super::rows::RowSet;
use super::synonyms::Synonym;
use super::tier;

/// Degree to which the requirement of every term was relaxed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Relaxation {
    /// Not relaxed: every hit has all terms.
    No,
    /// Some hits lack one term.
    AllButOne,
    /// Some hits have only some of the terms.
    AnyTerm,
    /// The last word of the query was completed as a prefix.
    Prefix,
    /// No product has the words, so the returned products are near in meaning.
    Meaning,
}

impl Relaxation {
    /// Returns the relaxation for hits of these tiers.
    pub(crate) fn of(tiers: impl Iterator<Item = u8>) -> Self {
        match tiers.min() {
            Some(tier::ANY) => Self::AnyTerm,
            Some(tier::ALL_BUT_ONE) => Self::AllButOne,
            _ => Self::No,
        }
    }

    /// Returns the name in API responses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::No => "none",
            Self::AllButOne => "all_but_one",
            Self::AnyTerm => "any_term",
            Self::Prefix => "prefix",
            Self::Meaning => "meaning",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ScoredRow {
    pub(crate) at: RowAddress,
    /// Tier of the hit. See [`tier`].
    pub(crate) tier: u8,
    /// Score within the tier. Only scores of the same query are comparable.
    pub(crate) score: f32,
}

#[derive(Debug)]
pub(crate) struct LexicalHits {
    pub(crate) hits: Vec<ScoredRow>,
    /// True if there were enough products with every word.
    pub(crate) suffices: bool,
    /// True if enough products have every word, so that a filter may shorten the page.
    pub(crate) fits: bool,
    /// Likeliest completion of the last word, if that was a prefix.
    pub(crate) completed: Option<Correction>,
    /// Words that replaced words which no product has.
    pub(crate) corrections: Vec<Correction>,
    /// Words that were searched in addition to the query's own.
    pub(crate) synonyms: Vec<Synonym>,
    /// Product that the query names.
    pub(crate) named: QuerySubject,
    /// Rows of each part that match before any filter, if requested. They have every word of the corrected query, or
    /// the query as their code. If there are none, they lack one word, or else have any word.
    pub(crate) matches: Vec<RowSet>,
}

impl LexicalHits {
    /// Returns hits without scores.
    pub(super) fn plain(rows: Vec<RowAddress>) -> Self {
        let plain = |at| ScoredRow {
            at,
            tier: tier::ALL,
            score: 0.0,
        };
        Self {
            hits: rows.into_iter().map(plain).collect(),
            suffices: false,
            fits: false,
            completed: None,
            corrections: Vec::new(),
            synonyms: Vec::new(),
            named: QuerySubject::default(),
            matches: Vec::new(),
        }
    }
}
