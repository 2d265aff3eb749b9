use async_recursion::async_recursion as boxed;
use data_model::Timestamp;
use serde_json::json;

use super::api_key::ApiKey;
use super::record::{KeyRecord, Plan};
use super::row::next_revision;
use crate::audit::{Actor, AuditAction};
use crate::database::{State, WriteTransaction, values};
use crate::error::StateError;
use crate::names::{AccountId, KeyId, KeyName};

/// The data of a key to create.
#[derive(Debug, Clone)]
pub struct NewKey {
    /// The owner's name for the key.
    pub name: KeyName,
    /// Plan of the key.
    pub plan: Plan,
    /// Owner of the key. `None` for keys of the operator.
    pub account: Option<AccountId>,
}

/// A new key. Only now its plain text is known.
#[derive(Debug, Clone)]
pub struct IssuedKey {
    /// The plain text of the key.
    pub key: ApiKey,
    /// The stored record of the key.
    pub record: KeyRecord,
}

impl State {
    /// Creates a key, which survives a kill and a power cut after this function returns.
    ///
    /// # Errors
    /// [`StateError`]. After an error no key is returned. A key that was stored nevertheless has a text that nobody
    /// knows.
    #[boxed]
    pub async fn create_key(&self, new: NewKey, actor: &Actor, now: Timestamp) -> Result<IssuedKey, StateError> {
        let mut writing = self.begin().await?;
        let revision = next_revision(&mut writing).await?;
        let issued = create(&mut writing, new, revision, actor, now).await?;
        writing.commit().await?;
        Ok(issued)
    }

    /// Creates a key like [`State::create_key`]. Returns `None` if the account already has `keys_max` valid keys that
    /// were not replaced. The limit applies to concurrent calls too.
    ///
    /// # Errors
    /// The errors of [`State::create_key`].
    #[boxed]
    pub async fn create_key_within(
        &self,
        new: NewKey,
        keys_max: u32,
        actor: &Actor,
        now: Timestamp,
    ) -> Result<Option<IssuedKey>, StateError> {
        let mut writing = self.begin().await?;
        let revision = next_revision(&mut writing).await?;
        let sql = "SELECT COUNT(*) FROM keys WHERE account = $1 AND revoked_at IS NULL AND replaced_by IS NULL";
        let account = new.account.as_ref().map(|account| account.as_str().to_owned());
        let has: Option<(i64,)> = writing.row(sql, values![account]).await?;
        if has.is_some_and(|(has,)| has >= i64::from(keys_max)) {
            return Ok(None);
        }
        let issued = create(&mut writing, new, revision, actor, now).await?;
        writing.commit().await?;
        Ok(Some(issued))
    }
}

async fn create(
    writing: &mut WriteTransaction,
    new: NewKey,
    revision: i64,
    actor: &Actor,
    now: Timestamp,
) -> Result<IssuedKey, StateError> {
    let issued = issue(new, now)?;
    insert(writing, &issued, revision).await?;
    let detail = json!({ "name": issued.record.name, "plan": issued.record.plan });
    let entry = issued.record.entry(AuditAction::KeyCreated, detail);
    entry.append(writing, actor, now).await?;
    Ok(issued)
}

pub(super) fn issue(new: NewKey, now: Timestamp) -> Result<IssuedKey, StateError> {
    let key = ApiKey::generate()?;
    let record = KeyRecord {
        id: KeyId::generate()?,
        name: new.name,
        plan: new.plan,
        account: new.account,
        hint: key.hint().to_owned(),
        created_at: now,
        last_used_on: None,
        ends_at: None,
        revoked_at: None,
        replaced_by: None,
        unconfirmed_since: None,
    };
    Ok(IssuedKey { key, record })
}

pub(super) async fn insert(
    writing: &mut WriteTransaction,
    issued: &IssuedKey,
    revision: i64,
) -> Result<(), StateError> {
    let sql = "INSERT INTO keys (id, hash, hint, name, plan, account, created_at, revision) \
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    let IssuedKey { key, record } = issued;
    let values = values![
        record.id.as_str(),
        key.hash().as_bytes(),
        &record.hint,
        record.name.as_str(),
        record.plan.as_str(),
        record.account.as_ref().map(|account| account.as_str()),
        record.created_at,
        revision
    ];
    writing.execute(sql, values).await.map(|_| ())
}
