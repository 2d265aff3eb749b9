use std::collections::HashMap;
use std::fmt;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::FxBuildHasher;
use state::{Day, UsageEntry};

/// Number of shards, each with a lock of its own.
const PARTS: usize = 16;
/// Maximum number of counts, enough for a few thousand keys on every route, or for all keys in a busy hour while the
/// state is down.
const COUNTS_MAX: usize = 200_000;

/// Number of requests with one key to one route on one day.
#[derive(Debug)]
struct Count {
    day: Day,
    route: Arc<str>,
    requests: u64,
}

type Part = HashMap<Arc<str>, Vec<Count>, FxBuildHasher>;

/// Requests since the counts were last taken.
#[derive(Default)]
pub(super) struct Counts {
    parts: [Mutex<Part>; PARTS],
    hasher: FxBuildHasher,
    len: AtomicUsize,
}

impl Counts {
    /// Counts one request. Returns `false` if there is no space for another count.
    pub(super) fn add(&self, key: &Arc<str>, day: Day, route: &str) -> bool {
        let mut part = self.part(key);
        if let Some(counts) = part.get_mut(key) {
            let mut same = counts.iter_mut();
            if let Some(count) = same.find(|count| count.day == day && *count.route == *route) {
                count.requests += 1;
                return true;
            }
        }
        if self.len.fetch_add(1, Ordering::Relaxed) >= COUNTS_MAX {
            self.len.fetch_sub(1, Ordering::Relaxed);
            return false;
        }
        part.entry(Arc::clone(key)).or_default().push(Count {
            day,
            route: route.into(),
            requests: 1,
        });
        true
    }

    pub(super) fn is_any(&self) -> bool {
        self.len.load(Ordering::Relaxed) > 0
    }

    /// Returns all counts and resets them.
    pub(super) fn take(&self) -> Vec<UsageEntry> {
        let mut entries = Vec::new();
        for part in &self.parts {
            let taken = std::mem::take(&mut *held(part));
            for (key, counts) in taken {
                self.len.fetch_sub(counts.len(), Ordering::Relaxed);
                // Ids of identified keys are always valid.
                let Ok(key) = key.parse() else { continue };
                let entry = |count: Count| UsageEntry {
                    key: state::KeyId::clone(&key),
                    day: count.day,
                    route: count.route.as_ref().to_owned(),
                    requests: count.requests,
                };
                entries.extend(counts.into_iter().map(entry));
            }
        }
        entries
    }

    /// Calls `see` with the key, day, route and number of each count.
    pub(super) fn each(&self, mut see: impl FnMut(&str, Day, &str, u64)) {
        for part in &self.parts {
            for (key, counts) in &*held(part) {
                for count in counts {
                    see(key, count.day, &count.route, count.requests);
                }
            }
        }
    }

    fn part(&self, key: &str) -> MutexGuard<'_, Part> {
        let place = (self.hasher.hash_one(key) >> 32) as usize % PARTS;
        held(&self.parts[place])
    }
}

fn held(part: &Mutex<Part>) -> MutexGuard<'_, Part> {
    part.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Counts({})", self.len.load(Ordering::Relaxed))
    }
}
