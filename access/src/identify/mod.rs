//! Whose a key or a session is.

mod keys;
mod sessions;

use std::sync::Arc;

use api::{Credential, Identify, KnownCaller, NotTaken, Prompt};
use data_model::Clock;
use state::{KeyIndex, State};

use self::keys::KnownKeys;
use self::sessions::KnownSessions;
use crate::plans::Plans;

/// Knows keys from memory, and sessions from the state, asked at most once in three seconds for each.
///
/// A revoked key is refused as soon as the [`KeyIndex`] knows, a session that was ended within three seconds. While the
/// state is gone keys hold on, and sessions are [`NotTaken::Unavailable`].
#[derive(Debug)]
pub struct Credentials {
    keys: KnownKeys,
    sessions: Arc<KnownSessions>,
    clock: Arc<dyn Clock>,
}

impl Credentials {
    /// Takes the keys of `keys`, which its owner keeps fresh, and the sessions of `state`.
    #[must_use]
    pub fn new(keys: KeyIndex, state: State, plans: Plans, clock: Arc<dyn Clock>) -> Self {
        Self {
            sessions: Arc::new(KnownSessions::new(state, &plans)),
            keys: KnownKeys::new(keys, plans),
            clock,
        }
    }
}

impl Identify for Credentials {
    fn identify(&self, credential: Credential<'_>) -> Prompt<Result<Arc<KnownCaller>, NotTaken>> {
        let now = self.clock.now();
        match credential {
            Credential::Key(text) => Prompt::Now(self.keys.find(text, now).ok_or(NotTaken::Invalid)),
            Credential::Session(text) => self.sessions.find(text, now),
        }
    }
}
