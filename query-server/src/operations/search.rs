use std::sync::Arc;

use api::EntityTag;
use data_index::{FacetClause, Release, RowFilter};
use data_model::{BrandSlug, CurrencyCode, ProductIdent, StoreHost};

use super::{Answer, Filters, Known, Named, OperationError, PriceBounds, Text, Unless};
use crate::browse::of_search;
use crate::hybrid::{self, Question, Reading, explain, search};
use crate::lexical::{Order, ReadError, tier};
use crate::render::json::ObjectWriter;
use crate::render::{Written, card, envelope, facets, json};
use crate::semantic::Lacking;
use crate::served::Served;
use crate::server::QueryServer;
use crate::understanding::{self, Told};

/// How a caller wants the catalogue searched.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Mode {
    /// By words and by meaning.
    #[default]
    Hybrid,
    /// By meaning alone.
    Semantic,
    /// By words alone, as they are typed.
    Lexical,
}

impl Mode {
    /// The names that requests spell them by.
    pub const NAMED: [(&'static str, Self); 3] = [
        ("hybrid", Self::Hybrid),
        ("semantic", Self::Semantic),
        ("lexical", Self::Lexical),
    ];

    /// The name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Hybrid => "hybrid",
            Self::Semantic => "semantic",
            Self::Lexical => "lexical",
        }
    }
}

/// How many cards a search answers at most: from 1 to 40, by default 20.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SearchLimit(u16);

impl SearchLimit {
    /// So many; `None` below 1 or above the contract's 40.
    #[must_use]
    pub fn new(wanted: i64) -> Option<Self> {
        Self::within(wanted, 40)
    }

    /// So many, where the operator set another limit than the contract does.
    pub(crate) fn within(wanted: i64, max: u16) -> Option<Self> {
        let wanted = u16::try_from(wanted).ok()?;
        (1..=max).contains(&wanted).then_some(Self(wanted))
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> usize {
        self.0 as usize
    }
}

impl Default for SearchLimit {
    fn default() -> Self {
        Self(20)
    }
}

/// A search for products.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct SearchRequest {
    /// What is looked for, in free words; empty for the most presentable products.
    pub text: Text<512>,
    /// What products must pass.
    pub filters: Filters,
    /// Only products of this brand; of none where the release does not have it.
    pub brand: Option<Named<BrandSlug>>,
    /// What stands first.
    pub order: Order,
    /// What to search with.
    pub mode: Mode,
    /// Most cards.
    pub limit: SearchLimit,
    /// Most cards of one brand; as many as fit where nobody says.
    pub per_brand_max: Option<SearchLimit>,
    /// A product that what is found must be like; it is not found itself.
    pub similar_to: Option<ProductIdent>,
    /// Whether to tell what the places of the hits are made of.
    pub explain: bool,
    /// Whether to count facet values.
    pub facet_counts: bool,
    /// Whether the text is words alone: no price, nothing that is not wanted and nobody's gift is read out of it.
    pub as_typed: bool,
}

/// A search with all that it means on this server.
#[derive(Debug)]
pub(crate) struct SearchPlan {
    pub(crate) text: String,
    mode: Mode,
    order: Order,
    limit: usize,
    per_brand_max: Option<usize>,
    pub(crate) similar_to: Option<ProductIdent>,
    explain: bool,
    facet_counts: bool,
    /// The currency of price filters, price sorts and of the prices that are counted.
    pub(crate) currency: CurrencyCode,
    brand: Option<Named<BrandSlug>>,
    filter: RowFilter,
    /// The facets that the request itself filters by.
    stated: Vec<FacetClause>,
    /// What was read out of the text.
    reading: Reading,
    /// The text whose meaning puts products in order, where no words are left.
    sense: Option<String>,
}

impl SearchPlan {
    fn of(served: &Served, mut request: SearchRequest, market_currency: CurrencyCode) -> Result<Self, ReadError> {
        let mut reading = Reading::default();
        let (mut text, mut sense) = (request.text.into_string(), None);
        if request.mode == Mode::Hybrid && !request.as_typed {
            let understood = understanding::read(&text);
            if !understood.parts.is_empty() && (understood.has_phrase() || !hybrid::names_whole(served, &text)?) {
                reading = Reading::of(served, &understood);
                sense = reading.is_need.then(|| reading.sense());
                text = understood.text;
            }
        }
        narrow(&mut request.filters, &mut reading, market_currency);
        let (mut filter, currency) = request.filters.into_rows(request.order, market_currency);
        let stated = filter.facets.clone();
        filter.facets.extend(reading.category_clause());
        Ok(Self {
            text,
            mode: request.mode,
            order: request.order,
            limit: request.limit.get(),
            per_brand_max: request.per_brand_max.map(SearchLimit::get),
            similar_to: request.similar_to,
            explain: request.explain,
            facet_counts: request.facet_counts,
            currency,
            brand: request.brand,
            filter,
            stated,
            reading,
            sense,
        })
    }

