use std::sync::Arc;

use api::EntityTag;
use data_index::columns::fold_name;
use data_index::{Release, RowFilter, taxonomy};
use data_model::{BrandSlug, CategoryId, CurrencyCode, Kinds};
use search::{CountOptions, FacetWindow, Order, PageRequest, Scope};

use super::{Answer, Conditional, Filters, Fold, IfNoneMatch, Limit, OperationError, ParsedName};
use crate::config::CursorKey;
use crate::cursor::{Cursor, Cursors};
use crate::delivery::Destination;
use crate::render::{TIER, card, facets, json};
use crate::schema::{BrowseAnswer, BrowsePage, BrowseProvenance};
use crate::served::ReleaseView;
use crate::server::QueryServer;

/// Maximum number of products in a paged list.
pub(super) const LIST_MAX: usize = 1_000;

/// Set of products to browse.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum BrowseOf {
    /// Products filed under this category or below it.
    Category(ParsedName<CategoryId>),
    /// Products of this brand.
    Brand(ParsedName<BrandSlug>),
    /// Products of this brand in this category or below it.
    BrandCategory(ParsedName<BrandSlug>, ParsedName<CategoryId>),
}

impl BrowseOf {
    /// Selects the products of a brand, a category or both; `None` if neither is given.
    #[must_use]
    pub fn new(brand: Option<ParsedName<BrandSlug>>, category: Option<ParsedName<CategoryId>>) -> Option<Self> {
        match (brand, category) {
            (Some(brand), Some(category)) => Some(Self::BrandCategory(brand, category)),
            (Some(brand), None) => Some(Self::Brand(brand)),
            (None, Some(category)) => Some(Self::Category(category)),
            (None, None) => None,
        }
    }

    /// Resolves the brand and category in a release, limited to these kinds.
    fn scope(&self, release: &Release, kinds: Kinds) -> Result<Scope<'static>, OperationError> {
        let (brand, category) = match self {
            Self::Category(category) => (None, Some(category)),
            Self::Brand(brand) => (Some(brand), None),
            Self::BrandCategory(brand, category) => (Some(brand), Some(category)),
        };
        let known = |category: &ParsedName<CategoryId>| category.known().and_then(|id| taxonomy::by_id(*id));
        let category = match category {
            Some(named) => Some(known(named).ok_or(OperationError::CategoryNotFound)?.id),
            None => None,
        };
        let position = |brand: &ParsedName<BrandSlug>| {
            let entry = release.brand_by_slug(brand.known()?)?;
            release.brand_index(&entry.facts.brand.store)
        };
        let brand = match brand {
            Some(named) => Some(position(named).ok_or(OperationError::BrandNotFound)?),
            None => None,
        };
        Ok(Scope::new(category, brand, kinds))
    }
}

/// Request for one page of a list with facets.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct BrowseRequest {
    /// Products to choose from.
    pub of: BrowseOf,
    /// Filters that products must pass.
    pub filters: Filters,
    /// Sort order of the products.
    pub order: Order,
    /// Rule for combining products into one card.
    pub fold: Fold,
    /// Facet values to show.
    pub facet_window: FacetWindow,
    /// Maximum number of products on the page.
    pub limit: Limit<24, 60>,
    /// End of the previous page; see [`QueryServer::cursor`].
    pub cursor: Option<Cursor>,
}

impl BrowseRequest {
    /// Creates a request for the first page of these products.
    #[must_use]
    pub fn first(of: BrowseOf) -> Self {
        Self {
            of,
            filters: Filters::default(),
            order: Order::default(),
            fold: Fold::default(),
            facet_window: FacetWindow::default(),
            limit: Limit::default(),
            cursor: None,
        }
    }
}

impl QueryServer {
    /// Returns one page of the products of a category, a brand, or a brand in a category, with facets.
    ///
    /// # Errors
    /// `CategoryNotFound`, `BrandNotFound`, `ForeignCursor`, `ExpiredCursor`, `Overloaded`, `NotReady`, `Internal`.
    pub async fn browse(&self, request: BrowseRequest) -> Result<Answer, OperationError> {
        self.browse_unless(request, IfNoneMatch::NOTHING).await?.whole()
    }

