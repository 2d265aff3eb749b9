use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use data_model::{StoredBrand, StoredProduct};
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::{Answer, Outcome};
use crate::config::{GatewayConfig, Way};
use crate::rules::reason::Unverified;

/// Coalescer of one store, with the requests that wait for a response.
#[derive(Debug)]
pub(crate) struct StoreCoalescer {
    pub(super) base_url: String,
    pub(super) country: Option<String>,
    state: Mutex<State>,
}

/// Pause of GraphQL after the first of several consecutive refusals.
const GRAPHQL_PAUSE_FIRST: Duration = Duration::from_secs(15);

#[derive(Debug, Default)]
struct State {
    /// Responses that later requests may reuse, by the platform's product id.
    recent: HashMap<u64, (Instant, Answer)>,
    /// Products for the next query, the oldest request first.
    waiting: Vec<PendingProduct>,
    /// Products of the current query.
    asked: Vec<PendingProduct>,
    /// True while a task processes the queue.
    works: bool,
    /// Time until which only `.js` is used because the store refuses GraphQL.
    graphql_refused_until: Option<Instant>,
    /// Number of consecutive GraphQL queries that the store refused.
    graphql_refusals: u32,
    /// Time until which the store's identity counts as confirmed.
    known_until: Option<Instant>,
    /// True if the last query was for one product by `.js`. The next query is then for all other products.
    was_js: bool,
    /// Maximum number of variants per query, once the store rejected a query of [`VARIANTS_MAX`] as too complex.
    variants_max: Option<usize>,
}

/// Product with waiting requests.
#[derive(Debug)]
pub(super) struct PendingProduct {
    pub(super) brand: Arc<StoredBrand>,
    pub(super) stored: Arc<StoredProduct>,
    /// True if GraphQL did not return all variants. A query by `.js` must then show if they are gone.
    pub(super) is_missing: bool,
    tellers: Vec<oneshot::Sender<Outcome>>,
}

impl PendingProduct {
    fn is_for(&self, stored: &StoredProduct) -> bool {
        self.stored.platform_id == stored.platform_id
    }

    fn is_wanted(&self) -> bool {
        self.tellers.iter().any(|teller| !teller.is_closed())
    }
}

#[derive(Debug)]
pub(super) enum Admission {
    Recent(Answer),
    Waits(oneshot::Receiver<Outcome>),
    Full,
}

/// Kind of the next query. [`StoreCoalescer::choose`] selects its products.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// All waiting products in one GraphQL query.
    Graphql,
    /// One product by its `.js` view.
    Js,
}

/// Maximum number of ids in one query (platform: Storefront API, input arrays).
pub(super) const VARIANTS_MAX: usize = 250;
/// Time for which a store's confirmed identity is trusted.
const KNOWN_FOR: Duration = Duration::from_secs(300);
/// Minimum for the maximum number of variants per query.
const VARIANTS_MIN: usize = 10;

/// Returns the time for which a response may be reused. The response that a product is gone is reused longer, because
/// it takes a separate query and such products are seldom restored.
fn kept_for(answer: &Answer, reuse: Duration) -> Duration {
    if answer.told.is_gone() { reuse * 10 } else { reuse }
}

impl StoreCoalescer {
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

    /// Returns a recent response, or adds the request to the queue. Also returns true if a task must be started.
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
        // A product in the current query is not queried a second time.
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

    /// True if the coalescer is still needed: a task runs, a request waits, or a response can be reused.
    pub(super) fn is_needed(&self, reuse: Duration) -> bool {
        let state = self.state();
        state.works
            || state
                .recent
                .values()
                .any(|(since, answer)| since.elapsed() < kept_for(answer, reuse))
    }

    /// True while a request waits. Otherwise the coalescer becomes idle, and the next request starts its task again.
    pub(super) fn has_work(&self) -> bool {
        let mut state = self.state();
        state.waiting.retain(PendingProduct::is_wanted);
        state.works = !state.waiting.is_empty();
        state.works
    }

