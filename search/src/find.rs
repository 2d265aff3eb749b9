//! A search from its request to its result: the meaning of the request, the products, and the counts.

use data_model::CurrencyCode;

use crate::browse::{Counts, Scope};
use crate::context::SearchContext;
use crate::hybrid::{self, SearchQuery, finds_any};
use crate::lexical::{AllowedRows, Narrowing};
use crate::phrase::PhraseReading;
use crate::plan::SearchPlan;
use crate::request::{Conditions, Fold, SearchRequest};
use crate::size_search::{Fallback, SizeSearch};

/// The products and the counts of a search.
#[derive(Debug)]
pub struct SearchResult<'a> {
    /// The products, and how they were found.
    pub found: hybrid::Answer,
    /// The readings of the text.
    pub phrases: Vec<PhraseReading>,
    /// The currency of price filters, price sorts and of the prices that are counted.
    pub currency: CurrencyCode,
    /// True where prices decide which products are answered, or in which order.
    pub is_by_price: bool,
    /// Counts of all that the search is about, where they are asked for.
    pub counts: Option<Counts<'a>>,
    /// True where a price filter leaves out products for their currency alone.
    pub left_out: bool,
}

/// The best products for a request, and counts of all that it is about.
pub fn search<'a>(served: &'a SearchContext, request: &SearchRequest, conditions: &Conditions) -> SearchResult<'a> {
    let PlannedSearch { plan, found } = found(served, request, conditions);
    SearchResult {
        counts: plan.counts().then(|| counts(served, &plan, &found)),
        left_out: left_out(served, &plan),
        currency: plan.currency,
        is_by_price: plan.is_by_price(),
        phrases: plan.reading.phrases,
        found,
    }
}

/// The products that a plan finds.
fn find(served: &SearchContext, plan: &SearchPlan) -> hybrid::Answer {
    asked(served, plan, plan.filter(&served.release), hybrid::search)
}

/// True where a price filter leaves out products for their currency alone.
fn left_out(served: &SearchContext, plan: &SearchPlan) -> bool {
    if !served.browse.has_other_than(plan.currency) {
        return false;
    }
    match plan.other_currencies(&served.release) {
        Some(others) => asked(served, plan, Some(others), finds_any),
        None => false,
    }
}

/// Asks a plan's query of the rows that pass the filter.
fn asked<T>(
    served: &SearchContext,
    plan: &SearchPlan,
    filter: Option<data_index::Filter>,
    search: impl FnOnce(&SearchContext, &SearchQuery<'_>) -> T,
) -> T {
    let scope = plan.scope(&served.release);
    let kind_filters = plan.kind_filters(served);
    let typed: Vec<_> = plan.reading.translated().collect();
    let of_all = served.safe_rows().filter(|_| plan.is_blank() || plan.is_for_somebody());
    let query = SearchQuery {
        text: &plan.text,
        typed: &typed,
        mode: plan.mode,
        narrowing: Narrowing {
            filter: filter.as_ref(),
            scope: scope.as_ref(),
            kind: plan.kind.as_deref(),
            allowed: plan.reading.constrained.allowed.as_ref().or(of_all),
            is_narrower: plan.narrows(),
        },
        doubtful: plan.reading.constrained.doubtful.as_ref(),
        is_for_somebody: plan.is_for_somebody(),
        kind_filters: &kind_filters,
        sense: plan.sense.as_deref(),
        order: plan.listed_order(),
        superlative: plan.reading.superlative,
        currency: plan.currency,
        limit: plan.limit,
        per_brand_max: plan.per_brand_max,
        folded: plan.fold == Fold::Color,
        similar_to: plan.similar_to,
        with_matches: plan.counts(),
    };
    search(served, &query)
}

/// The meaning of a request on this release, and the products that it finds.
struct PlannedSearch {
    plan: SearchPlan,
    found: hybrid::Answer,
}

fn found(served: &SearchContext, request: &SearchRequest, conditions: &Conditions) -> PlannedSearch {
    let first = planned(served, request, conditions, false);
    if first.found.has_every_word() {
        return first;
    }
    let mut others = fallbacks(request, &first.plan).map(|fallback| {
        let mut other = planned(served, &fallback.request, conditions, fallback.is_sure);
        if let Some(phrase) = fallback.phrase {
            other.plan.reading.tell(phrase, request.text.as_str());
        }
        other
    });
    others.find(|other| other.found.has_every_word()).unwrap_or(first)
}

/// Other ways to understand a request, in the order in which they are tried until one finds every word: a possible
/// price as a name, then a size as products state it.
fn fallbacks(request: &SearchRequest, first: &SearchPlan) -> impl Iterator<Item = Fallback> + use<> {
    // Only a text with a number has a price that may be a name.
    let has_number = request.text.as_str().chars().any(char::is_numeric);
    let named = (has_number && first.may_be_named()).then(|| Fallback {
        request: request.clone(),
        phrase: None,
        is_sure: true,
    });
    named
        .into_iter()
        .chain(SizeSearch::of(request).into_iter().flat_map(SizeSearch::fallbacks))
}

fn planned(served: &SearchContext, request: &SearchRequest, conditions: &Conditions, is_sure: bool) -> PlannedSearch {
    let mut plan = SearchPlan::of(served, request, conditions, is_sure);
    if let Some(filter) = plan
        .of_any_price(&served.release)
        .filter(|_| served.browse.has_other_than(plan.currency))
    {
        let found = asked(served, &plan, Some(filter), hybrid::search);
        plan.price_as(found.currency(&served.release).unwrap_or(plan.currency));
    }
    let mut found = find(served, &plan);
    for fallback in SearchPlan::FALLBACKS {
        if fallback(&mut plan, &found) {
            found = find(served, &plan);
        }
    }
    if let Some(wider) = plan.wider().filter(|_| found.rows.len() < plan.limit) {
        found.add(find(served, &wider), plan.limit);
    }
    let own = std::mem::take(&mut found.synonyms);
    found.synonyms = plan.reading.translated().chain(own).collect();
    PlannedSearch { plan, found }
}

/// Counts what a search is about: every product that its words match before any filter, and all others that are shown.
fn counts<'a>(served: &'a SearchContext, plan: &SearchPlan, found: &hybrid::Answer) -> Counts<'a> {
    let brand = plan.brand_scope(&served.release);
    let blank = plan.text.trim().is_empty() && plan.similar_to.is_none();
    let matches = match brand {
        Err(()) => Some(&[][..]),
        Ok(_) if plan.is_blank() => served.safe_rows().map(AllowedRows::parts),
        Ok(_) if blank => None,
        Ok(_) => Some(&*found.matches),
    };
    let of_kinds = plan.of_kinds(&served.release).map(|kinds| match matches {
        None => kinds,
        Some(matches) => kinds
            .into_iter()
            .zip(matches)
            .map(|(kinds, matches)| kinds.and(matches.clone()))
            .collect(),
    });
    let filter = plan.counted_filter();
    let scope = Scope {
        category: None,
        brand: brand.unwrap_or_default(),
        kinds: filter.kinds,
        matches: of_kinds.as_deref().or(matches),
    };
    served.browse.counts(&served.release, &scope, &filter, plan.counted())
}
