//! Outcomes of codes at one store, cached in this process. All servers share the stored outcomes.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use data_model::{Clock, CouponVerdict, StoreHost, Timestamp, VariantId};
use state::{CouponBounds, CouponOutcome, State, StateError};
use tokio::time::{Instant, timeout_at};

use super::config::CouponsConfig;
use super::reason::UntestedReason;

/// Maximum number of outcomes per store, in this process and in the state.
const OUTCOMES_MAX: u32 = 2_000;
/// Maximum number of codes that applied before.
const WORKED_MAX: u32 = 20;
/// Time after which outcomes are read from the state again, to find those of other servers.
const READ_AGAIN: Duration = Duration::from_secs(60);
/// Maximum time for a read or write of the state. Codes are tested even if the state is not available.
const STATE_PATIENCE: Duration = Duration::from_millis(1_500);
/// Time for which an item is skipped after the store did not sell it.
const SOLD_OUT_FOR: Duration = Duration::from_secs(1_800);
/// Maximum number of stores in memory. Above it, stores without active requests are removed.
const STORES_MAX: usize = 1_024;

#[derive(Debug, Default)]
pub(crate) struct Slots(Mutex<HashMap<StoreHost, Arc<Slot>>>);

impl Slots {
    pub(crate) fn of(&self, store: &StoreHost) -> Arc<Slot> {
        let mut slots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(slot) = slots.get(store) {
            return Arc::clone(slot);
        }
        if slots.len() >= STORES_MAX {
            slots.retain(|_, slot| Arc::strong_count(slot) > 1);
        }
        let slot = Arc::new(Slot {
            store: store.clone(),
            turn: Arc::default(),
            known: Mutex::default(),
        });
        slots.insert(store.clone(), Arc::clone(&slot));
        slot
    }
}

#[derive(Debug)]
pub(crate) struct Slot {
    pub(crate) store: StoreHost,
    /// Lock that allows only one test at the store at a time.
    pub(crate) turn: Arc<tokio::sync::Mutex<()>>,
    known: Mutex<CodeMemory>,
}

#[derive(Debug, Default)]
struct CodeMemory {
    outcomes: HashMap<(Option<VariantId>, String), CouponOutcome>,
    /// Time of the last read from the state, by item.
    read: HashMap<VariantId, Instant>,
    sold_out: HashMap<VariantId, Instant>,
    last: Option<TestEnd>,
    /// Codes that were suggested for callers' carts.
    suggested: HashSet<String>,
}

/// State, clock and settings for stored outcomes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MemoryContext<'a> {
    pub(crate) state: &'a State,
    pub(crate) clock: &'a dyn Clock,
    pub(crate) config: &'a CouponsConfig,
}

#[derive(Debug, Clone)]
pub(crate) struct TestEnd {
    pub(crate) at: Instant,
    pub(crate) item: VariantId,
    /// Codes that the job had to test.
    pub(crate) codes: HashSet<String>,
    /// Reason why the job ended early.
    pub(crate) stop: Option<UntestedReason>,
}

impl Slot {
    fn known(&self) -> MutexGuard<'_, CodeMemory> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the last outcome of a code on an item, if it is recent enough.
    pub(crate) fn fresh(
        &self,
        item: VariantId,
        code: &str,
        now: Timestamp,
        config: &CouponsConfig,
    ) -> Option<CouponOutcome> {
        let known = self.known();
        let of = |variant| known.outcomes.get(&(variant, code.to_owned()));
        let last = [of(Some(item)), of(None)].into_iter().flatten();
        let last = last.max_by_key(|outcome| outcome.tested_at)?;
        is_fresh(last, now, config).then(|| last.clone())
    }

    pub(crate) fn note(&self, outcomes: impl IntoIterator<Item = CouponOutcome>) {
        let mut known = self.known();
        for outcome in outcomes {
            let key = (outcome.variant, outcome.code.clone());
            let before = known.outcomes.get(&key);
            if before.is_none_or(|before| before.tested_at <= outcome.tested_at) {
                known.outcomes.insert(key, outcome);
            }
        }
        if known.outcomes.len() > OUTCOMES_MAX as usize {
            // The outcomes can be read from the state again.
            known.outcomes.clear();
            known.read.clear();
        }
    }

