use api::{JsonObject, MembersReader, OpenRouter, PathParameters, Problem, QueryReader, Rule};
use axum::Router;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::{get, post};
use http::StatusCode;

use crate::operations::{BrandKey, IDENTS_MAX, OperationError, ParsedName};
use crate::server::QueryServer;

/// Returns the gateway's routes, which are neither public nor in the public OpenAPI description.
pub(crate) fn internal_router(server: &QueryServer) -> OpenRouter {
    let patterns = ["/internal/v1/resolve", "/internal/v1/brand", "/internal/v1/shop"];
    let router = Router::new()
        .route(patterns[0], post(resolve))
        .route(patterns[1], get(stored_brand))
        .route(patterns[2], get(shop));
    let own = OpenRouter::new(router.with_state(server.clone()), patterns);
    // The gateway calls the operations on stored data and the probes on behalf of agents.
    let (operations, document) = super::operations().split_for_parts();
    let patterns: Vec<String> = document.paths.paths.keys().cloned().collect();
    own.merge(OpenRouter::new(operations.with_state(server.clone()), patterns))
}

/// Resolves the idents in `{"idents": […]}` to [`data_model::ResolvedProducts`].
async fn resolve(State(server): State<QueryServer>, body: JsonObject) -> Result<Response, Problem> {
    let mut members = MembersReader::new(&body);
    let idents = members.idents("idents", IDENTS_MAX);
    let idents = members.finish(idents)?;
    Ok(api::json(StatusCode::OK, &server.resolve(&idents)?))
}

/// Resolves `slug` or `domain` to a [`data_model::StoredBrand`].
async fn stored_brand(State(server): State<QueryServer>, request: Request) -> Result<Response, Problem> {
    let stored = match key(request.uri().query())? {
        Some(key) => server.stored_brand(&key)?,
        // An invalid slug names no brand.
        None => None,
    };
    let stored = stored.ok_or(OperationError::BrandNotFound)?;
    Ok(api::json(StatusCode::OK, &stored))
}

/// Resolves `slug` or `domain` to a [`data_model::StoredShop`], which has the facts for tests of codes.
async fn shop(State(server): State<QueryServer>, request: Request) -> Result<Response, Problem> {
    let stored = match key(request.uri().query())? {
        Some(key) => server.shop(&key).await?,
        None => None,
    };
    let stored = stored.ok_or(OperationError::BrandNotFound)?;
    Ok(api::json(StatusCode::OK, &stored))
}

fn key(query: Option<&str>) -> Result<Option<BrandKey>, Problem> {
    let mut reader = QueryReader::new(query);
    let slug = reader.optional("slug").text(200);
    let domain = reader.optional("domain").text(300);
    if slug.is_some() && domain.is_some() {
        reader.refuse("domain", &Rule::Value("send either slug or domain, not both"), None);
    }
    let key = match (slug, domain) {
        (_, Some(domain)) => Some(BrandKey::Domain(domain.into_owned())),
        (Some(slug), None) => ParsedName::brand(&slug).known().cloned().map(BrandKey::Slug),
        (None, None) => {
            if !reader.refused("slug") && !reader.refused("domain") {
                reader.required("slug");
            }
            None
        }
    };
    reader.finish(PathParameters::none(), key)
}
