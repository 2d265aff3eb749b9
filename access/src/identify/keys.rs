use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use api::{CallerId, KnownCaller, NotTaken, Prompt, Via};
use data_model::Timestamp;
use rustc_hash::FxBuildHasher;
use state::{ApiKey, KeyGrant, KeyHash, KeyIndex};
use tokio::time::timeout;

use super::ANSWER_TIMEOUT;
use crate::plans::Plans;

/// Number of map shards. A thread that adds a key then does not block all others.
const PARTS: usize = 16;
/// Number of callers that a shard may have beyond the number of keys. Above it, callers of revoked keys are dropped.
const SPARE: usize = 64;

/// Caller that was built from a key's index entry.
#[derive(Debug)]
struct CachedCaller {
    of: Arc<KeyGrant>,
    caller: Arc<KnownCaller>,
}

type Part = RwLock<HashMap<KeyHash, CachedCaller, FxBuildHasher>>;

/// Cache of callers by key. Each lookup checks the index, but a caller is built only once per entry.
#[derive(Debug)]
pub(super) struct KnownKeys {
    index: KeyIndex,
    plans: Plans,
    /// Shards by the first byte of the hash, which is evenly distributed.
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

    /// Returns the owner of a key. The result is immediate for a key in the index. Any other key may be new, so the
    /// state is queried.
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
            // The index replaces the grant object when a grant changes.
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
        // A rotated key keeps its caller id, so that carts and idempotent requests are still found.
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
