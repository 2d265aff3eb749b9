use api::{GraphErrors, IgnoredParameter, PathParameters, Problem, QueryReader};
use axum::extract::{Request, State};
use axum::response::Response;

use super::read;
use super::write::{known, written};
use crate::operations::{BrandRequest, BrandsRequest, IfNoneMatch};
use crate::schema::{BrandAnswer, BrandsAnswer, BrandsParameters};
use crate::server::QueryServer;

/// Lists brands, those with most products first.
///
/// Each word of `q` is searched in name, slug and domain. `category` (slug or id) keeps brands with a product in the
/// category or its subcategories.
#[utoipa::path(
    get,
    path = "/v1/brands",
    operation_id = "list_brands",
    tag = "Discovery",
    params(BrandsParameters),
    responses(
        (status = 200, description = "A page of brands.", body = BrandsAnswer<'static>,
            headers(("ETag" = String), ("X-Request-Id" = String))),
        (status = 404, description = "No such category.", body = api::ProblemDocument,
            content_type = "application/problem+json", headers(("X-Request-Id" = String))),
        GraphErrors,
    )
)]
pub(crate) async fn list_brands(State(server): State<QueryServer>, request: Request) -> Result<Response, Problem> {
    let headers = request.headers();
    let (asked, ignored) = asked(request.uri().query(), &server)?;
    let answered = server.brands_unless(&asked, IfNoneMatch::by(&known(headers)))?;
    Ok(written(answered, headers, &ignored))
}

fn asked(query: Option<&str>, server: &QueryServer) -> Result<(BrandsRequest, Vec<IgnoredParameter>), Problem> {
    let mut reader = QueryReader::new(query);
    let request = BrandsRequest {
        text: read::text(&mut reader, false),
        category: read::category(&mut reader),
        limit: read::limit(&mut reader),
        cursor: read::cursor(&mut reader, server),
    };
    let ignored = reader.ignored();
    reader.finish(PathParameters::none(), (request, ignored))
}

/// Returns one brand.
///
/// The answer has the store's own description, the brand's categories, its shipping terms, and the time of the last
/// check.
#[utoipa::path(
    get,
    path = "/v1/brands/{slug}",
    operation_id = "get_brand",
    tag = "Discovery",
    params(("slug" = String, Path, description = "The brand's slug.")),
    responses(
        (status = 200, description = "The brand.", body = BrandAnswer<'static>,
            headers(("ETag" = String), ("X-Request-Id" = String))),
        (status = 404, description = "No such brand.", body = api::ProblemDocument,
            content_type = "application/problem+json", headers(("X-Request-Id" = String))),
        GraphErrors,
    )
)]
pub(crate) async fn get_brand(
    State(server): State<QueryServer>,
    path: PathParameters,
    request: Request,
) -> Result<Response, Problem> {
    let headers = request.headers();
    let brand = read::brand_of_path(&path);
    let reader = QueryReader::new(request.uri().query());
    let ignored = reader.ignored();
    let asked = reader.finish(path, BrandRequest { brand })?;
    let answered = server.brand_unless(&asked, IfNoneMatch::by(&known(headers)))?;
    Ok(written(answered, headers, &ignored))
}