    /// Returns the kind of the next query; `None` if no product waits.
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
            // A product that may be gone needs a separate query. Separate and combined queries alternate, so that other
            // products do not wait for all separate queries.
            (true, true) if !state.was_js => Some(Turn::Js),
            (true, _) => Some(Turn::Graphql),
            (false, true) => Some(Turn::Js),
        }
    }

    /// Selects the products of the next query: one for `.js`, or as many as one GraphQL query allows. The list is empty
    /// if no product waits any more.
    pub(super) fn choose(&self, turn: Turn) -> Vec<Arc<StoredProduct>> {
        let mut state = self.state();
        state.waiting.retain(PendingProduct::is_wanted);
        state.was_js = turn == Turn::Js;
        let refused = state.graphql_refused_until.is_some_and(|until| until > Instant::now());
        // Products that may be gone come first, because the others can share one query later.
        let only_missing = !refused && state.waiting.iter().any(|wanted| wanted.is_missing);
        let variants_max = state.variants_max.unwrap_or(VARIANTS_MAX);
        let (mut variants, mut kept) = (0, Vec::new());
        for wanted in std::mem::take(&mut state.waiting) {
            let has = wanted.stored.variants.len();
            let fits = match turn {
                Turn::Js => state.asked.is_empty() && (wanted.is_missing || !only_missing),
                // A product with more variants than a query allows is queried alone, in several queries.
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

    pub(super) fn variants_max(&self) -> usize {
        self.state().variants_max.unwrap_or(VARIANTS_MAX)
    }

    /// Halves the size of later queries after the store rejected one as too complex. Returns `false` if the size is at
    /// its minimum.
    pub(super) fn shrink(&self, variants: usize) -> bool {
        let mut state = self.state();
        let now = state.variants_max.unwrap_or(VARIANTS_MAX).min(variants.max(1));
        if now <= VARIANTS_MIN {
            return false;
        }
        state.variants_max = Some((now / 2).max(VARIANTS_MIN));
        true
    }

    /// Uses only `.js` for the given time.
    pub(super) fn pause_graphql(&self, wait: Duration) {
        self.state().graphql_refused_until = Some(Instant::now() + wait);
    }

    /// Uses only `.js` after the store refused a GraphQL query. The first pause is short, because a single refusal may
    /// be an error of the store's edge. Each consecutive refusal doubles the pause, up to `wait_max`.
    pub(super) fn refuse_graphql(&self, wait_max: Duration) {
        let mut state = self.state();
        let wait = GRAPHQL_PAUSE_FIRST.saturating_mul(1 << state.graphql_refusals.min(16));
        state.graphql_refusals = state.graphql_refusals.saturating_add(1);
        state.graphql_refused_until = Some(Instant::now() + wait.min(wait_max));
    }

    pub(super) fn accept_graphql(&self) {
        self.state().graphql_refusals = 0;
    }

    /// Moves the products of the current query back into the queue.
    pub(super) fn put_back(&self) {
        let mut state = self.state();
        let mut asked = std::mem::take(&mut state.asked);
        asked.append(&mut state.waiting);
        state.waiting = asked;
    }

    /// Moves a product with missing variants back into the queue for a query by `.js`.
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

    /// True if GraphQL lacked variants of the product that is now queried by `.js`.
    pub(super) fn was_missing(&self, platform_id: u64) -> bool {
        let state = self.state();
        state
            .asked
            .iter()
            .any(|wanted| wanted.stored.platform_id == platform_id && wanted.is_missing)
    }

    /// True if the store's identity was confirmed recently.
    pub(super) fn is_known(&self) -> bool {
        self.state().known_until.is_some_and(|until| until > Instant::now())
    }

    /// Records that the store's identity was confirmed.
    pub(super) fn know(&self) {
        self.state().known_until = Some(Instant::now() + KNOWN_FOR);
    }

    /// Returns the brand of a product in the current query.
    pub(super) fn brand_of(&self, platform_id: u64) -> Option<Arc<StoredBrand>> {
        let state = self.state();
        let mut asked = state.asked.iter();
        let wanted = asked.find(|wanted| wanted.stored.platform_id == platform_id)?;
        Some(Arc::clone(&wanted.brand))
    }

    /// Sends the outcome to all requests that wait for a product, and caches a response for later requests.
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
            // The receiver may have stopped waiting.
            let _ = teller.send(outcome.clone());
        }
        Some(wanted.brand)
    }

    /// Fails all waiting requests, because the cause would affect the next query too.
    pub(super) fn fail_all(&self, why: &Unverified) {
        let mut state = self.state();
        let State { asked, waiting, .. } = &mut *state;
        let all: Vec<PendingProduct> = asked.drain(..).chain(waiting.drain(..)).collect();
        drop(state);
        for teller in all.into_iter().flat_map(|wanted| wanted.tellers) {
            let _ = teller.send(Err(why.clone()));
        }
    }

    /// Marks the coalescer as idle.
    pub(super) fn rest(&self) {
        let mut state = self.state();
        state.asked.clear();
        state.waiting.clear();
        state.works = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn graphql_pauses_longer_after_each_consecutive_refusal() {
        let coalescer = StoreCoalescer::new("https://shop.example", None);
        let refused = || {
            coalescer.refuse_graphql(Duration::from_secs(600));
            let until = coalescer.state().graphql_refused_until.unwrap();
            (until - Instant::now()).as_secs()
        };
        let pauses: Vec<_> = (0..8).map(|_| refused()).collect();
        assert_eq!(pauses, [15, 30, 60, 120, 240, 480, 600, 600]);
        coalescer.accept_graphql();
        assert_eq!(refused(), 15);
    }
}
