use std::error::Error;
use std::sync::Arc;

use api::{Allowance, CallerId, KnownCaller, NotTaken, Prompt, Via};
use data_model::Timestamp;
use state::{SessionGrant, SessionHash, SessionToken, SignInMethod, State};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::ANSWER_TIMEOUT;
use crate::plans::Plans;

/// Maximum number of concurrent queries to the state. Forged cookies must not use up its connections.
const ASKED_AT_ONCE: usize = 8;

/// Lookup of callers by session. Sessions are not cached, so an ended session ends on every server.
#[derive(Debug)]
pub(super) struct KnownSessions {
    state: State,
    signed_in: Arc<Allowance>,
    guest: Arc<Allowance>,
    asking: Semaphore,
}

impl KnownSessions {
    pub(super) fn new(state: State, plans: &Plans) -> Self {
        Self {
            state,
            signed_in: Arc::clone(plans.of_session()),
            guest: Arc::clone(plans.anonymous()),
            asking: Semaphore::new(ASKED_AT_ONCE),
        }
    }

    pub(super) fn find(self: &Arc<Self>, text: &str, now: Timestamp) -> Prompt<Result<Arc<KnownCaller>, NotTaken>> {
        let Ok(token) = text.parse::<SessionToken>() else {
            return Prompt::Now(Err(NotTaken::Invalid));
        };
        let (sessions, hash) = (Arc::clone(self), token.hash());
        Prompt::Later(Box::pin(async move {
            match timeout(ANSWER_TIMEOUT, sessions.ask(hash, now)).await {
                Ok(answer) => answer,
                Err(_) => Err(NotTaken::Unavailable),
            }
        }))
    }

    async fn ask(&self, hash: SessionHash, now: Timestamp) -> Result<Arc<KnownCaller>, NotTaken> {
        let _turn = self.asking.acquire().await.map_err(|_| NotTaken::Unavailable)?;
        let found = self.state.find_session(&hash, now).await.map_err(|error| {
            metrics::counter!("access_sessions_not_asked_total").increment(1);
            if !error.is_transient() {
                tracing::error!(error = &error as &dyn Error, "a session could not be looked up");
            }
            NotTaken::Unavailable
        })?;
        Ok(self.caller(&found.ok_or(NotTaken::Invalid)?))
    }

    fn caller(&self, grant: &SessionGrant) -> Arc<KnownCaller> {
        let (via, allowance) = match grant.method {
            SignInMethod::Guest => (Via::Guest { network: None }, &self.guest),
            SignInMethod::Oidc | SignInMethod::Link => (Via::Session, &self.signed_in),
        };
        Arc::new(KnownCaller {
            id: CallerId::account(grant.account.as_str()),
            via,
            allowance: Arc::clone(allowance),
        })
    }
}
