use api::{GraphErrors, IgnoredParameter, PathParameters, Problem, QueryReader, product_ident};
use axum::extract::{Request, State};
use axum::response::Response;

use super::read;
use super::write::{known, written};
use crate::operations::{IfNoneMatch, Mode, SearchLimit, SearchRequest};
use crate::schema::{FilterParameters, SearchAnswer, SearchParameters};
use crate::server::QueryServer;

/// Top ranked product cards for a query.
///
/// Capped; there are no pages and no total: `provenance.more` tells whether there are others. `mode=hybrid` orders what is found by words and what is found by meaning
/// together; what only its meaning speaks for must be near enough to be meant. `provenance.engine` tells what was
/// searched with, and `provenance.degraded` why meaning was left out. In another order than that of relevance, meaning
/// answers only where words find nothing.
///
/// By words: every word of the query is asked for in some field; when fewer products than a page hold them all, the answer
/// goes on with products that lack one word, then with those that hold any (`provenance.relaxed`), and in `hybrid` with
/// what is near in meaning. Where twenty products or more hold every word, filters by price, stock, sale or facets leave
/// of them what they leave, as the counts tell, and nothing else is added unless that is nothing. A word that no product
/// holds is mended where a near one is known (`provenance.corrections`). A last word that no product holds, or none beside
/// the other words, is taken for the beginning of one (`provenance.relaxed` is `prefix`). Words that shoppers use for the same thing find each other,
/// the query's own standing before the others (`provenance.synonyms`). `mode=lexical` takes words as they are typed, in
/// any grammatical form, in one word or in two (told in `provenance.synonyms`): it mends and completes none and knows no
/// other words for the same; where too few products hold all words, it too goes on with those that lack some. A product whose title is the query stands first, then one
/// whose SKU or handle it is, then those of the brand whose name it is. Without a query the most presentable products are
/// answered, what is sold out behind what is not. Prices are those in `currency`, by default in the only currency of what is
/// searched, else in the market's; `provenance.price` names it where prices filter, order or are counted. A price filter keeps
/// products of that currency alone, and `provenance.price.left_out` tells whether others were left out for it; a price sort
/// drops nothing: products of that currency stand first, in order, then the others by currency, in order. A price of 0 is none.
///
/// In `mode=hybrid` the query is read as a sentence too (`provenance.understood` tells the reading, `understand=false`
/// turns it off). Prices ("under 2000", "500 se kam", "between 1000 and 2000", "below 20 dollars") filter, in the
/// currency that is named or searched. Unwanted things ("not black", "without leather", "bina cheeni", `-silk`) are
/// left out of titles, attributes and vendors; an unwanted brand ("not from Nike", "any brand but Nike") is left out
/// with all its products. A lack that titles claim ("no sugar", "caffeine free") must stand in the title. The person
/// whom a gift is for, occasions and purposes stand for categories where no thing is named; ages are no sizes; words
/// between quotation marks stand beside each other. Words that only ask are left out. A query that is a title, a code
/// or the name of a brand means that alone, and a price parameter of the request goes before a price of the text.
/// Products near in meaning are answered where none has the words (`provenance.relaxed` is `meaning`).
///
/// Goods alone are answered unless `kind` asks for others: gift cards, services, fees, samples, notices and tests of stores.
///
/// With `pincode` every card has `delivery`, what is known of delivery there; what is not known is null. `deliver_by` filters by
/// it: products of brands that are not known to deliver there by that day are left out, from the counts too.
///
/// An answer of fewer than twenty is the beginning of one of twenty. With `fold=color` products of one brand whose titles differ
/// by a colour alone are one card, with `swatches`.
///
/// `facet_counts=true` adds `provenance.facets` and `provenance.price`, as `GET /v1/browse` answers them: counted over
/// every product that the words match, however many are shown; where fewer than twenty hold every word, also what is shown
/// beside those, found by meaning or by fewer words, the first twenty or `limit`, whichever is more.
/// `similar_to` matches to a degree, so there that alone is counted; in `mode=semantic` nothing is. A search tells no total:
/// a count above 1,000 is 1000 with `value_capped: true`.
#[utoipa::path(
    get,
    path = "/v1/search",
    operation_id = "search_products",
    tag = "Discovery",
    params(SearchParameters, FilterParameters),
    responses(
        (status = 200, description = "Product cards, best first.", body = SearchAnswer<'static>,
            headers(("ETag" = String), ("X-Request-Id" = String))),
        (status = 404, description = "No product as `similar_to` names it.", body = api::ProblemDocument,
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

/// Reads the parameters; an answer holds `limit_max` cards at most.
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
