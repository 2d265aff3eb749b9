use std::sync::Arc;

use api::Problem;
use axum::extract::State;
use axum::response::Response;
use data_model::ErrorCode;
use http::{HeaderMap, StatusCode};
use serde_json::json;
use state::{NewSession, SessionLimits, SignInMethod};

use super::link::client;
use crate::answer::{data, state_problem, with_cookie};
use crate::doors::Sender;
use crate::session::Visitor;
use crate::{Inner, cookies};

/// Handles `POST /dashboard/api/guest`: starts a guest session, which allows a cart without sign-in. An existing
/// session is reused.
pub(super) async fn begin(
    State(inner): State<Arc<Inner>>,
    visitor: Visitor,
    from: Sender,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let told = data(StatusCode::OK, json!({ "session": true }));
    if visitor.0.is_some() {
        return Ok(told);
    }
    let now = inner.now();
    from.may(&inner.doors.guests, now)?;
    from.tried(&inner.doors.guests, now);
    let lifetime_ms = u64::from(inner.guests.hours) * 3_600_000;
    let new = NewSession {
        method: SignInMethod::Guest,
        client: client(&headers),
        limits: SessionLimits {
            idle_ms: lifetime_ms,
            total_ms: lifetime_ms,
        },
        replaces: None,
    };
    let issued = inner.state.create_guest_session(new, inner.guests.count_max, now).await;
    let issued = issued.map_err(|error| state_problem(&error))?;
    let issued = issued.ok_or_else(|| Problem::new(ErrorCode::Overloaded))?;
    Ok(with_cookie(
        told,
        cookies::set_session(&issued.token, lifetime_ms / 1000),
    ))
}
