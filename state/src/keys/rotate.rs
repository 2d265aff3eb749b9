use std::time::Duration;

use async_recursion::async_recursion as boxed;
use data_model::Timestamp;
use serde_json::json;

use super::create::{IssuedKey, NewKey, insert, issue};
use super::record::KeyRecord;
use super::row::{load_own, next_revision};
use crate::audit::{Actor, AuditAction};
use crate::database::{State, values};
use crate::error::StateError;
use crate::names::KeyId;

/// The outcome of a key's rotation.
#[derive(Debug, Clone)]
pub struct KeyRotation {
    /// The new key, with the same name, plan and account.
    pub issued: IssuedKey,
    /// The old key, with the end of its grace period.
    pub old: KeyRecord,
}

impl State {
    /// Replaces a key by a new one. The old key stays valid for `grace`.
    ///
    /// # Errors
    /// [`StateError::UnknownKey`], also if the actor is an account that does not own the key. [`StateError::KeyOver`],
    /// [`StateError::KeyUnconfirmed`]. [`StateError::KeyReplaced`] for a key that was rotated before and is in its
    /// grace period.
    #[boxed]
    pub async fn rotate_key(
        &self,
        id: &KeyId,
        grace: Duration,
        actor: &Actor,
        now: Timestamp,
    ) -> Result<KeyRotation, StateError> {
        let mut writing = self.begin().await?;
        let revision = next_revision(&mut writing).await?;
        let mut old = load_own(&mut writing, id, actor).await?;
        if let Some(since) = old.over_since(now) {
            return Err(StateError::KeyOver { id: id.clone(), since });
        }
        if let Some(since) = old.unconfirmed_since {
            return Err(StateError::KeyUnconfirmed { id: id.clone(), since });
        }
        if let Some(by) = old.replaced_by {
            return Err(StateError::KeyReplaced { id: id.clone(), by });
        }
        let ends_at = now.plus_millis(i64::try_from(grace.as_millis()).unwrap_or(i64::MAX));
        let new = NewKey {
            name: old.name.clone(),
            plan: old.plan,
            account: old.account.clone(),
        };
        let issued = issue(new, now)?;
        let new_id = &issued.record.id;
        insert(&mut writing, &issued, revision).await?;
        let sql = "UPDATE keys SET ends_at = $2, replaced_by = $3, revision = $4 WHERE id = $1";
        let values = values![id.as_str(), ends_at, new_id.as_str(), revision];
        writing.execute(sql, values).await?;
        let detail = json!({ "name": old.name, "replaced_by": new_id, "ends_at": ends_at });
        let entry = old.entry(AuditAction::KeyRotated, detail);
        entry.append(&mut writing, actor, now).await?;
        writing.commit().await?;
        old.ends_at = Some(ends_at);
        old.replaced_by = Some(new_id.clone());
        Ok(KeyRotation { issued, old })
    }
}
