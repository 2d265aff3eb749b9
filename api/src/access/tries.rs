use std::collections::HashMap;
use std::hash::Hash;
use std::num::NonZeroU32;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use data_model::Timestamp;

use super::ClientNetwork;

/// Maximum number of keys to remember. Attempts by further keys are not counted.
const COUNTED_MAX: usize = 30_000;

/// Limiter of rare operations such as signing in, for this process. Only keys with attempts within the window are
/// remembered.
#[derive(Debug)]
pub struct Tries<K> {
    max: u32,
    window: Duration,
    windows: Mutex<HashMap<K, Window>>,
}

/// A key that attempts are counted under.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TryKey<K> {
    /// The client or other unit that makes the attempts.
    pub key: K,
    /// Multiple of the usual limit that this key is allowed.
    pub times: NonZeroU32,
}

impl<K> TryKey<K> {
    /// Creates a key with the usual limit.
    pub const fn one(key: K) -> Self {
        Self {
            key,
            times: NonZeroU32::MIN,
        }
    }
}

impl TryKey<ClientNetwork> {
    /// Returns keys for a client network, if it is known, and its surrounding networks.
    pub fn of_network(network: Option<ClientNetwork>) -> impl Iterator<Item = Self> {
        let levels = network.into_iter().flat_map(ClientNetwork::levels);
        levels.map(|(key, times)| Self { key, times })
    }
}

#[derive(Debug, Clone, Copy)]
struct Window {
    begins_at: Timestamp,
    tries: u32,
}

impl<K: Eq + Hash> Tries<K> {
    /// Allows `max` attempts within `window`.
    #[must_use]
    pub fn new(max: u32, window: Duration) -> Self {
        Self {
            max,
            window,
            windows: Mutex::default(),
        }
    }

    /// Checks that each of the keys has another attempt. The attempt is not counted.
    ///
    /// # Errors
    /// The time to wait, after too many attempts.
    pub fn check(&self, who: impl IntoIterator<Item = TryKey<K>>, now: Timestamp) -> Result<(), Duration> {
        let windows = self.windows();
        let waits = who.into_iter().filter_map(|one| {
            let window = windows.get(&one.key)?;
            let is_used_up = window.tries >= self.max.saturating_mul(one.times.get());
            is_used_up.then(|| self.left(window, now)).flatten()
        });
        waits.max().map_or(Ok(()), Err)
    }

    /// Counts an attempt.
    pub fn note(&self, who: impl IntoIterator<Item = TryKey<K>>, now: Timestamp) {
        let mut windows = self.windows();
        if windows.len() >= COUNTED_MAX {
            windows.retain(|_, window| self.left(window, now).is_some());
        }
        for TryKey { key, .. } in who {
            let is_full = windows.len() >= COUNTED_MAX;
            match windows.get_mut(&key) {
                Some(window) if self.left(window, now).is_some() => window.tries = window.tries.saturating_add(1),
                None if is_full => {}
                _ => {
                    let begins_at = now;
                    windows.insert(key, Window { begins_at, tries: 1 });
                }
            }
        }
    }

    /// Uncounts an attempt that turned out not to be one.
    pub fn give_back(&self, who: impl IntoIterator<Item = TryKey<K>>) {
        let mut windows = self.windows();
        for one in who {
            if let Some(window) = windows.get_mut(&one.key) {
                window.tries = window.tries.saturating_sub(1);
            }
        }
    }

    /// Returns the rest of a window. Returns `None` if the window is over, or begins in the future because the clock
    /// was set back.
    fn left(&self, window: &Window, now: Timestamp) -> Option<Duration> {
        let passed = u64::try_from(now.micros() - window.begins_at.micros()).ok()?;
        let left = self.window.checked_sub(Duration::from_micros(passed))?;
        (!left.is_zero()).then_some(left)
    }

    fn windows(&self) -> MutexGuard<'_, HashMap<K, Window>> {
        self.windows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_tries_so_often_within_a_window_and_those_around_it_more_often() {
        let begin: Timestamp = "2026-11-23T04:00:00Z".parse().unwrap();
        for (networks, times) in [
            ("192.0.2.1", 1),
            ("2001:db8:0:{}::1", 4),
            ("2001:db8:0:{}00::1", 16),
            ("192.0.2.{}", 16),
        ] {
            let tries = Tries::new(2, Duration::from_secs(60));
            let network = |number: u32| {
                let address = networks.replace("{}", &number.to_string());
                TryKey::of_network(Some(ClientNetwork::of(address.parse().unwrap())))
            };
            for number in 0..times {
                for _ in 0..2 {
                    assert_eq!(tries.check(network(number), begin), Ok(()), "{networks}");
                    tries.note(network(number), begin);
                }
            }
            let later = begin.plus_millis(20_000);
            assert_eq!(
                tries.check(network(times), later),
                Err(Duration::from_secs(40)),
                "{networks}"
            );
            let elsewhere = ClientNetwork::of([198, 51, 100, 1].into());
            assert_eq!(tries.check(TryKey::of_network(Some(elsewhere)), later), Ok(()));
            assert_eq!(
                tries.check(network(times), begin.plus_millis(60_000)),
                Ok(()),
                "{networks}"
            );
            assert_eq!(tries.check(network(times), begin.plus_millis(-1)), Ok(()), "{networks}");
        }
    }
}
