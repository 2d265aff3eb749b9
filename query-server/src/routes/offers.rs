use api::{GraphErrors, IgnoredParameter, PathParameters, Problem, QueryReader};
use axum::extract::{Request, State};
use axum::response::Response;

use super::read;
use super::write::{known, written};
use crate::operations::{IfNoneMatch, OffersRequest};
use crate::schema::{OffersAnswer, OffersParameters, ProductPath};
use crate::server::QueryServer;

/// Lists the offers of all brands for the same product.
///
/// Identical products of different brands are found when a release is built: by bar code number if known, otherwise by
/// maker, stock keeping unit, title and attributes. Another size, pack, colour or version is not the same product.
/// Uncertain matches are excluded. Each offer states its confidence (`confidence`), the deciding evidence (`basis`) and
/// all evidence (`reasons`). The product's own offer is included (`is_this_product`). Offers in stock come first.
/// Within each group, the product's own currency comes first, and within a currency the lowest price. Prices in
/// different currencies are not compared. Prices and stock are the stored snapshot. If the release has no data on
/// identical products, `provenance.unknown_reason` states this, and only the product's own offer is listed. With
/// `pincode`, each offer has `delivery`.
#[utoipa::path(
    get,
    path = "/v1/products/{ident}/offers",
    operation_id = "list_offers",
    tag = "Products",
    params(ProductPath, OffersParameters),
    responses(
        (status = 200, description = "Offers of all brands. Offers in stock come first, then the cheapest in each \
            currency.", body = OffersAnswer<'static>,
            headers(("ETag" = String), ("X-Request-Id" = String))),
        (status = 404, description = "No such product.", body = api::ProblemDocument,
            content_type = "application/problem+json", headers(("X-Request-Id" = String))),
        GraphErrors,
    )
)]
pub(crate) async fn list_offers(
    State(server): State<QueryServer>,
    path: PathParameters,
    request: Request,
) -> Result<Response, Problem> {
    let headers = request.headers();
    let (asked, ignored) = asked(path, request.uri().query())?;
    let answered = server.offers_unless(&asked, IfNoneMatch::by(&known(headers)))?;
    Ok(written(answered, headers, &ignored))
}

fn asked(path: PathParameters, query: Option<&str>) -> Result<(OffersRequest, Vec<IgnoredParameter>), Problem> {
    let mut reader = QueryReader::new(query);
    let limit = read::limit(&mut reader);
    let pincode = read::pincode(&mut reader);
    let ignored = reader.ignored();
    let request = OffersRequest {
        product: read::product(reader, path)?,
        limit,
        pincode,
    };
    Ok((request, ignored))
}
