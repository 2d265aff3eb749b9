//! Identifies the owner of a key or a session.

mod keys;
mod sessions;

use std::sync::Arc;
use std::time::Duration;

use api::{Credential, Identify, KnownCaller, NotTaken, Prompt};
use data_model::Clock;
use state::{KeyIndex, State};

use self::keys::KnownKeys;
use self::sessions::KnownSessions;
use crate::plans::Plans;

/// Maximum time to wait for the state.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);

/// Lookup of callers. Keys are looked up in memory, and sessions in the state at each request.
///
/// A new key works immediately, because the state is queried for unknown keys. A revoked key is refused once the
/// [`KeyIndex`] has its revocation, and an ended session immediately. While the state is down, known keys still work,
/// but unknown keys and all sessions give [`NotTaken::Unavailable`].
#[derive(Debug)]
pub struct Credentials {
    keys: Arc<KnownKeys>,
    sessions: Arc<KnownSessions>,
    clock: Arc<dyn Clock>,
}

impl Credentials {
    /// Accepts the keys of `keys`, which their owner keeps up to date, and the sessions of `state`.
    #[must_use]
    pub fn new(keys: KeyIndex, state: State, plans: Plans, clock: Arc<dyn Clock>) -> Self {
        Self {
            sessions: Arc::new(KnownSessions::new(state, &plans)),
            keys: Arc::new(KnownKeys::new(keys, plans)),
            clock,
        }
    }
}

impl Identify for Credentials {
    fn identify(&self, credential: Credential<'_>) -> Prompt<Result<Arc<KnownCaller>, NotTaken>> {
        let now = self.clock.now();
        match credential {
            Credential::Key(text) => self.keys.find(text, now),
            Credential::Session(text) => self.sessions.find(text, now),
        }
    }
}
