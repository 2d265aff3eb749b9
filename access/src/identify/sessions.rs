use std::collections::HashMap;
use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};

use api::{Allowance, CallerId, KnownCaller, NotTaken, Prompt, Via};
use data_model::Timestamp;
use rustc_hash::FxBuildHasher;
use state::{SessionGrant, SessionHash, SessionToken, SignInMethod, State};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::ANSWER_TIMEOUT;
use crate::plans::Plans;

/// For how long what the state said of a session holds: a session that was ended is refused after this time at the latest.
const FRESH_MS: i64 = 3_000;
/// Sessions that are remembered at the same time; one more is asked of the state each time.
const SESSIONS_MAX: usize = 20_000;
/// Questions to the state at the same time, so that forged cookies do not take all its connections.
const ASKED_AT_ONCE: usize = 8;

#[derive(Debug)]
struct Remembered {
    caller: Arc<KnownCaller>,
    fresh_until: Timestamp,
}

/// Callers by their sessions.
#[derive(Debug)]
pub(super) struct KnownSessions {
    state: State,
    signed_in: Arc<Allowance>,
    guest: Arc<Allowance>,
    remembered: Mutex<HashMap<SessionHash, Remembered, FxBuildHasher>>,
    asking: Semaphore,
}

impl KnownSessions {
    pub(super) fn new(state: State, plans: &Plans) -> Self {
        Self {
            state,
            signed_in: Arc::clone(plans.of_session()),
            guest: Arc::clone(plans.anonymous()),
            remembered: Mutex::default(),
            asking: Semaphore::new(ASKED_AT_ONCE),
        }
    }

    pub(super) fn find(self: &Arc<Self>, text: &str, now: Timestamp) -> Prompt<Result<Arc<KnownCaller>, NotTaken>> {
        let Ok(token) = text.parse::<SessionToken>() else {
            return Prompt::Now(Err(NotTaken::Invalid));
        };
        let hash = token.hash();
        if let Some(caller) = self.remembered(&hash, now) {
            return Prompt::Now(Ok(caller));
        }
        let sessions = Arc::clone(self);
        Prompt::Later(Box::pin(async move {
            match timeout(ANSWER_TIMEOUT, sessions.ask(hash, now)).await {
                Ok(answer) => answer,
                Err(_) => Err(NotTaken::Unavailable),
            }
        }))
    }

    fn remembered(&self, hash: &SessionHash, now: Timestamp) -> Option<Arc<KnownCaller>> {
        let remembered = self.remembered.lock().unwrap_or_else(PoisonError::into_inner);
        let found = remembered.get(hash)?;
        // A clock that was set back makes nothing hold longer than it was meant to.
        let age_ms = now.millis_since(found.fresh_until.plus_millis(-FRESH_MS));
        (age_ms >= 0 && now < found.fresh_until).then(|| Arc::clone(&found.caller))
    }

    async fn ask(&self, hash: SessionHash, now: Timestamp) -> Result<Arc<KnownCaller>, NotTaken> {
        let _turn = self.asking.acquire().await.map_err(|_| NotTaken::Unavailable)?;
        let found = self.state.find_session(&hash, now).await.map_err(|error| {
            metrics::counter!("access_sessions_not_asked_total").increment(1);
            if !error.is_transient() {
                tracing::error!(error = &error as &dyn Error, "a session cannot be looked up");
            }
            NotTaken::Unavailable
        })?;
        let grant = found.ok_or(NotTaken::Invalid)?;
        Ok(self.remember(hash, &grant, now))
    }

    fn remember(&self, hash: SessionHash, grant: &SessionGrant, now: Timestamp) -> Arc<KnownCaller> {
        let (via, allowance) = match grant.method {
            SignInMethod::Guest => (Via::Guest { network: None }, &self.guest),
            SignInMethod::Oidc | SignInMethod::Link => (Via::Session, &self.signed_in),
        };
        let caller = Arc::new(KnownCaller {
            id: CallerId::account(grant.account.as_str()),
            via,
            allowance: Arc::clone(allowance),
        });
        let mut remembered = self.remembered.lock().unwrap_or_else(PoisonError::into_inner);
        if remembered.len() >= SESSIONS_MAX {
            remembered.retain(|_, found| now < found.fresh_until);
        }
        if remembered.len() < SESSIONS_MAX {
            let found = Remembered {
                caller: Arc::clone(&caller),
                fresh_until: now.plus_millis(FRESH_MS).min(grant.ends_at),
            };
            remembered.insert(hash, found);
        }
        caller
    }
}
