use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use api::{CallerId, KnownCaller, NotTaken, Prompt, Via};
use data_model::Timestamp;
use rustc_hash::FxBuildHasher;
use state::{ApiKey, KeyGrant, KeyHash, KeyIndex};
use tokio::time::timeout;

use super::ANSWER_TIMEOUT;
use crate::plans::Plans;

/// Parts of the map, so that threads that meet a new key do not stop all others.
const PARTS: usize = 16;
/// Callers that a part keeps besides as many as there are keys; beyond, those of revoked keys are dropped.
const SPARE: usize = 64;

/// A caller that was made of what the index said of a key.
#[derive(Debug)]
struct CachedCaller {
    of: Arc<KeyGrant>,
    caller: Arc<KnownCaller>,
}

type Part = RwLock<HashMap<KeyHash, CachedCaller, FxBuildHasher>>;

/// Callers by their keys. What the index says is asked each time; a caller is made of it once.
#[derive(Debug)]
pub(super) struct KnownKeys {
    index: KeyIndex,
    plans: Plans,
    /// By the first byte of the hash, which is spread well.
    made: [Part; PARTS],
}

impl KnownKeys {
    pub(super) fn new(index: KeyIndex, plans: Plans) -> Self {
        Self {
            index,
            plans,
            made: Default::default(),
        }
    }

    /// The owner of a key: answered at once where the index knows the key, else the state is asked, since the key may
    /// have been made just now.
    pub(super) fn find(self: &Arc<Self>, text: &str, now: Timestamp) -> Prompt<Result<Arc<KnownCaller>, NotTaken>> {
        let Ok(key) = text.parse::<ApiKey>() else {
            return Prompt::Now(Err(NotTaken::Invalid));
        };
        let hash = key.hash();
        if let Some(caller) = self.known(hash, now) {
            return Prompt::Now(Ok(caller));
        }
        let keys = Arc::clone(self);
        Prompt::Later(Box::pin(async move {
            match timeout(ANSWER_TIMEOUT, keys.index.refresh()).await {
                Ok(Ok(_)) => keys.known(hash, now).ok_or(NotTaken::Invalid),
                Ok(Err(_)) | Err(_) => Err(NotTaken::Unavailable),
            }
        }))
    }

    fn known(&self, hash: KeyHash, now: Timestamp) -> Option<Arc<KnownCaller>> {
        let grant = self.index.find(&hash, now)?;
        let part = &self.made[usize::from(hash.as_bytes()[0]) % PARTS];
        {
            let made = part.read().unwrap_or_else(PoisonError::into_inner);
            // The index puts a new grant in place of one that changed.
            if let Some(made) = made.get(&hash).filter(|made| Arc::ptr_eq(&made.of, &grant)) {
                return Some(Arc::clone(&made.caller));
            }
        }
        let caller = self.caller(&grant);
        let mut made = part.write().unwrap_or_else(PoisonError::into_inner);
        if made.len() > self.index.len() + SPARE {
            made.clear();
        }
        let of_grant = CachedCaller {
            of: grant,
            caller: Arc::clone(&caller),
        };
        made.insert(hash, of_grant);
        Some(caller)
    }

    fn caller(&self, grant: &KeyGrant) -> Arc<KnownCaller> {
        let id = grant.id.as_str();
        // A rotated key is still the caller that it was: its carts and idempotent requests are found with the new one.
        let caller = match &grant.account {
            Some(account) => CallerId::account(account.as_str()),
            None => CallerId::key(grant.first.as_str()),
        };
        Arc::new(KnownCaller {
            id: caller,
            via: Via::Key {
                id: id.into(),
                plan: grant.plan.as_str(),
            },
            allowance: Arc::clone(self.plans.of_plan(grant.plan)),
        })
    }
}
