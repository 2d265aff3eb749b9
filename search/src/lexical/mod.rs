//! Retrieval by words: which products hold the terms of a query, best first.
//!
//! One pass finds the products that hold *every* term in some field (documents in step, rarest term first, so that
//! common terms are skipped through). Only when those are too few does a second pass add up scores over *any* term.
//! Filters are asked inside both passes, but whether there are too few is asked before them: where a page can be filled
//! with what fits, a filter leaves of it what it leaves, as the counts of facets foretell.

mod alone;
mod browse;
mod categories;
mod cursor;
mod demands;
mod exact;
mod forms;
mod groups;
mod index;
mod languages;
mod lists;
mod marked;
mod matches;
mod numbers;
mod orthography;
mod phrase;
mod prefix;
mod query;
mod relaxed;
mod repair;
mod score;
mod sieve;
mod sizes;
mod spoken;
mod strict;
mod synonyms;
mod terms;
#[cfg(test)]
pub(crate) mod tests;
mod top;
mod vocabulary;
mod whole;
mod window;

pub(crate) use browse::listed;
pub(crate) use categories::{Named, Purpose, Thing};
pub(crate) use demands::{Allowed, Demanded, Demands, is_name};
pub use exact::coded;
pub(crate) use index::{TextIndex, as_float};
pub(crate) use matches::RowSet;
pub use repair::Correction;
pub(crate) use spoken::SpokenBrands;
pub use synonyms::{Synonym, Synonyms, SynonymsError};
pub use top::Order;
pub(crate) use top::{TopHits, order_key};

use data_index::{Filter, Release, RowAddress};
use data_model::CurrencyCode;

use self::groups::OpenGroups;
use self::matches::Marks;
use self::query::Query;
use self::top::Hit;
use self::whole::Whole;

/// How far the demand for every term was let go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Relaxed {
    /// Not at all.
    No,
    /// Some hits lack one term.
    AllButOne,
    /// Some hits hold only some of the terms.
    AnyTerm,
    /// The query's last word stood for the words that begin with it.
    Prefix,
    /// No product has the words: what is answered is near in meaning.
    Meaning,
}

impl Relaxed {
    /// What hits of these tiers tell.
    pub(crate) fn of(tiers: impl Iterator<Item = u8>) -> Self {
        match tiers.min() {
            Some(tier::ANY) => Self::AnyTerm,
            Some(tier::ALL_BUT_ONE) => Self::AllButOne,
            _ => Self::No,
        }
    }

    /// The name that answers spell it by.
    #[must_use]
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

/// What a search found.
#[derive(Debug)]
pub(crate) struct Found {
    /// The best products first.
    pub(crate) hits: Vec<ScoredRow>,
    /// Whether there were enough products with every word.
    pub(crate) suffices: bool,
    /// Whether they are so many that filters leave of them what they leave.
    pub(crate) fits: bool,
    /// The last word where it stood for the words that begin with it, and the likeliest of these.
    pub(crate) completed: Option<Correction>,
    /// Words that were looked for in place of words that no product holds.
    pub(crate) corrections: Vec<Correction>,
    /// Words that were looked for beside the query's own.
    pub(crate) synonyms: Vec<Synonym>,
    /// What the query says the thing is.
    pub(crate) named: Named,
    /// Where they were wanted, the rows of each part that the search is about before any filter: those that hold every
    /// word, as the query was finally understood, and those whose code it is; where there are none, those that lack one
    /// word, else those that hold any.
    pub(crate) matches: Vec<RowSet>,
}

impl Found {
    /// Products that no word decided about.
    fn plain(rows: Vec<RowAddress>) -> Self {
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
            named: Named::default(),
            matches: Vec::new(),
        }
    }
}

