//! Processing of a store that a worker has taken, until it is staged.

use pipeline_refresh::{StagedResult, WorkerContext};
use state::TakenWork;
use tokio_util::sync::CancellationToken;

use super::keeper::LeaseGuard;
use super::worker::QueueWorker;
use crate::end::JobFailure;

/// Outcome of a store that a worker had taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StoreEnd {
    Staged,
    Retried,
    Dead,
    Lost,
    GivenBack,
}

impl StoreEnd {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Staged => "staged",
            Self::Retried => "retried",
            Self::Dead => "dead",
            Self::Lost => "lost",
            Self::GivenBack => "given_back",
        }
    }
}

impl QueueWorker {
    /// Refreshes a store while its lease lasts, and returns the outcome.
    pub(super) async fn refresh(
        &self,
        context: WorkerContext,
        work: TakenWork,
        kept: LeaseGuard,
        stop: CancellationToken,
    ) -> StoreEnd {
        let refreshing = kept.hold.during(context.refresh(&work.slug, &work.store, work.fence));
        // The future is boxed because it is large. If the worker is stopped, the future is dropped, and landed pages
        // stay.
        let Some(refreshed) = stop.run_until_cancelled(Box::pin(refreshing)).await else {
            return self.give_back(&work).await;
        };
        let stage = match refreshed {
            None => return StoreEnd::Lost,
            Some(Err(error)) => return self.put_back(&work, &JobFailure::of(&error).to_string()).await,
            Some(Ok(stage)) => stage,
        };
        let finishing = kept.hold.during(self.finish(&work, stage));
        Box::pin(finishing).await.unwrap_or(StoreEnd::Lost)
    }

    /// Stages the result. A failed store is staged only after its last attempt.
    async fn finish(&self, work: &TakenWork, stage: StagedResult) -> StoreEnd {
        let letter = stage.failure().map(|(code, reason)| format!("{code}: {reason}"));
        let now = self.deps.market.clock.now();
        let is_tried_again = letter.is_some() && self.config.retry_at(work.attempt, now).is_some();
        if let Some(reason) = letter.as_deref().filter(|_| is_tried_again) {
            return self.put_back(work, reason).await;
        }
        // The result is saved before the queue is updated, so that every staged result in the queue exists.
        if let Err(error) = stage.save(&self.deps.market.storage).await {
            return self.put_back(work, &JobFailure::of(&error).to_string()).await;
        }
        match self.deps.state.stage_work(work, letter.as_deref(), now).await {
            Ok(true) if letter.is_some() => StoreEnd::Dead,
            Ok(true) => StoreEnd::Staged,
            Ok(false) => StoreEnd::Lost,
            Err(error) => {
                // If the state did not get the outcome, the lease ends and the store is retried.
                tracing::warn!(
                    brand.slug = %work.slug,
                    error = %error,
                    "the outcome of a store could not be recorded in the queue"
                );
                StoreEnd::Lost
            }
        }
    }

    /// Schedules a retry of a store after a pause. After the last attempt, the store becomes a dead letter.
    pub(super) async fn put_back(&self, work: &TakenWork, reason: &str) -> StoreEnd {
        tracing::info!(brand.slug = %work.slug, attempt = work.attempt, reason, "store not refreshed");
        let now = self.deps.market.clock.now();
        let (told, ended) = match self.config.retry_at(work.attempt, now) {
            Some(at) => (self.deps.state.retry_work(work, reason, at).await, StoreEnd::Retried),
            None => (
                self.deps.state.stage_work(work, Some(reason), now).await,
                StoreEnd::Dead,
            ),
        };
        match told {
            Ok(true) => ended,
            Ok(false) => StoreEnd::Lost,
            Err(error) => {
                tracing::warn!(
                    brand.slug = %work.slug,
                    error = %error,
                    "a store could not be returned to the queue: it waits until its lease ends"
                );
                StoreEnd::Lost
            }
        }
    }

    async fn give_back(&self, work: &TakenWork) -> StoreEnd {
        match self.deps.state.give_back_work(work, self.deps.market.clock.now()).await {
            Ok(true) => StoreEnd::GivenBack,
            Ok(false) => StoreEnd::Lost,
            Err(error) => {
                tracing::warn!(
                    brand.slug = %work.slug,
                    error = %error,
                    "a store could not be returned to the queue: it waits until its lease ends"
                );
                StoreEnd::Lost
            }
        }
    }
}
