//! Source of staged stores of one run for the committer.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use data_model::{BrandSlug, RunId};
use pipeline_refresh::{StagedStore, StagedStores};
use state::{StagedWork, State, StateError, WorkLease};

use crate::monotonic_clock::Clocks;

/// Maximum number of stores per request.
const AT_ONCE: u32 = 512;

/// Rules about the waiting time of staged stores. The number of commits must depend on the number of stores, not on the
/// speed of workers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience {
    /// Number of staged stores that is enough for a commit.
    pub(super) stores_max: usize,
    pub(super) wait_max: Duration,
    /// Interval between checks for staged stores.
    pub(super) poll: Duration,
}

#[derive(Debug)]
pub(super) struct Source {
    state: State,
    clocks: Clocks,
    run: RunId,
    committer: WorkLease,
    patience: Patience,
    /// Stores that the committer got but has not confirmed yet.
    given: Mutex<BTreeMap<BrandSlug, StagedWork>>,
    /// Monotonic time since which new stores wait here.
    waiting_since: Mutex<Option<Duration>>,
}

/// Result of a check for staged stores.
#[derive(Debug)]
enum Look {
    /// Stores for the committer.
    Given(Vec<StagedWork>),
    /// The staged stores wait for more.
    Wait,
    /// The queue is empty.
    Over,
}

impl Source {
    pub(super) fn new(state: State, clocks: Clocks, run: RunId, committer: WorkLease, patience: Patience) -> Self {
        Self {
            state,
            clocks,
            run,
            committer,
            patience,
            given: Mutex::default(),
            waiting_since: Mutex::default(),
        }
    }

    fn given(&self) -> MutexGuard<'_, BTreeMap<BrandSlug, StagedWork>> {
        self.given.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the new staged stores if they are enough for a commit or `is_last` is true. The returned stores are
    /// marked in the same step, so that a cancelled caller loses none.
    async fn look(&self, is_last: bool) -> Result<Look, StateError> {
        // The number of remaining stores is read first, so that the next request finds a store that is staged in
        // between.
        let left = self.state.work_left(&self.run).await?;
        // Stores that the committer got come first until they are confirmed, so the limit must include them.
        let room = u32::try_from(self.given().len())
            .unwrap_or(u32::MAX)
            .saturating_add(AT_ONCE);
        let staged = self.state.staged_work(&self.run, room).await?;
        let mut given = self.given();
        let fresh: Vec<_> = staged
            .into_iter()
            .filter(|one| given.get(&one.slug).is_none_or(|known| known.fence != one.fence))
            .collect();
        if fresh.is_empty() && left == 0 {
            return Ok(Look::Over);
        }
        if fresh.is_empty() || !(is_last || self.is_worth_a_commit(&fresh, left)) {
            return Ok(Look::Wait);
        }
        *self.waiting_since() = None;
        given.extend(fresh.iter().map(|one| (one.slug.clone(), one.clone())));
        Ok(Look::Given(fresh))
    }

    /// True if the staged stores should be committed: they are enough, or half of the remaining stores, or have waited
    /// long enough. The second rule makes commits few, lets the last one be without a wait, and keeps a slow store from
    /// delaying others.
    fn is_worth_a_commit(&self, fresh: &[StagedWork], left: u64) -> bool {
        let stores = u64::try_from(fresh.len()).unwrap_or(u64::MAX);
        let enough = u64::try_from(self.patience.stores_max).unwrap_or(u64::MAX);
        let enough = enough.min(u64::from(AT_ONCE)).min(left);
        stores >= enough || self.has_waited(fresh)
    }

    /// Checks the waiting time by the system clock, which earlier committers also used, and by the monotonic clock,
    /// because the system clock may be set back.
    fn has_waited(&self, fresh: &[StagedWork]) -> bool {
        let (now, elapsed) = (self.clocks.clock.now(), self.clocks.elapsed.elapsed());
        let since = *self.waiting_since().get_or_insert(elapsed);
        let wait_ms = i64::try_from(self.patience.wait_max.as_millis()).unwrap_or(i64::MAX);
        let oldest = fresh.iter().map(|one| one.staged_at).min();
        let is_old = oldest.is_some_and(|oldest| now.millis_since(oldest) >= wait_ms);
        is_old || elapsed.saturating_sub(since) >= self.patience.wait_max
    }

    fn waiting_since(&self) -> MutexGuard<'_, Option<Duration>> {
        self.waiting_since.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl StagedStores for Source {
    async fn next(&self) -> Option<Vec<StagedStore>> {
        loop {
            match self.look(false).await {
                Ok(Look::Over) => return None,
                Ok(Look::Given(fresh)) => return Some(fresh.into_iter().map(staged).collect()),
                Ok(Look::Wait) => {}
                Err(error) => tracing::warn!(error = %error, "the staged stores could not be read"),
            }
            tokio::time::sleep(self.patience.poll).await;
        }
    }

    async fn rest(&self) -> Vec<StagedStore> {
        match self.look(true).await {
            Ok(Look::Given(fresh)) => fresh.into_iter().map(staged).collect(),
            Ok(Look::Wait | Look::Over) => Vec::new(),
            Err(error) => {
                tracing::warn!(error = %error, "the staged stores are left to the next committer");
                Vec::new()
            }
        }
    }

    async fn folded(&self, brands: Vec<BrandSlug>) {
        let folded: Vec<StagedWork> = {
            let given = self.given();
            brands.iter().filter_map(|slug| given.get(slug).cloned()).collect()
        };
        if folded.is_empty() {
            return;
        }
        let now = self.clocks.clock.now();
        match self.state.fold_work(&self.run, &folded, &self.committer, now).await {
            Ok(true) => {
                let mut given = self.given();
                for one in &folded {
                    given.remove(&one.slug);
                }
            }
            Ok(false) => tracing::warn!(run = %self.run, "another worker has become the committer"),
            // The next committer commits the stores again, which changes nothing.
            Err(error) => tracing::warn!(error = %error, "a commit to the lake could not be recorded in the queue"),
        }
    }

    async fn again(&self, staged: StagedStore, is_lost: bool) {
        let Some(given) = self.given().remove(&staged.slug) else {
            return;
        };
        if !is_lost {
            tokio::time::sleep(self.patience.poll).await;
            return;
        }
        tracing::warn!(brand.slug = %staged.slug, "a worker's staged result is lost: the store is crawled again");
        let now = self.clocks.clock.now();
        if let Err(error) = self.state.unstage_work(&self.run, &given, &self.committer, now).await {
            tracing::warn!(error = %error, "a store whose staged result is lost could not be returned to the queue");
        }
    }
}

fn staged(work: StagedWork) -> StagedStore {
    StagedStore {
        store: work.store,
        slug: work.slug,
        fence: work.fence,
        is_outdated: work.is_outdated,
        letter: work.letter,
    }
}
