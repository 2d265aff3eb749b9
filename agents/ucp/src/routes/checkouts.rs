//! Checkouts. Each is named by its cart.

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

/// Hands a cart over to its seller's own checkout (`create_checkout`).
///
/// Its status is `requires_escalation`: a person opens `continue_url` and pays there. It is `incomplete` where the store no
/// longer sells any of its lines. `attribution` holds the signed
/// token that says who sent them. `cart_id` names the cart; without it one is made of `line_items`.
#[utoipa::path(post, path = "/v1/ucp/checkout-sessions", tag = "Agents", request_body = Body, responses(CreationResponses))]
pub(super) async fn ucp_create_checkout(
    State(ucp): State<Ucp>,
    agent: Agent,
    BodyBytes(sent): BodyBytes,
) -> RequestOutcome {
    ucp.carry_out(agent, VERSION, CartAction::Make(body(&sent)), Answer::NOW)
        .await
}

/// A checkout as its store has it now (`get_checkout`). It is named by its cart.
///
/// `continue_url` is where a person goes on, at the store itself.
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

/// Makes a checkout what the request says (`update_checkout`): lines that it does not name go.
///
/// The store decides what of it there is to buy; what it refuses stands in `messages`.
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

/// Hands a checkout over once more, since an agent cannot complete it (`complete_checkout`).
///
/// No payment goes through this interface: a person pays at the store's own checkout, at `continue_url`. What the body says
/// about payment is not read, and tells two requests under one key apart.
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

/// Ends a checkout and its cart, and answers what it was (`cancel_checkout`).
///
/// An order that was placed at the store meanwhile is not cancelled by it.
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
