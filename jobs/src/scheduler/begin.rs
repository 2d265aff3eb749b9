use data_model::Timestamp;
use state::{JobRow, LeaseToken, NewJobRun, StateError};
use tokio_util::sync::CancellationToken;

use super::{Job, Run, Scheduler};
use crate::decide::{Decision, decide};
use crate::work::Turn;

impl Scheduler {
    /// Decides about each job and carries out the decisions.
    pub(super) async fn begin_due(&mut self) -> Result<(), StateError> {
        for at in 0..self.jobs.len() {
            let now = self.clock.now();
            let row = self.state.job(self.jobs[at].name.as_str(), now).await?;
            let owed = self.owed(at, &row).await?;
            let job = &self.jobs[at];
            crate::metrics::tell(job.name, &row, &job.policy, owed);
            // This process runs the job, so the run is not dead.
            if self.runs.values().any(|run| run.name == job.name) {
                continue;
            }
            let is_dead = self.watch.is_dead(&row, self.elapsed.elapsed());
            let decision = decide(&row, &job.policy, now, is_dead);
            self.carry_out(at, &row, decision, now).await?;
        }
        Ok(())
    }

    /// Returns the first scheduled time of a job that no successful run has covered.
    async fn owed(&mut self, at: usize, row: &JobRow) -> Result<Option<Timestamp>, StateError> {
        let job = &mut self.jobs[at];
        if let Some(good_at) = row.good_at {
            return Ok(job.policy.schedule.next(good_at));
        }
        if row.last_run > 0 && job.oldest_run_at.is_none() {
            let runs = self.state.job_runs(Some(job.name.as_str()), u32::MAX).await?;
            job.oldest_run_at = runs.last().map(|run| run.scheduled_at);
        }
        // The first overdue time of a scheduled run is the run's own time.
        let before = job.oldest_run_at.map(|at| Timestamp::from_micros(at.micros() - 1));
        Ok(job.policy.schedule.next(before.unwrap_or(row.accounted_to)))
    }

    /// Carries out a decision about a job, unless another process was first.
    pub(super) async fn carry_out(
        &mut self,
        at: usize,
        row: &JobRow,
        decision: Decision,
        now: Timestamp,
    ) -> Result<(), StateError> {
        match decision {
            Decision::Wait => {}
            Decision::Rewind { to } => {
                if self.state.rewind_job(row, to).await? {
                    tracing::warn!(
                        job = row.name,
                        accounted_to = %row.accounted_to,
                        "a clock that was far ahead recorded a future time for the schedule: it is reset to the \
                         current time"
                    );
                }
            }
            Decision::Lose { retry_at } => {
                if self.state.lose_job(row, retry_at, now).await? {
                    tracing::warn!(
                        job = row.name,
                        run = row.last_run,
                        "a run was lost: its process stopped"
                    );
                }
            }
            Decision::Begin {
                cause,
                scheduled_at,
                missed,
                attempt,
                accounted_to,
            } => {
                if self.runs.len() >= self.at_once_max {
                    return Ok(());
                }
                let new = NewJobRun {
                    cause,
                    scheduled_at,
                    missed,
                    attempt,
                    accounted_to,
                    worker: self.worker.clone(),
                };
                self.begin(at, row, &new, now).await?;
            }
        }
        Ok(())
    }

    /// Starts a run in the state and then in this process. Returns its number, or `None` if another process was first.
    pub(super) async fn begin(
        &mut self,
        at: usize,
        row: &JobRow,
        new: &NewJobRun,
        now: Timestamp,
    ) -> Result<Option<i64>, StateError> {
        let lease = LeaseToken::new()?;
        let elapsed = self.elapsed.elapsed();
        let Some(number) = self.state.begin_job(row, new, &lease, now).await? else {
            return Ok(None);
        };
        let Job {
            name,
            work,
            policy,
            limit,
            ..
        } = &self.jobs[at];
        tracing::info!(
            job = name.as_str(),
            run = number,
            cause = new.cause.as_str(),
            missed = new.missed,
            attempt = new.attempt,
            "job begins"
        );
        let cancel = CancellationToken::new();
        let turn = Turn {
            cancel: cancel.clone(),
            scheduled_at: new.scheduled_at,
        };
        let work = std::sync::Arc::clone(work);
        let task = self.tasks.spawn(async move { work.run(turn).await });
        let run = Run {
            name: *name,
            number,
            attempt: new.attempt,
            lease,
            policy: policy.clone(),
            limit: *limit,
            cancel,
            began: elapsed,
            beat_taken: elapsed,
            beat_asked: elapsed,
            ended: None,
            came: None,
            task: task.clone(),
        };
        self.runs.insert(task.id(), run);
        Ok(Some(number))
    }
}
