//! The routes: read a request, call one function, write.

use std::collections::BTreeMap;

use api::{MethodError, OpenRouter, PathParameters, common_components};
use axum::extract::State;
use axum::response::Response;
use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use utoipa::IntoResponses;
use utoipa::openapi::content::ContentBuilder;
use utoipa::openapi::response::ResponseBuilder;
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{InfoBuilder, License, OpenApi, OpenApiBuilder, Ref, RefOr, Server};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::Ucp;
use crate::answer::answered;
use crate::carts::{self, Answer};
use crate::catalogue;
use crate::failure::Failure;
use crate::market::Market;
use crate::message::Capability;
use crate::profile::{constant, profile};
use crate::read::{self, Agent};

/// Operations with their documentation, from one registration.
fn operations() -> OpenApiRouter<Ucp> {
    let info = InfoBuilder::new()
        .title("Commerce Discovery, Pricing and Cart API")
        .version("1.0")
        .description(Some("The shared commerce protocol (UCP, version 2026-04-08)."))
        .license(Some(License::new("Apache-2.0")))
        .build();
    let document = OpenApiBuilder::new()
        .info(info)
        .components(Some(common_components()))
        .servers(Some([Server::new("/")]))
        .build();
    OpenApiRouter::with_openapi(document)
        .routes(routes!(get_ucp_profile))
        .routes(routes!(get_llms_txt))
        .routes(routes!(ucp_search_catalog))
        .routes(routes!(ucp_lookup_catalog))
        .routes(routes!(ucp_get_product))
        .routes(routes!(ucp_create_cart))
        .routes(routes!(ucp_get_cart, ucp_update_cart))
        .routes(routes!(ucp_cancel_cart))
        .routes(routes!(ucp_create_checkout))
        .routes(routes!(ucp_get_checkout, ucp_update_checkout))
        .routes(routes!(ucp_complete_checkout))
        .routes(routes!(ucp_cancel_checkout))
}

/// The interface description of the operations.
pub(crate) fn document() -> OpenApi {
    operations().into_openapi()
}

pub(crate) fn open(ucp: Ucp) -> OpenRouter {
    let (router, document) = operations().split_for_parts();
    let patterns: Vec<String> = document.paths.paths.keys().cloned().collect();
    OpenRouter::new(router.with_state(ucp), patterns).described(document)
}

/// What every operation of the protocol can answer besides its result.
#[derive(Debug, Clone, Copy)]
struct UcpErrors;

impl IntoResponses for UcpErrors {
    fn responses() -> BTreeMap<String, RefOr<utoipa::openapi::Response>> {
        let told = ObjectBuilder::new()
            .property("code", ObjectBuilder::new().schema_type(Type::String))
            .property("content", ObjectBuilder::new().schema_type(Type::String))
            .required("code")
            .required("content")
            .build();
        let error = |description: &str| {
            let problem = ContentBuilder::new().schema(Some(Ref::from_schema_name("Problem")));
            let own = ContentBuilder::new().schema(Some(told.clone()));
            ResponseBuilder::new()
                .description(description)
                .header_ref("X-Request-Id", Ref::new("#/components/headers/RequestId"))
                .content("application/json", own.build())
                .content("application/problem+json", problem.build())
        };
        let retry =
            |response: ResponseBuilder| response.header_ref("Retry-After", Ref::new("#/components/headers/RetryAfter"));
        let mut responses = MethodError::responses();
        for (status, response) in [
            ("400", error("The request is not valid.")),
            ("401", error("A key is needed, or the one that was sent is not valid.")),
            ("403", error("The caller may not do this.")),
            (
                "409",
                retry(error(
                    "The key was used with another body, or its request is in flight.",
                )),
            ),
            ("413", error("The URI or the body is too large.")),
            ("429", retry(error("Too many requests."))),
            (
                "431",
                ResponseBuilder::new()
                    .description("Request line and headers are larger than the server reads; there is no body."),
            ),
            ("500", error("Something went wrong on our side.")),
            ("502", error("The store does not answer.")),
            ("503", retry(error("Not ready, or too much is asked at once."))),
            ("504", error("The store took too long.")),
        ] {
            responses.insert(status.to_owned(), RefOr::T(response.build()));
        }
        responses
    }
}

