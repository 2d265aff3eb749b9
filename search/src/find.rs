//! Entry point of a search, which plans the request, finds the products, and counts facets.

use data_model::CurrencyCode;

use crate::browse::{Counts, Scope};
use crate::context::SearchContext;
use crate::hybrid::{self, SearchQuery, finds_any};
use crate::lexical::{AllowedRows, Narrowing, Order};
use crate::phrase::PhraseReading;
use crate::plan::SearchPlan;
use crate::request::{Conditions, Fold, SearchRequest};
use crate::size_search::{Fallback, SizeSearch};

/// Products and facet counts of a search.
#[derive(Debug)]
pub struct SearchResult<'a> {
    /// Products, with notes on the search.
    pub found: hybrid::Answer,
    /// Interpreted phrases of the text, with their effects.
    pub phrases: Vec<PhraseReading>,
    /// Currency of price filters, price sorts and price counts.
    pub currency: CurrencyCode,
    /// True if prices filter or order the products.
    pub is_by_price: bool,
    /// Counts of all matching products, if requested.
    pub counts: Option<Counts<'a>>,
    /// True if the price filter excluded products only because of their currency.
    pub left_out: bool,
}

/// Finds the best products for a request, and counts all matching ones.
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

fn find(served: &SearchContext, plan: &SearchPlan) -> hybrid::Answer {
    asked(served, plan, plan.filter(&served.release), hybrid::search)
}

/// Returns true if a price filter excludes products only because of their currency.
fn left_out(served: &SearchContext, plan: &SearchPlan) -> bool {
    if !served.browse.has_other_than(plan.currency) {
        return false;
    }
    match plan.other_currencies(&served.release) {
        Some(others) => asked(served, plan, Some(others), finds_any),
        None => false,
    }
}

/// Runs a plan's query on the rows that pass the filter.
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
        mentions: &plan.reading.constrained.mentions,
        is_sentence: plan.reading.is_sentence,
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

struct PlannedSearch {
    plan: SearchPlan,
    found: hybrid::Answer,
}

impl PlannedSearch {
    /// Returns true if products that lack words were added to those that have every word.
    fn adds_others(&self) -> bool {
        self.plan.listed_order() == Order::Relevance && self.plan.finds_by_words() && !self.found.fits
    }
}

/// Finds the products for a request. If the search without the facets adds products that lack words, the facets only
/// select among what that search counts, so that a facet value finds as many products as it counts.
fn found(served: &SearchContext, request: &SearchRequest, conditions: &Conditions) -> PlannedSearch {
    let all = interpreted(served, request, conditions, None);
    let whole = request.without_facets().filter(|_| all.adds_others());
    let Some(whole) = whole.map(|whole| interpreted(served, &whole, conditions, None)) else {
        return all;
    };
    let counted = AllowedRows::of(whole.found.matches);
    let mut selected = interpreted(served, request, conditions, Some(&counted));
    if selected.found.rows.is_empty() {
        return all;
    }
    selected.found.matches = counted.into_parts();
    selected
}

/// Finds the products for a request, among these rows if they are given. If no product has every word, other
/// interpretations of the request are tried.
fn interpreted(
    served: &SearchContext,
    request: &SearchRequest,
    conditions: &Conditions,
    among: Option<&AllowedRows>,
) -> PlannedSearch {
    let planned = |request: &SearchRequest, is_sure| {
        let mut plan = SearchPlan::of(served, request, conditions, is_sure);
        if let Some(rows) = among {
            plan.reading.constrained.allowed = Some(rows.clone());
        }
        planned(served, plan)
    };
    let first = planned(request, false);
    if first.found.has_every_word() {
        return first;
    }
    let mut others = fallbacks(request, &first.plan).map(|fallback| {
        let mut other = planned(&fallback.request, fallback.is_sure);
        if let Some(phrase) = fallback.phrase {
            other.plan.reading.tell(phrase, request.text.as_str());
        }
        other
    });
    others.find(|other| other.found.has_every_word()).unwrap_or(first)
}

/// Returns alternative interpretations in the order of trying, until one finds every word. The first one treats a
/// possible price as a name. The second one treats a size as products state it.
fn fallbacks(request: &SearchRequest, first: &SearchPlan) -> impl Iterator<Item = Fallback> + use<> {
    // Only a text with a number can have a price that may be a name.
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

/// Finds the products of a plan, and relaxes the plan where it finds too little.
fn planned(served: &SearchContext, mut plan: SearchPlan) -> PlannedSearch {
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

/// Counts facets over every displayable product that the search's words match before any filter.
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
