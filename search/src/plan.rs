use std::sync::Arc;

use data_index::columns::fold_name;
use data_index::{FacetClause, Release, RowAddress, RowFilter, taxonomy};
use data_model::{BrandSlug, CurrencyCode, StoreHost};
use data_text::fold_value;

use crate::browse::{BRAND, CountOptions, FacetWindow, Scope, brands_named};
use crate::context::SearchContext;
use crate::hybrid::{self, Reading};
use crate::lexical::{self, Order, RowSet};
use crate::phrase::PhraseReading;
use crate::request::{Conditions, Filters, Fold, Mode, ParsedName, PriceBounds, SearchLimit, SearchRequest};

/// Minimum similarity of the nearest product that answers a need, as a share of that of the nearest product at all.
const NEED_SHARE_MIN: f32 = 0.75;

/// Search request as interpreted on a release.
#[derive(Debug, Clone)]
pub(crate) struct SearchPlan {
    pub(crate) text: String,
    pub(super) mode: Mode,
    pub(super) order: Order,
    pub(super) fold: Fold,
    pub(super) limit: usize,
    pub(super) per_brand_max: Option<usize>,
    pub(crate) similar_to: Option<RowAddress>,
    facet_counts: bool,
    facet_window: FacetWindow,
    /// Currency of price filters, price sorts and price counts.
    pub(crate) currency: CurrencyCode,
    /// True if the text has a price without a currency.
    is_currency_open: bool,
    brand: Option<ParsedName<BrandSlug>>,
    filter: RowFilter,
    /// Filter by kind, if the request has kinds other than goods.
    pub(crate) kind: Option<Arc<data_index::Filter>>,
    /// Facet clauses of the request.
    stated: Vec<FacetClause>,
    pub(super) reading: Reading,
    /// Text whose meaning orders the products if there are no words to search for.
    pub(super) sense: Option<String>,
}

impl SearchPlan {
    pub(super) fn of(served: &SearchContext, request: &SearchRequest, conditions: &Conditions, sure: bool) -> Self {
        let only = usual_currency(served, request);
        let usual = only.unwrap_or(conditions.market_currency);
        let kinds = request.filters.kinds;
        let kind = resolved(
            &served.release,
            &RowFilter {
                kinds,
                ..RowFilter::default()
            },
        )
        .map(Arc::new);
        let mut reading = Reading::default();
        let (mut text, mut sense) = (request.text.as_str().to_owned(), None);
        if request.mode == Mode::Hybrid && !request.as_typed {
            let translated = hybrid::in_english(served, &text);
            let english = translated
                .as_ref()
                .map_or(text.as_str(), |translated| translated.text.as_str());
            let understood = hybrid::understood(served, english, sure);
            let is_read = translated.is_some() || !understood.parts.is_empty() || understood.audience.is_some();
            if is_read && (understood.has_phrase() || !hybrid::names_whole(served, &text, kind.as_deref())) {
                reading = Reading::of(served, &understood);
                sense = reading.is_need.then(|| reading.sense());
                reading.take_translated(translated);
                text = reading.text(understood);
            }
        }
        let mut filters = request.filters.clone();
        let is_stated = filters
            .currency
            .or(reading.price.and_then(|price| price.currency))
            .or(only)
            .is_some();
        let is_read = narrow(&mut filters, &mut reading, usual);
        let currency = filters.currency.unwrap_or(usual);
        let mut filter = filters.into_rows(currency);
        let stated = filter.facets.clone();
        filter.facets.extend(reading.category_clause());
        filter.brands.clone_from(&conditions.brands_in_time);
        let mut plan = Self {
            text,
            mode: request.mode,
            order: request.order,
            fold: request.fold,
            limit: request.limit.get(),
            per_brand_max: request.per_brand_max.map(SearchLimit::get),
            similar_to: conditions.similar_to,
            facet_counts: request.facet_counts,
            facet_window: request.facet_window.clone(),
            currency,
            is_currency_open: is_read && !is_stated,
            brand: request.brand.clone(),
            filter,
            kind,
            stated,
            reading,
            sense,
        };
        let is_lost = |plan: &Self| !plan.reading.has_kinds() || plan.names_thing(served) || plan.is_far(served);
        if plan.asks_for_kinds() && is_lost(&plan) {
            plan.take_as_words();
        }
        plan
    }