/// Where this market's operations of the shared commerce protocol are, and which.
#[utoipa::path(
    get,
    path = "/.well-known/ucp",
    operation_id = "get_ucp_profile",
    tag = "Agents",
    responses(
        (status = 200, description = "The profile.", body = Object,
            headers(("ETag" = String), ("Cache-Control" = String), ("X-Request-Id" = String))),
        MethodError,
    )
)]
async fn get_ucp_profile(State(ucp): State<Ucp>, headers: HeaderMap) -> Response {
    constant(&headers, "application/json", profile(&ucp.0.config).to_string())
}

/// What a language model should know of this market.
#[utoipa::path(
    get,
    path = "/llms.txt",
    operation_id = "get_llms_txt",
    tag = "Agents",
    responses(
        (status = 200, description = "Text in Markdown.", body = String, content_type = "text/plain",
            headers(("ETag" = String), ("Cache-Control" = String), ("X-Request-Id" = String))),
        MethodError,
    )
)]
async fn get_llms_txt(State(ucp): State<Ucp>, headers: HeaderMap) -> Response {
    constant(&headers, "text/plain; charset=utf-8", crate::llms::text(&ucp.0.config))
}

/// The answer of `work`, unless the header of the agent is at fault.
async fn told<T: serde::Serialize>(
    (status, capability): (StatusCode, Capability),
    (market, fault): (&Market<'_>, Option<Failure>),
    work: impl Future<Output = Result<T, Failure>>,
) -> Response {
    let result = match fault {
        Some(fault) => Err(fault),
        None => work.await,
    };
    answered((status, capability, market.home()), result)
}

/// Search of the catalogue, in the protocol's words (`catalog_search`).
///
/// By words, by categories and price, or both. Each variant names its seller.
#[utoipa::path(
    post,
    path = "/v1/ucp/catalog/search",
    operation_id = "ucp_search_catalog",
    tag = "Agents",
    request_body(content = Object, content_type = "application/json"),
    responses((status = 200, description = "Products.", body = Object, headers(("X-Request-Id" = String))), UcpErrors)
)]
async fn ucp_search_catalog(State(ucp): State<Ucp>, agent: Agent, body: Bytes) -> Response {
    let market = ucp.market(agent.asker);
    let work = async { catalogue::search(&market, read::body(&body)?).await };
    told((StatusCode::OK, Capability::Search), (&market, agent.fault), work).await
}

/// Products by identifiers of products or variants, in the protocol's words (`catalog_lookup`).
#[utoipa::path(
    post,
    path = "/v1/ucp/catalog/lookup",
    operation_id = "ucp_lookup_catalog",
    tag = "Agents",
    request_body(content = Object, content_type = "application/json"),
    responses((status = 200, description = "Products.", body = Object, headers(("X-Request-Id" = String))), UcpErrors)
)]
async fn ucp_lookup_catalog(State(ucp): State<Ucp>, agent: Agent, body: Bytes) -> Response {
    let market = ucp.market(agent.asker);
    let work = async { catalogue::lookup(&market, read::body(&body)?).await };
    told((StatusCode::OK, Capability::Lookup), (&market, agent.fault), work).await
}

/// One product with options, in the protocol's words (`get_product`).
#[utoipa::path(
    post,
    path = "/v1/ucp/catalog/product",
    operation_id = "ucp_get_product",
    tag = "Agents",
    request_body(content = Object, content_type = "application/json"),
    responses((status = 200, description = "The product.", body = Object, headers(("X-Request-Id" = String))), UcpErrors)
)]
async fn ucp_get_product(State(ucp): State<Ucp>, agent: Agent, body: Bytes) -> Response {
    let market = ucp.market(agent.asker);
    let work = async { catalogue::get_product(&market, read::body(&body)?).await };
    told((StatusCode::OK, Capability::Lookup), (&market, agent.fault), work).await
}

