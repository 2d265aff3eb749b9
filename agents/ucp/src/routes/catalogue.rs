//! The catalogue.

use api::BodyBytes;
use axum::extract::State;

use super::described::{Body, OperationResponses};
use crate::answer::RequestOutcome;
use crate::operations::Look;
use crate::read::{Agent, body};
use crate::{Ucp, Version};

const VERSION: Version = Version::V2026_04_08;

/// Search of the catalogue, in the protocol's words (`catalog_search`).
///
/// By words, by categories and price, or both. Each variant names its seller. Ten products count as a request.
#[utoipa::path(post, path = "/v1/ucp/catalog/search", tag = "Agents", request_body = Body, responses(OperationResponses))]
pub(super) async fn ucp_search_catalog(
    State(ucp): State<Ucp>,
    agent: Agent,
    BodyBytes(sent): BodyBytes,
) -> RequestOutcome {
    ucp.look(agent, VERSION, Look::Search, body(&sent)).await
}

/// Products by identifiers of products or variants, in the protocol's words (`catalog_lookup`).
///
/// Identifiers that nothing has are told in `messages`; the others are answered all the same. Ten products count as a request.
#[utoipa::path(post, path = "/v1/ucp/catalog/lookup", tag = "Agents", request_body = Body, responses(OperationResponses))]
pub(super) async fn ucp_lookup_catalog(
    State(ucp): State<Ucp>,
    agent: Agent,
    BodyBytes(sent): BodyBytes,
) -> RequestOutcome {
    ucp.look(agent, VERSION, Look::Lookup, body(&sent)).await
}

/// One product with options, in the protocol's words (`get_product`).
///
/// Each of its variants has a price, an availability and its seller.
#[utoipa::path(post, path = "/v1/ucp/catalog/product", tag = "Agents", request_body = Body, responses(OperationResponses))]
pub(super) async fn ucp_get_product(
    State(ucp): State<Ucp>,
    agent: Agent,
    BodyBytes(sent): BodyBytes,
) -> RequestOutcome {
    ucp.look(agent, VERSION, Look::Product, body(&sent)).await
}
