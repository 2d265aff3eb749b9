use async_recursion::async_recursion as boxed;
use data_model::Timestamp;

use super::api_key::KeyHash;
use super::record::Plan;
use crate::database::{State, Value};
use crate::error::StateError;
use crate::names::{AccountId, KeyId};

/// The rights of a key that is taken: all that a request needs to know of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyGrant {
    /// Names the key.
    pub id: KeyId,
    /// The key that began the line of rotations which this one ends: whoever has one of them is the same caller.
    pub first: KeyId,
    /// Its plan.
    pub plan: Plan,
    /// Its owner; `None` for the operator's own.
    pub account: Option<AccountId>,
    /// Its end after a rotation.
    pub ends_at: Option<Timestamp>,
}

/// One key that was made or changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyChange {
    /// Names it.
    pub id: KeyId,
    /// The hash by which it is found.
    pub hash: KeyHash,
    /// The key that replaced it.
    pub replaced_by: Option<KeyId>,
    /// Its rights now; `None` once it is revoked, and until it is confirmed.
    pub grant: Option<KeyGrant>,
}

/// The keys that were made or changed after some revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyChanges {
    /// The number of the last change, to ask from next time.
    pub revision: i64,
    /// Each key that changed, once, as it stands now.
    pub changes: Vec<KeyChange>,
}

type ChangeRow = (
    Vec<u8>,
    String,
    String,
    Option<String>,
    Option<i64>,
    Option<i64>,
    i64,
    Option<i64>,
    Option<String>,
);

impl State {
    /// The number of the last change to any key. It grows by one with each change, and falls only where an older copy of
    /// the database was put in place.
    ///
    /// # Errors
    /// [`StateError`].
    #[boxed]
    pub async fn key_revision(&self) -> Result<i64, StateError> {
        let rows: Vec<(i64,)> = self.rows("SELECT value FROM key_revision", vec![]).await?;
        rows.first().map(|(value,)| *value).ok_or(StateError::Damaged {
            what: "revision of keys",
        })
    }

    /// Every key that was made or changed after `revision`; after revision 0, every key.
    ///
    /// # Errors
    /// [`StateError`].
    #[boxed]
    pub async fn key_changes(&self, revision: i64) -> Result<KeyChanges, StateError> {
        let sql = "SELECT hash, id, plan, account, ends_at, revoked_at, revision, unconfirmed_since, replaced_by FROM keys \
                   WHERE revision > $1 ORDER BY revision, id";
        let rows: Vec<ChangeRow> = self.rows(sql, vec![Value::integer(revision)]).await?;
        let last = rows.last().map_or(revision, |row| row.6);
        let changes = rows.into_iter().map(change).collect::<Result<_, _>>()?;
        Ok(KeyChanges {
            revision: last,
            changes,
        })
    }
}

fn change(row: ChangeRow) -> Result<KeyChange, StateError> {
    let (hash, id, plan, account, ends_at, revoked_at, _, unconfirmed_since, replaced_by) = row;
    let damaged = |what| move |_| StateError::Damaged { what };
    let hash = <[u8; 32]>::try_from(hash).map_err(|_| StateError::Damaged { what: "hash of a key" })?;
    let id: KeyId = id.parse().map_err(damaged("key id"))?;
    let replaced_by = replaced_by.map(|by| by.parse()).transpose();
    let grant = KeyGrant {
        id: id.clone(),
        first: id.clone(),
        plan: Plan::read(&plan)?,
        account: account
            .map(|account| account.parse())
            .transpose()
            .map_err(damaged("account"))?,
        ends_at: ends_at.map(Timestamp::from_micros),
    };
    Ok(KeyChange {
        id,
        replaced_by: replaced_by.map_err(damaged("key id"))?,
        hash: KeyHash::from_bytes(hash),
        grant: (revoked_at.is_none() && unconfirmed_since.is_none()).then_some(grant),
    })
}
