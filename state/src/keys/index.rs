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

/// The keys that are taken, in memory: a look-up costs one hash and touches no database.
///
/// It is loaded once and then asks the database for what changed, so a revocation holds on every server within one
/// interval of [`KeyIndex::keep_fresh`]. While the database is gone, what was known last holds. Clones share one index.
#[derive(Debug, Clone)]
pub struct KeyIndex {
    /// `None`: an index of no keys that never asks.
    state: Option<State>,
    loaded: Arc<ArcSwap<KeySnapshot>>,
    /// Questions to the database so far.
    asked: Arc<AtomicU64>,
    /// Held while what changed is asked for, so that no older answer follows a newer one: the newest of the times that was
    /// answered.
    answered: Arc<Mutex<u64>>,
}

#[derive(Debug, Clone, Default)]
struct KeySnapshot {
    revision: i64,
    /// SHA-256 is spread well already; hashing it again with a keyed hash would only cost.
    grants: HashMap<KeyHash, Arc<KeyGrant>, FxBuildHasher>,
    /// By the id of a key that took another one's place, that one's.
    before: HashMap<KeyId, KeyId>,
}

/// The reason why a key is refused. The sender gets the same answer in each case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyRefusal {
    /// The text is no key; see [`ApiKeyError`].
    #[error(transparent)]
    Malformed(#[from] ApiKeyError),
    /// The key is unknown, revoked, not confirmed, or ended after a rotation.
    #[error("the key is unknown or over")]
    Unknown,
}

impl KeyIndex {
    /// Loads every key.
    ///
    /// # Errors
    /// [`StateError`].
    #[boxed]
    pub async fn load(state: State) -> Result<Self, StateError> {
        let index = Self {
            state: Some(state),
            ..Self::none()
        };
        index.refresh().await?;
        Ok(index)
    }

    /// An index that refuses every key: for a server without state.
    #[must_use]
    pub fn none() -> Self {
        Self {
            state: None,
            loaded: Arc::new(ArcSwap::from_pointee(KeySnapshot::default())),
            asked: Arc::default(),
            answered: Arc::default(),
        }
    }

    /// The rights of the key in `text` at `now`.
    ///
    /// # Errors
    /// [`KeyRefusal`].
    pub fn check(&self, text: &str, now: Timestamp) -> Result<Arc<KeyGrant>, KeyRefusal> {
        let key: ApiKey = text.parse()?;
        self.find(&key.hash(), now).ok_or(KeyRefusal::Unknown)
    }

    /// The rights of the key with this hash at `now`; `None` where it is unknown or over.
    #[must_use]
    pub fn find(&self, hash: &KeyHash, now: Timestamp) -> Option<Arc<KeyGrant>> {
        let loaded = self.loaded.load();
        let grant = loaded.grants.get(hash)?;
        let over = grant.ends_at.is_some_and(|end| end <= now);
        (!over).then(|| Arc::clone(grant))
    }

    /// The number of keys that are known and were not revoked.
    #[must_use]
    pub fn len(&self) -> usize {
        self.loaded.load().grants.len()
    }

    /// True where no key is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Asks the database for what changed since the last time, and answers how many keys did. Those who call meanwhile
    /// share the next question, so that however many call, one is asked at a time.
    ///
    /// # Errors
    /// [`StateError`]; what was known holds on.
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
        // The count falls only where an older copy of the database was put in place: what it holds is all there is.
        let mut next = if newest < known.revision {
            KeySnapshot::default()
        } else {
            KeySnapshot::clone(&known)
        };
        let changes = state.key_changes(next.revision).await?;
        // Every change up to `newest` was there to be read, and maybe later ones.
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

    /// Refreshes every `interval` until `stop` is cancelled. A database that is gone is warned of once, counted in
    /// `state_keys_refresh_failures_total`, and asked again.
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
                        tracing::warn!(error, "changes of keys cannot be read: the last known keys hold");
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
