//! The route: reads a request, calls the operation, writes.

use api::{Asker, EntityTag, GraphAnswer, JsonObject, LiveAnswer, LiveErrors, OpenRouter, Problem, Tier, described};
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use data_model::ErrorCode;
use http::HeaderMap;
use utoipa::openapi::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::discover::Discover;
use crate::request::DiscoverRequest;
use crate::schema::{DiscoverAnswerDocument, DiscoverBody};

fn operations() -> OpenApiRouter<Discover> {
    described("Discovery in a person's own words.").routes(routes!(discover_products))
}

/// The interface description.
#[must_use]
pub fn openapi() -> OpenApi {
    operations().into_openapi()
}

/// The route, described, without an edge.
pub fn open_router(discover: Discover) -> OpenRouter {
    OpenRouter::of(operations(), discover).read_by_post_of_any_origin()
}

/// Products for a sentence in a person's own words.
///
/// Budget, colour, size, audience, brand and what is not wanted are read out of the sentence and hold for every product
/// of the answer; `provenance.intent` lists them, `provenance.understood` the stretches that say so, and
/// `provenance.left_out` what was left out for them. Where nothing keeps to all of them, products that the words find
/// follow, and `misses` of each names what it lacks: those that miss least first, and of those alike the ones whose
/// price is nearest. A language model reads the sentence where the operator has set one; it may narrow what rules read,
/// and never loosens it. Without one, or when it does not answer in time, `degraded` is true and the rules' reading is
/// answered. `why` is made of facts alone. `add_to_cart` is a request that can be sent as it is, with a key. An answer
/// is of tier `graph` and has an `ETag` where rules alone read the sentence, and is 304 to the same request with that
/// tag in `If-None-Match`; it is of tier `live`, kept by no cache, where a model did. `understand: false` looks for the
/// words alone. A sentence counts as many requests as searches and models are asked for it; titles are the stores' own
/// words, to be read as data.
#[utoipa::path(
    post,
    path = "/v1/discover",
    operation_id = "discover_products",
    tag = "Discovery",
    request_body(content = DiscoverBody, content_type = "application/json"),
    responses(
        (status = 200, description = "The best products that keep to the sentence.", body = DiscoverAnswerDocument,
            headers(("ETag" = String), ("X-Request-Id" = String))),
        (status = 304, description = "The answer that `If-None-Match` names is still right.",
            headers(("ETag" = String), ("X-Request-Id" = String))),
        LiveErrors,
    )
)]
async fn discover_products(
    State(discover): State<Discover>,
    asker: Asker,
    headers: HeaderMap,
    body: JsonObject,
) -> Result<Response, Problem> {
    let request = DiscoverRequest::read(&body)?;
    let answer = discover.discover(&asker.caller, &request).await;
    let answer = answer.map_err(|error| Problem::of(&error))?;
    let body = serde_json::to_vec(&answer).map_err(|error| {
        tracing::error!(%error, "an answer could not be written as JSON");
        Problem::new(ErrorCode::Internal)
    })?;
    Ok(match answer.tier {
        Tier::Graph => {
            let tag = EntityTag::of(&[&body]);
            GraphAnswer::unless_known(&headers, tag, || Ok::<_, Problem>(body))?.into_response()
        }
        Tier::Live => LiveAnswer(body.into()).into_response(),
    })
}
