use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::num::NonZeroU32;
use std::time::Duration;

use api::{Tries, TryKey};
use data_model::Timestamp;
use state::Actor;

/// Maximum number of attempts for one address in a window. Ten attempts allow for typing errors but not for guessing
/// passwords.
const ADDRESS_MAX: u32 = 10;
const WINDOW: Duration = Duration::from_secs(15 * 60);
/// Maximum number of attempts of one caller over all addresses, as a multiple of `ADDRESS_MAX`.
const CALLER_TIMES: NonZeroU32 = NonZeroU32::MIN.saturating_add(5);
/// Maximum number of attempts of all callers at one brand, as a multiple of `ADDRESS_MAX`.
const BRAND_TIMES: NonZeroU32 = NonZeroU32::MIN.saturating_add(59);

/// Number of sign-in attempts by caller, brand and address. The keys are stored as hashes that only this process can
/// compute.
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
    /// Counts an attempt if the limits allow one.
    ///
    /// # Errors
    /// Returns the time to wait after too many attempts.
    pub(super) fn take(&self, caller: &str, brand: &str, email: &str, now: Timestamp) -> Result<(), Duration> {
        let who = self.who(caller, brand, email);
        self.tries.check(who, now)?;
        self.tries.note(who, now);
        Ok(())
    }

    /// Undoes the count of an attempt in which the caller knew the password.
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

/// Returns the caller as the audit log names callers: `CallerId` as text.
pub(super) fn actor(caller: &str) -> Actor {
    let account = || caller.strip_prefix("account:")?.parse().ok().map(Actor::Account);
    let key = || caller.strip_prefix("key:")?.parse().ok().map(Actor::Key);
    account().or_else(key).unwrap_or(Actor::Nobody)
}