fn id(path: &PathParameters) -> String {
    path.text("id").unwrap_or_default().to_owned()
}

fn checkout() -> Answer {
    Answer::Checkout { url: None, token: None }
}

async fn create(ucp: &Ucp, agent: Agent, body: &Bytes, is_checkout: bool) -> Response {
    let capability = if is_checkout {
        Capability::Checkout
    } else {
        Capability::Cart
    };
    let market = ucp.market(agent.asker);
    let work = async { carts::create(&market, read::body(body)?, (agent.key, is_checkout)).await };
    told((StatusCode::CREATED, capability), (&market, agent.fault), work).await
}

async fn get(ucp: &Ucp, agent: Agent, id: &str, answer: Answer) -> Response {
    let (of, market) = ((StatusCode::OK, answer.capability()), ucp.market(agent.asker));
    let work = carts::read(&market, id, answer);
    told(of, (&market, agent.fault), work).await
}

async fn update(ucp: &Ucp, agent: Agent, (id, body): (&str, &Bytes), answer: Answer) -> Response {
    let (of, market) = ((StatusCode::OK, answer.capability()), ucp.market(agent.asker));
    let work = async { carts::replace(&market, id, read::body(body)?, answer).await };
    told(of, (&market, agent.fault), work).await
}

async fn cancel(ucp: &Ucp, agent: Agent, id: &str, answer: Answer) -> Response {
    let (of, market) = ((StatusCode::OK, answer.capability()), ucp.market(agent.asker));
    let work = carts::cancel(&market, id, answer);
    told(of, (&market, agent.fault), work).await
}

/// Makes a cart of one seller, in the protocol's words (`create_cart`). Items of several sellers need a cart each.
#[utoipa::path(
    post,
    path = "/v1/ucp/carts",
    operation_id = "ucp_create_cart",
    tag = "Agents",
    request_body(content = Object, content_type = "application/json"),
    responses(
        (status = 201, description = "The cart.", body = Object, headers(("X-Request-Id" = String))),
        (status = 200, description = "Why there is none.", body = Object, headers(("X-Request-Id" = String))),
        UcpErrors,
    )
)]
async fn ucp_create_cart(State(ucp): State<Ucp>, agent: Agent, body: Bytes) -> Response {
    create(&ucp, agent, &body, false).await
}

/// A cart as its store has it now (`get_cart`).
#[utoipa::path(
    get,
    path = "/v1/ucp/carts/{id}",
    operation_id = "ucp_get_cart",
    tag = "Agents",
    params(("id" = String, Path, description = "The cart.")),
    responses((status = 200, description = "The cart.", body = Object, headers(("X-Request-Id" = String))), UcpErrors)
)]
async fn ucp_get_cart(State(ucp): State<Ucp>, agent: Agent, path: PathParameters) -> Response {
    get(&ucp, agent, &id(&path), Answer::Cart).await
}

/// Makes a cart what the request says (`update_cart`): lines that it does not name go.
#[utoipa::path(
    put,
    path = "/v1/ucp/carts/{id}",
    operation_id = "ucp_update_cart",
    tag = "Agents",
    params(("id" = String, Path, description = "The cart.")),
    request_body(content = Object, content_type = "application/json"),
    responses((status = 200, description = "The cart.", body = Object, headers(("X-Request-Id" = String))), UcpErrors)
)]
async fn ucp_update_cart(State(ucp): State<Ucp>, agent: Agent, path: PathParameters, body: Bytes) -> Response {
    update(&ucp, agent, (&id(&path), &body), Answer::Cart).await
}

