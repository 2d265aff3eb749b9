use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use data_model::{StoredBrand, StoredProduct};
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::{Answer, Outcome};
use crate::config::{GatewayConfig, Way};
use crate::rules::reason::Unverified;

/// The knowledge of a desk, and those whom it owes an answer.
#[derive(Debug)]
pub(crate) struct Desk {
    pub(super) base_url: String,
    pub(super) country: Option<String>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Answers that may be given to others too, by the platform's product id.
    recent: HashMap<u64, (Instant, Answer)>,
    /// The products of the next turn, oldest first.
    waiting: Vec<PendingProduct>,
    /// The products that the store is being asked for at this moment.
    asked: Vec<PendingProduct>,
    /// Somebody works at the desk.
    works: bool,
    /// The moment until which the store is asked by `.js` alone, since it refuses GraphQL.
    graphql_refused_until: Option<Instant>,
    /// The moment until which the store is believed to be the one that was crawled, since it said so.
    known_until: Option<Instant>,
    /// The last turn was for one product by `.js`, so that the next is everybody else's.
    was_js: bool,
    /// Variants of one query: fewer than [`VARIANTS_MAX`] once the store found that too many.
    variants_max: Option<usize>,
}

/// A product that somebody waits for.
#[derive(Debug)]
pub(super) struct PendingProduct {
    pub(super) brand: Arc<StoredBrand>,
    pub(super) stored: Arc<StoredProduct>,
    /// GraphQL lacks variants of it, so that `.js` must say whether they are gone.
    pub(super) is_missing: bool,
    tellers: Vec<oneshot::Sender<Outcome>>,
}

impl PendingProduct {
    fn is_for(&self, stored: &StoredProduct) -> bool {
        self.stored.platform_id == stored.platform_id
    }

    /// True while anybody waits.
    fn is_wanted(&self) -> bool {
        self.tellers.iter().any(|teller| !teller.is_closed())
    }
}

/// The immediate answer to a request.
#[derive(Debug)]
pub(super) enum Admission {
    Recent(Answer),
    Waits(oneshot::Receiver<Outcome>),
    /// Too many wait already.
    Full,
}

/// The question to the store at its next turn. The products themselves are those that [`Desk::choose`] gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// All of them with one query.
    Graphql,
    /// One, by its `.js` view.
    Js,
}

/// Most ids of one query (platform: Storefront API, input arrays).
pub(super) const VARIANTS_MAX: usize = 250;
/// The time for which a store is taken for the one that it said it is.
const KNOWN_FOR: Duration = Duration::from_secs(300);
/// A query of fewer variants than these is not made smaller.
const VARIANTS_MIN: usize = 10;

/// The time for which an answer may be given to others. A product that is gone costs turns of its own to find out, and
/// seldom comes back.
fn kept_for(answer: &Answer, reuse: Duration) -> Duration {
    if answer.told.is_gone() { reuse * 10 } else { reuse }
}

