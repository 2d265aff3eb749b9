use data_model::Timestamp;
use serde::Serialize;
use serde_json::json;
use state::{KeyRecord, KeyStatus, State};

use crate::output::{counted, write_columns};
use crate::wiring::Context;

#[derive(Debug, Serialize)]
struct KeyEntry<'a> {
    #[serde(flatten)]
    key: &'a KeyRecord,
    status: KeyStatus,
}

pub(super) async fn run(context: &Context, state: &State) -> anyhow::Result<()> {
    let now = context.clock.now();
    let keys = state.keys(None).await?;
    let listed: Vec<_> = keys
        .iter()
        .map(|key| KeyEntry {
            key,
            status: key.status(now),
        })
        .collect();
    context.output.print(&json!({ "keys": listed }), |out| {
        let rows: Vec<_> = keys.iter().map(|key| cells(key, now)).collect();
        write_columns(out, &rows)?;
        writeln!(out, "{}", counted(keys.len(), "key"))
    })
}

/// Formats id, last characters, plan, last use, name and status.
fn cells(key: &KeyRecord, now: Timestamp) -> [String; 6] {
    let used = key.last_used_on;
    [
        key.id.to_string(),
        format!("…{}", key.hint),
        key.plan.as_str().to_owned(),
        used.map_or_else(|| "never used".to_owned(), |day| format!("used {day}")),
        key.name.to_string(),
        status(key, now),
    ]
}

/// Formats the status: `active`, `ends 2026-11-24T10:00:00Z` or `revoked 2026-11-23T10:00:00Z`, with the id of the new
/// key.
fn status(key: &KeyRecord, now: Timestamp) -> String {
    let moment = |at: Option<Timestamp>| at.map_or_else(String::new, |at| format!(" {at}"));
    let told = match key.status(now) {
        KeyStatus::Active => "active".to_owned(),
        KeyStatus::Ending => format!("ends{}", moment(key.ends_at)),
        KeyStatus::Ended => format!("ended{}", moment(key.ends_at)),
        KeyStatus::Unconfirmed => format!("not confirmed: from a backup of{}", moment(key.unconfirmed_since)),
        KeyStatus::Revoked => format!("revoked{}", moment(key.revoked_at)),
    };
    match &key.replaced_by {
        Some(by) => format!("{told}, replaced by {by}"),
        None => told,
    }
}
