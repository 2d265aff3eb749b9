//! A search from its request to what is answered: what it means, what that finds, and what is counted.

use data_index::RowAddress;
use data_model::CurrencyCode;

use crate::browse::{Counts, of_search};
use crate::context::SearchContext;
use crate::hybrid::{self, Question, finds_any};
use crate::plan::SearchPlan;
use crate::request::{Fold, SearchRequest};
use crate::sized::Sized;
use crate::told::Told;

/// What a search depends on besides its request and the release.
#[derive(Debug)]
pub struct Conditions {
    /// The currency of prices, where neither the request nor what it asks for has one of its own.
    pub market_currency: CurrencyCode,
    /// The brands that deliver in time, by their places in [`data_index::Release::brands`], where that filters.
    pub brands_in_time: Option<Vec<bool>>,
    /// Where the product is that what is found must be like.
    pub similar_to: Option<RowAddress>,
}

/// What a search found and counted.
#[derive(Debug)]
pub struct Searched<'a> {
    /// The products, and how they were found.
    pub found: hybrid::Answer,
    /// What was read out of the text.
    pub told: Vec<Told>,
    /// The currency of price filters, price sorts and of the prices that are counted.
    pub currency: CurrencyCode,
    /// Whether prices decide which products are answered, or in which order.
    pub is_by_price: bool,
    /// Counts of all that the search is about, where they are asked for.
    pub counts: Option<Counts<'a>>,
    /// Whether a price filter leaves out products for their currency alone.
    pub left_out: bool,
}

/// The best products for a request, and counts of what it is about.
#[must_use]
pub fn search<'a>(served: &'a SearchContext, request: SearchRequest, conditions: &Conditions) -> Searched<'a> {
    let Planned { plan, found } = found(served, request, conditions);
    Searched {
        counts: plan.counts().then(|| of_search(served, &plan, &found)),
        left_out: left_out(served, &plan),
        currency: plan.currency,
        is_by_price: plan.is_by_price(),
        told: plan.reading.told,
        found,
    }
}

/// What a search finds.
fn find(served: &SearchContext, plan: &SearchPlan) -> hybrid::Answer {
    asked(served, plan, plan.filter(&served.release), hybrid::search)
}

/// Whether a price filter leaves out products for their currency alone.
fn left_out(served: &SearchContext, plan: &SearchPlan) -> bool {
    if !served.browse.has_other_than(plan.currency) {
        return false;
    }
    match plan.other_currencies(&served.release) {
        Some(others) => asked(served, plan, Some(others), finds_any),
        None => false,
    }
}

/// Asks what a plan asks, of what passes the filter.
fn asked<T>(
    served: &SearchContext,
    plan: &SearchPlan,
    filter: Option<data_index::Filter>,
    search: impl FnOnce(&SearchContext, &Question<'_>) -> T,
) -> T {
    let scope = plan.scope(&served.release);
    let turns = plan.turns(served);
    let of_all = served.decent().filter(|_| plan.is_blank() || plan.is_for_somebody());
    let question = Question {
        text: &plan.text,
        mode: plan.mode,
        filter: filter.as_ref(),
        scope: scope.as_ref(),
        allowed: plan.reading.allowed.as_ref().or(of_all),
        turns: &turns,
        sense: plan.sense.as_deref(),
        narrowed: plan.narrows(),
        order: plan.listed_order(),
        superlative: plan.reading.superlative,
        currency: plan.currency,
        limit: plan.limit,
        per_brand_max: plan.per_brand_max,
        folded: plan.fold == Fold::Color,
        similar_to: plan.similar_to,
        with_matches: plan.counts(),
    };
    search(served, &question)
}

/// What a request means on this release, and what that finds.
struct Planned {
    plan: SearchPlan,
    found: hybrid::Answer,
}

fn found(served: &SearchContext, request: SearchRequest, conditions: &Conditions) -> Planned {
    // Only a text with a number has a price that may be a name.
    let has_number = request.text.as_str().chars().any(char::is_numeric);
    let again = has_number.then(|| request.clone());
    let sized = Sized::of(&request).map(|sized| (sized, request.text.clone()));
    let Planned { plan, found } = tried(served, request, conditions, false);
    if let Some(request) = again.filter(|_| plan.may_be_named(&found)) {
        let named = tried(served, request, conditions, true);
        if named.found.has_every_word() {
            return named;
        }
    }
    if let Some((sized, text)) = sized.filter(|_| !found.has_every_word()) {
        for (request, told) in sized.tries() {
            let Planned { mut plan, found } = tried(served, request, conditions, false);
            if found.has_every_word() {
                plan.reading.tell(told, text.as_str());
                return Planned { plan, found };
            }
        }
    }
    Planned { plan, found }
}

fn tried(served: &SearchContext, request: SearchRequest, conditions: &Conditions, sure: bool) -> Planned {
    let mut plan = SearchPlan::of(served, request, conditions, sure);
    if plan.asks_for_kinds() && (!plan.reading.has_kinds() || plan.names_thing(served)) {
        plan.take_as_words();
    }
    let mut found = find(served, &plan);
    if plan.is_lost(&found) {
        plan.text.clear();
        found = find(served, &plan);
    }
    if plan.asks_for_kinds() && found.rows.is_empty() {
        plan.take_as_words();
        found = find(served, &plan);
    }
    let own = std::mem::take(&mut found.synonyms);
    found.synonyms = plan.reading.translated().chain(own).collect();
    Planned { plan, found }
}