/// What is looked for.
#[derive(Debug)]
pub(crate) struct Wanted<'a> {
    pub(crate) text: &'a str,
    /// Only the words that the text has: none is mended or taken for the beginning of another.
    pub(crate) as_typed: bool,
    pub(crate) filter: Option<&'a Filter>,
    /// What of `filter` says where to look: the brand.
    pub(crate) scope: Option<&'a Filter>,
    /// The rows that may be found, where there are others.
    pub(crate) allowed: Option<&'a Allowed>,
    /// Whether `filter` leaves products of the scope out.
    pub(crate) narrowed: bool,
    pub(crate) order: Order,
    /// What prices are ordered in first.
    pub(crate) currency: Option<CurrencyCode>,
    pub(crate) limit: usize,
    /// So many products with every word make it needless to look for others.
    pub(crate) enough: usize,
    /// Whether all that the search is about is asked for, and not the best alone.
    pub(crate) with_matches: bool,
}

/// Tiers of hits: a hit of a higher tier stands before every hit of a lower one.
pub mod tier {
    /// Holds some of the words.
    pub const ANY: u8 = 1;
    /// Lacks one of them.
    pub const ALL_BUT_ONE: u8 = 2;
    /// Holds them all.
    pub const ALL: u8 = 3;
    /// Is of the brand whose name the query is.
    pub const BRAND: u8 = 4;
    /// Has a SKU or a handle that the query is.
    pub const CODE: u8 = 5;
    /// Has the title that the query is.
    pub const TITLE: u8 = 6;
    /// Has both.
    pub const TITLE_AND_CODE: u8 = 7;

    /// A tier, spelled out.
    #[must_use]
    pub const fn name(tier: u8) -> &'static str {
        match tier {
            ANY => "any_term",
            ALL_BUT_ONE => "all_but_one",
            ALL => "all_terms",
            BRAND => "brand",
            CODE => "code",
            TITLE => "title",
            _ => "title_and_code",
        }
    }
}

/// How presentable a product is, as a part of its score: it decides between products that fit alike.
const QUALITY_BONUS: f32 = 1.0;

fn quality_bonus(release: &Release, part: u32, row: u32) -> f32 {
    release
        .part(part)
        .map_or(0.0, |part| QUALITY_BONUS * part.cards().quality(row))
}

/// What a search may still do. It bounds the work of a query, whatever it is and however large the catalogue.
#[derive(Debug)]
struct Work {
    steps_left: usize,
    /// See [`relaxed`].
    postings_max: u64,
    looked_up_max: usize,
    /// Postings that were decoded.
    read: u64,
}

/// Candidates for products with every word that a query looks at, times its words; beyond, what was found by then is
/// answered.
const STEPS_MAX: usize = 2_000_000;
/// Where so many products hold every word before any filter, others are looked for only where the filter leaves none.
const FITTING_MIN: usize = 20;
/// Postings that decide which products with some words are looked at; beyond, the most common words are left out of it.
const POSTINGS_MAX: u64 = 25_000;
/// How many products of each part the words that were left out are looked up for: the best so far.
const LOOKED_UP_MAX: usize = 512;

impl Work {
    const fn new() -> Self {
        Self {
            steps_left: STEPS_MAX,
            postings_max: POSTINGS_MAX,
            looked_up_max: LOOKED_UP_MAX,
            read: 0,
        }
    }

    /// Whether one more candidate may be looked at for this many words.
    #[inline]
    fn step(&mut self, words: usize) -> bool {
        self.steps_left = self.steps_left.saturating_sub(words);
        self.steps_left > 0
    }
}

/// Finds the products whose words fit `wanted` best; what is asked for without words is [`listed`].
pub(crate) fn search(release: &Release, index: &TextIndex, wanted: &Wanted<'_>) -> Found {
    let mut work = Work::new();
    find(release, index, wanted, &mut work)
}

/// True where a text says what a thing is with the name of a category.
pub(crate) fn names_category(release: &Release, index: &TextIndex, text: &str) -> bool {
    let wanted = Wanted {
        text,
        as_typed: false,
        filter: None,
        scope: None,
        allowed: None,
        narrowed: false,
        order: Order::Relevance,
        currency: None,
        limit: 1,
        enough: 1,
        with_matches: false,
    };
    !Query::of(release, index, &wanted).named.categories.is_empty()
}

