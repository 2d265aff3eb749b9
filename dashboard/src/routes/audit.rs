use std::sync::Arc;

use api::{PathParameters, Problem, QueryReader};
use axum::extract::{RawQuery, State};
use axum::response::Response;
use http::StatusCode;
use serde_json::{Value, json};
use state::{Actor, AuditEvent, AuditQuery};

use crate::Inner;
use crate::answer::{data, state_problem};
use crate::session::SignedIn;

const PAGE: u32 = 30;

/// Handles `GET /dashboard/api/audit`: events of the account and its keys, the newest first. `before` requests the next
/// page.
pub(super) async fn page(
    State(inner): State<Arc<Inner>>,
    signed_in: SignedIn,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let mut reader = QueryReader::new(query.as_deref());
    let before = reader.optional("before").integer(1..=i64::MAX);
    let query = AuditQuery {
        account: Some(signed_in.grant.account.clone()),
        before: reader.finish(PathParameters::none(), before)?,
        key: None,
    };
    // One event more than a page has is read, to know if older events exist.
    let events = inner.state.audit(&query, PAGE + 1).await;
    let mut events = events.map_err(|error| state_problem(&error))?;
    let more = events.len() > PAGE as usize;
    events.truncate(PAGE as usize);
    let next = events.last().filter(|_| more).map(|event| event.seq);
    let told: Vec<_> = events.iter().map(|event| document(event, &signed_in)).collect();
    Ok(data(StatusCode::OK, json!({ "events": told, "before": next })))
}

/// Formats an audit event for the account. Only the kind of other actors is shown.
fn document(event: &AuditEvent, signed_in: &SignedIn) -> Value {
    let by = match &event.actor {
        Actor::Account(account) if *account == signed_in.grant.account => "you",
        Actor::Account(_) | Actor::Key(_) => "another",
        Actor::Operator(_) => "operator",
        Actor::Nobody => "nobody",
    };
    json!({
        "seq": event.seq,
        "at": event.at,
        "by": by,
        "action": event.action,
        "key": event.key,
        "detail": event.detail,
    })
}
