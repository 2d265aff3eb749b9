//! A search from its request to what is answered: what it means, what that finds, and what is counted.

use data_model::CurrencyCode;

use crate::browse::{Counts, Scope};
use crate::context::SearchContext;
use crate::hybrid::{self, Question, finds_any};
use crate::lexical::{Allowed, Narrowing};
use crate::plan::SearchPlan;
use crate::request::{Conditions, Fold, SearchRequest};
use crate::sized::{Fallback, Sized};
use crate::told::Told;

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
pub fn search<'a>(served: &'a SearchContext, request: &SearchRequest, conditions: &Conditions) -> Searched<'a> {
    let Planned { plan, found } = found(served, request, conditions);
    Searched {
        counts: plan.counts().then(|| counts(served, &plan, &found)),
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
        narrowing: Narrowing {
            filter: filter.as_ref(),
            scope: scope.as_ref(),
            kind: plan.kind.as_deref(),
            allowed: plan.reading.met.allowed.as_ref().or(of_all),
            is_narrower: plan.narrows(),
        },
        doubtful: plan.reading.met.doubtful.as_ref(),
        is_for_somebody: plan.is_for_somebody(),
        turns: &turns,
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
    search(served, &question)
}

/// What a request means on this release, and what that finds.
struct Planned {
    plan: SearchPlan,
    found: hybrid::Answer,
}

fn found(served: &SearchContext, request: &SearchRequest, conditions: &Conditions) -> Planned {
    let first = planned(served, request, conditions, false);
    if first.found.has_every_word() {
        return first;
    }
    let mut others = fallbacks(request, &first.plan).map(|fallback| {
        let mut other = planned(served, &fallback.request, conditions, fallback.is_sure);
        if let Some(told) = fallback.told {
            other.plan.reading.tell(told, request.text.as_str());
        }
        other
    });
    others.find(|other| other.found.has_every_word()).unwrap_or(first)
}

/// Other ways to understand a request, in the order in which they are tried until one finds every word: what may be a price
/// as a name, then a size as what products state.
fn fallbacks(request: &SearchRequest, first: &SearchPlan) -> impl Iterator<Item = Fallback> + use<> {
    // Only a text with a number has a price that may be a name.
    let has_number = request.text.as_str().chars().any(char::is_numeric);
    let named = (has_number && first.may_be_named()).then(|| Fallback {
        request: request.clone(),
        told: None,
        is_sure: true,
    });
    named
        .into_iter()
        .chain(Sized::of(request).into_iter().flat_map(Sized::fallbacks))
}

fn planned(served: &SearchContext, request: &SearchRequest, conditions: &Conditions, is_sure: bool) -> Planned {
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
    Planned { plan, found }
}

/// Counts what a search is about: every product that its words match before any filter, and what else is shown.
fn counts<'a>(served: &'a SearchContext, plan: &SearchPlan, found: &hybrid::Answer) -> Counts<'a> {
    let brand = plan.brand_scope(&served.release);
    let blank = plan.text.trim().is_empty() && plan.similar_to.is_none();
    let matches = match brand {
        Err(()) => Some(&[][..]),
        Ok(_) if plan.is_blank() => served.decent().map(Allowed::parts),
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
