use api::{PathParameters, Problem, QueryReader, Rule, product_ident};
use data_index::{PriceRange, Release, RowFilter};
use data_model::{BrandSlug, CurrencyCode, ProductIdent, StoreHost};

use super::facets;
use crate::lexical::Order;

/// Longest query, in characters.
pub(crate) const QUERY_CHARS_MAX: usize = 512;

/// The values of `sort`.
pub(super) const ORDERS: [(&str, Order); 5] = [
    ("relevance", Order::Relevance),
    ("price_asc", Order::PriceAscending),
    ("price_desc", Order::PriceDescending),
    ("rating", Order::Rating),
    ("newest", Order::Newest),
];

/// How a caller wants the catalogue searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Hybrid,
    Semantic,
    Lexical,
}

impl Mode {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Hybrid => "hybrid",
            Self::Semantic => "semantic",
            Self::Lexical => "lexical",
        }
    }
}

/// A search, its parameters checked.
#[derive(Debug)]
pub(crate) struct SearchPlan {
    pub(crate) text: String,
    pub(crate) mode: Mode,
    pub(crate) order: Order,
    pub(crate) limit: usize,
    /// Most products of one brand.
    pub(crate) per_brand_max: Option<usize>,
    /// A product that what is found must be like.
    pub(crate) similar_to: Option<ProductIdent>,
    /// Whether to tell what the places of the hits are made of.
    pub(crate) explain: bool,
    /// Whether to count facet values.
    pub(crate) facet_counts: bool,
    /// The currency of price filters, price sorts and of the prices that are counted.
    pub(crate) currency: CurrencyCode,
    /// `None` when the brand that was asked for does not exist: nothing can be found.
    brand: Option<String>,
    filter: RowFilter,
}

impl SearchPlan {
    /// Reads the parameters of `GET /v1/search`, of which an answer holds `limit_max` cards at most.
    pub(crate) fn read(query: Option<&str>, market_currency: CurrencyCode, limit_max: u16) -> Result<Self, Problem> {
        let limits = 1..=i64::from(limit_max);
        let mut reader = QueryReader::new(query);
        let text = reader.text("q", QUERY_CHARS_MAX).unwrap_or_default().into_owned();
        let mut filter = RowFilter::default();
        let price = read_price(&mut reader, market_currency);
        filter.in_stock = reader.boolean("in_stock").unwrap_or(false);
        filter.on_sale = reader.boolean("on_sale").unwrap_or(false);
        let brand = reader
            .text("brand", 200)
            .filter(|brand| !brand.is_empty())
            .map(std::borrow::Cow::into_owned);
        filter.facets = facets::read(&mut reader);
        let order = reader.choice("sort", &ORDERS).unwrap_or(Order::Relevance);
        let modes = [
            ("hybrid", Mode::Hybrid),
            ("semantic", Mode::Semantic),
            ("lexical", Mode::Lexical),
        ];
        let mode = reader.choice("mode", &modes).unwrap_or(Mode::Hybrid);
        let limit = reader
            .integer("limit", limits.clone())
            .and_then(|limit| usize::try_from(limit).ok())
            .unwrap_or(20);
        let per_brand_max = reader
            .integer("per_brand_max", limits)
            .and_then(|max| usize::try_from(max).ok());
        let similar_to = reader.parsed("similar_to", product_ident);
        let explain = reader.boolean("explain").unwrap_or(false);
        let facet_counts = reader.boolean("facet_counts").unwrap_or(false);
        let currency = price.map_or(market_currency, |price| price.currency);
        // Prices of different currencies are never compared.
        let by_price = matches!(order, Order::PriceAscending | Order::PriceDescending);
        filter.price = price.filter(|price| by_price || price.min_minor.is_some() || price.max_minor.is_some());
        reader.finish(
            PathParameters::none(),
            Self {
                text,
                mode,
                order,
                limit,
                per_brand_max,
                similar_to,
                explain,
                facet_counts,
                currency,
                brand,
                filter,
            },
        )
    }

    /// What the products that are found must pass, but for their brand.
    pub(crate) fn row_filter(&self) -> &RowFilter {
        &self.filter
    }

    /// Whether there is anything to pass but for the brand.
    pub(crate) fn narrows(&self) -> bool {
        self.filter != RowFilter::default()
    }

    /// Where the release has the brand that was asked for, if one was; `Err` when it does not have it.
    pub(crate) fn brand_scope(&self, release: &Release) -> Result<Option<usize>, ()> {
        let Some(brand) = &self.brand else { return Ok(None) };
        let slug = brand.parse::<BrandSlug>().ok();
        let entry = slug.and_then(|slug| release.brand_by_slug(&slug));
        let at = entry.and_then(|entry| release.brand_index(&entry.facts.brand.store));
        at.map(Some).ok_or(())
    }

    /// The filter on this release; `None` when there is nothing to filter by.
    pub(crate) fn filter(&self, release: &Release) -> Option<data_index::Filter> {
        let filter = RowFilter {
            stores: self.stores(release),
            ..self.filter.clone()
        };
        (filter != RowFilter::default()).then(|| release.filter(&filter))
    }

    /// What of the filter says where to look, the brand, on this release.
    pub(crate) fn scope(&self, release: &Release) -> Option<data_index::Filter> {
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
        let slug = brand.parse::<BrandSlug>().ok();
        let entry = slug.and_then(|slug| release.brand_by_slug(&slug));
        Some(entry.map(|entry| entry.facts.brand.store.clone()).into_iter().collect())
    }
}

/// Prices beyond what JSON numbers hold exactly (RFC 8259, section 6) are no prices.
const PRICE_MINOR_MAX: i64 = (1 << 53) - 1;

/// The price range that `price_min`, `price_max` and `currency` ask for; `None` when they are at fault.
pub(super) fn read_price(reader: &mut QueryReader<'_>, market_currency: CurrencyCode) -> Option<PriceRange> {
    let min_minor = reader.integer("price_min", -PRICE_MINOR_MAX..=PRICE_MINOR_MAX);
    let max_minor = reader.integer("price_max", -PRICE_MINOR_MAX..=PRICE_MINOR_MAX);
    if let (Some(min), Some(max)) = (min_minor, max_minor)
        && min > max
    {
        reader.refuse(
            "price_min",
            &Rule::Value("price_min must not be above price_max"),
            Some(min.into()),
        );
    }
    let currency = reader.parsed("currency", |text| {
        text.to_ascii_uppercase()
            .parse()
            .map_err(|_| Rule::Value("not a currency of ISO 4217 with minor units"))
    });
    Some(PriceRange {
        currency: currency.unwrap_or(market_currency),
        min_minor,
        max_minor,
    })
}
