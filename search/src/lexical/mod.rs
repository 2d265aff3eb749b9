//! Lexical retrieval: the products that contain the terms of a query, best first.
//!
//! The first pass finds the products that contain *every* term in some field. It advances all lists in step, rarest
//! term first, so that common terms are mostly skipped. Only if it finds too few products, a second pass adds up scores
//! over *any* term.
//!
//! Filters apply within both passes, but the second pass depends on the number of products before filters. If enough
//! products contain every term, a filtered page may therefore be short, and the facet counts predict the size of the
//! page.

mod alone;
mod browse;
mod candidate_buffer;
mod categories;
mod collector;
mod constraints;
mod cursor;
mod either;
mod exact;
mod forms;
mod group;
mod groups;
mod hits;
mod index;
mod languages;
mod lexical_query;
mod lists;
mod marked;
mod matches;
mod narrowing;
mod numbers;
mod orthography;
mod part_collector;
mod phrase;
mod prefix;
mod query;
mod relaxed;
mod repair;
mod rows;
mod score;
mod sizes;
mod spoken;
mod strict;
mod synonyms;
mod term;
mod terms;
#[cfg(test)]
pub(crate) mod tests;
pub mod tier;
mod top;
mod typed;
mod vocabulary;
mod whole;
mod window;
mod work;

pub(crate) use browse::listed;
pub(crate) use categories::{Purpose, QuerySubject, Thing};
pub(crate) use constraints::{ConstrainedRows, Constraint, Constraints, Mention, is_name};
pub use exact::coded;
pub use hits::Relaxation;
pub(crate) use hits::{LexicalHits, ScoredRow};
pub(crate) use index::TextIndex;
pub(crate) use lexical_query::LexicalQuery;
pub(crate) use narrowing::Narrowing;
pub use repair::Correction;
pub(crate) use rows::{AllowedRows, RowSet};
pub(crate) use score::as_float;
pub(crate) use spoken::SpokenBrands;
pub use synonyms::{Synonym, Synonyms, SynonymsError};
pub use top::Order;
pub(crate) use top::Sort;

use data_index::{Filter, Release};

use self::collector::{Collector, Search};
use self::groups::OpenGroups;
use self::matches::Marks;
use self::part_collector::FITTING_MIN;
use self::query::Query;
use self::top::{Hit, TopHits};
use self::whole::Whole;
use self::work::Work;

/// Finds the products whose words best fit `wanted`. A request without words uses [`listed`].
pub(crate) fn search(release: &Release, index: &TextIndex, wanted: &LexicalQuery<'_>) -> LexicalHits {
    let mut work = Work::new();
    find(release, index, wanted, &mut work)
}

/// Returns true if a text names a product by the name of a category.
pub(crate) fn names_category(release: &Release, index: &TextIndex, text: &str) -> bool {
    let wanted = LexicalQuery {
        as_typed: false,
        ..LexicalQuery::best(text)
    };
    !Query::of(release, index, &wanted).named.categories.is_empty()
}

fn find(release: &Release, index: &TextIndex, wanted: &LexicalQuery<'_>, work: &mut Work) -> LexicalHits {
    let query = Query::of(release, index, wanted);
    if wanted.narrowing.filter.is_some_and(Filter::is_empty) && !wanted.with_matches {
        return LexicalHits {
            corrections: query.corrections,
            synonyms: query.synonyms,
            ..LexicalHits::plain(Vec::new())
        };
    }
    if query.terms.is_empty() {
        // No product matches a text without any word, such as `!!!`.
        return LexicalHits::plain(Vec::new());
    }
    let by_relevance = wanted.sort.order == Order::Relevance;
    let top_max = if by_relevance {
        phrase::candidates(wanted.limit)
    } else {
        wanted.limit
    };
    let search = Search {
        release,
        index,
        wanted,
        whole: &Whole::of(release, &index.brand_names, wanted.text, query.terms.words()),
    };
    let marks = || Marks::none(release, index, wanted.narrowing);
    let mut collector = Collector {
        top: TopHits::new(release, wanted.sort, top_max),
        work,
        marks: wanted.with_matches.then(marks),
    };
    exact::collect(&search, &mut collector);
    let mut longer = None;
    let EveryWord { open, met } = every_word(&search, &query, &mut longer, &mut collector);
    // In an order by price or date, less relevant rows could come first, so that no further rows are added.
    let (enough, found) = (if by_relevance { wanted.enough } else { 1 }, collector.top.len());
    let fits = found > 0 && found.max(met) >= FITTING_MIN;
    let suffices = found >= enough || (fits && met >= FITTING_MIN);
    if !suffices && open.len() > 1 {
        relaxed::collect(&search, &open, &mut collector);
    }
    let Collector { top, marks, .. } = collector;
    let mut hits = top.into_sorted();
    if by_relevance {
        phrase::promote(release, &query.terms, &mut hits);
    } else if let Some(best) = hits.iter().map(|hit| hit.tier).max() {
        hits.retain(|hit| hit.tier == best);
    }
    hits.truncate(wanted.limit);
    let query = longer.unwrap_or(query);
    LexicalHits {
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

struct EveryWord<'a> {
    open: OpenGroups<'a>,
    /// Number of products with every word before the filter.
    met: usize,
}

/// Collects the products with every word. If there are none, the last word is also completed to longer words, and
/// `longer` is set to the completed query.
fn every_word<'a>(
    search: &Search<'a>,
    query: &'a Query,
    longer: &'a mut Option<Query>,
    collector: &mut Collector<'_, '_>,
) -> EveryWord<'a> {
    let Search { release, index, .. } = *search;
    let open = query.open(release, index);
    let met = strict::collect(search, &open, collector);
    let is_held = open.known.iter().all(|known| *known);
    if search.wanted.as_typed || collector.top.len() > 0 || met > 0 || !is_held {
        return EveryWord { open, met };
    }
    let Some(continued) = query.continued(index, search.wanted.text) else {
        return EveryWord { open, met };
    };
    let found = strict::collect(search, &continued.open(release, index), collector);
    if collector.top.len() == 0 && found == 0 {
        return EveryWord { open, met };
    }
    EveryWord {
        open: longer.insert(continued).open(release, index),
        met: found,
    }
}
