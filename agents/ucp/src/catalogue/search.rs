use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest, Sha256};

use super::filter::{Context, Filters};
use super::product::{Product, product};
use crate::failure::Failure;
use crate::market::Market;
use crate::message::{Capability, Message, Meta};

/// Default number of products on a page.
const LIMIT: usize = 10;
/// Maximum number of products on a page. A higher limit in a request is lowered, as the protocol allows.
const LIMIT_MAX: usize = 20;
/// Maximum number of products of a text search in total.
const RANKED_MAX: usize = 40;
const QUERY_CHARS_MAX: usize = 512;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Paging {
    cursor: Option<String>,
    limit: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct SearchBody {
    query: Option<String>,
    filters: Filters,
    context: Context,
    pagination: Paging,
}

#[derive(Debug, PartialEq, Serialize)]
struct Pagination {
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
    has_next_page: bool,
}

#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct SearchAnswer {
    ucp: Meta,
    products: Vec<Product>,
    pagination: Pagination,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    messages: Vec<Message>,
}

/// Position at which the next page begins.
enum Next {
    End,
    /// Position after this number of ranked results.
    At(usize),
    /// Cursor of the underlying list.
    Cursor(String),
}

/// Returns the number of products on a page.
fn limit(asked: Option<u64>) -> Result<usize, Failure> {
    match asked {
        None => Ok(LIMIT),
        Some(0) => Err(Failure::bad("invalid", "pagination.limit must be at least 1.")),
        Some(limit) => Ok(usize::try_from(limit).unwrap_or(LIMIT_MAX).min(LIMIT_MAX)),
    }
}

/// Searches products by words or in categories.
pub(crate) async fn search(market: &Market<'_>, body: SearchBody) -> Result<SearchAnswer, Failure> {
    let filters = body.filters.checked()?;
    let query = body.query.as_deref().map(str::trim).filter(|query| !query.is_empty());
    if query.is_none() && filters.is_none() {
        let content = "A search needs a query or filters (filters.categories, filters.price).";
        return Err(Failure::bad("invalid", content));
    }
    if query.is_some_and(|query| query.chars().count() > QUERY_CHARS_MAX) {
        let content = format!("query may have at most {QUERY_CHARS_MAX} characters.");
        return Err(Failure::bad("invalid", content));
    }
    let limit = limit(body.pagination.limit)?;
    let mut parameters = filters.parameters(&body.context);
    let mark = mark(query, &filters, &body.context);
    let cursor = body
        .pagination
        .cursor
        .as_deref()
        .map(|cursor| opened(cursor, &mark))
        .transpose()?;
    let (ids, next): (Vec<String>, Next) = match (query, filters.categories.as_slice()) {
        (None, [category]) => {
            parameters.insert("category", category.clone());
            parameters.insert("limit", limit.to_string());
            parameters.extend(cursor.map(|cursor| ("cursor", cursor)));
            let page = market.browse(&parameters).await?;
            let next = page.next_cursor.map_or(Next::End, Next::Cursor);
            (page.items.into_iter().map(|card| card.id).collect(), next)
        }
        _ => {
            let from: usize = cursor.map_or(Ok(0), |text| text.parse().map_err(|_| bad_cursor()))?;
            parameters.extend(query.map(|query| ("q", query.to_owned())));
            if !filters.categories.is_empty() {
                parameters.insert("facets", json!({ "category": filters.categories }).to_string());
            }
            // Every page requests the maximum, so that all pages are from one list.
            parameters.insert("limit", RANKED_MAX.to_string());
            let ranked = market.search(&parameters).await?;
            let end = from.saturating_add(limit);
            let next = if ranked.len() > end { Next::At(end) } else { Next::End };
            (ranked.into_iter().skip(from).take(limit).collect(), next)
        }
    };
    let names: Vec<&str> = ids.iter().map(String::as_str).collect();
    let details = market.products(&names).await?;
    let products = details
        .iter()
        .flatten()
        .filter_map(|detail| product(detail, &filters.price));
    let products: Vec<Product> = products.collect();
    let mut messages = Vec::new();
    if !filters.price.is_none() && body.context.currency.is_none() {
        let content = "filters.price was read in the market's own currency because context.currency is absent.";
        messages.push(Message::info("currency_assumed", content));
    }
    Ok(SearchAnswer {
        ucp: Meta::of(market.version(), Capability::Search),
        products,
        pagination: Pagination {
            has_next_page: !matches!(next, Next::End),
            cursor: match next {
                Next::End => None,
                Next::At(at) => Some(sealed(&at.to_string(), &mark)),
                Next::Cursor(cursor) => Some(sealed(&cursor, &mark)),
            },
        },
        messages,
    })
}

/// Returns a digest of a search. The search's cursors contain the digest and are rejected for any other search.
fn mark(query: Option<&str>, filters: &Filters, context: &Context) -> String {
    let parts = json!([query, filters.categories, filters.parameters(context)]);
    let hash = Sha256::digest(parts.to_string());
    URL_SAFE_NO_PAD.encode(&hash[..6])
}

fn sealed(place: &str, mark: &str) -> String {
    URL_SAFE_NO_PAD.encode(format!("{mark} {place}"))
}

fn opened(cursor: &str, mark: &str) -> Result<String, Failure> {
    let plain = URL_SAFE_NO_PAD.decode(cursor).ok();
    let plain = plain.and_then(|bytes| String::from_utf8(bytes).ok());
    let place = plain
        .as_deref()
        .and_then(|text| text.strip_prefix(mark)?.strip_prefix(' '));
    place.map(ToOwned::to_owned).ok_or_else(bad_cursor)
}

fn bad_cursor() -> Failure {
    Failure::bad("invalid", "pagination.cursor does not belong to this search.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_good_for_its_own_search_alone() {
        let mark = |query| mark(Some(query), &Filters::default(), &Context::default());
        let cursor = sealed("10", &mark("kurta"));
        assert_eq!(opened(&cursor, &mark("kurta")).unwrap(), "10");
        for wrong in ["", "x", "****", &sealed("10", &mark("saree"))] {
            assert!(opened(wrong, &mark("kurta")).is_err(), "{wrong}");
        }
    }
}
