use std::sync::Arc;

use api::{CallerId, Problem};
use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use serde_json::json;

use crate::Inner;
use crate::answer::{data, state_problem};
use crate::session::Visitor;

const LISTED_MAX: u32 = 20;

/// Handles `GET /dashboard/api/carts`: the visitor's open carts, the newest first.
pub(super) async fn list(State(inner): State<Arc<Inner>>, visitor: Visitor) -> Result<Response, Problem> {
    let Some(here) = visitor.0 else {
        return Ok(data(StatusCode::OK, json!([])));
    };
    let caller = CallerId::account(here.grant.account.as_str());
    let carts = inner.state.carts_of(caller.as_str(), LISTED_MAX, inner.now()).await;
    let carts = carts.map_err(|error| state_problem(&error))?;
    Ok(data(StatusCode::OK, json!(carts)))
}
