//! Keys (`haat keys …`): each command calls one operation of the state and prints the result.

mod audit;
mod dashboard;
mod list;
mod signing;
#[cfg(test)]
mod tests;

use std::time::Duration;

use anyhow::Context as _;
use serde_json::{Value, json};
use state::{Actor, IssuedKey, KeyId, KeyName, NewKey, State, StateError};

use crate::cli::keys::KeysCommand;
use crate::exit::{Outcome, usage};
use crate::output::{Output, counted};
use crate::wiring::Context;

/// Advice about a new key.
const ONCE: &str = "Save it now: it is shown only once and cannot be recovered.";
const HOUR_S: u64 = 3600;

pub(crate) async fn run(command: KeysCommand, context: Context) -> anyhow::Result<Outcome> {
    let command = KeysRequest::read(command).map_err(usage)?;
    if matches!(command, KeysRequest::RotateSigning) {
        return signing::rotate(&context).await;
    }
    let state = context.state().await?;
    let done = match command {
        KeysRequest::Create(new) => create(&context, &state, new).await,
        KeysRequest::List => list::run(&context, &state).await,
        KeysRequest::Revoke(id) => revoke(&context, &state, &id).await,
        KeysRequest::Confirm(ids) => confirm(&context, &state, ids.as_deref()).await,
        KeysRequest::Rotate(id, grace_hours) => rotate(&context, &state, &id, grace_hours).await,
        KeysRequest::Audit(key, limit) => audit::run(&context, &state, key, limit).await,
        KeysRequest::Dashboard(account) => dashboard::run(&context, &state, &account).await,
        KeysRequest::RotateSigning => Ok(()),
    };
    // Closing merges SQLite's write-ahead log into the database file.
    state.close().await;
    done.map(|()| Outcome::Done)
}

/// A command with parsed arguments.
enum KeysRequest {
    Create(NewKey),
    List,
    Revoke(KeyId),
    /// Ids of the keys to confirm; `None` means all keys.
    Confirm(Option<Vec<KeyId>>),
    Rotate(KeyId, u64),
    Audit(Option<KeyId>, Option<u32>),
    Dashboard(KeyName),
    RotateSigning,
}

impl KeysRequest {
    /// Parses names and ids. An error never shows the given text.
    fn read(command: KeysCommand) -> anyhow::Result<Self> {
        let id = |text: String| text.parse::<KeyId>().context("ID");
        Ok(match command {
            KeysCommand::Create { name, plan } => Self::Create(NewKey {
                name: name.parse::<KeyName>().context("NAME")?,
                plan: plan.into(),
                account: None,
            }),
            KeysCommand::List => Self::List,
            KeysCommand::RotateSigning => Self::RotateSigning,
            KeysCommand::Revoke { id: text } => Self::Revoke(id(text)?),
            KeysCommand::Confirm { ids, all } => Self::Confirm(match all {
                true => None,
                false => Some(ids.into_iter().map(id).collect::<Result<_, _>>()?),
            }),
            KeysCommand::Rotate { id: text, grace_hours } => Self::Rotate(id(text)?, grace_hours),
            KeysCommand::Audit { key, limit } => Self::Audit(key.map(id).transpose()?, limit),
            // Account names follow the rule for key names: one line of text, and no key.
            KeysCommand::Dashboard { account } => Self::Dashboard(account.parse().context("NAME")?),
        })
    }
}

/// Anybody who may run commands on this machine is the operator.
fn operator() -> Actor {
    Actor::Operator("cli".to_owned())
}

/// Marks an unknown or ended id as a fault of the command line. Any other error is a failure.
fn told(error: StateError) -> anyhow::Error {
    let written = matches!(
        error,
        StateError::UnknownKey { .. }
            | StateError::KeyOver { .. }
            | StateError::KeyUnconfirmed { .. }
            | StateError::KeyReplaced { .. }
    );
    let error = anyhow::Error::new(error);
    if written { usage(error) } else { error }
}

/// Builds the document of a new key, the only output that contains the key itself.
fn document(issued: &IssuedKey) -> Value {
    let IssuedKey { key, record } = issued;
    json!({
        "key": key.expose(), "id": record.id, "name": record.name, "plan": record.plan, "created_at": record.created_at,
    })
}

async fn create(context: &Context, state: &State, new: NewKey) -> anyhow::Result<()> {
    let issued = state.create_key(new, &operator(), context.clock.now()).await?;
    let record = &issued.record;
    context.output.print(&document(&issued), |out| {
        writeln!(out, "{}", issued.key.expose())?;
        writeln!(out, "{} ({}, {}). {ONCE}", record.id, record.name, record.plan.as_str())
    })
}

async fn revoke(context: &Context, state: &State, id: &KeyId) -> anyhow::Result<()> {
    let revoked = state.revoke_key(id, &operator(), context.clock.now()).await;
    let key = revoked.map_err(told)?;
    let document = json!({ "id": key.id, "name": key.name, "revoked_at": key.revoked_at });
    context.output.print(&document, |out| {
        writeln!(
            out,
            "{} ({}): revoked. Servers reject it within seconds.",
            key.id, key.name
        )
    })
}

async fn confirm(context: &Context, state: &State, ids: Option<&[KeyId]>) -> anyhow::Result<()> {
    let confirmed = state.confirm_keys(ids, &operator(), context.clock.now()).await;
    let keys = confirmed.map_err(told)?;
    let confirmed: Vec<_> = keys
        .iter()
        .map(|key| json!({ "id": key.id, "name": key.name }))
        .collect();
    context.output.print(&json!({ "confirmed": confirmed }), |out| {
        for key in &keys {
            writeln!(out, "{} ({})", key.id, key.name)?;
        }
        writeln!(
            out,
            "{} confirmed. Servers accept them within seconds.",
            counted(keys.len(), "key")
        )
    })
}

async fn rotate(context: &Context, state: &State, id: &KeyId, grace_hours: u64) -> anyhow::Result<()> {
    let grace = Duration::from_secs(grace_hours.saturating_mul(HOUR_S));
    let rotated = state.rotate_key(id, grace, &operator(), context.clock.now()).await;
    let state::KeyRotation { issued, old } = rotated.map_err(told)?;
    let mut document = document(&issued);
    document["replaces"] = json!({ "id": old.id, "ends_at": old.ends_at });
    print_rotated(context.output, &document, &issued, &old)
}

fn print_rotated(output: Output, document: &Value, issued: &IssuedKey, old: &state::KeyRecord) -> anyhow::Result<()> {
    let record = &issued.record;
    output.print(document, |out| {
        writeln!(out, "{}", issued.key.expose())?;
        writeln!(out, "{} ({}, {}). {ONCE}", record.id, record.name, record.plan.as_str())?;
        match old.ends_at.filter(|end| *end > record.created_at) {
            Some(end) => writeln!(out, "{}: accepted until {end}.", old.id),
            None => writeln!(out, "{}: ended. Servers reject it within seconds.", old.id),
        }
    })
}
