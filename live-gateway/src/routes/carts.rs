//! Routes of carts: read a request, call one operation, write.

pub(in crate::routes) mod body;
pub(in crate::routes) mod codes;
pub(in crate::routes) mod create;
pub(in crate::routes) mod delivery;
pub(in crate::routes) mod lines;
pub(in crate::routes) mod optimize;

use api::{Caller, PathParameters, Problem};
use axum::response::{IntoResponse, Response};
use data_model::{ErrorCode, Timestamp};
use serde::Serialize;

use crate::carts::schema::{Cart, CartAnswerDocument, CartProvenance};
use crate::carts::{CartFailure, Carts};
use crate::gateway::LiveGateway;
use crate::rules::carts::ids::CartId;

/// A cart in an answer, named for the description.
pub(super) type CartDocument = CartAnswerDocument<Cart>;

/// Carts, where the server keeps any.
pub(super) fn carts(gateway: &LiveGateway) -> Result<&Carts, Problem> {
    let missing = || Problem::new(ErrorCode::NotReady).detail("This server keeps no carts: it has no state.");
    gateway.0.carts.get().ok_or_else(missing)
}

/// Whose carts are meant.
pub(super) fn owner(caller: &Caller) -> Result<&str, Problem> {
    let known = caller
        .known()
        .ok_or_else(|| Problem::new(ErrorCode::MissingCredentials))?;
    Ok(known.id.as_str())
}

/// The cart that the path names. What is no id names no cart.
pub(super) fn cart_id(path: &PathParameters) -> Result<CartId, Problem> {
    let id = path.text("cart_id").and_then(|text| text.parse().ok());
    id.ok_or_else(|| Problem::new(ErrorCode::CartNotFound))
}

/// The body of an answer.
pub(super) fn document<T: Serialize>((data, as_of): (T, Timestamp)) -> Result<Vec<u8>, CartFailure> {
    let document = CartAnswerDocument {
        data,
        provenance: CartProvenance { engine: "live" },
        as_of,
        tier: "live",
    };
    Ok(serde_json::to_vec(&document)?)
}

/// Does what is asked to its end, also where the caller goes away, and answers.
pub(super) async fn answered(
    work: impl Future<Output = Result<Vec<u8>, CartFailure>> + Send + 'static,
) -> Result<Response, Problem> {
    let body = tokio::spawn(work).await.unwrap_or(Err(CartFailure::Lost));
    let body = body.map_err(|failure| failure.problem())?;
    Ok(api::LiveAnswer(body.into()).into_response())
}