/// Ends a cart, and answers what it was (`cancel_cart`).
#[utoipa::path(
    post,
    path = "/v1/ucp/carts/{id}/cancel",
    operation_id = "ucp_cancel_cart",
    tag = "Agents",
    params(("id" = String, Path, description = "The cart.")),
    responses((status = 200, description = "The cart.", body = Object, headers(("X-Request-Id" = String))), UcpErrors)
)]
async fn ucp_cancel_cart(State(ucp): State<Ucp>, agent: Agent, path: PathParameters) -> Response {
    cancel(&ucp, agent, &id(&path), Answer::Cart).await
}

/// Hands a cart over to its seller's own checkout (`create_checkout`).
///
/// Its status is `requires_escalation` always: a person opens `continue_url` and pays there. `attribution` holds the signed
/// token that says who sent them. `cart_id` names the cart; without it one is made of `line_items`.
#[utoipa::path(
    post,
    path = "/v1/ucp/checkout-sessions",
    operation_id = "ucp_create_checkout",
    tag = "Agents",
    request_body(content = Object, content_type = "application/json"),
    responses(
        (status = 201, description = "The checkout.", body = Object, headers(("X-Request-Id" = String))),
        (status = 200, description = "Why there is none.", body = Object, headers(("X-Request-Id" = String))),
        UcpErrors,
    )
)]
async fn ucp_create_checkout(State(ucp): State<Ucp>, agent: Agent, body: Bytes) -> Response {
    create(&ucp, agent, &body, true).await
}

/// A checkout as its store has it now (`get_checkout`). It is named by its cart.
#[utoipa::path(
    get,
    path = "/v1/ucp/checkout-sessions/{id}",
    operation_id = "ucp_get_checkout",
    tag = "Agents",
    params(("id" = String, Path, description = "The checkout.")),
    responses((status = 200, description = "The checkout.", body = Object, headers(("X-Request-Id" = String))), UcpErrors)
)]
async fn ucp_get_checkout(State(ucp): State<Ucp>, agent: Agent, path: PathParameters) -> Response {
    get(&ucp, agent, &id(&path), checkout()).await
}

/// Makes a checkout what the request says (`update_checkout`): lines that it does not name go.
#[utoipa::path(
    put,
    path = "/v1/ucp/checkout-sessions/{id}",
    operation_id = "ucp_update_checkout",
    tag = "Agents",
    params(("id" = String, Path, description = "The checkout.")),
    request_body(content = Object, content_type = "application/json"),
    responses((status = 200, description = "The checkout.", body = Object, headers(("X-Request-Id" = String))), UcpErrors)
)]
async fn ucp_update_checkout(State(ucp): State<Ucp>, agent: Agent, path: PathParameters, body: Bytes) -> Response {
    update(&ucp, agent, (&id(&path), &body), checkout()).await
}

/// What an agent cannot do (`complete_checkout`): the answer says again where a person goes on.
#[utoipa::path(
    post,
    path = "/v1/ucp/checkout-sessions/{id}/complete",
    operation_id = "ucp_complete_checkout",
    tag = "Agents",
    params(("id" = String, Path, description = "The checkout.")),
    responses((status = 200, description = "The checkout.", body = Object, headers(("X-Request-Id" = String))), UcpErrors)
)]
async fn ucp_complete_checkout(State(ucp): State<Ucp>, agent: Agent, path: PathParameters) -> Response {
    get(&ucp, agent, &id(&path), checkout()).await
}

/// Ends a checkout and its cart, and answers what it was (`cancel_checkout`).
#[utoipa::path(
    post,
    path = "/v1/ucp/checkout-sessions/{id}/cancel",
    operation_id = "ucp_cancel_checkout",
    tag = "Agents",
    params(("id" = String, Path, description = "The checkout.")),
    responses((status = 200, description = "The checkout.", body = Object, headers(("X-Request-Id" = String))), UcpErrors)
)]
async fn ucp_cancel_checkout(State(ucp): State<Ucp>, agent: Agent, path: PathParameters) -> Response {
    cancel(&ucp, agent, &id(&path), Answer::Canceled).await
}
