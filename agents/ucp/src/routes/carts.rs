//! HTTP routes for carts.

use api::{BodyBytes, PathParameters};
use axum::extract::State;

use super::described::{Body, CreationResponses, IdParameter, OperationResponses};
use super::id;
use crate::answer::RequestOutcome;
use crate::carts::Answer;
use crate::operations::CartAction;
use crate::read::{Agent, body};
use crate::{Ucp, Version};

const VERSION: Version = Version::V2026_04_08;

/// Creates a cart with items of one seller (UCP `create_cart`).
///
/// Items of several sellers need one cart per seller.
#[utoipa::path(post, path = "/v1/ucp/carts", tag = "Agents", request_body = Body, responses(CreationResponses))]
pub(super) async fn ucp_create_cart(
    State(ucp): State<Ucp>,
    agent: Agent,
    BodyBytes(sent): BodyBytes,
) -> RequestOutcome {
    ucp.carry_out(agent, VERSION, CartAction::Make(body(&sent)), Answer::Cart)
        .await
}

/// Returns the current state of a cart at its store (UCP `get_cart`).
///
/// The store is queried, so prices and availability are current.
#[utoipa::path(
    get,
    path = "/v1/ucp/carts/{id}",
    tag = "Agents",
    params(IdParameter),
    responses(OperationResponses)
)]
pub(super) async fn ucp_get_cart(State(ucp): State<Ucp>, agent: Agent, path: PathParameters) -> RequestOutcome {
    ucp.carry_out(agent, VERSION, CartAction::Read(id(&path)), Answer::Cart)
        .await
}

/// Replaces a cart with the requested state (UCP `update_cart`). Lines that the request does not name are removed.
///
/// The store decides which items can be bought. Items that it refuses are listed in `messages`.
#[utoipa::path(put, path = "/v1/ucp/carts/{id}", tag = "Agents", params(IdParameter), request_body = Body, responses(OperationResponses))]
pub(super) async fn ucp_update_cart(
    State(ucp): State<Ucp>,
    agent: Agent,
    path: PathParameters,
    BodyBytes(sent): BodyBytes,
) -> RequestOutcome {
    ucp.carry_out(
        agent,
        VERSION,
        CartAction::Replace(id(&path), body(&sent)),
        Answer::Cart,
    )
    .await
}

/// Ends a cart and returns its last state (UCP `cancel_cart`).
///
/// The lines of the cart are removed at the store.
#[utoipa::path(
    post,
    path = "/v1/ucp/carts/{id}/cancel",
    tag = "Agents",
    params(IdParameter),
    responses(OperationResponses)
)]
pub(super) async fn ucp_cancel_cart(State(ucp): State<Ucp>, agent: Agent, path: PathParameters) -> RequestOutcome {
    ucp.carry_out(agent, VERSION, CartAction::Cancel(id(&path)), Answer::EndedCart)
        .await
}