    /// Reads the outcomes that all servers found for codes on an item, unless they were read recently.
    pub(crate) async fn read(&self, item: VariantId, memory: MemoryContext<'_>, deadline: Instant) {
        let begun = Instant::now();
        let is_recent = |at: &Instant| begun.duration_since(*at) < READ_AGAIN;
        if self.known().read.get(&item).is_some_and(is_recent) {
            return;
        }
        let since = before(memory.clock.now(), memory.config.kept_for_s());
        let reading = memory.state.coupons(&self.store, item, since);
        if let Some(outcomes) = in_time(reading, deadline).await {
            self.note(outcomes);
            let mut known = self.known();
            known.read.retain(|_, at| is_recent(at));
            known.read.insert(item, begun);
        }
    }

    /// Returns codes that worked on any cart of the store. The list is empty if the state does not respond in time.
    pub(crate) async fn worked(&self, memory: MemoryContext<'_>, deadline: Instant) -> Vec<String> {
        let since = before(memory.clock.now(), memory.config.worked_for_s);
        let reading = memory.state.coupons_that_worked(&self.store, since, WORKED_MAX);
        in_time(reading, deadline).await.unwrap_or_default()
    }

    /// Writes outcomes to the state, which all servers share.
    pub(crate) async fn write(&self, outcomes: &[CouponOutcome], memory: MemoryContext<'_>) {
        let bounds = CouponBounds {
            oldest: before(memory.clock.now(), memory.config.kept_for_s()),
            per_store_max: OUTCOMES_MAX,
        };
        let writing = memory.state.note_coupons(&self.store, outcomes, bounds);
        in_time(Box::pin(writing), Instant::now() + STATE_PATIENCE).await;
    }

    pub(crate) fn sell_out(&self, item: VariantId) {
        let mut known = self.known();
        known.sold_out.retain(|_, at| at.elapsed() < SOLD_OUT_FOR);
        known.sold_out.insert(item, Instant::now());
    }

    pub(crate) fn is_sold_out(&self, item: VariantId) -> bool {
        let known = self.known();
        known.sold_out.get(&item).is_some_and(|at| at.elapsed() < SOLD_OUT_FOR)
    }

    pub(crate) fn end(&self, ended: TestEnd) {
        self.known().last = Some(ended);
    }

    pub(crate) fn last(&self) -> Option<TestEnd> {
        self.known().last.clone()
    }

    pub(crate) fn suggest(&self, codes: &[String]) {
        self.known().suggested = codes.iter().cloned().collect();
    }

    pub(crate) fn was_suggested(&self, code: &str) -> bool {
        self.known().suggested.contains(code)
    }
}

/// True if an outcome is recent enough to be reused. An outcome from more than a minute in the future counts as old.
fn is_fresh(outcome: &CouponOutcome, now: Timestamp, config: &CouponsConfig) -> bool {
    let age_s = now.millis_since(outcome.tested_at) / 1_000;
    let kept_s = match outcome.verdict {
        CouponVerdict::Applicable(_) => config.applicable_for_s,
        CouponVerdict::NotApplicable => config.not_applicable_for_s,
        CouponVerdict::UnknownCode => config.unknown_code_for_s,
    };
    age_s >= -60 && u64::try_from(age_s.max(0)).is_ok_and(|age_s| age_s < kept_s)
}

fn before(now: Timestamp, seconds: u64) -> Timestamp {
    let millis = i64::try_from(seconds.saturating_mul(1_000)).unwrap_or(i64::MAX / 2_000);
    now.plus_millis(millis.saturating_neg())
}

/// Returns the result of a state operation. A timeout or error is logged and counted, and gives `None`.
async fn in_time<T>(work: impl Future<Output = Result<T, StateError>>, deadline: Instant) -> Option<T> {
    let deadline = deadline.min(Instant::now() + STATE_PATIENCE);
    match timeout_at(deadline, work).await {
        Ok(Ok(done)) => return Some(done),
        Ok(Err(error)) => {
            let error: &dyn std::error::Error = &error;
            tracing::warn!(error, "stored discount codes cannot be read or written");
        }
        Err(_) => tracing::warn!("the state did not answer in time about discount codes"),
    }
    metrics::counter!("coupon_state_failures_total").increment(1);
    None
}
