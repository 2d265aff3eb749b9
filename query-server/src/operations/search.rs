use std::sync::Arc;

use api::EntityTag;
use data_model::{BrandSlug, CurrencyCode, ProductIdent};

use super::sized::Sized;
use super::{Answer, Filters, Fold, Known, Named, OperationError, SearchPlan, Text, Unless};
use crate::browse::{Counts, FacetWindow, of_search};
use crate::delivery::Destination;
use crate::hybrid::{self, Question, explain, finds_any, search};
use crate::lexical::Order;
use crate::render::facets::{self, SEARCH_COUNT_MAX};
use crate::render::{TIER, card, json};
use crate::schema::{Correction, Explained, SearchAnswer, SearchProvenance, Synonym};
use crate::semantic::Lacking;
use crate::served::Served;
use crate::server::QueryServer;
use crate::told::Told;

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
    /// Which cards stand for several products.
    pub fold: Fold,
    /// Most cards of one brand; as many as fit where nobody says.
    pub per_brand_max: Option<SearchLimit>,
    /// A product that what is found must be like; it is not found itself.
    pub similar_to: Option<ProductIdent>,
    /// Whether to tell what the places of the hits are made of.
    pub explain: bool,
    /// Whether to count facet values.
    pub facet_counts: bool,
    /// Which values of facets are shown.
    pub facet_window: FacetWindow,
    /// Whether the text is words alone: no price, nothing that is not wanted and nobody's gift is read out of it.
    pub as_typed: bool,
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
        let to = self.destination(request.filters.delivery);
        let tag = match to.as_ref().map(Destination::stamp) {
            Some(day) => EntityTag::following(&[served.stamp(), b"search", &day], &request),
            None => EntityTag::following(&[served.stamp(), b"search"], &request),
        };
        if known.has(&tag) {
            return Ok(Unless::Known(tag));
        }
        let read = |answer: &SearchAnswer<'_>| json(answer.data.len() * 640 + 256, answer);
        let (json, whole) = self.searched(served, request, to, read).await?;
        // What was answered without an embedder that may be there again next time is not what this tag stands for.
        let tag = if whole {
            tag
        } else {
            EntityTag::of(&[b"passing", tag.header().as_bytes()])
        };
        Ok(Unless::Answer(Answer::made(tag, json)))
    }

    /// The outcome of `read` on the best products for a query.
    ///
    /// # Errors
    /// As [`QueryServer::search`].
    pub async fn search_with<T: Send + 'static>(
        &self,
        request: SearchRequest,
        read: impl FnOnce(&SearchAnswer<'_>) -> T + Send + 'static,
    ) -> Result<T, OperationError> {
        let to = self.destination(request.filters.delivery);
        let (made, _) = self.searched(self.served()?, request, to, read).await?;
        Ok(made)
    }

    /// The same, and whether it will be so as long as the release is.
    async fn searched<T: Send + 'static>(
        &self,
        served: Arc<Served>,
        request: SearchRequest,
        to: Option<Destination>,
        read: impl FnOnce(&SearchAnswer<'_>) -> T + Send + 'static,
    ) -> Result<(T, bool), OperationError> {
        let market = (self.0.config.market_currency, to);
        let (searches, waits) = (&self.0.searches, served.semantic.waits());
        let search = move || answer(&served, request, market, read);
        if waits {
            searches.run_outside(search).await?
        } else {
            searches.run(search).await?
        }
    }
}

/// What a search finds.
fn find(served: &Served, plan: &SearchPlan) -> Result<hybrid::Answer, OperationError> {
    asked(served, plan, plan.filter(&served.release), search)
}

/// Whether a price filter leaves out products for their currency alone.
fn left_out(served: &Served, plan: &SearchPlan) -> Result<bool, OperationError> {
    if !served.browse.has_other_than(plan.currency) {
        return Ok(false);
    }
    match plan.other_currencies(&served.release) {
        Some(others) => asked(served, plan, Some(others), finds_any),
        None => Ok(false),
    }
}

/// Asks what a plan asks, of what passes the filter.
fn asked<T>(
    served: &Served,
    plan: &SearchPlan,
    filter: Option<data_index::Filter>,
    search: impl FnOnce(&Served, &Question<'_>) -> T,
) -> Result<T, OperationError> {
    let scope = plan.scope(&served.release);
    let similar_to = match &plan.similar_to {
        Some(ident) => Some(served.find(ident)?),
        None => None,
    };
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
        similar_to,
        with_matches: plan.counts(),
    };
    Ok(search(served, &question))
}

