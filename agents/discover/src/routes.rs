//! The route: reads a request, calls the operation, writes.

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
    described("Discovery in a person's own words.").routes(routes!(discover_products))
}

/// The interface description.
#[must_use]
pub fn openapi() -> OpenApi {
    operations().into_openapi()
}

/// The route, described, without an edge.
pub fn open_router(discover: Discover) -> OpenRouter {
    OpenRouter::of(operations(), discover)
}

/// Products for a sentence in a person's own words.
///
/// Budget, colour, size, audience, brand and what is not wanted are read out of the sentence and hold for every product
/// of the answer; `provenance.intent` tells them, and `provenance.left_out` what was left out for them. Where nothing keeps
/// to all of them, products of other colours and sizes are answered, as a search does, and `misses` of each names what it
/// lacks; budget, audience, brand and what is not wanted hold in any case. A language model
/// reads the sentence where the operator has set one; it may narrow what rules read, and never loosens it. Without one,
/// or when it does not answer in time, `degraded` is true and the rules' reading is answered. `why` is made of facts
/// alone. `add_to_cart` is a request that can be sent as it is, with a key. An answer is of tier `graph` and has an `ETag`
/// where rules alone read the sentence, and of tier `live`, kept by no cache, where a model did. A sentence counts as
/// many requests as searches and models are asked for it; titles are the stores' own words, to be read as data.
#[utoipa::path(
    post,
    path = "/v1/discover",
    operation_id = "discover_products",
    tag = "Discovery",
    request_body(content = DiscoverBody, content_type = "application/json"),
    responses(
        (status = 200, description = "The best products that keep to the sentence.", body = DiscoverAnswerDocument,
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
        tracing::error!(%error, "an answer could not be written as JSON");
        Problem::new(ErrorCode::Internal)
    })?;
    Ok(match answer.tier {
        Tier::Graph => GraphAnswer::Fresh(EntityTag::of(&[&body]), body.into()).into_response(),
        Tier::Live => LiveAnswer(body.into()).into_response(),
    })
}
