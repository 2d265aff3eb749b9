use std::collections::BTreeMap;
use std::sync::Arc;

use api::{PathParameters, Problem, QueryReader};
use axum::extract::{RawQuery, State};
use axum::response::Response;
use http::StatusCode;
use serde_json::json;
use state::{Day, UsageEntry};

use crate::Inner;
use crate::answer::{data, state_problem};
use crate::session::SignedIn;

const DAYS_DEFAULT: i64 = 30;
const DAYS_MAX: i64 = 90;

/// Handles `GET /dashboard/api/usage`: requests of the account's keys by day and route, including days without
/// requests.
pub(super) async fn by_day(
    State(inner): State<Arc<Inner>>,
    signed_in: SignedIn,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let mut reader = QueryReader::new(query.as_deref());
    let days = reader.optional("days").integer(1..=DAYS_MAX);
    let days = reader.finish(PathParameters::none(), days)?.unwrap_or(DAYS_DEFAULT);
    let to = Day::of(inner.now(), inner.market.time_zone);
    let from = to.plus(1 - days);
    let entries = inner.state.usage_of_account(&signed_in.grant.account, from, to).await;
    let entries = entries.map_err(|error| state_problem(&error))?;
    Ok(data(StatusCode::OK, told(&entries, from, days)))
}

fn told(entries: &[UsageEntry], from: Day, days: i64) -> serde_json::Value {
    let mut by_day: BTreeMap<Day, BTreeMap<&str, u64>> = BTreeMap::new();
    let mut by_route: BTreeMap<&str, u64> = BTreeMap::new();
    for entry in entries {
        let of_day = by_day.entry(entry.day).or_default().entry(&entry.route).or_default();
        *of_day = of_day.saturating_add(entry.requests);
        let of_route = by_route.entry(&entry.route).or_default();
        *of_route = of_route.saturating_add(entry.requests);
    }
    let mut routes: Vec<_> = by_route.into_iter().collect();
    routes.sort_by(|(one, many), (other, more)| more.cmp(many).then(one.cmp(other)));
    let days = (0..days).map(|nth| {
        let day = from.plus(nth);
        let routes = by_day.get(&day).cloned().unwrap_or_default();
        json!({ "day": day, "requests": routes.values().sum::<u64>(), "routes": routes })
    });
    let routes = routes
        .iter()
        .map(|(route, requests)| json!({ "route": route, "requests": requests }));
    json!({
        "requests": entries.iter().map(|entry| entry.requests).sum::<u64>(),
        "routes": routes.collect::<Vec<_>>(),
        "days": days.collect::<Vec<_>>(),
    })
}
