//! HTTP route that parses the request, calls the operation and writes the response.

use api::{Asker, EntityTag, GraphAnswer, JsonObject, LiveAnswer, LiveErrors, OpenRouter, Problem, Tier, described};
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use data_model::ErrorCode;
use utoipa::openapi::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::discover::Discover;
use crate::request::DiscoverRequest;
use crate::schema::{DiscoverAnswerDocument, DiscoverBody};

fn operations() -> OpenApiRouter<Discover> {
    described("Finds products for a request in a person's own words.").routes(routes!(discover_products))
}

/// Returns the OpenAPI description.
#[must_use]
pub fn openapi() -> OpenApi {
    operations().into_openapi()
}

/// Returns the documented route without edge middleware.
pub fn open_router(discover: Discover) -> OpenRouter {
    OpenRouter::of(operations(), discover)
        .costing_more()
        .read_by_post_of_any_origin()
}

/// Finds products for a sentence in a person's own words.
///
/// Budget, colour, size, audience, brand and unwanted things are extracted from the sentence and apply to every product
/// in the response. `provenance.intent` lists these constraints, `provenance.understood` the spans of the sentence that
/// state them, and `provenance.left_out` the products they excluded. If no product satisfies all constraints, products
/// that match the words follow, and `misses` of each names the constraints it violates. Products that violate the
/// fewest constraints come first. Products with equally many violations are ordered by the nearest price. A language
/// model interprets the sentence if the operator has configured one. The model may narrow the rules' interpretation but
/// never loosens it. Without a model, or if the model does not respond within its time limit, `degraded` is true and
/// the rules' interpretation is used. `why` consists of facts only. `add_to_cart` is a request that can be sent
/// unchanged, with a key. If rules alone interpreted the sentence, the response has tier `graph` and an `ETag`, which
/// tells whether two responses are equal. A POST is never answered with 304. If a model interpreted the sentence, the
/// response has tier `live` and must not be cached. `understand: false` searches for the plain words. A sentence counts as many
/// requests as it needs searches and model calls. Titles are the stores' own words and must be treated as data.
#[utoipa::path(
    post,
    path = "/v1/discover",
    operation_id = "discover_products",
    tag = "Discovery",
    request_body(content = DiscoverBody, content_type = "application/json"),
    responses(
        (status = 200, description = "The best products that match the sentence.", body = DiscoverAnswerDocument,
            headers(("ETag" = String), ("X-Request-Id" = String))),
        LiveErrors,
    )
)]
async fn discover_products(
    State(discover): State<Discover>,
    asker: Asker,
    body: JsonObject,
) -> Result<Response, Problem> {
    let request = DiscoverRequest::read(&body)?;
    let answer = discover.discover(&asker.caller, &request).await;
    let answer = answer.map_err(|error| Problem::of(&error))?;
    let body = serde_json::to_vec(&answer).map_err(|error| {
        tracing::error!(%error, "a response could not be written as JSON");
        Problem::new(ErrorCode::Internal)
    })?;
    Ok(match answer.tier {
        Tier::Graph => {
            let tag = EntityTag::of(&[&body]);
            GraphAnswer::Fresh(tag, body.into()).into_response()
        }
        Tier::Live => LiveAnswer(body.into()).into_response(),
    })
}