impl Desk {
    pub(super) fn new(base_url: &str, country: Option<String>) -> Self {
        Self {
            base_url: base_url.to_owned(),
            country,
            state: Mutex::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A recent answer, or a place among those who wait; and whether somebody must begin to work.
    pub(super) fn take(
        &self,
        brand: &Arc<StoredBrand>,
        stored: &Arc<StoredProduct>,
        config: &GatewayConfig,
    ) -> (Admission, bool) {
        let reuse = Duration::from_millis(config.reuse_ms);
        let mut state = self.state();
        if let Some((since, answer)) = state.recent.get(&stored.platform_id)
            && since.elapsed() < kept_for(answer, reuse)
            && answer.covers(stored)
        {
            return (Admission::Recent(answer.clone()), false);
        }
        let (teller, told) = oneshot::channel();
        // A product that is being asked about already is not asked about twice.
        let State { waiting, asked, .. } = &mut *state;
        if let Some(wanted) = asked
            .iter_mut()
            .chain(waiting.iter_mut())
            .find(|wanted| wanted.is_for(stored))
        {
            wanted.tellers.push(teller);
            return (Admission::Waits(told), false);
        }
        if waiting.len() >= config.waiting_per_store_max {
            waiting.retain(PendingProduct::is_wanted);
            if waiting.len() >= config.waiting_per_store_max {
                return (Admission::Full, false);
            }
        }
        waiting.push(PendingProduct {
            brand: Arc::clone(brand),
            stored: Arc::clone(stored),
            is_missing: false,
            tellers: vec![teller],
        });
        let rests = !state.works;
        state.works = true;
        (Admission::Waits(told), rests)
    }

    /// True where it must be kept: somebody works or waits, or it has something to give.
    pub(super) fn is_needed(&self, reuse: Duration) -> bool {
        let state = self.state();
        state.works
            || state
                .recent
                .values()
                .any(|(since, answer)| since.elapsed() < kept_for(answer, reuse))
    }

    /// True while anybody waits; otherwise the desk rests, and the next one who comes sets it to work.
    pub(super) fn has_work(&self) -> bool {
        let mut state = self.state();
        state.waiting.retain(PendingProduct::is_wanted);
        state.works = !state.waiting.is_empty();
        state.works
    }

    /// The interface that is asked at the next turn; `None` when nobody waits.
    pub(super) fn next_turn(&self, way: Way) -> Option<Turn> {
        let state = self.state();
        let refused = state.graphql_refused_until.is_some_and(|until| until > Instant::now());
        let by_js = match way {
            Way::Js => true,
            Way::Graphql => false,
            Way::Auto => refused,
        };
        let is_missing = |missing: bool| state.waiting.iter().any(|wanted| wanted.is_missing == missing);
        match (is_missing(false), is_missing(true)) {
            (false, false) => None,
            _ if by_js => Some(Turn::Js),
            // A product that may be gone takes a turn of its own: every other one, so that nobody waits for all of them.
            (true, true) if !state.was_js => Some(Turn::Js),
            (true, _) => Some(Turn::Graphql),
            (false, true) => Some(Turn::Js),
        }
    }

    /// Chooses what the store is asked for now: as much as one query takes, or one product by `.js`. What comes later
    /// waits for the next turn. Empty when nobody waits any more.
    pub(super) fn choose(&self, turn: Turn) -> Vec<Arc<StoredProduct>> {
        let mut state = self.state();
        state.waiting.retain(PendingProduct::is_wanted);
        state.was_js = turn == Turn::Js;
        let refused = state.graphql_refused_until.is_some_and(|until| until > Instant::now());
        // One that may be gone goes first, for what else waits can be asked for together.
        let only_missing = !refused && state.waiting.iter().any(|wanted| wanted.is_missing);
        let variants_max = state.variants_max.unwrap_or(VARIANTS_MAX);
        let (mut variants, mut kept) = (0, Vec::new());
        for wanted in std::mem::take(&mut state.waiting) {
            let has = wanted.stored.variants.len();
            let fits = match turn {
                Turn::Js => state.asked.is_empty() && (wanted.is_missing || !only_missing),
                // One that has more than a query takes is asked for by itself, in several.
                Turn::Graphql => !wanted.is_missing && (variants == 0 || variants + has <= variants_max),
            };
            if fits {
                variants += has;
                state.asked.push(wanted);
            } else {
                kept.push(wanted);
            }
        }
        state.waiting = kept;
        let asked = state.asked.iter();
        asked.map(|wanted| Arc::clone(&wanted.stored)).collect()
    }

    /// Most variants of one query.
    pub(super) fn variants_max(&self) -> usize {
        self.state().variants_max.unwrap_or(VARIANTS_MAX)
    }

    /// The store found the query too complex: the next ones have half as many variants. `false` when they are as small
    /// as they get.
    pub(super) fn shrink(&self, variants: usize) -> bool {
        let mut state = self.state();
        let now = state.variants_max.unwrap_or(VARIANTS_MAX).min(variants.max(1));
        if now <= VARIANTS_MIN {
            return false;
        }
        state.variants_max = Some((now / 2).max(VARIANTS_MIN));
        true
    }

    /// From now on, for this long, asks by `.js` alone.
    pub(super) fn refuse_graphql(&self, wait: Duration) {
        self.state().graphql_refused_until = Some(Instant::now() + wait);
    }

    /// The products that are being asked for wait again, for another turn.
    pub(super) fn put_back(&self) {
        let mut state = self.state();
        let mut asked = std::mem::take(&mut state.asked);
        asked.append(&mut state.waiting);
        state.waiting = asked;
    }

    /// A product of which GraphQL lacks variants waits again, to be asked for by `.js`.
    pub(super) fn put_back_missing(&self, platform_id: u64) {
        let mut state = self.state();
        if let Some(at) = state
            .asked
            .iter()
            .position(|wanted| wanted.stored.platform_id == platform_id)
        {
            let mut wanted = state.asked.swap_remove(at);
            wanted.is_missing = true;
            state.waiting.push(wanted);
        }
    }

    /// True where GraphQL lacked variants of the product that is being asked for by `.js`.
    pub(super) fn was_missing(&self, platform_id: u64) -> bool {
        let state = self.state();
        state
            .asked
            .iter()
            .any(|wanted| wanted.stored.platform_id == platform_id && wanted.is_missing)
    }

    /// True where the store has said lately that it is the one that was crawled.
    pub(super) fn is_known(&self) -> bool {
        self.state().known_until.is_some_and(|until| until > Instant::now())
    }

    /// The store said that it is.
    pub(super) fn know(&self) {
        self.state().known_until = Some(Instant::now() + KNOWN_FOR);
    }

    /// The brand that sells a product that is being asked for.
    pub(super) fn brand_of(&self, platform_id: u64) -> Option<Arc<StoredBrand>> {
        let state = self.state();
        let mut asked = state.asked.iter();
        let wanted = asked.find(|wanted| wanted.stored.platform_id == platform_id)?;
        Some(Arc::clone(&wanted.brand))
    }

    /// Tells everybody who waits for a product, and keeps an answer for those who come a moment later.
    pub(super) fn tell(&self, platform_id: u64, outcome: &Outcome, config: &GatewayConfig) -> Option<Arc<StoredBrand>> {
        let mut state = self.state();
        let at = state
            .asked
            .iter()
            .position(|wanted| wanted.stored.platform_id == platform_id)?;
        let wanted = state.asked.swap_remove(at);
        if let Ok(answer) = outcome {
            let reuse = Duration::from_millis(config.reuse_ms);
            state
                .recent
                .retain(|_, (since, answer)| since.elapsed() < kept_for(answer, reuse));
            state.recent.insert(platform_id, (Instant::now(), answer.clone()));
        }
        drop(state);
        for teller in wanted.tellers {
            // Whoever does not wait any more is not told.
            let _ = teller.send(outcome.clone());
        }
        Some(wanted.brand)
    }

    /// Tells everybody who is being asked for or waits that it failed: what stops one turn stops the next.
    pub(super) fn fail_all(&self, why: &Unverified) {
        let mut state = self.state();
        let State { asked, waiting, .. } = &mut *state;
        let all: Vec<PendingProduct> = asked.drain(..).chain(waiting.drain(..)).collect();
        drop(state);
        for teller in all.into_iter().flat_map(|wanted| wanted.tellers) {
            let _ = teller.send(Err(why.clone()));
        }
    }

    /// Ends the work here, whatever its outcome.
    pub(super) fn rest(&self) {
        let mut state = self.state();
        state.asked.clear();
        state.waiting.clear();
        state.works = false;
    }
}
