//! The master keys that were in use, so that nobody goes on without one.

use async_recursion::async_recursion as boxed;
use data_model::Timestamp;

use super::{State, Value};
use crate::envelope::MasterKeys;
use crate::error::StateError;

/// The ids of the master keys that were in use.
const USED: &str = "SELECT id FROM master_keys ORDER BY first_seen_at, id";

impl State {
    /// Notes the master keys that are in use, and refuses to go on without one that was: what it sealed could not be opened.
    /// A server that shares the state but not the key is found by this before it seals anything.
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
        // Read again where no other server can add its own meanwhile.
        let mut writing = self.begin().await?;
        let lock = "UPDATE key_revision SET value = value";
        writing.execute(lock, vec![]).await?;
        let known: Vec<(String,)> = writing.rows(USED, vec![]).await?;
        for id in missing(known.into_iter().map(|(id,)| id), &given)? {
            let sql = "INSERT INTO master_keys (id, first_seen_at) VALUES ($1, $2)";
            let values = vec![Value::text(id), Value::integer(now.micros())];
            writing.execute(sql, values).await?;
        }
        writing.commit().await
    }

    /// Refuses keys among which one is missing that was in use; nothing is noted.
    pub(super) async fn check_master_keys(&self, keys: Option<&MasterKeys>) -> Result<(), StateError> {
        let given: Vec<_> = keys
            .iter()
            .flat_map(|keys| keys.ids())
            .map(|id| id.to_string())
            .collect();
        match self.rows::<(String,)>(USED, vec![]).await {
            Ok(known) => missing(known.into_iter().map(|(id,)| id), &given).map(|_| ()),
            // A state of before keys were noted has no such table.
            Err(StateError::Database(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

/// The keys given that are new; an error where one that is known is not among them.
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
