//! Ids of the master keys that were used, so that no server runs without one of them.

use async_recursion::async_recursion as boxed;
use data_model::Timestamp;

use super::{State, values};
use crate::envelope::MasterKeys;
use crate::error::StateError;

const USED: &str = "SELECT id FROM master_keys ORDER BY first_seen_at, id";

impl State {
    /// Records the master keys in use. Fails if a key used before is missing, because its sealed data could not be
    /// opened. A server with the shared state but other keys fails before it seals anything.
    ///
    /// # Errors
    /// [`StateError::MasterKeyMissing`].
    #[boxed]
    pub async fn use_master_keys(&self, keys: &MasterKeys, now: Timestamp) -> Result<(), StateError> {
        let given: Vec<_> = keys.ids().map(|id| id.to_string()).collect();
        let known: Vec<(String,)> = self.rows(USED, vec![]).await?;
        if missing(known.into_iter().map(|(id,)| id), &given)?.is_empty() {
            return Ok(());
        }
        // Within the transaction, no other server can add keys.
        let mut writing = self.begin().await?;
        let lock = "UPDATE key_revision SET value = value";
        writing.execute(lock, vec![]).await?;
        let known: Vec<(String,)> = writing.rows(USED, vec![]).await?;
        for id in missing(known.into_iter().map(|(id,)| id), &given)? {
            let sql = "INSERT INTO master_keys (id, first_seen_at) VALUES ($1, $2)";
            let values = values![id, now];
            writing.execute(sql, values).await?;
        }
        writing.commit().await
    }

    /// Fails if a master key that was used before is missing.
    pub(super) async fn check_master_keys(&self, keys: Option<&MasterKeys>) -> Result<(), StateError> {
        let given: Vec<_> = keys
            .iter()
            .flat_map(|keys| keys.ids())
            .map(|id| id.to_string())
            .collect();
        match self.rows::<(String,)>(USED, vec![]).await {
            Ok(known) => missing(known.into_iter().map(|(id,)| id), &given).map(|_| ()),
            // A new database has no such table.
            Err(StateError::Database(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

/// Returns the new ids in `given`. Fails if a known id is missing from `given`.
fn missing(known: impl Iterator<Item = String>, given: &[String]) -> Result<Vec<String>, StateError> {
    let mut new = given.to_vec();
    for id in known {
        if !given.contains(&id) {
            return Err(StateError::MasterKeyMissing { id });
        }
        new.retain(|given| *given != id);
    }
    Ok(new)
}
