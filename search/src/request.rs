use std::hash::{Hash, Hasher};

use data_index::columns::fold_name;
use data_index::taxonomy;
use data_index::{FacetClause, PriceRange, Release, RowAddress, RowFilter};
use data_model::{BrandSlug, CategoryId, CurrencyCode, Kinds, ProductIdent};

use crate::browse::{BRAND, FacetWindow, brands_named};
use crate::delivery::DeliveryTo;
use crate::lexical::Order;

/// The number of products that are wanted: from 1 to `MAX`, by default `DEFAULT`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Limit<const DEFAULT: u16, const MAX: u16>(u16);

impl<const DEFAULT: u16, const MAX: u16> Limit<DEFAULT, MAX> {
    /// The largest.
    pub const MAX: i64 = MAX as i64;

    /// So many; `None` below 1 or above `MAX`.
    #[must_use]
    pub fn new(wanted: i64) -> Option<Self> {
        Self::within(wanted, MAX)
    }

    /// So many, where the operator set another limit than the contract does.
    #[must_use]
    pub fn within(wanted: i64, max: u16) -> Option<Self> {
        let wanted = u16::try_from(wanted).ok()?;
        (1..=max).contains(&wanted).then_some(Self(wanted))
    }

    /// The number.
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

/// A text of at most `CHARS_MAX` characters.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Text<const CHARS_MAX: usize>(String);

impl<const CHARS_MAX: usize> Text<CHARS_MAX> {
    /// The most characters.
    pub const CHARS_MAX: usize = CHARS_MAX;

    /// This text; `None` when it is longer.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Option<Self> {
        let text = text.into();
        (text.len() <= CHARS_MAX || text.chars().count() <= CHARS_MAX).then_some(Self(text))
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A name of something that there may be or not: a text that cannot be a name of anything names nothing, which is no
/// fault of the request but one of the things that it can ask for in vain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ParsedName<T> {
    /// A possible name.
    Known(T),
    /// No name of anything.
    Nothing,
}

impl<T> From<Option<T>> for ParsedName<T> {
    fn from(name: Option<T>) -> Self {
        name.map_or(Self::Nothing, Self::Known)
    }
}

impl<T> ParsedName<T> {
    /// The name, if it is one.
    #[must_use]
    pub const fn known(&self) -> Option<&T> {
        match self {
            Self::Known(name) => Some(name),
            Self::Nothing => None,
        }
    }
}

impl ParsedName<BrandSlug> {
    /// The brand that a text names: its slug.
    #[must_use]
    pub fn brand(text: &str) -> Self {
        text.parse().ok().into()
    }
}

impl ParsedName<CategoryId> {
    /// The category that a text names: its slug, or its id in decimal.
    #[must_use]
    pub fn category(text: &str) -> Self {
        taxonomy::by_slug_or_id(text).map(|category| category.id).into()
    }
}

/// Prices beyond what JSON numbers hold exactly (RFC 8259, section 6) are no prices.
const PRICE_MINOR_MAX: i64 = (1 << 53) - 1;

/// A range of prices in minor units, both ends included; either may be open.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct PriceBounds {
    min_minor: Option<i64>,
    max_minor: Option<i64>,
}

impl PriceBounds {
    /// Furthest from zero that an end may be.
    pub const MINOR_MAX: i64 = PRICE_MINOR_MAX;

    /// The range; `None` when it ends before it begins, or when an end is further from zero than
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

/// Facet values that products must have: one of the values of each clause.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FacetFilter(Vec<FacetClause>);

impl FacetFilter {
    /// Most clauses.
    pub const CLAUSES_MAX: usize = 20;
    /// Most values of one clause.
    pub const VALUES_MAX: usize = 50;

    /// These clauses; `None` when there are too many, or too many values in one.
    #[must_use]
    pub fn new(clauses: Vec<FacetClause>) -> Option<Self> {
        let few = clauses.len() <= Self::CLAUSES_MAX;
        let short = clauses.iter().all(|clause| clause.values.len() <= Self::VALUES_MAX);
        (few && short).then_some(Self(clauses))
    }
}

impl FacetFilter {
    /// The clauses.
    pub(crate) fn clauses(&self) -> impl Iterator<Item = &FacetClause> {
        self.0.iter()
    }

    /// The brands that are asked for, by their positions in [`Release::brands`].
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

/// The filters of a list of products; by default goods alone.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Filters {
    /// The bounds of a product's lowest price.
    pub price: PriceBounds,
    /// The currency of price filters, price sorts and of prices that are counted; by default the only one of the
    /// requested products, else the market's.
    pub currency: Option<CurrencyCode>,
    /// Only products with an available variant.
    pub in_stock: bool,
    /// Only products that are marked down.
    pub on_sale: bool,
    /// Only products with these facet values.
    pub facets: FacetFilter,
    /// Only products of these kinds.
    pub kinds: Kinds,
    /// The place and the day of delivery: it adds delivery to cards, and filters where it names a day.
    pub delivery: Option<DeliveryTo>,
}

/// Less is no price.
const PRICE_MINOR_MIN: i64 = 1;

impl Filters {
    /// The filter on rows where prices are in this currency, without delivery: that follows from the day and the
    /// release.
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

/// The products that one card stands for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Fold {
    /// None: each product has its own.
    #[default]
    None,
    /// Of products of one brand whose titles differ by a colour alone, the first stands for all.
    Color,
}

impl Fold {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::None, Self::Color];

    /// The name that requests spell it by.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Color => "color",
        }
    }
}

/// The engine that a caller asks for.
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
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Hybrid, Self::Semantic, Self::Lexical];

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

/// The greatest number of cards that a search answers.
pub type SearchLimit = Limit<20, 40>;

/// A search for products.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct SearchRequest {
    /// The query, in free words; empty for the most presentable products.
    pub text: Text<512>,
    /// The filter that products must pass.
    pub filters: Filters,
    /// Only products of this brand; of none where the release does not have it.
    pub brand: Option<ParsedName<BrandSlug>>,
    /// The order of the products.
    pub order: Order,
    /// The engine.
    pub mode: Mode,
    /// Most cards.
    pub limit: SearchLimit,
    /// The products that one card stands for.
    pub fold: Fold,
    /// Most cards of one brand; as many as fit where nobody says.
    pub per_brand_max: Option<SearchLimit>,
    /// A product that the results must be like; it is none of them.
    pub similar_to: Option<ProductIdent>,
    /// True where the parts of each hit's score are asked for.
    pub explain: bool,
    /// True where facet values are counted.
    pub facet_counts: bool,
    /// The values of facets that are shown.
    pub facet_window: FacetWindow,
    /// True where the text is words alone: no price, nothing that is not wanted and nobody's gift is read out of it.
    pub as_typed: bool,
}

/// The conditions of a search besides its request and the release.
#[derive(Debug)]
pub struct Conditions {
    /// The currency of prices, where neither the request nor what it asks for has one of its own.
    pub market_currency: CurrencyCode,
    /// The brands that deliver in time, by their places in [`Release::brands`], where that filters.
    pub brands_in_time: Option<Vec<bool>>,
    /// The place in the release of the product that results must be like.
    pub similar_to: Option<RowAddress>,
}