    pub(crate) async fn browse_unless(
        &self,
        request: BrowseRequest,
        known: IfNoneMatch<'_>,
    ) -> Result<Conditional, OperationError> {
        let served = self.served()?;
        let inner = Arc::clone(&self.0);
        let key = &inner.config.cursor_key;
        let scope = request.of.scope(&served.release, request.filters.kinds)?;
        // The answer contains a signed cursor, so its tag depends on the signing key.
        let to = self.destination(request.filters.delivery);
        let tag = match to.as_ref().map(Destination::stamp) {
            Some(day) => EntityTag::following(&[served.stamp(), b"browse", key.bytes(), &day], &request),
            None => EntityTag::following(&[served.stamp(), b"browse", key.bytes()], &request),
        };
        let only = || {
            let brands = request.filters.facets.brands(&served.release);
            served.search.browse.only_currency_of(&served.release, &scope, &brands)
        };
        let currency = request.filters.currency.or_else(only);
        let currency = currency.unwrap_or(self.0.config.market_currency);
        let mut plan = BrowsePlan::of(request, scope, currency);
        plan.filter.brands = to.as_ref().and_then(|to| to.brands_in_time(&served));
        plan.to = to;
        let list = plan.list_key();
        let start = match &plan.cursor {
            Some(cursor) => cursors(key, &served, &list).position(cursor)?,
            None => 0,
        };
        if known.has(&tag) {
            return Ok(Conditional::NotModified(tag));
        }
        let page = move || {
            let cursors = cursors(&inner.config.cursor_key, &served, &list);
            page(&served, &plan, start, &cursors)
        };
        let json = self.0.searches.run(page).await?;
        Ok(Conditional::Answer(Answer::made(tag, json)))
    }
}

#[derive(Debug)]
struct BrowsePlan {
    scope: Scope<'static>,
    filter: RowFilter,
    order: Order,
    fold: Fold,
    facet_window: FacetWindow,
    limit: usize,
    currency: CurrencyCode,
    /// Destination of the delivery, if the request names one.
    to: Option<Destination>,
    cursor: Option<Cursor>,
}

impl BrowsePlan {
    fn of(request: BrowseRequest, scope: Scope<'static>, currency: CurrencyCode) -> Self {
        Self {
            scope,
            filter: request.filters.into_rows(currency),
            order: request.order,
            fold: request.fold,
            facet_window: request.facet_window,
            limit: request.limit.get(),
            currency,
            to: None,
            cursor: request.cursor,
        }
    }

    /// Returns a key that is the same for all pages of a list and for all forms of the same request.
    fn list_key(&self) -> Vec<u8> {
        let mut clauses: Vec<(String, Vec<&str>)> = self
            .filter
            .facets
            .iter()
            .map(|clause| {
                let mut values: Vec<&str> = clause.values.iter().map(String::as_str).collect();
                values.sort_unstable();
                (fold_name(&clause.name), values)
            })
            .collect();
        clauses.sort_unstable();
        let RowFilter {
            price,
            in_stock,
            on_sale,
            kinds,
            ..
        } = &self.filter;
        let (category, brand, order, fold) = (self.scope.category, self.scope.brand, self.order, self.fold);
        // The response states prices in this currency even if no price filter is set, so the key contains it.
        let currency = self.currency;
        let to = self.to.as_ref().map(Destination::list_key).unwrap_or_default();
        // `Debug` quotes texts, so two adjacent values stay distinct.
        format!("{category:?} {brand:?} {currency:?} {price:?} {in_stock} {on_sale} {kinds:?} {order:?} {fold:?} {clauses:?}{to}")
            .into_bytes()
    }
}

fn cursors<'a>(key: &'a CursorKey, served: &ReleaseView, list: &[u8]) -> Cursors<'a> {
    Cursors::new(key, served.stamp(), &[b"browse", list])
}

fn page(served: &ReleaseView, plan: &BrowsePlan, start: usize, cursors: &Cursors<'_>) -> Vec<u8> {
    let asked = PageRequest {
        filter: &plan.filter,
        order: plan.order,
        start,
        limit: plan.limit.min(LIST_MAX.saturating_sub(start)),
        folded: plan.fold == Fold::Color,
    };
    let counted = CountOptions {
        currency: plan.currency,
        window: &plan.facet_window,
    };
    let browsed = served
        .search
        .browse
        .browse(&served.release, &plan.scope, &asked, counted);
    let end = start + browsed.rows.len();
    let next = (browsed.more && end < LIST_MAX).then(|| cursors.write(end));
    let cards = browsed.rows.iter();
    let values: usize = browsed.counts.facets.iter().map(|facet| facet.values.len() + 1).sum();
    let answer = BrowseAnswer {
        data: BrowsePage {
            items: cards
                .filter_map(|at| card::listed(served, *at, plan.fold, plan.to.as_ref()))
                .collect(),
            price: facets::summary(&browsed.counts.prices),
            facets: facets::facets(browsed.counts.facets, u32::MAX),
            capped: (browsed.more && next.is_none()).then_some(true),
            next_cursor: next.map(Into::into),
        },
        provenance: BrowseProvenance {
            release: served.id_text().into(),
            price: facets::basis(plan.currency, browsed.left_out),
            ignored: None,
        },
        tier: TIER,
    };
    json(browsed.rows.len() * 640 + values * 64 + 1024, &answer)
}
