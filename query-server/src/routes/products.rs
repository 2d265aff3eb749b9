use api::{GraphAnswer, GraphErrors, PathParameters, Problem};
use axum::extract::{Request, State};
use data_model::ErrorCode;

use super::tag_of;
use crate::plan::product::ProductPlan;
use crate::render::product;
use crate::schema::{IncludeParameters, ProductAnswer};
use crate::server::QueryServer;

/// One product, with the parts that `include` names.
///
/// Prices are the stored snapshot, not the live price; `provenance.refreshed_at` tells when the brand's catalogue was
/// found as it is now. A part that is not included is absent.
#[utoipa::path(
    get,
    path = "/v1/products/{ident}",
    operation_id = "get_product",
    tag = "Products",
    params(("ident" = String, Path, description = "`sha:` and 40 hex digits, or a UUID.",
        pattern = "^(sha:[0-9a-fA-F]{40}|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$"), IncludeParameters),
    responses(
        (status = 200, description = "The product.", body = ProductAnswer,
            headers(("ETag" = String), ("X-Request-Id" = String))),
        (status = 404, description = "No such product.", body = api::ProblemDocument,
            content_type = "application/problem+json", headers(("X-Request-Id" = String))),
        GraphErrors,
    )
)]
pub(crate) async fn get_product(
    State(server): State<QueryServer>,
    path: PathParameters,
    request: Request,
) -> Result<GraphAnswer, Problem> {
    let plan = ProductPlan::read(path, request.uri().query())?;
    server.at_once(|served| {
        let at = served
            .release
            .find(&plan.ident)
            .ok_or_else(|| Problem::new(ErrorCode::ProductNotFound))?;
        GraphAnswer::unless_known(request.headers(), tag_of(served, request.uri()), || {
            Ok(product::detail(served, at, plan.include))
        })
    })
}
