//! The owner of a key or a session.

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

/// Longest time in which the state must answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);

/// Knows keys from memory, and sessions from the state, which is asked with each request.
///
/// A new key is taken at once: the state is asked for one that is not known. A revoked key is refused as soon as the
/// [`KeyIndex`] knows, a session that was ended at once. While the state is gone known keys hold on; other
/// keys, and sessions, are [`NotTaken::Unavailable`].
#[derive(Debug)]
pub struct Credentials {
    keys: Arc<KnownKeys>,
    sessions: Arc<KnownSessions>,
    clock: Arc<dyn Clock>,
}

impl Credentials {
    /// Takes the keys of `keys`, which its owner keeps fresh, and the sessions of `state`.
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
