//! HTTP routes for checkouts. A checkout has the id of its cart.

use api::{BodyBytes, PathParameters};
use axum::extract::State;

use super::described::{Body, CreationResponses, IdParameter, OperationResponses};
use super::id;
use crate::answer::RequestOutcome;
use crate::carts::Answer;
use crate::operations::CartAction;
use crate::read::{Agent, body, optional_body};
use crate::{Ucp, Version};

const VERSION: Version = Version::V2026_04_08;

/// Hands a cart over to its seller's own checkout (UCP `create_checkout`).
///
/// The status is `requires_escalation`: a person opens `continue_url` and pays there. The status is `incomplete` if the
/// store no longer sells any of the lines or its checkout cannot be opened. `attribution` contains the signed token
/// that states who sent the buyer.
/// `cart_id` names the cart; without it, a cart is created from `line_items`.
#[utoipa::path(post, path = "/v1/ucp/checkout-sessions", tag = "Agents", request_body = Body, responses(CreationResponses))]
pub(super) async fn ucp_create_checkout(
    State(ucp): State<Ucp>,
    agent: Agent,
    BodyBytes(sent): BodyBytes,
) -> RequestOutcome {
    ucp.carry_out(agent, VERSION, CartAction::Make(body(&sent)), Answer::NOW)
        .await
}

/// Returns the current state of a checkout at its store (UCP `get_checkout`). A checkout has the id of its cart.
///
/// A person continues at `continue_url`, which belongs to the store.
#[utoipa::path(
    get,
    path = "/v1/ucp/checkout-sessions/{id}",
    tag = "Agents",
    params(IdParameter),
    responses(OperationResponses)
)]
pub(super) async fn ucp_get_checkout(State(ucp): State<Ucp>, agent: Agent, path: PathParameters) -> RequestOutcome {
    ucp.carry_out(agent, VERSION, CartAction::Read(id(&path)), Answer::NOW)
        .await
}

/// Replaces a checkout with the requested state (UCP `update_checkout`). Lines that the request does not name are
/// removed.
///
/// The store decides which items can be bought. Items that it refuses are listed in `messages`.
#[utoipa::path(
    put,
    path = "/v1/ucp/checkout-sessions/{id}",
    tag = "Agents",
    params(IdParameter),
    request_body = Body,
    responses(OperationResponses)
)]
pub(super) async fn ucp_update_checkout(
    State(ucp): State<Ucp>,
    agent: Agent,
    path: PathParameters,
    BodyBytes(sent): BodyBytes,
) -> RequestOutcome {
    ucp.carry_out(agent, VERSION, CartAction::Replace(id(&path), body(&sent)), Answer::NOW)
        .await
}

/// Hands a checkout over to a person again, because an agent cannot complete the checkout (UCP `complete_checkout`).
///
/// This API does not process payments: a person pays at the store's own checkout, at `continue_url`. Payment data in
/// the body is only used to distinguish two requests with one idempotency key.
#[utoipa::path(
    post,
    path = "/v1/ucp/checkout-sessions/{id}/complete",
    tag = "Agents",
    params(IdParameter),
    request_body = Option<Body>,
    responses(OperationResponses)
)]
pub(super) async fn ucp_complete_checkout(
    State(ucp): State<Ucp>,
    agent: Agent,
    path: PathParameters,
    BodyBytes(sent): BodyBytes,
) -> RequestOutcome {
    let asked = CartAction::Complete(id(&path), optional_body(&sent));
    ucp.carry_out(agent, VERSION, asked, Answer::NOW).await
}

/// Ends a checkout and its cart and returns the last state (UCP `cancel_checkout`).
///
/// An order that was placed at the store in the meantime is not cancelled.
#[utoipa::path(
    post,
    path = "/v1/ucp/checkout-sessions/{id}/cancel",
    tag = "Agents",
    params(IdParameter),
    responses(OperationResponses)
)]
pub(super) async fn ucp_cancel_checkout(State(ucp): State<Ucp>, agent: Agent, path: PathParameters) -> RequestOutcome {
    ucp.carry_out(agent, VERSION, CartAction::Cancel(id(&path)), Answer::Canceled)
        .await
}
