use api::{GraphErrors, IgnoredParameter, PathParameters, Problem, QueryReader, Rule};
use axum::extract::{Request, State};
use axum::response::Response;
use data_model::ErrorCode;

use super::read;
use super::write::{known, written};
use crate::operations::{BrandProductsRequest, BrowseOf, BrowseRequest, IfNoneMatch};
use crate::schema::{BrandParameter, BrowseAnswer, FilterParameters, ListParameters};
use crate::server::QueryServer;

/// Faceted grid of a category, a brand, or a brand's products in a category.
///
/// Without `sort` the most presentable products stand first. The counts of a facet are those of the products that
/// pass every other filter: a facet's own filter does not narrow them, nor does the price range narrow `price`. They
/// tell what choosing a value would answer. Which facets are shown, in which order, and the limits of the histogram
/// follow from the category and the brand alone, so that they stand still while filters change: categories right below
/// the one that is browsed, brands, then the facets that most products have, then tags; at most 12 facets besides that of
/// brands, of `facet_values_max` values each: `values_total` tells how many there are, `facet_query` reaches the rest. What is
/// filtered by is always shown, were it with a count of 0.
///
/// Prices of different currencies are never compared. They are those in `currency`, by default in the only currency of what
/// is browsed, else in the market's; `provenance.price` names it. A price filter keeps products of that currency alone,
/// from items and counts, and `provenance.price.left_out` tells whether others were left out for it. A price sort drops nothing:
/// products of that currency stand first, in order, then the others by currency, in order. `price` is about products in
/// that currency alone. A price of 0 is none: it fails every price filter, and is never the cheapest.
///
/// Without `sort`, and among what a sort finds equal, what is sold out stands behind what is not. With `fold=color` products of
/// one brand whose titles differ by a colour alone are one card, with `swatches`; counts count products all the same.
///
/// Goods alone are listed and counted unless `kind` asks for others: gift cards, services, fees, samples, notices and tests of
/// stores. Tags and options that stores write for programs (`BADGE_NEW`) are no facets, though they filter.
///
/// With `pincode` every item has `delivery`, what is known of delivery there; what is not known is null. `deliver_by` filters by
/// it: products of brands that are not known to deliver there by that day are left out, from items and counts.
///
/// The list ends after 1,000 products. A cursor is good for the same filters, kinds, pincode and sort in the same release, with
/// `deliver_by` on the same day; `limit`
/// may change from page to page.
#[utoipa::path(
    get,
    path = "/v1/browse",
    operation_id = "browse",
    tag = "Discovery",
    params(BrandParameter, ListParameters, FilterParameters),
    responses(
        (status = 200, description = "One page with facets.", body = BrowseAnswer<'static>,
            headers(("ETag" = String), ("X-Request-Id" = String))),
        (status = 404, description = "No such category or brand.", body = api::ProblemDocument,
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

/// A brand's catalogue.
///
/// The same as `GET /v1/browse` with this brand: filters, facets, sorting and pages work alike.
#[utoipa::path(
    get,
    path = "/v1/brands/{slug}/products",
    operation_id = "list_brand_products",
    tag = "Discovery",
    params(("slug" = String, Path, description = "The brand's slug."), ListParameters, FilterParameters),
    responses(
        (status = 200, description = "One page with facets.", body = BrowseAnswer<'static>,
            headers(("ETag" = String), ("X-Request-Id" = String))),
        (status = 404, description = "No such brand or category.", body = api::ProblemDocument,
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