    /// Where the words that are left find nothing among what answers a need, the need alone tells.
    fn is_lost(&self, found: &hybrid::Answer) -> bool {
        let is_found = |row: &hybrid::FusedRow| row.by_words.is_some_and(|found| found.tier >= tier::ALL);
        self.reading.is_need && !self.text.is_empty() && !found.rows.iter().any(is_found)
    }

    /// What the products that are found must pass, but for their brand.
    pub(crate) fn row_filter(&self) -> &RowFilter {
        &self.filter
    }

    /// Whether the text asks for kinds of thing without naming one.
    fn asks_for_kinds(&self) -> bool {
        self.reading.told.iter().any(Told::is_of_kinds)
    }

    /// Looks for the words that were read as kinds of thing, where there is nothing of these kinds.
    fn take_as_words(&mut self) {
        let words = self.reading.forget_kinds();
        let text = format!("{} {words}", self.text);
        text.trim().clone_into(&mut self.text);
        self.filter.facets.clone_from(&self.stated);
        self.sense = None;
    }

    /// The kinds of thing to answer in turn, where the text names none itself.
    fn turns(&self, served: &Served) -> Vec<data_index::Filter> {
        if !self.text.is_empty() || self.reading.categories.is_empty() {
            return Vec::new();
        }
        let others = RowFilter {
            stores: self.stores(&served.release),
            facets: self.stated.clone(),
            ..self.filter.clone()
        };
        self.reading.turns(served, &others)
    }

    /// Whether facets are counted: where likeness or meaning alone decides, there is no set of products to count.
    fn counts(&self) -> bool {
        self.facet_counts && self.mode != Mode::Semantic
    }

    /// Whether there is anything to pass but for the brand.
    fn narrows(&self) -> bool {
        self.filter != RowFilter::default()
    }

    /// Where the release has the brand that was asked for, if one was; `Err` when it does not have it.
    pub(crate) fn brand_scope(&self, release: &Release) -> Result<Option<usize>, ()> {
        let Some(brand) = &self.brand else { return Ok(None) };
        let entry = brand.known().and_then(|slug| release.brand_by_slug(slug));
        let at = entry.and_then(|entry| release.brand_index(&entry.facts.brand.store));
        at.map(Some).ok_or(())
    }

    /// The filter on this release; `None` when there is nothing to filter by.
    fn filter(&self, release: &Release) -> Option<data_index::Filter> {
        let filter = RowFilter {
            stores: self.stores(release),
            ..self.filter.clone()
        };
        (filter != RowFilter::default()).then(|| release.filter(&filter))
    }

    /// What of the filter says where to look, the brand, on this release.
    fn scope(&self, release: &Release) -> Option<data_index::Filter> {
        let stores = self.stores(release);
        stores.is_some().then(|| {
            release.filter(&RowFilter {
                stores,
                ..RowFilter::default()
            })
        })
    }

    /// The store of the brand that was asked for; none when there is no such brand.
    fn stores(&self, release: &Release) -> Option<Vec<StoreHost>> {
        let brand = self.brand.as_ref()?;
        let entry = brand.known().and_then(|slug| release.brand_by_slug(slug));
        Some(entry.map(|entry| entry.facts.brand.store.clone()).into_iter().collect())
    }
}

impl QueryServer {
    /// The best products for a query, as cards.
    ///
    /// # Errors
    /// `ProductNotFound` where `similar_to` names none, `Overloaded`, `NotReady`, `Internal`.
    pub async fn search(&self, request: SearchRequest) -> Result<Answer, OperationError> {
        self.search_unless(request, Known::NOTHING).await?.whole()
    }

