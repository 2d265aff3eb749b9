use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use arc_swap::ArcSwap;
use async_recursion::async_recursion as boxed;
use data_model::Timestamp;
use rustc_hash::FxBuildHasher;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use super::api_key::{ApiKey, ApiKeyError, KeyHash};
use super::change::{KeyChange, KeyGrant};
use crate::database::State;
use crate::error::StateError;
use crate::names::KeyId;

/// An in-memory index of the valid keys. A lookup costs one hash and does not use the database.
///
/// The index is loaded once and then polls the database for changes. A revocation therefore takes effect on every
/// server within one interval of [`KeyIndex::keep_fresh`]. While the database is unavailable, the last known keys are
/// used. Clones share one index.
#[derive(Debug, Clone)]
pub struct KeyIndex {
    /// `None` for an empty index that never queries a database.
    state: Option<State>,
    loaded: Arc<ArcSwap<KeySnapshot>>,
    asked: Arc<AtomicU64>,
    /// Number of the newest completed query. The lock is held during a query, so that an older result cannot replace a
    /// newer one.
    answered: Arc<Mutex<u64>>,
}

#[derive(Debug, Clone, Default)]
struct KeySnapshot {
    revision: i64,
    /// SHA-256 values are evenly distributed, so that a cheap hash function suffices.
    grants: HashMap<KeyHash, Arc<KeyGrant>, FxBuildHasher>,
    /// Maps the id of a new key to the id of the key that it replaced.
    before: HashMap<KeyId, KeyId>,
}

/// Reasons why a key is refused. The response to the caller is the same in each case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyRefusal {
    /// The text is not a key. See [`ApiKeyError`].
    #[error(transparent)]
    Malformed(#[from] ApiKeyError),
    /// The key is unknown, revoked, unconfirmed, or ended after a rotation.
    #[error("the key is unknown or no longer valid")]
    Unknown,
}

impl KeyIndex {
    /// Loads the index with every key.
    #[boxed]
    pub async fn load(state: State) -> Result<Self, StateError> {
        let index = Self {
            state: Some(state),
            ..Self::none()
        };
        index.refresh().await?;
        Ok(index)
    }

    /// Creates an index that refuses every key. A server without a state uses it.
    #[must_use]
    pub fn none() -> Self {
        Self {
            state: None,
            loaded: Arc::new(ArcSwap::from_pointee(KeySnapshot::default())),
            asked: Arc::default(),
            answered: Arc::default(),
        }
    }

    /// Returns the rights of the key in `text` at `now`.
    pub fn check(&self, text: &str, now: Timestamp) -> Result<Arc<KeyGrant>, KeyRefusal> {
        let key: ApiKey = text.parse()?;
        self.find(&key.hash(), now).ok_or(KeyRefusal::Unknown)
    }

    /// Returns the rights of the key with this hash at `now`. `None` if the key is unknown or has ended.
    #[must_use]
    pub fn find(&self, hash: &KeyHash, now: Timestamp) -> Option<Arc<KeyGrant>> {
        let loaded = self.loaded.load();
        let grant = loaded.grants.get(hash)?;
        let over = grant.ends_at.is_some_and(|end| end <= now);
        (!over).then(|| Arc::clone(grant))
    }

    /// Returns the number of known keys that are not revoked.
    #[must_use]
    pub fn len(&self) -> usize {
        self.loaded.load().grants.len()
    }

    /// Returns true if the index contains no key.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Loads the changes since the last query, and returns the number of changed keys. Only one query runs at a time,
    /// and concurrent callers share the next one.
    ///
    /// # Errors
    /// [`StateError`]. The index is then unchanged.
    #[boxed]
    pub async fn refresh(&self) -> Result<usize, StateError> {
        let Some(state) = &self.state else {
            return Ok(0);
        };
        let before = self.asked.load(Ordering::SeqCst);
        let mut answered = self.answered.lock().await;
        if *answered > before {
            return Ok(0);
        }
        let question = self.asked.fetch_add(1, Ordering::SeqCst) + 1;
        let count = self.ask(state).await?;
        *answered = question;
        Ok(count)
    }

    async fn ask(&self, state: &State) -> Result<usize, StateError> {
        let newest = state.key_revision().await?;
        let known = self.loaded.load_full();
        if newest == known.revision {
            return Ok(0);
        }
        // The revision decreases only if an older copy of the database was restored. The index then loads everything
        // again.
        let mut next = if newest < known.revision {
            KeySnapshot::default()
        } else {
            KeySnapshot::clone(&known)
        };
        let changes = state.key_changes(next.revision).await?;
        // The query saw every change up to `newest`, and perhaps later ones.
        next.revision = newest.max(changes.revision);
        let count = changes.changes.len();
        let replaced = changes.changes.iter();
        let replaced = replaced.filter_map(|change| Some((change.replaced_by.clone()?, change.id.clone())));
        next.before.extend(replaced);
        changes.changes.into_iter().for_each(|change| next.apply(change));
        metrics::gauge!("state_keys").set(next.grants.len() as f64);
        self.loaded.store(Arc::new(next));
        Ok(count)
    }

    /// Refreshes the index every `interval` until `stop` is cancelled. Failures are retried and counted in
    /// `state_keys_refresh_failures_total`. Only the first of several consecutive failures is logged.
    #[boxed]
    pub async fn keep_fresh(self, interval: Duration, stop: CancellationToken) {
        let mut failing = false;
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(interval) => {}
            }
            match self.refresh().await {
                Ok(_) if failing => {
                    failing = false;
                    tracing::info!("keys are up to date again");
                }
                Ok(_) => {}
                Err(error) => {
                    metrics::counter!("state_keys_refresh_failures_total").increment(1);
                    if !failing {
                        failing = true;
                        let error: &dyn std::error::Error = &error;
                        tracing::warn!(error, "changes of keys cannot be read; the last known keys stay in use");
                    }
                }
            }
        }
    }
}

impl KeySnapshot {
    fn apply(&mut self, change: KeyChange) {
        match change.grant {
            Some(mut grant) => {
                while let Some(before) = self.before.get(&grant.first) {
                    grant.first = before.clone();
                }
                self.grants.insert(change.hash, Arc::new(grant))
            }
            None => self.grants.remove(&change.hash),
        };
    }
}
