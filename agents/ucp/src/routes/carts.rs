//! Carts.

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

/// Makes a cart of one seller, in the protocol's words (`create_cart`).
///
/// Items of several sellers need a cart each.
#[utoipa::path(post, path = "/v1/ucp/carts", tag = "Agents", request_body = Body, responses(CreationResponses))]
pub(super) async fn ucp_create_cart(
    State(ucp): State<Ucp>,
    agent: Agent,
    BodyBytes(sent): BodyBytes,
) -> RequestOutcome {
    ucp.carry_out(agent, VERSION, CartAction::Make(body(&sent)), Answer::Cart)
        .await
}

/// A cart as its store has it now (`get_cart`).
///
/// The store is asked: prices and availability are those of this moment.
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

/// Makes a cart what the request says (`update_cart`): lines that it does not name go.
///
/// The store decides what of it there is to buy; what it refuses stands in `messages`.
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

/// Ends a cart, and answers what it was (`cancel_cart`).
///
/// Its lines are taken out at the store.
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