/// The outcome of `read` on the answer, and whether it stays the same as long as the release does.
fn answer<T>(
    served: &Arc<Served>,
    request: SearchRequest,
    market: (CurrencyCode, Option<Destination>),
    read: impl FnOnce(&SearchAnswer<'_>) -> T,
) -> Result<(T, bool), OperationError> {
    let (plan, found) = found(served, request, market)?;
    let counts = plan.counts().then(|| of_search(served, &plan, &found));
    let left_out = left_out(served, &plan)?;
    let rows = found.rows.iter();
    let cards = rows.filter_map(|row| card::listed(served, row.at, plan.fold, plan.to.as_ref()));
    let answer = SearchAnswer {
        data: cards.collect(),
        provenance: SearchProvenance {
            explain: plan.explain.then(|| explained(served, &found)),
            ..provenance(served, &plan, &found, counts, left_out)
        },
        tier: TIER,
    };
    let whole = found.degraded != Some(Lacking::Answer);
    Ok((read(&answer), whole))
}

fn explained<'a>(served: &Served, found: &hybrid::Answer) -> Vec<Explained<'a>> {
    let rows = found.rows.iter();
    rows.filter_map(|row| Some(explain(row, served.product_id(row.at)?)))
        .collect()
}

/// What a request means on this release, and what that finds.
fn found(
    served: &Arc<Served>,
    request: SearchRequest,
    market: (CurrencyCode, Option<Destination>),
) -> Result<(SearchPlan, hybrid::Answer), OperationError> {
    // Only a text with a number has a price that may be a name.
    let has_number = request.text.as_str().chars().any(char::is_numeric);
    let again = has_number.then(|| request.clone());
    let sized = Sized::of(&request).map(|sized| (sized, request.text.clone()));
    let (plan, answer) = tried(served, request, market.clone(), false)?;
    if let Some(request) = again.filter(|_| plan.may_be_named(&answer)) {
        let named = tried(served, request, market.clone(), true)?;
        if named.1.has_every_word() {
            return Ok(named);
        }
    }
    if let Some((sized, text)) = sized.filter(|_| !answer.has_every_word()) {
        for (request, told) in sized.tries() {
            let (mut plan, answer) = tried(served, request, market.clone(), false)?;
            if answer.has_every_word() {
                plan.reading.tell(told, text.as_str());
                return Ok((plan, answer));
            }
        }
    }
    Ok((plan, answer))
}

fn tried(
    served: &Arc<Served>,
    request: SearchRequest,
    market: (CurrencyCode, Option<Destination>),
    sure: bool,
) -> Result<(SearchPlan, hybrid::Answer), OperationError> {
    let mut plan = SearchPlan::of(served, request, market, sure);
    if plan.asks_for_kinds() && (!plan.reading.has_kinds() || plan.names_thing(served)) {
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
    Ok((plan, found))
}

/// How a search was answered, what was counted, and what prices were filtered and ordered by.
fn provenance<'a>(
    served: &'a Served,
    plan: &'a SearchPlan,
    found: &'a hybrid::Answer,
    counts: Option<Counts<'a>>,
    left_out: bool,
) -> SearchProvenance<'a> {
    let corrections = found.corrections.iter().map(|correction| Correction {
        from: correction.from.as_str().into(),
        to: correction.to.as_str().into(),
    });
    let translated = plan.reading.translated().map(|words| (words.of, words.to));
    let synonyms = found.synonyms.iter();
    let synonyms = translated.chain(synonyms.map(|synonym| (&*synonym.of, &*synonym.to)));
    let synonyms = synonyms.map(|(of, to)| Synonym {
        of: of.into(),
        to: to.into(),
    });
    let basis = facets::basis(plan.currency, left_out);
    let price = match &counts {
        Some(counts) => Some(facets::spread(&counts.prices, basis)),
        None => plan.is_by_price().then_some(basis),
    };
    SearchProvenance {
        release: served.id_text().into(),
        engine: found.engine.as_str().into(),
        requested_mode: plan.mode.as_str().into(),
        relaxed: found.relaxed.as_str().into(),
        more: found.more,
        understood: plan.reading.told.iter().map(Told::understood).collect(),
        corrections: corrections.collect(),
        degraded: found.degraded.map(Lacking::as_str).map(Into::into),
        synonyms: synonyms.collect(),
        facets: counts.map(|counts| facets::facets(counts.facets, SEARCH_COUNT_MAX)),
        price,
        explain: None,
        ignored: None,
    }
}
