use std::hash::{Hash, Hasher};

use data_index::columns::fold_name;
use data_index::taxonomy;
use data_index::{FacetClause, PriceRange, Release, RowAddress, RowFilter};
use data_model::{BrandSlug, CategoryId, CurrencyCode, Kinds, ProductIdent};

use crate::browse::{BRAND, FacetWindow, brands_named};
use crate::delivery::DeliveryTo;
use crate::lexical::Order;

/// Number of requested products, from 1 to `MAX` with the default `DEFAULT`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Limit<const DEFAULT: u16, const MAX: u16>(u16);

impl<const DEFAULT: u16, const MAX: u16> Limit<DEFAULT, MAX> {
    /// Largest allowed value.
    pub const MAX: i64 = MAX as i64;

    /// Creates a limit. Returns `None` below 1 or above `MAX`.
    #[must_use]
    pub fn new(wanted: i64) -> Option<Self> {
        Self::within(wanted, MAX)
    }

    /// Creates a limit with the operator's maximum instead of the API's.
    #[must_use]
    pub fn within(wanted: i64, max: u16) -> Option<Self> {
        let wanted = u16::try_from(wanted).ok()?;
        (1..=max).contains(&wanted).then_some(Self(wanted))
    }

    /// Returns the number.
    #[must_use]
    pub const fn get(self) -> usize {
        self.0 as usize
    }
}

impl<const DEFAULT: u16, const MAX: u16> Default for Limit<DEFAULT, MAX> {
    fn default() -> Self {
        Self(DEFAULT)
    }
}

/// Text of at most `CHARS_MAX` characters.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Text<const CHARS_MAX: usize>(String);

impl<const CHARS_MAX: usize> Text<CHARS_MAX> {
    /// Maximum number of characters.
    pub const CHARS_MAX: usize = CHARS_MAX;

    /// Creates the text. Returns `None` if the text is too long.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Option<Self> {
        let text = text.into();
        (text.len() <= CHARS_MAX || text.chars().count() <= CHARS_MAX).then_some(Self(text))
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Name of something that may not exist. A text that is not a valid name matches nothing and is not an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ParsedName<T> {
    /// The name is valid, but the thing may not exist.
    Known(T),
    /// The text is not a valid name.
    Nothing,
}

impl<T> From<Option<T>> for ParsedName<T> {
    fn from(name: Option<T>) -> Self {
        name.map_or(Self::Nothing, Self::Known)
    }
}

impl<T> ParsedName<T> {
    /// Returns the name if it is valid.
    #[must_use]
    pub const fn known(&self) -> Option<&T> {
        match self {
            Self::Known(name) => Some(name),
            Self::Nothing => None,
        }
    }
}

impl ParsedName<BrandSlug> {
    /// Parses a brand's slug.
    #[must_use]
    pub fn brand(text: &str) -> Self {
        text.parse().ok().into()
    }
}

impl ParsedName<CategoryId> {
    /// Parses a category's slug, or its id in decimal.
    #[must_use]
    pub fn category(text: &str) -> Self {
        taxonomy::by_slug_or_id(text).map(|category| category.id).into()
    }
}

/// JSON numbers are exact up to this value (RFC 8259, section 6).
const PRICE_MINOR_MAX: i64 = (1 << 53) - 1;

/// Price range in minor units, including both ends. Either may be open.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct PriceBounds {
    min_minor: Option<i64>,
    max_minor: Option<i64>,
}

impl PriceBounds {
    /// Maximum absolute value of an end.
    pub const MINOR_MAX: i64 = PRICE_MINOR_MAX;

    /// Creates a range. Returns `None` if the minimum is above the maximum, or if the absolute value of an end exceeds
    /// [`PriceBounds::MINOR_MAX`].
    #[must_use]
    pub fn new(min_minor: Option<i64>, max_minor: Option<i64>) -> Option<Self> {
        let is_price = |minor: &Option<i64>| minor.is_none_or(|minor| minor.unsigned_abs() <= PRICE_MINOR_MAX as u64);
        let ordered = min_minor.zip(max_minor).is_none_or(|(min, max)| min <= max);
        (ordered && is_price(&min_minor) && is_price(&max_minor)).then_some(Self { min_minor, max_minor })
    }

    const fn is_open(self) -> bool {
        self.min_minor.is_none() && self.max_minor.is_none()
    }
}

/// Facet clauses. A product must have a value of each clause.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FacetFilter(Vec<FacetClause>);

impl FacetFilter {
    /// Maximum number of clauses.
    pub const CLAUSES_MAX: usize = 20;
    /// Maximum number of values of one clause.
    pub const VALUES_MAX: usize = 50;

    /// Creates the filter. Returns `None` if there are too many clauses, or too many values in one clause.
    #[must_use]
    pub fn new(clauses: Vec<FacetClause>) -> Option<Self> {
        let few = clauses.len() <= Self::CLAUSES_MAX;
        let short = clauses.iter().all(|clause| clause.values.len() <= Self::VALUES_MAX);
        (few && short).then_some(Self(clauses))
    }
}

