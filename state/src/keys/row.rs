//! Rows of the table of keys.

use data_model::Timestamp;

use super::record::{KeyRecord, Plan};
use crate::audit::Actor;
use crate::database::{WriteTransaction, values};
use crate::day::Day;
use crate::error::StateError;
use crate::names::KeyId;

macro_rules! key_columns {
    () => {
        "id, name, plan, account, hint, created_at, last_used_day, ends_at, revoked_at, replaced_by, \
         unconfirmed_since"
    };
}
pub(super) use key_columns;

pub(super) type KeyRow = (
    String,
    String,
    String,
    Option<String>,
    String,
    i64,
    Option<i64>,
    Option<i64>,
    Option<i64>,
    Option<String>,
    Option<i64>,
);

pub(super) fn record(row: KeyRow) -> Result<KeyRecord, StateError> {
    let (id, name, plan, account, hint, created_at, last_used_day, ends_at, revoked_at, replaced_by, unconfirmed) = row;
    let damaged = |what| move |_| StateError::Damaged { what };
    Ok(KeyRecord {
        id: id.parse().map_err(damaged("key id"))?,
        name: name.parse().map_err(damaged("key name"))?,
        plan: Plan::read(&plan)?,
        account: account
            .map(|account| account.parse())
            .transpose()
            .map_err(damaged("account"))?,
        hint,
        created_at: Timestamp::from_micros(created_at),
        last_used_on: last_used_day.map(Day::from_number),
        ends_at: ends_at.map(Timestamp::from_micros),
        revoked_at: revoked_at.map(Timestamp::from_micros),
        replaced_by: replaced_by
            .map(|id| id.parse())
            .transpose()
            .map_err(damaged("key id"))?,
        unconfirmed_since: unconfirmed.map(Timestamp::from_micros),
    })
}

/// Increments and returns the revision of keys.
///
/// This update is the first statement of every change to keys. The update locks the row until the transaction ends, so
/// that changes are serialised. A reader of revision n has therefore seen every change before it.
pub(super) async fn next_revision(writing: &mut WriteTransaction) -> Result<i64, StateError> {
    let sql = "UPDATE key_revision SET value = value + 1 RETURNING value";
    let next: Option<(i64,)> = writing.row(sql, vec![]).await?;
    next.map(|(next,)| next).ok_or(StateError::Damaged {
        what: "revision of keys",
    })
}

/// Loads a key that the actor may change. Other keys count as absent.
pub(super) async fn load_own(
    writing: &mut WriteTransaction,
    id: &KeyId,
    actor: &Actor,
) -> Result<KeyRecord, StateError> {
    let sql = concat!("SELECT ", key_columns!(), " FROM keys WHERE id = $1");
    let row: Option<KeyRow> = writing.row(sql, values![id.as_str()]).await?;
    let key = row.map(record).transpose()?;
    key.filter(|key| actor.may_touch(&key.id, key.account.as_ref()))
        .ok_or_else(|| StateError::UnknownKey { id: id.clone() })
}
