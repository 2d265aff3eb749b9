use std::sync::Arc;
use std::time::Duration;

use api::{JsonObject, MembersReader, PathParameters, Problem, Rule};
use axum::extract::State;
use axum::response::Response;
use data_model::{ErrorCode, Timestamp};
use http::StatusCode;
use serde_json::{Value, json};
use state::{IssuedKey, KeyId, KeyName, KeyRecord, NameError, NewKey, Plan, StateError};

use super::paced;
use crate::Inner;
use crate::answer::{data, state_problem};
use crate::session::SignedIn;

/// Maximum time for which a replaced key stays valid, in hours.
const GRACE_HOURS_MAX: i64 = 720;

/// Handles `GET /dashboard/api/keys`: the account's keys, the newest first.
pub(super) async fn list(State(inner): State<Arc<Inner>>, signed_in: SignedIn) -> Result<Response, Problem> {
    let keys = inner.state.keys(Some(&signed_in.grant.account)).await;
    let keys = keys.map_err(|error| state_problem(&error))?;
    let now = inner.now();
    let told: Vec<_> = keys.iter().rev().map(|key| document(key, now)).collect();
    Ok(data(StatusCode::OK, json!(told)))
}

/// Handles `POST /dashboard/api/keys`: creates a key, which only this response shows.
pub(super) async fn create(
    State(inner): State<Arc<Inner>>,
    signed_in: SignedIn,
    body: JsonObject,
) -> Result<Response, Problem> {
    let name = name(&body, PathParameters::none())?;
    paced(&inner, &signed_in)?;
    let new = NewKey {
        name,
        plan: Plan::Free,
        account: Some(signed_in.grant.account.clone()),
    };
    let (keys_max, now) = (inner.keys_per_account_max, inner.now());
    let issued = inner
        .state
        .create_key_within(new, keys_max, &signed_in.actor(), now)
        .await;
    let issued = issued.map_err(|error| state_problem(&error))?.ok_or_else(|| {
        let detail = format!("An account may have at most {keys_max} keys: revoke one that is not needed.");
        Problem::new(ErrorCode::Forbidden).detail(detail)
    })?;
    Ok(data(StatusCode::CREATED, issued_document(&issued, now)))
}

/// Handles `PATCH /dashboard/api/keys/{key_id}`: renames a key.
pub(super) async fn rename(
    State(inner): State<Arc<Inner>>,
    signed_in: SignedIn,
    path: PathParameters,
    body: JsonObject,
) -> Result<Response, Problem> {
    let id = key_id(&path)?;
    let name = name(&body, path)?;
    paced(&inner, &signed_in)?;
    let now = inner.now();
    let renamed = inner.state.rename_key(&id, name, &signed_in.actor(), now).await;
    let renamed = renamed.map_err(|error| refused(&error))?;
    Ok(data(StatusCode::OK, document(&renamed, now)))
}

/// Handles `DELETE /dashboard/api/keys/{key_id}`: revokes a key.
pub(super) async fn revoke(
    State(inner): State<Arc<Inner>>,
    signed_in: SignedIn,
    path: PathParameters,
) -> Result<Response, Problem> {
    let id = key_id(&path)?;
    paced(&inner, &signed_in)?;
    let now = inner.now();
    let revoked = inner.state.revoke_key(&id, &signed_in.actor(), now).await;
    let revoked = revoked.map_err(|error| refused(&error))?;
    Ok(data(StatusCode::OK, document(&revoked, now)))
}

/// Handles `POST /dashboard/api/keys/{key_id}/rotate`: creates a replacement key. The old key stays valid for some
/// hours.
pub(super) async fn rotate(
    State(inner): State<Arc<Inner>>,
    signed_in: SignedIn,
    path: PathParameters,
    body: JsonObject,
) -> Result<Response, Problem> {
    let id = key_id(&path)?;
    let mut reader = MembersReader::new(&body);
    let hours = reader.optional("grace_hours").integer(0..=GRACE_HOURS_MAX);
    let hours = reader.finish_with(path, hours)?.unwrap_or_default();
    paced(&inner, &signed_in)?;
    let now = inner.now();
    let grace = Duration::from_secs(hours.unsigned_abs() * 3600);
    let rotated = inner.state.rotate_key(&id, grace, &signed_in.actor(), now).await;
    let rotated = rotated.map_err(|error| refused(&error))?;
    let mut told = issued_document(&rotated.issued, now);
    told["replaces"] = document(&rotated.old, now);
    Ok(data(StatusCode::CREATED, told))
}

/// Parses the key id. A malformed id gives the same error as the id of another account's key.
fn key_id(path: &PathParameters) -> Result<KeyId, Problem> {
    let id = path.text("key_id").and_then(|text| text.parse().ok());
    id.ok_or_else(unknown)
}

fn unknown() -> Problem {
    Problem::new(ErrorCode::KeyNotFound).detail("The key does not exist.")
}

/// Reads the key name from the body. The response does not repeat a rejected name, because it may be a key.
fn name(body: &JsonObject, path: PathParameters) -> Result<KeyName, Problem> {
    let mut reader = MembersReader::new(body);
    let text = reader.required("name").text(usize::MAX);
    let name = text.and_then(|text| match text.parse::<KeyName>() {
        Ok(name) => Some(name),
        Err(NameError::IsKey) => {
            reader.refuse(
                "name",
                &Rule::Value("the name contains a key: choose a name that does not"),
                None,
            );
            None
        }
        Err(_) => {
            let rule = Rule::Value("a name must have 1 to 64 characters, none of them a control character");
            reader.refuse("name", &rule, None);
            None
        }
    });
    // The error cannot happen, because a missing name is already a fault.
    let name = reader.finish_with(path, name)?;
    name.ok_or_else(|| Problem::new(ErrorCode::Internal))
}

fn refused(error: &StateError) -> Problem {
    match error {
        StateError::UnknownKey { .. } => unknown(),
        StateError::KeyOver { .. } => {
            Problem::new(ErrorCode::Forbidden).detail("The key has already expired or was revoked.")
        }
        StateError::KeyReplaced { .. } => {
            Problem::new(ErrorCode::Forbidden).detail("The key was already replaced: rotate the key that replaced it.")
        }
        StateError::KeyUnconfirmed { .. } => Problem::new(ErrorCode::Forbidden)
            .detail("The key was restored from a backup. It is refused until the operator confirms it."),
        error => state_problem(error),
    }
}

/// Formats a key's record for the page, without the secret key itself.
fn document(key: &KeyRecord, now: Timestamp) -> Value {
    json!({
        "id": key.id,
        "name": key.name,
        "hint": key.hint,
        "plan": key.plan,
        "status": key.status(now),
        "created_at": key.created_at,
        "last_used_on": key.last_used_on,
        "ends_at": key.ends_at,
        "revoked_at": key.revoked_at,
        "replaced_by": key.replaced_by,
        "unconfirmed_since": key.unconfirmed_since,
    })
}

/// Formats a new key. No other response contains the secret key.
fn issued_document(issued: &IssuedKey, now: Timestamp) -> Value {
    let mut told = document(&issued.record, now);
    told["key"] = issued.key.expose().into();
    told
}