fn find(release: &Release, index: &TextIndex, wanted: &Wanted<'_>, work: &mut Work) -> Found {
    let query = Query::of(release, index, wanted);
    if wanted.filter.is_some_and(Filter::is_empty) && !wanted.with_matches {
        return Found {
            corrections: query.corrections,
            synonyms: query.synonyms,
            ..Found::plain(Vec::new())
        };
    }
    if query.terms.is_empty() {
        // Text without a single word (`!!!`) asks for something that no product can hold.
        return Found::plain(Vec::new());
    }
    let by_relevance = wanted.order == Order::Relevance;
    let mut top = TopHits::new(
        release,
        (wanted.order, wanted.currency),
        if by_relevance {
            phrase::candidates(wanted.limit)
        } else {
            wanted.limit
        },
    );
    let whole = Whole::of(release, &index.brand_names, wanted.text, query.terms.words());
    let mut marks = wanted.with_matches.then(|| Marks::none(release, index, wanted.allowed));
    exact::collect(release, index, (wanted, &whole), (&mut top, marks.as_mut()));
    let mut longer = None;
    let collected = (&mut top, &mut *work, &mut marks);
    let (open, met) = every_word(release, index, (&query, &mut longer), (wanted, &whole), collected);
    // Sorted by price or date, what fits worse would stand first: then nothing is added to what fits.
    let enough = if by_relevance { wanted.enough } else { 1 };
    let fits = top.len() > 0 && top.len().max(met) >= FITTING_MIN;
    let suffices = top.len() >= enough || (fits && met >= FITTING_MIN);
    if !suffices && open.len() > 1 {
        // Where no row is marked there is no hit either, so that nothing is missed when this is left out.
        let unmarked = marks.as_mut().filter(|marks| marks.is_empty());
        relaxed::collect(release, index, &open, wanted, (&mut top, work, unmarked));
    }
    let mut hits = top.into_sorted();
    if by_relevance {
        phrase::promote(release, &query.terms, &mut hits);
    } else if let Some(best) = hits.iter().map(|hit| hit.tier).max() {
        hits.retain(|hit| hit.tier == best);
    }
    hits.truncate(wanted.limit);
    let query = longer.unwrap_or(query);
    Found {
        hits: hits.iter().map(Hit::scored).collect(),
        suffices,
        fits,
        completed: query.completed,
        corrections: query.corrections,
        synonyms: query.synonyms,
        named: query.named,
        matches: marks.map(Marks::into_sets).unwrap_or_default(),
    }
}

/// Collects the products that hold every word. Where there are none, the last word is taken for the beginning of others as
/// well: then `longer` is what the query stands for. Answers its words, and how many products were met before the filter.
fn every_word<'a>(
    release: &'a Release,
    index: &TextIndex,
    (query, longer): (&'a Query, &'a mut Option<Query>),
    (wanted, whole): (&Wanted<'_>, &Whole<'_>),
    (top, work, marks): (&mut TopHits<'_>, &mut Work, &mut Option<Marks<'_>>),
) -> (OpenGroups<'a>, usize) {
    let mut collect = |open: &OpenGroups<'_>, top: &mut TopHits<'_>| {
        strict::collect(release, index, open, (wanted, whole), (top, &mut *work, marks.as_mut()))
    };
    let open = query.open(release, index);
    let met = collect(&open, top);
    let is_held = open.known.iter().all(|known| *known);
    if wanted.as_typed || top.len() > 0 || met > 0 || !is_held {
        return (open, met);
    }
    let Some(continued) = query.continued(index, wanted.text) else {
        return (open, met);
    };
    let found = collect(&continued.open(release, index), top);
    if top.len() == 0 && found == 0 {
        return (open, met);
    }
    (longer.insert(continued).open(release, index), found)
}
