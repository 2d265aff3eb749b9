//! HTTP routes for the catalogue.

use api::BodyBytes;
use axum::extract::State;

use super::described::{Body, OperationResponses};
use crate::answer::RequestOutcome;
use crate::operations::Look;
use crate::read::{Agent, body};
use crate::{Ucp, Version};

const VERSION: Version = Version::V2026_04_08;

/// Searches the catalogue (UCP `catalog_search`).
///
/// The search uses words, or categories and price, or both. Each variant names its seller. Every ten products count as
/// one request.
#[utoipa::path(post, path = "/v1/ucp/catalog/search", tag = "Agents", request_body = Body, responses(OperationResponses))]
pub(super) async fn ucp_search_catalog(
    State(ucp): State<Ucp>,
    agent: Agent,
    BodyBytes(sent): BodyBytes,
) -> RequestOutcome {
    ucp.look(agent, VERSION, Look::Search, body(&sent)).await
}

/// Finds products by identifiers of products or variants (UCP `catalog_lookup`).
///
/// Unknown identifiers are listed in `messages`; products for the other identifiers are returned. Every ten products
/// count as one request.
#[utoipa::path(post, path = "/v1/ucp/catalog/lookup", tag = "Agents", request_body = Body, responses(OperationResponses))]
pub(super) async fn ucp_lookup_catalog(
    State(ucp): State<Ucp>,
    agent: Agent,
    BodyBytes(sent): BodyBytes,
) -> RequestOutcome {
    ucp.look(agent, VERSION, Look::Lookup, body(&sent)).await
}

/// Returns one product with its options (UCP `get_product`).
///
/// Each variant has a price, an availability and its seller.
#[utoipa::path(post, path = "/v1/ucp/catalog/product", tag = "Agents", request_body = Body, responses(OperationResponses))]
pub(super) async fn ucp_get_product(
    State(ucp): State<Ucp>,
    agent: Agent,
    BodyBytes(sent): BodyBytes,
) -> RequestOutcome {
    ucp.look(agent, VERSION, Look::Product, body(&sent)).await
}
