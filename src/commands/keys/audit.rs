use serde_json::{Value, json};
use state::{Actor, AuditEvent, AuditQuery, KeyId, State};

use crate::output::counted;
use crate::wiring::Context;

/// Number of entries per database read.
const PAGE: u32 = 1_000;

pub(super) async fn run(
    context: &Context,
    state: &State,
    key: Option<KeyId>,
    limit: Option<u32>,
) -> anyhow::Result<()> {
    let events = newest(state, key, limit).await?;
    context.output.print(&json!({ "events": events }), |out| {
        for event in &events {
            writeln!(out, "{}", line(event))?;
        }
        writeln!(out, "{}", counted(events.len(), "event"))
    })
}

/// Returns the newest `limit` entries, or all entries, in the order of time.
async fn newest(state: &State, key: Option<KeyId>, limit: Option<u32>) -> anyhow::Result<Vec<AuditEvent>> {
    let mut query = AuditQuery {
        key,
        ..AuditQuery::default()
    };
    let mut left = limit.unwrap_or(u32::MAX);
    let mut events = Vec::new();
    while left > 0 {
        let asked = left.min(PAGE);
        let page = state.audit(&query, asked).await?;
        let read = u32::try_from(page.len()).unwrap_or(asked);
        query.before = page.last().map(|event| event.seq);
        events.extend(page);
        left -= read;
        if read < asked {
            break;
        }
    }
    events.reverse();
    Ok(events)
}

/// Formats an entry, such as `2026-11-23T10:00:00Z  operator cli  key.rotated  key_…  name=Mobile app
/// replaced_by=key_…`. An entry without a key names the account.
fn line(event: &AuditEvent) -> String {
    let actor = match &event.actor {
        Actor::Operator(through) => format!("operator {through}"),
        Actor::Account(account) => format!("account {}", account.as_str()),
        Actor::Key(key) => format!("key {key}"),
        Actor::Nobody => "nobody".to_owned(),
    };
    let account = || event.account.as_ref().map_or("-", state::AccountId::as_str);
    let key = event.key.as_ref().map_or_else(account, KeyId::as_str);
    let members = event.detail.as_object().into_iter().flatten();
    let detail: Vec<_> = members
        .map(|(name, value)| format!("{name}={}", plain(value)))
        .collect();
    let action = event.action.as_str();
    format!("{}  {actor}  {action}  {key}  {}", event.at, detail.join(" "))
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
