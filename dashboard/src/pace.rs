use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use data_model::Timestamp;

const WINDOW_MICROS: i64 = 60_000_000;

/// How often each of many does something, counted in this process. Only those that did within the last minute are
/// remembered.
#[derive(Debug)]
pub(crate) struct Pace<K> {
    per_minute_max: u32,
    windows: Mutex<HashMap<K, Window>>,
}

#[derive(Debug, Clone, Copy)]
struct Window {
    begins_at: Timestamp,
    changes: u32,
}

impl<K: Eq + Hash + Clone> Pace<K> {
    pub(crate) fn new(per_minute_max: u32) -> Self {
        Self {
            per_minute_max,
            windows: Mutex::default(),
        }
    }

    /// Takes one more of `who` into account.
    ///
    /// # Errors
    /// How long to wait, where it is one too many.
    pub(crate) fn take(&self, who: &K, now: Timestamp) -> Result<(), Duration> {
        let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        let is_over = |window: &Window| !(0..WINDOW_MICROS).contains(&(now.micros() - window.begins_at.micros()));
        windows.retain(|_, window| !is_over(window));
        let window = windows.entry(who.clone()).or_insert(Window {
            begins_at: now,
            changes: 0,
        });
        window.changes = window.changes.saturating_add(1);
        if window.changes <= self.per_minute_max {
            return Ok(());
        }
        let left = window.begins_at.micros() + WINDOW_MICROS - now.micros();
        Err(Duration::from_micros(left.unsigned_abs()))
    }
}

#[cfg(test)]
mod tests {
    use state::AccountId;

    use super::*;

    #[test]
    fn so_many_changes_a_minute_each_account_on_its_own() {
        let pace = Pace::new(30);
        let (one, other): (AccountId, AccountId) = ("one".parse().unwrap(), "other".parse().unwrap());
        let begin: Timestamp = "2026-11-23T04:00:00Z".parse().unwrap();
        for _ in 0..30 {
            pace.take(&one, begin).unwrap();
        }
        let wait = pace.take(&one, begin.plus_millis(20_000)).unwrap_err();
        assert_eq!(wait, Duration::from_secs(40));
        pace.take(&other, begin).unwrap();
        pace.take(&one, begin.plus_millis(60_000)).unwrap();
        assert_eq!(pace.windows.lock().unwrap().len(), 1);
    }
}
