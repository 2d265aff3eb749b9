//! Counters by owner, in bounded memory.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasher, Hash};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::bucket::Tally;
use super::moment::Moment;

const SHARDS: usize = 64;
/// Minimum capacity of a shard. In a smaller shard, uneven hashing could fill one shard long before the others.
const SHARD_MIN: usize = 256;
/// Minimum time in nanoseconds between two searches of a full shard for idle counters. A search is earlier if a counter
/// is known to become idle earlier.
const LOOK_EVERY_NS: i64 = 1_000_000_000;
/// Number of counters at which an unbounded shard is searched for the first time.
const FIRST_LOOK: usize = 1_024;

/// Table of counters. Idle ones are dropped when space is needed.
pub(super) struct Table<K, S> {
    shards: Box<[Mutex<Shard<K, S>>]>,
    hasher: S,
    /// Maximum number of counters in a shard; `None` for no limit.
    shard_max: Option<usize>,
    /// Maximum debt of a counter.
    longest: Duration,
    len: AtomicUsize,
}

struct Shard<K, S> {
    tallies: HashMap<K, Tally, S>,
    /// Number of entries at which the shard is searched for idle counters.
    look_at: usize,
    /// Time of the last search. The next field is the time from which another search is useful.
    looked_ns: i64,
    look_again_ns: i64,
}

impl<K, S> Table<K, S>
where
    K: Eq + Hash,
    S: BuildHasher + Default + Clone,
{
    /// Creates a table of at most `max` counters.
    pub(super) fn bounded(max: usize, longest: Duration) -> Self {
        let shards = (max / SHARD_MIN).clamp(1, SHARDS);
        let shard_max = max / shards;
        Self::of(shards, Some(shard_max), shard_max, longest)
    }

    /// Creates a table without a limit, for owners whose number is limited by nature.
    pub(super) fn unbounded(longest: Duration) -> Self {
        Self::of(SHARDS, None, FIRST_LOOK, longest)
    }

    fn of(shards: usize, shard_max: Option<usize>, look_at: usize, longest: Duration) -> Self {
        let hasher = S::default();
        let shard = || {
            Mutex::new(Shard {
                tallies: HashMap::with_hasher(hasher.clone()),
                look_at,
                looked_ns: 0,
                look_again_ns: 0,
            })
        };
        Self {
            shards: (0..shards).map(|_| shard()).collect(),
            hasher: hasher.clone(),
            shard_max,
            longest,
            len: AtomicUsize::new(0),
        }
    }

    /// Calls `judge` with the counter of `key`, which is created if missing. Returns `None` if the table is full.
    pub(super) fn with<Q, R>(
        &self,
        key: &Q,
        own: impl FnOnce() -> K,
        moment: Moment,
        judge: impl FnOnce(&mut Tally) -> R,
    ) -> Option<R>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let mut shard = self.shard(key);
        if let Some(tally) = shard.tallies.get_mut(key) {
            return Some(judge(tally));
        }
        if shard.tallies.len() >= shard.look_at {
            self.drop_idle(&mut shard, moment);
        }
        if self.shard_max.is_some_and(|max| shard.tallies.len() >= max) {
            return None;
        }
        let mut tally = Tally::default();
        let judged = judge(&mut tally);
        shard.tallies.insert(own(), tally);
        self.len.fetch_add(1, Ordering::Relaxed);
        Some(judged)
    }

    pub(super) fn get<Q>(&self, key: &Q) -> Option<Tally>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        self.shard(key).tallies.get(key).copied()
    }

    pub(super) fn len(&self) -> usize {
        self.len.load(Ordering::Relaxed)
    }

    fn shard<Q: Hash + ?Sized>(&self, key: &Q) -> MutexGuard<'_, Shard<K, S>> {
        let hash = self.hasher.hash_one(key);
        // The upper half of the hash selects the shard, because maps use the lower bits and the highest seven.
        let place = (hash >> 32) as usize % self.shards.len();
        self.shards[place].lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn drop_idle(&self, shard: &mut Shard<K, S>, moment: Moment) {
        // The range has a start, so that a search is possible after the clock was set back.
        if (shard.looked_ns..shard.look_again_ns).contains(&moment.now_ns) {
            return;
        }
        let before = shard.tallies.len();
        let mut first_paid_ns = i64::MAX;
        shard.tallies.retain(|_, tally| {
            let kept = !tally.is_idle(moment, self.longest);
            if kept && tally.paid_at_ns > moment.now_ns {
                first_paid_ns = first_paid_ns.min(tally.paid_at_ns);
            }
            kept
        });
        self.len.fetch_sub(before - shard.tallies.len(), Ordering::Relaxed);
        shard.looked_ns = moment.now_ns;
        shard.look_again_ns = first_paid_ns.min(moment.now_ns.saturating_add(LOOK_EVERY_NS));
        if self.shard_max.is_none() {
            shard.look_at = FIRST_LOOK.max(2 * shard.tallies.len());
            shard.look_again_ns = 0;
        }
    }
}

impl<K, S> fmt::Debug for Table<K, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Logs must not contain the owners of the counters.
        write!(f, "Table({})", self.len.load(Ordering::Relaxed))
    }
}
