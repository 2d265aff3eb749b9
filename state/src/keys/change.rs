use async_recursion::async_recursion as boxed;
use data_model::Timestamp;

use super::api_key::KeyHash;
use super::record::Plan;
use crate::database::{State, values};
use crate::error::StateError;
use crate::names::{AccountId, KeyId};

/// The rights of a valid key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyGrant {
    /// Id of the key.
    pub id: KeyId,
    /// Oldest key in this key's chain of rotations. All keys of a chain are the same caller.
    pub first: KeyId,
    /// Plan of the key.
    pub plan: Plan,
    /// Owner of the key. `None` for keys of the operator.
    pub account: Option<AccountId>,
    /// End of the key after a rotation.
    pub ends_at: Option<Timestamp>,
}

/// A key that was created or changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyChange {
    /// Id of the key.
    pub id: KeyId,
    /// Hash by which the key is found.
    pub hash: KeyHash,
    /// The key that replaced this one.
    pub replaced_by: Option<KeyId>,
    /// Current rights of the key. `None` if it is revoked or not confirmed.
    pub grant: Option<KeyGrant>,
}

/// The keys that were created or changed after some revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyChanges {
    /// Number of the last change, to pass to the next query.
    pub revision: i64,
    /// The changed keys in their current state, without duplicates.
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
    /// Returns the revision of the keys, which every change to a key increments. The revision decreases only if an
    /// older copy of the database is restored.
    #[boxed]
    pub async fn key_revision(&self) -> Result<i64, StateError> {
        let rows: Vec<(i64,)> = self.rows("SELECT value FROM key_revision", vec![]).await?;
        rows.first().map(|(value,)| *value).ok_or(StateError::Damaged {
            what: "revision of keys",
        })
    }

    /// Returns every key that was created or changed after `revision`. Revision 0 returns every key.
    #[boxed]
    pub async fn key_changes(&self, revision: i64) -> Result<KeyChanges, StateError> {
        let sql = "SELECT hash, id, plan, account, ends_at, revoked_at, revision, unconfirmed_since, replaced_by FROM keys \
                   WHERE revision > $1 ORDER BY revision, id";
        let rows: Vec<ChangeRow> = self.rows(sql, values![revision]).await?;
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
