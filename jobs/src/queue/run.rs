//! Worker process, which takes stores from the queue and commits at the same time.

use std::sync::Arc;
use std::time::Duration;

use async_recursion::async_recursion as boxed;
use data_model::{RunId, Timestamp};
use pipeline_refresh::{WorkerContext, mark_crawl, stores_at_once};
use serde::Serialize;
use state::{StateError, TakenWork};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use super::hold::RequestMoment;
use super::store::StoreEnd;
use super::worker::{QueueWorker, queued};
use crate::end::JobFailure;

/// Results of a worker.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct WorkerReport {
    /// Stores that the worker processed, with any outcome.
    pub staged: u64,
    /// Stores that will be retried.
    pub retried: u64,
    /// Stores that became dead letters.
    pub dead: u64,
    /// Stores whose lease was lost to another worker.
    pub lost: u64,
    /// Stores returned to the queue because the worker was stopped.
    pub given_back: u64,
    /// Runs that the worker committed completely.
    pub runs_closed: u64,
}

/// View of the lake for the run of the worker's current store.
struct OpenContext {
    run: RunId,
    context: WorkerContext,
    opened_at: Timestamp,
}

/// Interval at which the metrics are set.
const TELL_EVERY: Duration = Duration::from_secs(5);

impl QueueWorker {
    /// Processes stores until the worker is stopped or, with `until_empty`, until no run is left. Then unfinished
    /// stores go back to the queue, and committing stops.
    #[boxed]
    pub async fn run(self, stop: CancellationToken, until_empty: bool) -> WorkerReport {
        crate::metrics::describe_work();
        // While this mark exists, other crawls on this machine start runs of their own.
        let _mark = mark_crawl(&self.deps.market.storage);
        let worker = Arc::new(self);
        // The committer stops when all stores are finished, or on `stop`.
        let committing = stop.child_token();
        // The committer is aborted when this function returns or is dropped.
        let committer = AbortOnDropHandle::new(tokio::spawn({
            let (worker, until) = (Arc::clone(&worker), committing.clone());
            async move { Box::pin(worker.commit_runs(until)).await }
        }));
        let keeper = Arc::clone(&worker.keeper);
        let telling = worker.tell();
        let mut report = tokio::select! {
            report = Arc::clone(&worker).take_stores(stop, until_empty) => report,
            never = keeper.renew() => match never {},
            never = telling => match never {},
        };
        committing.cancel();
        // The lease for committing is renewed until it is returned.
        let closed = tokio::select! {
            closed = committer => closed.unwrap_or_default(),
            never = keeper.renew() => match never {},
        };
        report.runs_closed = closed;
        report
    }

    async fn take_stores(self: Arc<Self>, stop: CancellationToken, until_empty: bool) -> WorkerReport {
        let at_once = stores_at_once(&self.deps.market.refresh);
        let (mut report, mut tasks, mut open) = (WorkerReport::default(), JoinSet::new(), None);
        // This token differs from `stop`. Stores go back to the queue only after this worker has stopped taking stores,
        // or it would take them again.
        let leaving = CancellationToken::new();
        while !stop.is_cancelled() {
            let taken = self.take(at_once.saturating_sub(tasks.len())).await;
            let is_idle = taken.as_ref().is_ok_and(Vec::is_empty) && tasks.is_empty();
            if is_idle && until_empty && self.is_empty().await {
                break;
            }
            let is_full = taken.as_ref().is_ok_and(|taken| !taken.is_empty());
            for (work, asked) in taken.unwrap_or_default() {
                let kept = self.keeper.keep(work.lease(), asked);
                match self.open(&mut open, &work).await {
                    Ok(context) => {
                        let (worker, leaving) = (Arc::clone(&self), leaving.clone());
                        tasks.spawn(async move { Box::pin(worker.refresh(context, work, kept, leaving)).await });
                    }
                    Err(failure) => report.count(self.put_back(&work, &failure.to_string()).await),
                }
            }
            if is_full && tasks.len() < at_once {
                continue;
            }
            tokio::select! {
                biased;
                () = stop.cancelled() => {}
                Some(ended) = tasks.join_next() => report.count(ended.unwrap_or(StoreEnd::Lost)),
                () = tokio::time::sleep(self.config.poll()) => {}
            }
        }
        leaving.cancel();
        while let Some(ended) = tasks.join_next().await {
            report.count(ended.unwrap_or(StoreEnd::Lost));
        }
        report
    }

    async fn take(&self, room: usize) -> Result<Vec<(TakenWork, RequestMoment)>, StateError> {
        let Some(limit) = u32::try_from(room).ok().filter(|limit| *limit > 0) else {
            return Ok(Vec::new());
        };
        let asked = self.keeper.asks();
        let (lease, attempts_max) = (self.config.lease(), self.config.attempts_max);
        let taken = self
            .deps
            .state
            .take_work(&self.deps.name, limit, lease, attempts_max, asked.now);
        let taken = taken.await;
        let answers = taken.is_ok();
        if self.readiness.swap(answers) != answers || !answers {
            match &taken {
                Ok(_) => tracing::info!("the queue answers again"),
                Err(error) => tracing::warn!(error = %error, "the queue does not answer"),
            }
        }
        Ok(taken?.into_iter().map(|work| (work, asked)).collect())
    }

    async fn is_empty(&self) -> bool {
        self.deps.state.open_work_runs().await.is_ok_and(|runs| runs.is_empty())
    }

    /// Returns the view of the lake for this store's run. The view is loaded again for another run, and when it is too
    /// old.
    async fn open(&self, open: &mut Option<OpenContext>, work: &TakenWork) -> Result<WorkerContext, JobFailure> {
        let market = &self.deps.market;
        let now = market.clock.now();
        let age_ms_max = i64::try_from(self.config.snapshot_age_s_max.saturating_mul(1_000)).unwrap_or(i64::MAX);
        let is_good = |open: &&OpenContext| open.run == work.run && now.millis_since(open.opened_at) < age_ms_max;
        if let Some(open) = open.as_ref().filter(is_good) {
            return Ok(open.context.clone());
        }
        let runs = self.deps.state.open_work_runs().await?;
        let run = runs.into_iter().find(|run| run.run == work.run);
        let run = run.ok_or_else(|| JobFailure::new("its run has ended"))?;
        let deps = self.refresh_deps(CancellationToken::new()).await?;
        let context = Box::pin(WorkerContext::open(&queued(&run), &market.refresh, &deps, &self.memory)).await?;
        *open = Some(OpenContext {
            run: run.run,
            context: context.clone(),
            opened_at: now,
        });
        Ok(context)
    }

    async fn tell(&self) -> std::convert::Infallible {
        loop {
            let now = self.deps.market.clock.now();
            match self.deps.state.work_counts(now).await {
                Ok(counts) => crate::metrics::tell_work(&counts, now),
                Err(error) => tracing::debug!(error = %error, "the length of the queue could not be read"),
            }
            tokio::time::sleep(TELL_EVERY).await;
        }
    }
}

impl WorkerReport {
    fn count(&mut self, ended: StoreEnd) {
        *match ended {
            StoreEnd::Staged => &mut self.staged,
            StoreEnd::Retried => &mut self.retried,
            StoreEnd::Dead => &mut self.dead,
            StoreEnd::Lost => &mut self.lost,
            StoreEnd::GivenBack => &mut self.given_back,
        } += 1;
        metrics::counter!(crate::metrics::WORK_ENDED, "outcome" => ended.as_str()).increment(1);
    }
}