    /// Steps that relax the plan, in order, if it finds too little. A step that returns true changed the plan, and the
    /// search runs again.
    pub(crate) const FALLBACKS: [fn(&mut Self, &hybrid::Answer) -> bool; 3] = [
        Self::let_words_go,
        Self::take_kinds_as_words,
        Self::take_people_as_words,
    ];

    /// Returns true if a price filters but may have been a name.
    pub(crate) fn may_be_named(&self) -> bool {
        self.reading.price.is_some_and(|price| price.is_unsure)
    }

    /// Drops the remaining words if no product that answers the need has all of them.
    fn let_words_go(&mut self, found: &hybrid::Answer) -> bool {
        let is_lost = self.reading.is_need && !self.text.is_empty() && !found.has_every_word();
        if is_lost {
            if let Some(sense) = &mut self.sense {
                *sense = format!("{sense} {}", self.text);
            }
            self.text.clear();
        }
        is_lost
    }

    /// Searches for the original words of the categories that were read, if these categories have no products.
    fn take_kinds_as_words(&mut self, found: &hybrid::Answer) -> bool {
        let is_empty = self.asks_for_kinds() && found.rows.is_empty();
        if is_empty {
            self.take_as_words();
        }
        is_empty
    }

    /// Searches for the words of the recipient too, if nothing is found without them.
    fn take_people_as_words(&mut self, found: &hybrid::Answer) -> bool {
        let words = self.reading.people();
        let is_lost = found.rows.is_empty() && !words.is_empty();
        if is_lost {
            self.text = format!("{words} {}", self.text);
        }
        is_lost
    }

    /// Returns true if any part of the text implies categories without naming one.
    fn asks_for_kinds(&self) -> bool {
        self.reading.phrases.iter().any(PhraseReading::is_of_kinds)
    }

    /// Returns true if the text names a product in addition to its purpose. The product then decides, because the need
    /// is only a guess.
    fn names_thing(&self, served: &SearchContext) -> bool {
        let is_named = || lexical::names_category(&served.release, &served.text, &self.text);
        self.reading.is_need && !self.text.trim().is_empty() && is_named()
    }

    /// Returns true if the text says more than its need, and products of other categories are much nearer to all that it
    /// says than those that answer the need.
    fn is_far(&self, served: &SearchContext) -> bool {
        if !self.reading.is_need || self.text.trim().is_empty() {
            return false;
        }
        let text = format!("{} {}", self.text, self.reading.need());
        let Ok(vector) = served.semantic.embed(&text) else {
            return false;
        };
        // Prices are left out, because their currency is still open.
        let nearest = |filter: &RowFilter| {
            let filter = RowFilter {
                price: None,
                ..filter.clone()
            };
            let filter = resolved(&served.release, &self.rows(&served.release, &filter));
            let near = served.release.nearest(&vector, 1, filter.as_ref());
            near.first().map_or(0.0, |(_, cosine)| *cosine)
        };
        let others = RowFilter {
            facets: self.stated.clone(),
            ..self.filter.clone()
        };
        nearest(&self.filter) < NEED_SHARE_MIN * nearest(&others)
    }

    /// Without words to search for, a superlative sorts all products.
    pub(super) fn listed_order(&self) -> Order {
        let read = self.reading.superlative.and_then(hybrid::superlative_order);
        match self.order {
            Order::Relevance if self.text.trim().is_empty() => read.unwrap_or_default(),
            order => order,
        }
    }

    /// Returns true if the text names a gift, an occasion, a recipient or an age.
    pub(super) fn is_for_somebody(&self) -> bool {
        let tells = |phrase: &PhraseReading| matches!(phrase.meaning, "gift" | "occasion" | "recipient" | "age");
        self.reading.phrases.iter().any(tells)
    }

    /// Searches for the original words of the categories that were read, instead of filtering by them.
    fn take_as_words(&mut self) {
        let words = self.reading.forget_kinds();
        let text = format!("{} {words}", self.text);
        text.trim().clone_into(&mut self.text);
        self.filter.facets.clone_from(&self.stated);
        self.sense = None;
    }

