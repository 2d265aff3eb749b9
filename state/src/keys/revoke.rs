use async_recursion::async_recursion as boxed;
use data_model::Timestamp;
use serde_json::json;

use super::record::KeyRecord;
use super::row::{load_own, next_revision};
use crate::audit::{Actor, AuditAction};
use crate::database::{State, values};
use crate::error::StateError;
use crate::names::KeyId;

impl State {
    /// Revokes a key with immediate effect. Servers refuse it after the next refresh of their [`crate::KeyIndex`].
    ///
    /// # Errors
    /// [`StateError::UnknownKey`], also if the actor is an account that does not own the key. [`StateError::KeyOver`].
    #[boxed]
    pub async fn revoke_key(&self, id: &KeyId, actor: &Actor, now: Timestamp) -> Result<KeyRecord, StateError> {
        let mut writing = self.begin().await?;
        let revision = next_revision(&mut writing).await?;
        let mut key = load_own(&mut writing, id, actor).await?;
        if let Some(since) = key.over_since(now) {
            return Err(StateError::KeyOver { id: id.clone(), since });
        }
        let sql = "UPDATE keys SET revoked_at = $2, revision = $3 WHERE id = $1";
        let values = values![id.as_str(), now, revision];
        writing.execute(sql, values).await?;
        let entry = key.entry(AuditAction::KeyRevoked, json!({ "name": key.name }));
        entry.append(&mut writing, actor, now).await?;
        writing.commit().await?;
        key.revoked_at = Some(now);
        Ok(key)
    }
}
