use async_recursion::async_recursion as boxed;
use data_model::Timestamp;
use serde_json::json;

use super::record::KeyRecord;
use super::row::{load_own, next_revision};
use crate::audit::{Actor, AuditAction};
use crate::database::{State, values};
use crate::error::StateError;
use crate::names::{KeyId, KeyName};

impl State {
    /// Renames a key. An ended key may be renamed too, because it stays in lists.
    ///
    /// # Errors
    /// [`StateError::UnknownKey`], also if the actor is an account that does not own the key.
    #[boxed]
    pub async fn rename_key(
        &self,
        id: &KeyId,
        name: KeyName,
        actor: &Actor,
        now: Timestamp,
    ) -> Result<KeyRecord, StateError> {
        let mut writing = self.begin().await?;
        next_revision(&mut writing).await?;
        let mut key = load_own(&mut writing, id, actor).await?;
        let sql = "UPDATE keys SET name = $2 WHERE id = $1";
        let values = values![id.as_str(), name.as_str()];
        writing.execute(sql, values).await?;
        let detail = json!({ "from": key.name, "to": name });
        let entry = key.entry(AuditAction::KeyRenamed, detail);
        entry.append(&mut writing, actor, now).await?;
        writing.commit().await?;
        key.name = name;
        Ok(key)
    }
}