    /// If the text names no product, the results alternate between these filters, one per category.
    pub(super) fn kind_filters(&self, served: &SearchContext) -> Vec<data_index::Filter> {
        if !self.text.is_empty() || self.reading.categories.is_empty() {
            return Vec::new();
        }
        let others = RowFilter {
            facets: self.stated.clone(),
            ..self.filter.clone()
        };
        self.reading.kind_filters(served, &self.rows(&served.release, &others))
    }

    /// Returns true if the words find products, perhaps together with their meaning.
    pub(super) fn finds_by_words(&self) -> bool {
        self.mode != Mode::Semantic && self.similar_to.is_none() && !self.text.trim().is_empty()
    }

    /// Returns true if facets are counted. A search by similarity or meaning alone has no defined set of products to
    /// count.
    pub(super) fn counts(&self) -> bool {
        self.facet_counts && self.mode != Mode::Semantic
    }

    /// Returns true for a filter other than brand and kind.
    pub(super) fn narrows(&self) -> bool {
        let kinds = self.filter.kinds;
        self.filter
            != RowFilter {
                kinds,
                ..RowFilter::default()
            }
    }

    /// `Err` if the release does not have the requested brand.
    pub(crate) fn brand_scope(&self, release: &Release) -> Result<Option<usize>, ()> {
        let Some(brand) = &self.brand else { return Ok(None) };
        brand_index(release, brand).map(Some).ok_or(())
    }

    /// `None` if nothing filters.
    pub(super) fn filter(&self, release: &Release) -> Option<data_index::Filter> {
        resolved(release, &self.rows(release, &self.filter))
    }

    /// Returns the filter for products that fail only because of their currency. `None` if prices do not filter.
    pub(super) fn other_currencies(&self, release: &Release) -> Option<data_index::Filter> {
        let price = self.filter.price?;
        let others = RowFilter {
            price: None,
            priced_outside: Some(price.currency),
            ..self.filter.clone()
        };
        Some(release.filter(&self.rows(release, &others)))
    }

    /// Adds the requested brands, from the parameter or the facet, to a filter.
    fn rows(&self, release: &Release, filter: &RowFilter) -> RowFilter {
        let (of_brands, facets): (Vec<_>, Vec<_>) = filter
            .facets
            .iter()
            .cloned()
            .partition(|clause| fold_name(&clause.name) == BRAND);
        let stores = |clause: &FacetClause| -> Vec<StoreHost> {
            let brands = brands_named(release, &clause.values).filter_map(|at| release.brands().get(at));
            brands.map(|entry| entry.facts.brand.store.clone()).collect()
        };
        let all = self.stores(release).into_iter().chain(of_brands.iter().map(stores));
        RowFilter {
            stores: all.reduce(|mut stores, others| {
                stores.retain(|store| others.contains(store));
                stores
            }),
            facets,
            ..filter.clone()
        }
    }

    /// For a price without a currency in the text, returns the filter without the price. The currency of the products
    /// found with it then becomes that of the price.
    pub(super) fn of_any_price(&self, release: &Release) -> Option<data_index::Filter> {
        let is_open = self.is_currency_open && (self.asks_for_kinds() || !self.text.trim().is_empty());
        let filter = RowFilter {
            price: None,
            ..self.filter.clone()
        };
        is_open.then(|| release.filter(&self.rows(release, &filter)))
    }

    pub(super) fn price_as(&mut self, currency: CurrencyCode) {
        if let Some(price) = self.reading.price_in(currency) {
            let filters = Filters {
                price,
                ..Filters::default()
            };
            (self.currency, self.filter.price) = (currency, filters.into_rows(currency).price);
        }
    }

    /// Returns the plan without the guessed categories, whose products rank after those of this plan.
    pub(super) fn wider(&self) -> Option<Self> {
        let is_guess = self.asks_for_kinds() && self.reading.has_kinds();
        is_guess.then(|| {
            let mut wider = self.clone();
            wider.take_as_words();
            if let Some(child) = wider.reading.child {
                child.as_str().clone_into(&mut wider.text);
            }
            wider
        })
    }

    /// Returns the filter of the request for the counts. Categories that were read from the text are not included,
    /// because they would limit the counts by category. See [`SearchPlan::of_kinds`].
    pub(crate) fn counted_filter(&self) -> RowFilter {
        RowFilter {
            facets: self.stated.clone(),
            ..self.filter.clone()
        }
    }

