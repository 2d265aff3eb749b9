use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::num::NonZeroU32;
use std::time::Duration;

use api::{Tries, TryKey};
use data_model::Timestamp;
use state::Actor;

/// Tries for one address in a window. A person mistypes a few times; a list of passwords is longer.
const ADDRESS_MAX: u32 = 10;
const WINDOW: Duration = Duration::from_secs(15 * 60);
/// Tries that one caller has, whatever addresses they name.
const CALLER_TIMES: NonZeroU32 = NonZeroU32::MIN.saturating_add(5);
/// Tries that all callers have at one brand.
const BRAND_TIMES: NonZeroU32 = NonZeroU32::MIN.saturating_add(59);

/// The number of times that stores were asked to let somebody in, by caller, brand and address. The part of them that is
/// remembered is a hash that only this process can make.
#[derive(Debug)]
pub(super) struct AccountTries {
    tries: Tries<u64>,
    hasher: RandomState,
}

impl Default for AccountTries {
    fn default() -> Self {
        Self {
            tries: Tries::new(ADDRESS_MAX, WINDOW),
            hasher: RandomState::new(),
        }
    }
}

impl AccountTries {
    /// Takes a try into account, where there may be one.
    ///
    /// # Errors
    /// The time to wait, where there were too many.
    pub(super) fn take(&self, caller: &str, brand: &str, email: &str, now: Timestamp) -> Result<(), Duration> {
        let who = self.who(caller, brand, email);
        self.tries.check(who, now)?;
        self.tries.note(who, now);
        Ok(())
    }

    /// Takes a try back: who knows the password was no stranger.
    pub(super) fn give_back(&self, caller: &str, brand: &str, email: &str) {
        self.tries.give_back(self.who(caller, brand, email));
    }

    fn who(&self, caller: &str, brand: &str, email: &str) -> [TryKey<u64>; 3] {
        [
            TryKey {
                key: self.hasher.hash_one(("caller", caller)),
                times: CALLER_TIMES,
            },
            TryKey {
                key: self.hasher.hash_one(("brand", brand)),
                times: BRAND_TIMES,
            },
            TryKey::one(self.hasher.hash_one(("address", email.to_lowercase()))),
        ]
    }
}

/// A caller as the audit names them: `CallerId` as text.
pub(super) fn actor(caller: &str) -> Actor {
    let account = || caller.strip_prefix("account:")?.parse().ok().map(Actor::Account);
    let key = || caller.strip_prefix("key:")?.parse().ok().map(Actor::Key);
    account().or_else(key).unwrap_or(Actor::Nobody)
}