    pub(crate) async fn search_unless(
        &self,
        request: SearchRequest,
        known: Known<'_>,
    ) -> Result<Unless, OperationError> {
        let served = self.served()?;
        let tag = EntityTag::following(&[served.stamp(), b"search"], &request);
        if known.has(&tag) {
            return Ok(Unless::Known(tag));
        }
        let market_currency = self.0.config.market_currency;
        let searches = &self.0.searches;
        let (held, waits) = (Arc::clone(&served), served.semantic.waits());
        let (written, whole) = if waits {
            searches
                .run_outside(move || answer(&held, request, market_currency))
                .await??
        } else {
            searches.run(move || answer(&held, request, market_currency)).await??
        };
        // What was answered without an embedder that may be there again next time is not what this tag stands for.
        let tag = if whole {
            tag
        } else {
            EntityTag::of(&[b"passing", tag.header().as_bytes()])
        };
        Ok(Unless::Answer(Answer::made(tag, written)))
    }
}

/// Lets the price that was read out of the text filter, unless the request states one itself, or another currency.
fn narrow(filters: &mut Filters, reading: &mut Reading, market_currency: CurrencyCode) {
    let named = reading.price.and_then(|price| price.currency);
    let is_other = named
        .zip(filters.currency)
        .is_some_and(|(named, stated)| named != stated);
    if filters.price != PriceBounds::default() || is_other {
        return;
    }
    let currency = filters.currency.or(named).unwrap_or(market_currency);
    if let Some(bounds) = reading.price_in(currency) {
        filters.price = bounds;
        filters.currency = Some(currency);
    }
}

/// What a search finds.
fn find(served: &Served, plan: &SearchPlan) -> Result<hybrid::Answer, OperationError> {
    let (filter, scope) = (plan.filter(&served.release), plan.scope(&served.release));
    let similar_to = match &plan.similar_to {
        Some(ident) => Some(served.find(ident)?),
        None => None,
    };
    let turns = plan.turns(served);
    let question = Question {
        text: &plan.text,
        mode: plan.mode,
        filter: filter.as_ref(),
        scope: scope.as_ref(),
        allowed: plan.reading.allowed.as_ref(),
        turns: &turns,
        sense: plan.sense.as_deref(),
        narrowed: plan.narrows(),
        order: plan.order,
        currency: plan.currency,
        limit: plan.limit,
        per_brand_max: plan.per_brand_max,
        similar_to,
        with_matches: plan.counts(),
    };
    search(served, &question).map_err(|error| served.unreadable(&error))
}

/// The answer, and whether it will be the same as long as the release is.
fn answer(
    served: &Arc<Served>,
    request: SearchRequest,
    market_currency: CurrencyCode,
) -> Result<(Written, bool), OperationError> {
    let plan = SearchPlan::of(served, request, market_currency);
    let mut plan = plan.map_err(|error| served.unreadable(&error))?;
    if plan.asks_for_kinds() && !plan.reading.has_kinds() {
        plan.take_as_words();
    }
    let mut found = find(served, &plan)?;
    if plan.is_lost(&found) {
        plan.text.clear();
        found = find(served, &plan)?;
    }
    if plan.asks_for_kinds() && found.rows.is_empty() {
        plan.take_as_words();
        found = find(served, &plan)?;
    }
    let counts = plan.counts().then(|| of_search(served, &plan, &found));
    let cards = |out: &mut Vec<u8>| json::array(out, &found.rows, |out, row| card::card(out, served, row.at));
    let whole = found.degraded != Some(Lacking::Answer);
    let written = envelope(found.rows.len() * 640 + 256, served.id_text(), cards, |provenance| {
        tell(provenance, &plan, &found);
        if let Some(counts) = &counts {
            facets::members(provenance, counts);
        }
        if plan.explain {
            provenance.array("explain", &found.rows, |out, row| {
                if let Some(part) = served.release.part(row.at.part) {
                    explain(out, row, part.cards().id(row.at.row));
                }
            });
        }
    });
    Ok((written, whole))
}

/// Tells how a search was answered.
fn tell(provenance: &mut ObjectWriter<'_>, plan: &SearchPlan, found: &hybrid::Answer) {
    provenance.text("engine", found.engine.as_str());
    provenance.text("requested_mode", plan.mode.as_str());
    provenance.text("relaxed", found.relaxed.as_str());
    provenance.array("understood", &plan.reading.told, understanding::write);
    provenance.array("corrections", &found.corrections, |out, correction| {
        json::object(out, |object| {
            object.text("from", &correction.from);
            object.text("to", &correction.to);
        });
    });
    provenance.text_or_null("degraded", found.degraded.map(Lacking::as_str));
    provenance.array("synonyms", &found.synonyms, |out, synonym| {
        json::object(out, |object| {
            object.text("of", &synonym.of);
            object.text("to", &synonym.to);
        });
    });
}
