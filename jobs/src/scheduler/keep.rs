use std::time::Duration;

use data_model::Timestamp;
use state::{JobRunEnd, StateError};
use tokio::task::Id;

use super::{GRACE, Run, Scheduler};
use crate::end::{EndReason, WorkOutcome, end_of};
use crate::watch::{BEAT_EVERY, DEAD_AFTER};

impl Scheduler {
    /// Records ended runs, sends heartbeats, and stops runs that take too long or may belong to another process.
    pub(super) async fn keep(&mut self) {
        while let Some(ended) = self.tasks.try_join_next_with_id() {
            match ended {
                Ok((id, reported)) => self.take(id, reported.into()),
                Err(error) => self.take(error.id(), error.into()),
            }
        }
        let ids: Vec<Id> = self.runs.keys().copied().collect();
        for id in ids {
            // The run is not in the map during requests to the state, and goes back unless it is over.
            let Some(mut run) = self.runs.remove(&id) else {
                continue;
            };
            if run.came.is_none() {
                self.watch_over(&mut run).await;
                self.runs.insert(id, run);
            } else if let Some(run) = self.write_end(run).await {
                self.runs.insert(id, run);
            }
        }
    }

    pub(super) fn take(&mut self, id: Id, came: WorkOutcome) {
        if let Some(run) = self.runs.get_mut(&id) {
            run.came = Some((came, self.clock.now()));
        }
    }

    async fn watch_over(&self, run: &mut Run) {
        let elapsed = self.elapsed.elapsed();
        if elapsed.saturating_sub(run.beat_asked) >= BEAT_EVERY {
            run.beat_asked = elapsed;
            match self.state.beat_job(run.name.as_str(), &run.lease).await {
                Ok(true) => run.beat_taken = elapsed,
                Ok(false) => run.fence("another process considered it lost", elapsed),
                Err(_) => crate::metrics::state_failed(),
            }
        }
        // Other processes will soon consider the run lost and start the job again.
        if elapsed.saturating_sub(run.beat_taken) + BEAT_EVERY >= DEAD_AFTER {
            run.fence("its sign of life cannot be written to the state", elapsed);
        }
        if elapsed.saturating_sub(run.began) >= run.limit && run.ended.is_none() {
            tracing::warn!(
                job = run.name.as_str(),
                run = run.number,
                "a job exceeds its time limit, and is told to stop"
            );
            run.tell(EndReason::Limit, elapsed);
        }
        if let Some((EndReason::Limit, since)) = run.ended
            && elapsed.saturating_sub(since) >= GRACE
        {
            run.task.abort();
        }
    }

    /// Writes the end of a run to the state database. If the database does not respond, the run is returned for another
    /// attempt.
    async fn write_end(&mut self, run: Run) -> Option<Run> {
        let (came, at) = run.came.as_ref()?;
        let why = run.ended.map(|(why, _)| why);
        let end = end_of(came.clone(), why, run.attempt, &run.policy, *at);
        let took = self.elapsed.elapsed().saturating_sub(run.began);
        if why != Some(EndReason::Fenced) {
            match self.written(&run, &end, *at).await {
                Ok(true) => {}
                Ok(false) => {
                    tracing::warn!(
                        job = run.name.as_str(),
                        run = run.number,
                        "a run ended after it was recorded as lost, and stays recorded as lost"
                    );
                    return None;
                }
                Err(error) if error.is_transient() => {
                    self.note(Err(error));
                    return Some(run);
                }
                Err(error) => {
                    tracing::warn!(
                        job = run.name.as_str(),
                        run = run.number,
                        error = &error as &dyn std::error::Error,
                        "the end of a run could not be recorded"
                    );
                    return None;
                }
            }
        }
        tell(&run, &end, took);
        None
    }

    async fn written(&self, run: &Run, end: &JobRunEnd, at: Timestamp) -> Result<bool, StateError> {
        self.state
            .end_job(run.name.as_str(), run.number, &run.lease, end, at)
            .await
    }
}

impl Run {
    /// Stops the run at once, because another process may start the job at any time.
    fn fence(&mut self, why: &'static str, elapsed: Duration) {
        if !matches!(self.ended, Some((EndReason::Fenced, _))) {
            tracing::warn!(job = self.name.as_str(), run = self.number, "a run is stopped: {why}");
            self.ended = Some((EndReason::Fenced, elapsed));
            self.cancel.cancel();
            self.task.abort();
        }
    }
}

fn tell(run: &Run, end: &JobRunEnd, took: Duration) {
    crate::metrics::ended(run.name, end.outcome, took);
    let counts: Vec<_> = end
        .counts
        .iter()
        .map(|(name, count)| format!("{name}={count}"))
        .collect();
    let (job, outcome, counts) = (run.name.as_str(), end.outcome.as_str(), counts.join(" "));
    let (run, took_ms) = (run.number, u64::try_from(took.as_millis()).unwrap_or(u64::MAX));
    let detail = end.detail.as_deref();
    if end.outcome.is_good() {
        tracing::info!(job, run, outcome, counts, detail, took_ms, "job ended");
    } else {
        let retry_at = end.retry_at.map(|at| at.to_string());
        tracing::warn!(job, run, outcome, counts, detail, took_ms, retry_at, "job ended");
    }
}
