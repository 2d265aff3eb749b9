use api::{GraphErrors, IgnoredParameter, PathParameters, Problem, QueryReader, Rule};
use axum::extract::{Request, State};
use axum::response::Response;
use data_model::ErrorCode;

use super::read;
use super::write::{known, written};
use crate::operations::{BrandProductsRequest, BrowseOf, BrowseRequest, IfNoneMatch};
use crate::schema::{BrandParameter, BrowseAnswer, FilterParameters, ListParameters};
use crate::server::QueryServer;

/// Lists the products of a category, a brand, or a brand in a category, with facets.
///
/// Without `sort`, the most presentable products come first. A facet counts the products that pass all other filters: a
/// filter on a facet does not change the counts of that facet, and the price range does not change `price`. A count is
/// the number of products that a value would select. The shown facets, their order and the limits of the histogram
/// depend only on the category and the brand, so they do not change with the filters. Facets are ordered:
/// subcategories, brands, the facets that most products have, tags. There are at most 12 facets besides brands, with
/// `facet_values_max` values each. `values_total` is the number of values, and `facet_query` finds further values.
/// Values in the filter are always shown, even with a count of 0.
///
/// Prices in different currencies are never compared. Prices are in `currency`. The default of `currency` is the only
/// currency of the browsed products, otherwise the market's currency. `provenance.price` names the currency. A price
/// filter keeps only products in that currency, in items and counts. `provenance.price.left_out` is present if the
/// price filter excluded products in other currencies. A price sort excludes nothing: products in that currency come
/// first, then products in other currencies, grouped by currency. `price` covers only products in that currency. A
/// price of 0 counts as no price: it fails every price filter and is never the cheapest.
///
/// Without `sort`, and among equal products of a sort, sold-out products come last. With `fold=color`, products of one
/// brand whose titles differ only by a colour share one card with `swatches`; counts still count products.
///
/// Only goods are listed and counted unless `kind` requests other kinds: gift cards, services, fees, samples, notices
/// and tests of stores. Tags and options that stores write for programs (`BADGE_NEW`) are not shown as facets, but can
/// be used as filters.
///
/// With `pincode`, every item has `delivery` with the known delivery facts; unknown facts are null. `deliver_by`
/// excludes products of brands that are not known to deliver by that day, from items and counts.
///
/// The list ends after 1,000 products. A cursor is valid for the same filters, kinds, pincode and sort in the same
/// release. With `deliver_by`, a cursor is valid only on the same day. `limit` may change from page to page.
#[utoipa::path(
    get,
    path = "/v1/browse",
    operation_id = "browse",
    tag = "Discovery",
    params(BrandParameter, ListParameters, FilterParameters),
    responses(
        (status = 200, description = "One page of products, with facets.", body = BrowseAnswer<'static>,
            headers(("ETag" = String), ("X-Request-Id" = String))),
        (status = 404, description = "The category or brand does not exist.", body = api::ProblemDocument,
            content_type = "application/problem+json", headers(("X-Request-Id" = String))),
        GraphErrors,
    )
)]
pub(crate) async fn browse(State(server): State<QueryServer>, request: Request) -> Result<Response, Problem> {
    let headers = request.headers();
    let (asked, ignored) = asked(request.uri().query(), &server)?;
    let is_known = known(headers);
    let answered = server.browse_unless(asked, IfNoneMatch::by(&is_known)).await?;
    Ok(written(answered, headers, &ignored))
}

fn asked(query: Option<&str>, server: &QueryServer) -> Result<(BrowseRequest, Vec<IgnoredParameter>), Problem> {
    let mut reader = QueryReader::new(query);
    let brand = read::brand(&mut reader);
    let category = read::category(&mut reader);
    let of = BrowseOf::new(brand, category);
    let filters = read::filters(&mut reader);
    let order = read::order(&mut reader);
    let fold = read::fold(&mut reader);
    let facet_window = read::facet_window(&mut reader);
    let limit = read::limit(&mut reader);
    let cursor = read::cursor(&mut reader, server);
    if of.is_none() && !reader.refused("category") && !reader.refused("brand") {
        reader.refuse("category", &Rule::Missing, Some(serde_json::Value::Null));
    }
    let ignored = reader.ignored();
    let of = reader.finish(PathParameters::none(), of)?;
    let request = BrowseRequest {
        of: of.ok_or_else(|| Problem::new(ErrorCode::Internal))?,
        filters,
        order,
        fold,
        facet_window,
        limit,
        cursor,
    };
    Ok((request, ignored))
}

/// Lists a brand's catalogue.
///
/// Equals `GET /v1/browse` with this brand: filters, facets, sorting and pages work the same way.
#[utoipa::path(
    get,
    path = "/v1/brands/{slug}/products",
    operation_id = "list_brand_products",
    tag = "Discovery",
    params(("slug" = String, Path, description = "The brand's slug."), ListParameters, FilterParameters),
    responses(
        (status = 200, description = "One page of products, with facets.", body = BrowseAnswer<'static>,
            headers(("ETag" = String), ("X-Request-Id" = String))),
        (status = 404, description = "The brand or category does not exist.", body = api::ProblemDocument,
            content_type = "application/problem+json", headers(("X-Request-Id" = String))),
        GraphErrors,
    )
)]
pub(crate) async fn list_brand_products(
    State(server): State<QueryServer>,
    path: PathParameters,
    request: Request,
) -> Result<Response, Problem> {
    let headers = request.headers();
    let (asked, ignored) = asked_of_brand(path, request.uri().query(), &server)?;
    let is_known = known(headers);
    let answered = server.brand_products_unless(asked, IfNoneMatch::by(&is_known)).await?;
    Ok(written(answered, headers, &ignored))
}

fn asked_of_brand(
    path: PathParameters,
    query: Option<&str>,
    server: &QueryServer,
) -> Result<(BrandProductsRequest, Vec<IgnoredParameter>), Problem> {
    let mut reader = QueryReader::new(query);
    let request = BrandProductsRequest {
        brand: read::brand_of_path(&path),
        category: read::category(&mut reader),
        filters: read::filters(&mut reader),
        order: read::order(&mut reader),
        fold: read::fold(&mut reader),
        facet_window: read::facet_window(&mut reader),
        limit: read::limit(&mut reader),
        cursor: read::cursor(&mut reader, server),
    };
    let ignored = reader.ignored();
    reader.finish(path, (request, ignored))
}