    /// Returns the rows of each part in the categories that were read, or `None` if none were read.
    pub(crate) fn of_kinds(&self, release: &Release) -> Option<Vec<RowSet>> {
        let has_clause = self.filter.facets.len() > self.stated.len();
        has_clause.then(|| self.reading.rows_of_kinds(release))
    }

    pub(crate) fn counted(&self) -> CountOptions<'_> {
        CountOptions {
            currency: self.currency,
            window: &self.facet_window,
        }
    }

    /// Returns true if prices filter or order the products.
    pub(super) fn is_by_price(&self) -> bool {
        self.filter.price.is_some() || matches!(self.order, Order::PriceAscending | Order::PriceDescending)
    }

    /// Returns true for a request without words, similar product, brand and category.
    pub(crate) fn is_blank(&self) -> bool {
        let names = |clause: &FacetClause| matches!(fold_name(&clause.name).as_str(), "category" | BRAND);
        let is_silent = self.text.trim().is_empty() && self.similar_to.is_none() && self.brand.is_none();
        is_silent && !self.filter.facets.iter().any(names)
    }

    /// Returns the filter by brand, which is the scope of the search.
    pub(super) fn scope(&self, release: &Release) -> Option<data_index::Filter> {
        let stores = self.stores(release);
        stores.is_some().then(|| {
            release.filter(&RowFilter {
                stores,
                kinds: self.filter.kinds,
                ..RowFilter::default()
            })
        })
    }

    /// The list is empty if there is no such brand.
    fn stores(&self, release: &Release) -> Option<Vec<StoreHost>> {
        let brand = self.brand.as_ref()?;
        let entry = brand.known().and_then(|slug| release.brand_by_slug(slug));
        Some(entry.map(|entry| entry.facts.brand.store.clone()).into_iter().collect())
    }
}

/// Returns `None` if all goods pass.
fn resolved(release: &Release, filter: &RowFilter) -> Option<data_index::Filter> {
    (*filter != RowFilter::default()).then(|| release.filter(filter))
}

/// Adds the state and price in the text to the filters. The price is not added if the request has a price or another
/// currency. Returns true if the price was added.
fn narrow(filters: &mut Filters, reading: &mut Reading, usual: CurrencyCode) -> bool {
    let (on_sale, in_stock) = reading.states();
    filters.on_sale |= on_sale;
    filters.in_stock |= in_stock;
    let named = reading.price.and_then(|price| price.currency);
    let is_other = named
        .zip(filters.currency)
        .is_some_and(|(named, stated)| named != stated);
    if filters.price != PriceBounds::default() || is_other {
        return false;
    }
    let currency = filters.currency.or(named).unwrap_or(usual);
    let bounds = reading.price_in(currency);
    if let Some(bounds) = bounds {
        filters.price = bounds;
        filters.currency = Some(currency);
    }
    bounds.is_some()
}

/// Returns the single currency of the searched products, which are those of a brand, a category, or the market.
fn usual_currency(served: &SearchContext, request: &SearchRequest) -> Option<CurrencyCode> {
    let release = &served.release;
    let one = |name: &str| {
        let mut clauses = request
            .filters
            .facets
            .clauses()
            .filter(|clause| fold_name(&clause.name) == name);
        match (clauses.next(), clauses.next()) {
            (Some(clause), None) if clause.values.len() == 1 => Some(clause),
            _ => None,
        }
    };
    let category = one("category").and_then(|clause| clause.values.first());
    let category = category.and_then(|value| taxonomy::by_slug_or_id(&fold_value(value)));
    let scope = Scope {
        category: category.map(|category| category.id),
        brand: match &request.brand {
            Some(brand) => Some(brand_index(release, brand)?),
            None => None,
        },
        kinds: request.filters.kinds,
        matches: None,
    };
    let brands = request.filters.facets.brands(release);
    served.browse.only_currency_of(release, &scope, &brands)
}

fn brand_index(release: &Release, brand: &ParsedName<BrandSlug>) -> Option<usize> {
    let entry = release.brand_by_slug(brand.known()?)?;
    release.brand_index(&entry.facts.brand.store)
}
