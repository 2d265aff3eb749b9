use std::collections::BTreeSet;

use async_recursion::async_recursion as boxed;
use data_model::Timestamp;
use serde_json::json;

use super::record::KeyRecord;
use super::row::{KeyRow, key_columns, load_own, next_revision, record};
use crate::audit::{Actor, AuditAction};
use crate::database::{State, values};
use crate::error::StateError;
use crate::names::KeyId;

impl State {
    /// Confirms the named keys, or all, that were restored from a backup. Returns the confirmed keys. A key that needs
    /// no confirmation is not changed. A revoked key stays revoked.
    ///
    /// # Errors
    /// [`StateError::UnknownKey`], or [`StateError::KeyOver`] for a named key that has ended. No key is then confirmed.
    #[boxed]
    pub async fn confirm_keys(
        &self,
        ids: Option<&[KeyId]>,
        actor: &Actor,
        now: Timestamp,
    ) -> Result<Vec<KeyRecord>, StateError> {
        let mut writing = self.begin().await?;
        let revision = next_revision(&mut writing).await?;
        let mut keys = Vec::new();
        match ids {
            Some(ids) => {
                let mut named = BTreeSet::new();
                for id in ids.iter().filter(|id| named.insert(*id)) {
                    let key = load_own(&mut writing, id, actor).await?;
                    if let Some(since) = key.over_since(now) {
                        return Err(StateError::KeyOver { id: id.clone(), since });
                    }
                    keys.push(key);
                }
            }
            None => {
                let sql = concat!(
                    "SELECT ",
                    key_columns!(),
                    " FROM keys WHERE unconfirmed_since IS NOT NULL ORDER BY created_at, id"
                );
                let rows: Vec<KeyRow> = writing.rows(sql, vec![]).await?;
                keys = rows.into_iter().map(record).collect::<Result<_, _>>()?;
                keys.retain(|key| key.over_since(now).is_none());
            }
        }
        keys.retain(|key| key.unconfirmed_since.is_some());
        for key in &mut keys {
            let sql = "UPDATE keys SET unconfirmed_since = NULL, revision = $2 WHERE id = $1";
            let values = values![key.id.as_str(), revision];
            writing.execute(sql, values).await?;
            let detail = json!({ "name": key.name, "unconfirmed_since": key.unconfirmed_since });
            let entry = key.entry(AuditAction::KeyConfirmed, detail);
            entry.append(&mut writing, actor, now).await?;
            key.unconfirmed_since = None;
        }
        writing.commit().await?;
        Ok(keys)
    }
}
