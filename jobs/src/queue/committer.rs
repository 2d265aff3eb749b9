//! Commits of staged stores. All workers request the lease for committing, and one of them gets it.

use std::sync::Arc;

use pipeline_refresh::{RunState, clear_stages, commit_queued};
use state::{WorkLease, WorkRun};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::hold::Hold;
use super::source::{Patience, Source};
use super::worker::{QueueWorker, Runs, queued};
use crate::end::JobFailure;

impl QueueWorker {
    /// Commits staged stores whenever no other worker does, until it is stopped. Returns the number of finished runs.
    pub(super) async fn commit_runs(self: Arc<Self>, stop: CancellationToken) -> u64 {
        let mut closed = 0;
        while !stop.is_cancelled() {
            let asked = self.keeper.asks();
            let state = &self.deps.state;
            match state
                .take_committer(&self.deps.name, self.config.lease(), asked.now)
                .await
            {
                Ok(Some(lease)) => {
                    let kept = self.keeper.keep(lease.clone(), asked);
                    let committing = Arc::clone(&self).commit(&lease, &kept.hold, &stop);
                    closed += Box::pin(committing).await;
                    drop(kept);
                    if let Err(error) = state.give_back_committer(&lease).await {
                        tracing::warn!(
                            error = %error,
                            "the committer's lease could not be released: it expires by itself"
                        );
                    }
                }
                Ok(None) => {}
                Err(error) => tracing::warn!(error = %error, "the committer's lease could not be read from the state"),
            }
            let _ = stop.run_until_cancelled(tokio::time::sleep(self.config.poll())).await;
        }
        closed
    }

    /// Commits every open run separately, as long as the lease lasts.
    async fn commit(self: Arc<Self>, lease: &WorkLease, hold: &Arc<Hold>, stop: &CancellationToken) -> u64 {
        let (mut tasks, mut running, mut closed) = (JoinSet::new(), Runs::new(), 0);
        while !stop.is_cancelled() && !hold.is_over() {
            match self.deps.state.open_work_runs().await {
                Ok(runs) => {
                    for run in runs
                        .into_iter()
                        .filter(|run| !running.contains_key(&run.run))
                        .collect::<Vec<_>>()
                    {
                        let id = run.run.clone();
                        let task = Arc::clone(&self).commit_under(run, lease.clone(), Arc::clone(hold), stop.clone());
                        running.insert(id, tasks.spawn(task));
                    }
                }
                Err(error) => tracing::warn!(error = %error, "the open runs of the queue could not be read"),
            }
            tokio::select! {
                biased;
                () = stop.cancelled() => {}
                Some(ended) = tasks.join_next() => closed += u64::from(ended.unwrap_or(false)),
                () = tokio::time::sleep(self.config.poll()) => {}
            }
            running.retain(|_, task| !task.is_finished());
        }
        while let Some(ended) = tasks.join_next().await {
            closed += u64::from(ended.unwrap_or(false));
        }
        closed
    }

    /// Commits one run until it is finished or the lease ends. Returns true if the run is finished.
    async fn commit_under(
        self: Arc<Self>,
        run: WorkRun,
        lease: WorkLease,
        hold: Arc<Hold>,
        stop: CancellationToken,
    ) -> bool {
        // The lease is checked before each step, so that a process that wakes up after its end writes nothing.
        let committing = hold.during(self.commit_run(&run, &lease, &hold, stop.clone()));
        match Box::pin(committing).await {
            None => {
                tracing::warn!(run = %run.run, "the committer's lease has ended: another worker continues");
                false
            }
            Some(Ok(is_closed)) => {
                if !is_closed {
                    // New stores were staged meanwhile, or the queue was not updated. Committing continues after a
                    // pause.
                    let _ = stop.run_until_cancelled(tokio::time::sleep(self.config.poll())).await;
                }
                is_closed
            }
            Some(Err(failure)) => {
                tracing::warn!(
                    run = %run.run,
                    error = %failure,
                    "the run could not be committed; the commit is retried"
                );
                let _ = stop
                    .run_until_cancelled(tokio::time::sleep(self.config.renew_every()))
                    .await;
                false
            }
        }
    }

    async fn commit_run(
        &self,
        run: &WorkRun,
        lease: &WorkLease,
        hold: &Hold,
        stop: CancellationToken,
    ) -> Result<bool, JobFailure> {
        let market = &self.deps.market;
        let mut deps = self.refresh_deps(stop).await?;
        // The lake rejects commits of this holder that start after the next holder's first commit.
        deps.stores.lake = deps.stores.lake.under(u64::try_from(lease.fence()).unwrap_or(0));
        let patience = Patience {
            stores_max: market.refresh.tick_brands_max,
            wait_max: self.config.commit_wait(),
            poll: self.config.poll(),
        };
        let (state, clocks) = (self.deps.state.clone(), self.deps.clocks());
        let source = Source::new(state, clocks, run.run.clone(), lease.clone(), patience);
        let (run_of, wait_max) = (queued(run), patience.wait_max);
        let committed = commit_queued(&run_of, &market.refresh, &deps, &self.memory, &source, wait_max).await;
        let report = match committed {
            Err(error) if error.fenced().is_some() => {
                self.is_fenced(lease, error.fenced().unwrap_or_default()).await;
                hold.lose();
                return Ok(false);
            }
            committed => committed?,
        };
        if report.state != RunState::Finished {
            return Ok(false);
        }
        let is_closed = self
            .deps
            .state
            .close_work_run(&run.run, lease, market.clock.now())
            .await?;
        if is_closed {
            tracing::info!(
                run = %run.run,
                stores = report.totals.stores,
                commits = report.commits,
                "a run of the queue is finished"
            );
            if let Err(error) = clear_stages(&market.storage, &run.run).await {
                tracing::warn!(run = %run.run, error = %error, "staged results of the run could not be removed");
            }
        }
        Ok(is_closed)
    }

    /// Handles a lake with a newer fence than this lease. If this lease is the newest in the state, the state is older
    /// than the lake, and the next fence is set above the lake's.
    async fn is_fenced(&self, lease: &WorkLease, newest: u64) {
        let newest = i64::try_from(newest).unwrap_or(i64::MAX);
        match self.deps.state.raise_committer(lease, newest).await {
            Ok(true) => tracing::warn!("the state is older than the lake: the committer's lease is taken again"),
            Ok(false) => tracing::warn!("the committer's lease has ended: another worker continues"),
            Err(error) => tracing::warn!(error = %error, "the committer's lease could not be raised in the state"),
        }
    }
}
