use api::{PathParameters, Problem, QueryReader, Rule};
use data_index::columns::fold_name;
use data_index::taxonomy::{self, Category};
use data_index::{Release, RowFilter};
use data_model::{BrandSlug, CurrencyCode, ErrorCode};

use super::search::{ORDERS, read_price};
use super::{cursor, facets};
use crate::browse::Scope;
use crate::config::CursorKey;
use crate::cursor::Cursor;
use crate::lexical::Order;

/// Most products of one page.
const LIMIT_MAX: i64 = 60;
/// Nobody walks further into a list.
pub(crate) const LIST_MAX: usize = 1_000;

/// A request for one page of a faceted list, its parameters checked.
#[derive(Debug)]
pub(crate) struct BrowsePlan {
    /// `Some(None)` for a category that the taxonomy does not have.
    category: Option<Option<&'static Category>>,
    /// `Some(None)` for a text that is no slug.
    brand: Option<Option<BrandSlug>>,
    pub(crate) filter: RowFilter,
    pub(crate) order: Order,
    pub(crate) limit: usize,
    /// The currency of the answer's prices.
    pub(crate) currency: CurrencyCode,
    /// Signed by this server; whether it is of this list only the release tells.
    pub(crate) cursor: Option<Cursor>,
}

impl BrowsePlan {
    /// Reads the parameters of `GET /v1/browse`.
    pub(crate) fn read(query: Option<&str>, market_currency: CurrencyCode, key: &CursorKey) -> Result<Self, Problem> {
        let mut reader = QueryReader::new(query);
        let brand = text(&mut reader, "brand").map(|text| text.parse().ok());
        let plan = Self::read_list(&mut reader, (market_currency, key), brand);
        if plan.category.is_none() && plan.brand.is_none() && !reader.refused("category") && !reader.refused("brand") {
            reader.refuse("category", &Rule::Missing, Some(serde_json::Value::Null));
        }
        reader.finish(PathParameters::none(), plan)
    }

    /// Reads the parameters of `GET /v1/brands/{slug}/products`.
    pub(crate) fn read_brand(
        path: PathParameters,
        query: Option<&str>,
        market_currency: CurrencyCode,
        key: &CursorKey,
    ) -> Result<Self, Problem> {
        let mut reader = QueryReader::new(query);
        let brand = path.text("slug").and_then(|text| text.parse().ok());
        let plan = Self::read_list(&mut reader, (market_currency, key), Some(brand));
        reader.finish(path, plan)
    }

    fn read_list(
        reader: &mut QueryReader<'_>,
        (market_currency, key): (CurrencyCode, &CursorKey),
        brand: Option<Option<BrandSlug>>,
    ) -> Self {
        let category = text(reader, "category").map(|text| taxonomy::by_slug_or_id(&text));
        let price = read_price(reader, market_currency);
        let mut filter = RowFilter {
            in_stock: reader.boolean("in_stock").unwrap_or(false),
            on_sale: reader.boolean("on_sale").unwrap_or(false),
            facets: facets::read(reader),
            ..RowFilter::default()
        };
        let order = reader.choice("sort", &ORDERS).unwrap_or(Order::Relevance);
        let limit = reader
            .integer("limit", 1..=LIMIT_MAX)
            .and_then(|limit| usize::try_from(limit).ok())
            .unwrap_or(24);
        let cursor = cursor::read(reader, key);
        // Prices of different currencies are never compared.
        let by_price = matches!(order, Order::PriceAscending | Order::PriceDescending);
        let currency = price.map_or(market_currency, |price| price.currency);
        filter.price = price.filter(|price| by_price || price.min_minor.is_some() || price.max_minor.is_some());
        Self {
            category,
            brand,
            filter,
            order,
            limit,
            currency,
            cursor,
        }
    }

    /// The products that the list is of.
    ///
    /// # Errors
    /// 404 for a category that the taxonomy does not have or a brand that the release does not have.
    pub(crate) fn scope(&self, release: &Release) -> Result<Scope<'static>, Problem> {
        let category = match self.category {
            Some(None) => return Err(Problem::new(ErrorCode::CategoryNotFound)),
            Some(Some(category)) => Some(category.id),
            None => None,
        };
        let brand = match &self.brand {
            Some(slug) => {
                let entry = slug.as_ref().and_then(|slug| release.brand_by_slug(slug));
                let at = entry.and_then(|entry| release.brand_index(&entry.facts.brand.store));
                Some(at.ok_or_else(|| Problem::new(ErrorCode::BrandNotFound))?)
            }
            None => None,
        };
        Ok(Scope {
            category,
            brand,
            matches: None,
        })
    }

    /// What names the list: everything but the page. Requests that ask for the same in other words have the same.
    pub(crate) fn list_key(&self, scope: &Scope<'_>) -> Vec<u8> {
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
            ..
        } = &self.filter;
        let (category, brand, order) = (scope.category, scope.brand, self.order);
        // The currency counts without a filter by price too: the answer tells prices in it.
        let currency = self.currency;
        // The quoted texts of `Debug` cannot run into each other.
        format!("{category:?} {brand:?} {currency:?} {price:?} {in_stock} {on_sale} {order:?} {clauses:?}").into_bytes()
    }
}

fn text(reader: &mut QueryReader<'_>, name: &'static str) -> Option<String> {
    let text = reader.text(name, 200).filter(|text| !text.is_empty());
    text.map(std::borrow::Cow::into_owned)
}
