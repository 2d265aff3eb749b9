use async_recursion::async_recursion as boxed;
use data_model::Timestamp;
use state::{JobCause, JobRun, JobWork, NewJobRun, State, StateError};
use tokio_util::sync::CancellationToken;

use super::{LOOK_EVERY, Scheduler};
use crate::decide::{Decision, decide};
use crate::name::JobName;
use crate::watch::DEAD_AFTER;

/// Outcome of a run that was triggered manually.
#[derive(Debug)]
pub enum TriggerOutcome {
    /// The job ran.
    Ran(Box<JobRun>),
    /// Another process is running the job.
    Busy(Box<JobRun>),
}

impl Scheduler {
    /// Runs one job now, whatever its schedule and even if it is paused, and waits for its end. If another process
    /// seems to run the job, this first waits until that process is known to be alive or dead.
    ///
    /// # Errors
    /// Returns a [`StateError`] if the state does not respond. A started run is then ended by the next process that
    /// looks.
    #[boxed]
    pub async fn trigger(
        mut self,
        name: JobName,
        stop: CancellationToken,
    ) -> Result<Option<TriggerOutcome>, StateError> {
        let Some(at) = self.jobs.iter().position(|job| job.name == name) else {
            return Ok(None);
        };
        let mut first_beat = None;
        let number = loop {
            let now = self.clock.now();
            let row = self.state.job(name.as_str(), now).await?;
            if let JobWork::Held { beat } = row.work {
                let beat = (row.last_run, beat);
                if first_beat.is_none() {
                    let seconds = DEAD_AFTER.as_secs();
                    tracing::warn!(
                        job = %name,
                        "another process is running the job: within {seconds} s it shows a sign of life, or counts as \
                         lost"
                    );
                }
                if *first_beat.get_or_insert(beat) != beat {
                    return Ok(told(&self.state, name).await?.map(TriggerOutcome::Busy));
                }
            }
            let is_dead = self.watch.is_dead(&row, self.elapsed.elapsed());
            if row.work == JobWork::Idle {
                if let Some(number) = self
                    .begin(at, &row, &asked(row.accounted_to, now, &self.worker), now)
                    .await?
                {
                    break number;
                }
            } else if let Decision::Lose { .. } = decide(&row, &self.jobs[at].policy, now, is_dead) {
                // The new run replaces the lost one.
                self.carry_out(at, &row, Decision::Lose { retry_at: None }, now).await?;
            } else {
                tokio::select! {
                    () = stop.cancelled() => return Ok(None),
                    () = tokio::time::sleep(LOOK_EVERY) => {}
                }
            }
        };
        let state = self.state.clone();
        while !self.runs.is_empty() && !stop.is_cancelled() {
            self.rest(&stop).await;
            self.keep().await;
        }
        self.end().await;
        let ran = told(&state, name).await?.filter(|run| run.number == number);
        Ok(ran.map(TriggerOutcome::Ran))
    }
}

async fn told(state: &State, name: JobName) -> Result<Option<Box<JobRun>>, StateError> {
    let mut runs = state.job_runs(Some(name.as_str()), 1).await?;
    Ok(runs.pop().map(Box::new))
}

fn asked(accounted_to: Timestamp, now: Timestamp, worker: &str) -> NewJobRun {
    NewJobRun {
        cause: JobCause::Trigger,
        scheduled_at: now,
        missed: 0,
        attempt: 1,
        accounted_to,
        worker: worker.to_owned(),
    }
}
