use std::collections::HashMap;
use std::sync::Arc;

use api::{Allowance, Problem};
use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use serde_json::{Value, json};
use state::{Day, KeyId, KeyStatus, Plan};

use crate::Inner;
use crate::answer::{data, state_problem};
use crate::session::SignedIn;

/// Handles `GET /dashboard/api/quota`: limits and today's number of requests for each valid key.
pub(super) async fn of_keys(State(inner): State<Arc<Inner>>, signed_in: SignedIn) -> Result<Response, Problem> {
    let now = inner.now();
    let today = Day::of(now, inner.market.time_zone);
    let account = &signed_in.grant.account;
    let keys = inner.state.keys(Some(account)).await;
    let keys = keys.map_err(|error| state_problem(&error))?;
    let entries = inner.state.usage_of_account(account, today, today).await;
    let entries = entries.map_err(|error| state_problem(&error))?;
    let mut used: HashMap<&KeyId, u64> = HashMap::new();
    for entry in &entries {
        let sum = used.entry(&entry.key).or_default();
        *sum = sum.saturating_add(entry.requests);
    }
    let taken = keys
        .iter()
        .rev()
        .filter(|key| matches!(key.status(now), KeyStatus::Active | KeyStatus::Ending));
    let told = taken.map(|key| {
        let mut told = match key.plan {
            Plan::Free => allowed(&inner.market.free),
            Plan::Granted => allowed(&inner.market.granted),
        };
        told["key"] = json!(key.id);
        told["name"] = json!(key.name);
        told["plan"] = json!(key.plan);
        told["used_today"] = json!(used.get(&key.id).copied().unwrap_or_default());
        told
    });
    let told = json!({ "day": today, "keys": told.collect::<Vec<_>>() });
    Ok(data(StatusCode::OK, told))
}

/// Formats the limits with the field names of `/v1/quota`. Null means no limit.
fn allowed(allowance: &Allowance) -> Value {
    let rate = allowance.rate();
    json!({
        "rate_limit_rps": rate.map(|(per_second, _)| per_second),
        "burst": rate.map(|(_, burst)| burst),
        "daily_limit": allowance.per_day(),
    })
}
