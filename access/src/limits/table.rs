//! Tallies by whose they are, in bounded memory.

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
/// Shards of small tables hold so many at least, so that chance fills none long before the others.
const SHARD_MIN: usize = 256;
/// A full shard is looked through for idle tallies this often at most, unless one is known to be idle before.
const LOOK_EVERY_NS: i64 = 1_000_000_000;
/// Tallies after which an unbounded shard is looked through for the first time.
const FIRST_LOOK: usize = 1_024;

/// One tally for each of many. What is idle is dropped when room is needed.
pub(super) struct Table<K, S> {
    shards: Box<[Mutex<Shard<K, S>>]>,
    hasher: S,
    /// Most tallies of a shard; `None`: as many as there are callers.
    shard_max: Option<usize>,
    /// Most that anybody can owe.
    longest: Duration,
    len: AtomicUsize,
}

struct Shard<K, S> {
    tallies: HashMap<K, Tally, S>,
    /// The number of entries at which it is looked through.
    look_at: usize,
    /// When it was looked through, and when that is worth while again.
    looked_ns: i64,
    look_again_ns: i64,
}

impl<K, S> Table<K, S>
where
    K: Eq + Hash,
    S: BuildHasher + Default + Clone,
{
    /// A table of at most `max` tallies.
    pub(super) fn bounded(max: usize, longest: Duration) -> Self {
        let shards = (max / SHARD_MIN).clamp(1, SHARDS);
        let shard_max = max / shards;
        Self::of(shards, Some(shard_max), shard_max, longest)
    }

    /// A table of those who are few by themselves.
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

    /// Lets `judge` change the tally of `key`, which is made where there is none; `None` where there is no room for it.
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

    /// The tally of `key`.
    pub(super) fn get<Q>(&self, key: &Q) -> Option<Tally>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        self.shard(key).tallies.get(key).copied()
    }

    /// The number of tallies that are kept.
    pub(super) fn len(&self) -> usize {
        self.len.load(Ordering::Relaxed)
    }

    fn shard<Q: Hash + ?Sized>(&self, key: &Q) -> MutexGuard<'_, Shard<K, S>> {
        let hash = self.hasher.hash_one(key);
        // The upper half: maps use the lower bits, and the highest seven, to find places of their own.
        let place = (hash >> 32) as usize % self.shards.len();
        self.shards[place].lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn drop_idle(&self, shard: &mut Shard<K, S>, moment: Moment) {
        // Also after the clock was set back.
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
        // The owners of the tallies stay out of logs.
        write!(f, "Table({})", self.len.load(Ordering::Relaxed))
    }
}
