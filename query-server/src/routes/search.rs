use api::{GraphErrors, IgnoredParameter, PathParameters, Problem, QueryReader, product_ident};
use axum::extract::{Request, State};
use axum::response::Response;

use super::read;
use super::write::{known, written};
use crate::operations::{IfNoneMatch, Mode, SearchLimit, SearchRequest};
use crate::schema::{FilterParameters, SearchAnswer, SearchParameters};
use crate::server::QueryServer;

/// Returns the top ranked product cards for a query.
///
/// The result is limited, without pages or a total; `provenance.more` is true if more products match. `mode=hybrid`
/// ranks matches by words and matches by meaning together. Products found only by meaning must have a minimum
/// similarity. `provenance.engine` names the engine used, and `provenance.degraded` the reason if meaning was not used.
/// If the sort order is not relevance, meaning is used only if words find nothing.
///
/// Search by words looks for every word of the query in some field. If fewer products than a page have all words,
/// products that lack one word follow, then products with any word (`provenance.relaxed`), and in `hybrid` products
/// similar in meaning. If twenty or more products have every word, filters by price, stock, sale or facets only reduce
/// these products, as the counts show. Other products are added only if no product remains after the filters. A word
/// that no product has is corrected if a similar word is known (`provenance.corrections`). If no product has the last
/// word, or no product has the last word together with the other words, the last word is completed as a prefix
/// (`provenance.relaxed` is `prefix`). Synonyms of shoppers match each other, and the query's own words rank first
/// (`provenance.synonyms`). `mode=lexical` uses words as typed, in any grammatical form, in one word or in two (listed
/// in `provenance.synonyms`). The lexical mode corrects and completes no words and uses no synonyms. If too few
/// products have all words, the lexical mode also adds products that lack some words. A product whose title equals the
/// query comes first, then products whose SKU or handle equals it, then products of the brand with that name. Without a
/// query, the most presentable products are returned, and sold-out products last. Prices are in `currency`. The default
/// of `currency` is the only currency of the searched products, otherwise the market's currency. `provenance.price`
/// names the currency if the request filters or sorts by price or counts prices. A price filter keeps only products in
/// that currency, and `provenance.price.left_out` is present if the price filter excluded products in other currencies.
/// A price sort excludes no currency: products in that currency come first, then products in other currencies, grouped
/// by currency. A price of 0 counts as no price. Products that lack a word are found in the order of relevance only.
///
/// In `mode=hybrid` the query is also interpreted as a sentence. `provenance.understood` shows the interpretation, and
/// `understand=false` disables it. Prices ("under 2000", "500 se kam", "between 1000 and 2000", "below 20 dollars")
/// become filters, in the named or searched currency. Unwanted things ("not black", "without leather", "bina cheeni",
/// `-silk`) must not occur in titles, attributes and vendors. An unwanted brand ("not from Nike", "any brand but Nike")
/// is excluded with all its products. The absence of an ingredient that titles claim ("no sugar", "caffeine free") must
/// be in the title. If the query names no product, the recipient of a gift, occasions and purposes stand for
/// categories. Ages are not sizes. Words in quotation marks must be adjacent. Words that only express the request are
/// ignored. A query that equals a title, a code or the name of a brand means only that. A price parameter of the
/// request takes precedence over a price in the text. If no product has the words, products similar in meaning are
/// returned (`provenance.relaxed` is `meaning`).
///
/// Only goods are returned unless `kind` requests other kinds: gift cards, services, fees, samples, notices and tests
/// of stores.
///
/// With `pincode`, every card has `delivery` with the known delivery facts; unknown facts are null. `deliver_by`
/// excludes products of brands that are not known to deliver by that day, also from the counts.
///
/// An answer with fewer than twenty cards is the start of the answer with twenty cards. With `fold=color`, products of
/// one brand whose titles differ only by a colour share one card with `swatches`.
///
/// `facet_counts=true` adds `provenance.facets` and `provenance.price`, as in `GET /v1/browse`. The counts cover every
/// product that the words match, not only the shown products. If fewer than twenty products have every word, the
/// products shown in addition (by meaning or fewer words) count too: the first twenty or `limit`, whichever is more.
/// For `similar_to`, similarity is gradual, so only these products are counted; in `mode=semantic` nothing is counted.
/// A search reports no total: a count above 1,000 is 1000 with `value_capped: true`.
#[utoipa::path(
    get,
    path = "/v1/search",
    operation_id = "search_products",
    tag = "Discovery",
    params(SearchParameters, FilterParameters),
    responses(
        (status = 200, description = "Product cards, best first.", body = SearchAnswer<'static>,
            headers(("ETag" = String), ("X-Request-Id" = String))),
        (status = 404, description = "The product named by `similar_to` does not exist.", body = api::ProblemDocument,
            content_type = "application/problem+json", headers(("X-Request-Id" = String))),
        GraphErrors,
    )
)]
pub(crate) async fn search_products(State(server): State<QueryServer>, request: Request) -> Result<Response, Problem> {
    let headers = request.headers();
    let (asked, ignored) = asked(request.uri().query(), server.0.config.search_limit_max)?;
    let is_known = known(headers);
    let answered = server.search_unless(asked, IfNoneMatch::by(&is_known)).await?;
    Ok(written(answered, headers, &ignored))
}

/// Reads the parameters. An answer may have up to `limit_max` cards.
fn asked(query: Option<&str>, limit_max: u16) -> Result<(SearchRequest, Vec<IgnoredParameter>), Problem> {
    let mut reader = QueryReader::new(query);
    let limits = || 1..=i64::from(limit_max);
    let within = |limit| SearchLimit::within(limit, limit_max);
    let request = SearchRequest {
        text: read::text(&mut reader, false),
        filters: read::filters(&mut reader),
        brand: read::brand(&mut reader),
        order: read::order(&mut reader),
        mode: reader
            .optional("mode")
            .choice(&Mode::ALL, Mode::as_str)
            .unwrap_or_default(),
        limit: (reader.optional("limit").integer(limits()))
            .and_then(within)
            .unwrap_or_default(),
        fold: read::fold(&mut reader),
        per_brand_max: (reader.optional("per_brand_max").integer(limits())).and_then(within),
        similar_to: reader.optional("similar_to").parsed(product_ident),
        explain: reader.optional("explain").boolean().unwrap_or(false),
        facet_counts: reader.optional("facet_counts").boolean().unwrap_or(false),
        facet_window: read::facet_window(&mut reader),
        as_typed: !reader.optional("understand").boolean().unwrap_or(true),
    };
    let ignored = reader.ignored();
    reader.finish(PathParameters::none(), (request, ignored))
}