impl FacetFilter {
    pub(crate) fn clauses(&self) -> impl Iterator<Item = &FacetClause> {
        self.0.iter()
    }

    /// Returns the requested brands as indexes in [`Release::brands`].
    #[must_use]
    pub fn brands(&self, release: &Release) -> Vec<usize> {
        let mut clauses = self.0.iter().filter(|clause| fold_name(&clause.name) == BRAND);
        match (clauses.next(), clauses.next()) {
            (Some(clause), None) => brands_named(release, &clause.values).collect(),
            _ => Vec::new(),
        }
    }
}

impl Hash for FacetFilter {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.len().hash(state);
        for FacetClause { name, values } in &self.0 {
            name.hash(state);
            values.hash(state);
        }
    }
}

/// Filters of a product list. By default, only goods pass.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Filters {
    /// Bounds of a product's lowest price.
    pub price: PriceBounds,
    /// Currency of price filters, price sorts and price counts. It defaults to the single currency of the requested
    /// products, else to that of the market.
    pub currency: Option<CurrencyCode>,
    /// Only products with an available variant.
    pub in_stock: bool,
    /// Only products that are marked down.
    pub on_sale: bool,
    /// Only products with these facet values.
    pub facets: FacetFilter,
    /// Only products of these kinds. The default is goods.
    pub kinds: Kinds,
    /// Destination and latest day of delivery. Cards then show delivery data, and the day filters.
    pub delivery: Option<DeliveryTo>,
}

/// Lower values are not prices.
const PRICE_MINOR_MIN: i64 = 1;

impl Filters {
    /// Returns the row filter with prices in this currency. Delivery is not included, because it depends on the day.
    #[must_use]
    pub fn into_rows(self, currency: CurrencyCode) -> RowFilter {
        // Prices of different currencies are never compared.
        let price = (!self.price.is_open()).then_some(PriceRange {
            currency,
            min_minor: self.price.min_minor.max(Some(PRICE_MINOR_MIN)),
            max_minor: self.price.max_minor,
        });
        RowFilter {
            price,
            in_stock: self.in_stock,
            on_sale: self.on_sale,
            facets: self.facets.0,
            kinds: self.kinds,
            ..RowFilter::default()
        }
    }
}

/// Products that share one card.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Fold {
    /// Each product has a separate card.
    #[default]
    None,
    /// Products of one brand whose titles differ only by a colour share a card, which shows the first of them.
    Color,
}

impl Fold {
    /// All values.
    pub const ALL: [Self; 2] = [Self::None, Self::Color];

    /// Returns the name in requests.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Color => "color",
        }
    }
}

/// Requested search engine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Search by words and by meaning.
    #[default]
    Hybrid,
    /// Search by meaning only.
    Semantic,
    /// Search only by the words as typed.
    Lexical,
}

impl Mode {
    /// All modes.
    pub const ALL: [Self; 3] = [Self::Hybrid, Self::Semantic, Self::Lexical];

    /// Returns the name of the mode.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Hybrid => "hybrid",
            Self::Semantic => "semantic",
            Self::Lexical => "lexical",
        }
    }
}

/// Maximum number of cards in a search response.
pub type SearchLimit = Limit<20, 40>;

/// Search for products.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct SearchRequest {
    /// Query. If it is empty, the most presentable products are returned.
    pub text: Text<512>,
    /// Filters of the products.
    pub filters: Filters,
    /// Only products of this brand. No products if the release does not have the brand.
    pub brand: Option<ParsedName<BrandSlug>>,
    /// Sort order of the products.
    pub order: Order,
    /// Search engine.
    pub mode: Mode,
    /// Maximum number of cards.
    pub limit: SearchLimit,
    /// Products that share one card.
    pub fold: Fold,
    /// Maximum number of cards per brand. By default, it is unlimited.
    pub per_brand_max: Option<SearchLimit>,
    /// Product that the results must be similar to. It is not a result itself.
    pub similar_to: Option<ProductIdent>,
    /// True if the response must include the components of each hit's score.
    pub explain: bool,
    /// True if facet values are counted.
    pub facet_counts: bool,
    /// Displayed facet values.
    pub facet_window: FacetWindow,
    /// True if the text is searched as plain words. Prices, exclusions or recipients are not read from it.
    pub as_typed: bool,
}

impl SearchRequest {
    /// Returns the request without its facets, with counts. `None` if it has no facets.
    pub(crate) fn without_facets(&self) -> Option<Self> {
        let filters = Filters {
            facets: FacetFilter::default(),
            ..self.filters.clone()
        };
        let whole = Self {
            filters,
            facet_counts: true,
            ..self.clone()
        };
        (whole.filters != self.filters).then_some(whole)
    }
}

/// Conditions of a search that are not part of its request or the release.
#[derive(Debug)]
pub struct Conditions {
    /// Currency of prices if neither the request nor the requested products determine one.
    pub market_currency: CurrencyCode,
    /// For each brand in [`Release::brands`], true if it delivers in time. `None` if delivery does not filter.
    pub brands_in_time: Option<Vec<bool>>,
    /// Row of the product that the results must be similar to.
    pub similar_to: Option<RowAddress>,
}
