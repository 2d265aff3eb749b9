use data_index::RowAddress;

use super::categories::QuerySubject;
use super::repair::Correction;
use super::rows::RowSet;
use super::synonyms::Synonym;
use super::tier;

/// The extent to which the demand for every term was given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Relaxation {
    /// Not at all.
    No,
    /// Some hits lack one term.
    AllButOne,
    /// Some hits hold only some of the terms.
    AnyTerm,
    /// The query's last word stood for the words that begin with it.
    Prefix,
    /// No product has the words: the answered products are near in meaning.
    Meaning,
}

impl Relaxation {
    /// The extent that hits of these tiers show.
    pub(crate) fn of(tiers: impl Iterator<Item = u8>) -> Self {
        match tiers.min() {
            Some(tier::ANY) => Self::AnyTerm,
            Some(tier::ALL_BUT_ONE) => Self::AllButOne,
            _ => Self::No,
        }
    }

    /// The name that answers spell it by.
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

/// A product that was found, and how well it fits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ScoredRow {
    pub(crate) at: RowAddress,
    /// One of [`tier`]'s.
    pub(crate) tier: u8,
    /// Comes after the tier; means nothing beside the scores of another query.
    pub(crate) score: f32,
}

/// The hits of a search by words.
#[derive(Debug)]
pub(crate) struct LexicalHits {
    /// The best products first.
    pub(crate) hits: Vec<ScoredRow>,
    /// True where there were enough products with every word.
    pub(crate) suffices: bool,
    /// True where they are so many that filters leave of them what they leave.
    pub(crate) fits: bool,
    /// The last word where it stood for the words that begin with it, and the likeliest of these.
    pub(crate) completed: Option<Correction>,
    /// Words that were looked for in place of words that no product holds.
    pub(crate) corrections: Vec<Correction>,
    /// Words that were looked for beside the query's own.
    pub(crate) synonyms: Vec<Synonym>,
    /// The thing that the query names.
    pub(crate) named: QuerySubject,
    /// The rows of each part that the search is about before any filter, where they were asked for: those that hold
    /// every word, as the query was finally understood, and those whose code it is; where there are none, those that
    /// lack one word, else those that hold any.
    pub(crate) matches: Vec<RowSet>,
}

impl LexicalHits {
    /// Products that no word decided about.
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
