use std::sync::Arc;

use api::{PathParameters, Problem};
use axum::extract::State;
use axum::response::Response;
use data_model::ErrorCode;
use http::{HeaderName, HeaderValue, StatusCode};
use serde_json::{Value, json};
use state::{Account, SessionGrant, SessionId};

use crate::answer::{data, state_problem, with_cookie};
use crate::session::{SignedIn, Visitor};
use crate::{Inner, cookies};

/// Handles `GET /dashboard/api/session`: the current user, or the ways to sign in if there is none.
pub(super) async fn here(State(inner): State<Arc<Inner>>, visitor: Visitor) -> Result<Response, Problem> {
    let signed_in = visitor.0.filter(SignedIn::is_no_guest);
    let mut told = json!({
        "signed_in": signed_in.is_some(),
        "provider": inner.provider_name(),
        "mail": inner.mailer.is_some(),
        "mails_page": inner.mails_page(),
        "keys_max": inner.keys_per_account_max,
    });
    if let Some(signed_in) = signed_in {
        let account = inner.state.account(&signed_in.grant.account).await;
        let account = account.map_err(|error| state_problem(&error))?;
        told["account"] = account.as_ref().map_or(Value::Null, account_document);
        told["session"] = session_document(&signed_in.grant, &signed_in);
    }
    Ok(data(StatusCode::OK, told))
}

/// Handles `GET /dashboard/api/sessions`: the account's sessions.
pub(super) async fn list(State(inner): State<Arc<Inner>>, signed_in: SignedIn) -> Result<Response, Problem> {
    let sessions = inner.state.sessions_of(&signed_in.grant.account, inner.now()).await;
    let sessions = sessions.map_err(|error| state_problem(&error))?;
    let told: Vec<_> = sessions
        .iter()
        .map(|session| session_document(session, &signed_in))
        .collect();
    Ok(data(StatusCode::OK, json!(told)))
}

/// Handles `DELETE /dashboard/api/sessions/{session_id}`: ends a session of the account.
pub(super) async fn end(
    State(inner): State<Arc<Inner>>,
    signed_in: SignedIn,
    path: PathParameters,
) -> Result<Response, Problem> {
    // A session of another account gives the same error as one that does not exist.
    let absent = || Problem::new(ErrorCode::SessionNotFound).detail("The session does not exist.");
    let id: Option<SessionId> = path.text("session_id").and_then(|text| text.parse().ok());
    let id = id.ok_or_else(absent)?;
    let ended = inner.state.end_session_of(&signed_in.grant.account, &id, inner.now());
    let ended = ended.await.map_err(|error| state_problem(&error))?;
    if !ended {
        return Err(absent());
    }
    Ok(data(StatusCode::OK, json!({ "id": id })))
}

/// Handles `POST /dashboard/api/sign-out`, which succeeds even if the session has already ended.
pub(super) async fn sign_out(State(inner): State<Arc<Inner>>, visitor: Visitor) -> Result<Response, Problem> {
    if let Some(signed_in) = visitor.0 {
        let ended = inner.state.end_session(&signed_in.hash, inner.now()).await;
        ended.map_err(|error| state_problem(&error))?;
    }
    let told = data(StatusCode::OK, json!({ "signed_in": false }));
    Ok(signed_out(told))
}

/// Handles `POST /dashboard/api/sign-out-everywhere`: ends all sessions of the account.
pub(super) async fn sign_out_everywhere(
    State(inner): State<Arc<Inner>>,
    signed_in: SignedIn,
) -> Result<Response, Problem> {
    let (account, actor) = (&signed_in.grant.account, signed_in.actor());
    let ended = inner.state.end_sessions_of(account, &actor, inner.now());
    let ended = ended.await.map_err(|error| state_problem(&error))?;
    let told = data(StatusCode::OK, json!({ "signed_in": false, "sessions": ended }));
    Ok(signed_out(told))
}

/// Builds the response to a sign-out, which also makes the browser clear the storage that other open pages of this site
/// use.
fn signed_out(told: Response) -> Response {
    let mut answer = with_cookie(told, cookies::remove_session());
    let storage = HeaderValue::from_static("\"storage\"");
    answer
        .headers_mut()
        .insert(HeaderName::from_static("clear-site-data"), storage);
    answer
}

fn account_document(account: &Account) -> Value {
    json!({ "name": account.name(), "email": account.proved_email(), "issuer": account.issuer, "created_at": account.created_at })
}

fn session_document(session: &SessionGrant, here: &SignedIn) -> Value {
    json!({
        "id": session.id,
        "method": session.method,
        "client": session.client,
        "created_at": session.created_at,
        "seen_at": session.seen_at,
        "ends_at": session.ends_at,
        "here": session.id == here.grant.id,
    })
}
