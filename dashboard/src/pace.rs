use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use data_model::Timestamp;
use state::AccountId;

/// Changes that one account may make in [`WINDOW_MICROS`]: more than a person makes, and few enough that neither the audit
/// nor the list of keys grows by a program that changes them in a loop.
const CHANGES_MAX: u32 = 30;
const WINDOW_MICROS: i64 = 60_000_000;

/// How often accounts change something, counted in this process. Only those that changed something within the window are
/// remembered.
#[derive(Debug, Default)]
pub(crate) struct Pace(Mutex<HashMap<AccountId, Window>>);

#[derive(Debug, Clone, Copy)]
struct Window {
    begins_at: Timestamp,
    changes: u32,
}

impl Pace {
    /// Takes one change of an account into account.
    ///
    /// # Errors
    /// How long to wait, where it is one too many.
    pub(crate) fn take(&self, account: &AccountId, now: Timestamp) -> Result<(), Duration> {
        let mut windows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_over = |window: &Window| !(0..WINDOW_MICROS).contains(&(now.micros() - window.begins_at.micros()));
        windows.retain(|_, window| !is_over(window));
        let window = windows.entry(account.clone()).or_insert(Window {
            begins_at: now,
            changes: 0,
        });
        window.changes = window.changes.saturating_add(1);
        if window.changes <= CHANGES_MAX {
            return Ok(());
        }
        let left = window.begins_at.micros() + WINDOW_MICROS - now.micros();
        Err(Duration::from_micros(left.unsigned_abs()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_changes_a_minute_each_account_on_its_own() {
        let pace = Pace::default();
        let (one, other): (AccountId, AccountId) = ("one".parse().unwrap(), "other".parse().unwrap());
        let begin: Timestamp = "2026-11-23T04:00:00Z".parse().unwrap();
        for _ in 0..CHANGES_MAX {
            pace.take(&one, begin).unwrap();
        }
        let wait = pace.take(&one, begin.plus_millis(20_000)).unwrap_err();
        assert_eq!(wait, Duration::from_secs(40));
        pace.take(&other, begin).unwrap();
        pace.take(&one, begin.plus_millis(60_000)).unwrap();
        assert_eq!(pace.0.lock().unwrap().len(), 1);
    }
}
