//! What is staged of one run, as its committer asks for it.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use data_model::{BrandSlug, Clock, RunId};
use pipeline_refresh::{Staged, StagedStores};
use state::{StagedWork, State, StateError, WorkLease};

use std::sync::Arc;

/// Stores that are asked for at once.
const AT_ONCE: u32 = 512;

#[derive(Debug)]
pub(super) struct Source {
    pub(super) state: State,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) run: RunId,
    pub(super) committer: WorkLease,
    pub(super) poll: Duration,
    /// What the committer was given and has not said to be through with.
    given: Mutex<BTreeMap<BrandSlug, StagedWork>>,
}

impl Source {
    pub(super) fn new(
        state: State,
        clock: Arc<dyn Clock>,
        (run, committer): (RunId, WorkLease),
        poll: Duration,
    ) -> Self {
        Self {
            state,
            clock,
            run,
            committer,
            poll,
            given: Mutex::default(),
        }
    }

    fn given(&self) -> MutexGuard<'_, BTreeMap<BrandSlug, StagedWork>> {
        self.given.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is staged and not given yet; `None` where nothing is left.
    async fn look(&self) -> Result<Option<Vec<StagedWork>>, StateError> {
        // Asked first: a store that is staged in between is seen by the second question.
        let left = self.state.work_left(&self.run).await?;
        // Those that were given come first until they are folded, so that others stand behind them.
        let room = u32::try_from(self.given().len())
            .unwrap_or(u32::MAX)
            .saturating_add(AT_ONCE);
        let staged = self.state.staged_work(&self.run, room).await?;
        let mut given = self.given();
        let fresh: Vec<_> = staged
            .into_iter()
            .filter(|one| given.get(&one.slug).is_none_or(|known| known.fence != one.fence))
            .collect();
        given.extend(fresh.iter().map(|one| (one.slug.clone(), one.clone())));
        Ok((left > 0 || !fresh.is_empty()).then_some(fresh))
    }
}

#[async_trait]
impl StagedStores for Source {
    async fn next(&self) -> Option<Vec<Staged>> {
        loop {
            match self.look().await {
                Ok(None) => return None,
                Ok(Some(fresh)) if !fresh.is_empty() => return Some(fresh.into_iter().map(staged).collect()),
                Ok(Some(_)) => {}
                Err(error) => tracing::warn!(error = %error, "what is staged is not known"),
            }
            tokio::time::sleep(self.poll).await;
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
        let now = self.clock.now();
        match self.state.fold_work(&self.run, &folded, &self.committer, now).await {
            Ok(true) => {
                let mut given = self.given();
                for one in &folded {
                    given.remove(&one.slug);
                }
            }
            Ok(false) => tracing::warn!(run = %self.run, "somebody else commits by now"),
            // The next committer takes them in again, which changes nothing.
            Err(error) => tracing::warn!(error = %error, "what the lake took in is not told to the queue"),
        }
    }

    async fn again(&self, staged: Staged, is_lost: bool) {
        let Some(given) = self.given().remove(&staged.slug) else {
            return;
        };
        if !is_lost {
            tokio::time::sleep(self.poll).await;
            return;
        }
        tracing::warn!(brand.slug = %staged.slug, "what a worker staged is lost: the store is asked again");
        let now = self.clock.now();
        if let Err(error) = self.state.unstage_work(&self.run, &given, &self.committer, now).await {
            tracing::warn!(error = %error, "a store whose stage is lost waits");
        }
    }
}

fn staged(work: StagedWork) -> Staged {
    Staged {
        store: work.store,
        slug: work.slug,
        fence: work.fence,
        is_outdated: work.is_outdated,
        letter: work.letter,
    }
}
