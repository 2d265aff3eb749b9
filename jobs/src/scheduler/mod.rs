//! Scheduler that runs due jobs, in any number of processes.

mod begin;
mod keep;
mod trigger;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_recursion::async_recursion as boxed;
use data_model::{Clock, TimeZone, Timestamp};
use state::{LeaseToken, State, StateError};
use tokio::task::{AbortHandle, JoinError, JoinSet};
use tokio_util::sync::CancellationToken;

use crate::config::{JobsConfig, JobsConfigError};
use crate::decide::Policy;
use crate::end::{EndReason, JobFailure, JobReport, WorkOutcome};
use crate::monotonic_clock::MonotonicClock;
use crate::name::JobName;
use crate::ops::Readiness;
use crate::watch::Watch;
use crate::work::Work;
pub use trigger::TriggerOutcome;

impl From<JoinError> for WorkOutcome {
    fn from(error: JoinError) -> Self {
        match error.is_cancelled() {
            true => Self::Dropped,
            false => Self::Failed(JobFailure::new("the job crashed: see the log")),
        }
    }
}

/// Dependencies of a scheduler.
#[derive(Debug)]
pub struct SchedulerDeps {
    /// State database with the jobs and their runs.
    pub state: State,
    /// Work of all jobs.
    pub works: Vec<Arc<dyn Work>>,
    /// System clock.
    pub clock: Arc<dyn Clock>,
    /// Monotonic clock, which is independent of the system clock.
    pub elapsed: Arc<dyn MonotonicClock>,
    /// Time zone of the market.
    pub zone: TimeZone,
    /// Machine and process that run jobs, for operators.
    pub worker: String,
}

/// Scheduler of due jobs. Any number of processes may each have one on the same state. Only one of them starts each
/// run.
#[derive(Debug)]
pub struct Scheduler {
    state: State,
    jobs: Vec<Job>,
    clock: Arc<dyn Clock>,
    elapsed: Arc<dyn MonotonicClock>,
    worker: String,
    at_once_max: usize,
    stop: Duration,
    watch: Watch,
    tasks: JoinSet<Result<JobReport, JobFailure>>,
    runs: BTreeMap<tokio::task::Id, Run>,
    readiness: Readiness,
}

#[derive(Debug)]
struct Job {
    name: JobName,
    work: Arc<dyn Work>,
    policy: Policy,
    limit: Duration,
    /// Scheduled time of the job's oldest run, while no run has succeeded.
    oldest_run_at: Option<Timestamp>,
}

/// Run of this process, until its end is recorded.
#[derive(Debug)]
struct Run {
    name: JobName,
    number: i64,
    attempt: u32,
    lease: LeaseToken,
    policy: Policy,
    limit: Duration,
    cancel: CancellationToken,
    task: AbortHandle,
    began: Duration,
    /// Time of the last heartbeat that the state accepted, and of the last attempt.
    beat_taken: Duration,
    beat_asked: Duration,
    /// Reason why the run must stop, and the time of the request.
    ended: Option<(EndReason, Duration)>,
    /// Result that is not recorded yet, with its time.
    came: Option<(WorkOutcome, Timestamp)>,
}

/// Interval at which a scheduler looks for due jobs.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Time for a job to stop after its time limit. Then the job is dropped.
const GRACE: Duration = Duration::from_secs(60);

impl Scheduler {
    /// Creates a scheduler that has not started any job.
    ///
    /// # Errors
    /// [`JobsConfigError`] if a schedule cannot be parsed.
    pub fn new(deps: SchedulerDeps, config: &JobsConfig) -> Result<Self, JobsConfigError> {
        config.check()?;
        crate::metrics::describe();
        let jobs = deps.works.into_iter().map(|work| {
            let name = work.name();
            Ok(Job {
                name,
                policy: config.policy(name, deps.zone)?,
                limit: Duration::from_secs(config.of(name).time_limit_s),
                work,
                oldest_run_at: None,
            })
        });
        Ok(Self {
            state: deps.state,
            jobs: jobs.collect::<Result<_, JobsConfigError>>()?,
            clock: deps.clock,
            elapsed: deps.elapsed,
            worker: deps.worker,
            at_once_max: config.at_once_max,
            stop: Duration::from_secs(config.stop_s),
            watch: Watch::default(),
            tasks: JoinSet::new(),
            runs: BTreeMap::new(),
            readiness: Readiness::new(),
        })
    }

    /// Returns the scheduler's readiness to start jobs, for probes.
    #[must_use]
    pub fn readiness(&self) -> Readiness {
        self.readiness.clone()
    }

    /// Runs due jobs until the scheduler is stopped. Then running jobs get a limited time to end.
    #[boxed]
    pub async fn run(mut self, stop: CancellationToken) {
        while !stop.is_cancelled() {
            self.step().await;
            self.rest(&stop).await;
        }
        self.end().await;
    }

    /// Does one step: records ended runs, sends heartbeats, and starts due jobs. If the state does not respond, no job
    /// starts.
    #[boxed]
    pub async fn step(&mut self) {
        self.keep().await;
        let began = self.begin_due().await;
        self.note(began);
    }

    /// Tells running jobs to stop and waits for them. A job that takes too long is dropped.
    #[boxed]
    pub async fn end(mut self) {
        let until = self.elapsed.elapsed() + self.stop;
        for run in self.runs.values_mut() {
            run.tell(EndReason::Stop, self.elapsed.elapsed());
        }
        let never = CancellationToken::new();
        while !self.runs.is_empty() {
            self.keep().await;
            if self.runs.is_empty() {
                break;
            }
            let now = self.elapsed.elapsed();
            if now > until + GRACE {
                // The state does not accept the end either, so the next process will find the runs lost.
                break;
            }
            if now > until {
                self.runs.values().for_each(|run| run.task.abort());
            }
            self.rest(&never).await;
        }
    }

    /// Waits until a run has ended or the next step is due.
    async fn rest(&mut self, stop: &CancellationToken) {
        tokio::select! {
            () = stop.cancelled() => {}
            () = tokio::time::sleep(LOOK_EVERY) => {}
            Some(ended) = self.tasks.join_next_with_id() => match ended {
                Ok((id, reported)) => self.take(id, reported.into()),
                Err(error) => self.take(error.id(), error.into()),
            },
        }
    }

    /// Logs once when the state stops responding, and once when it responds again.
    fn note(&mut self, answered: Result<(), StateError>) {
        match answered {
            Ok(()) => {
                if !self.readiness.swap(true) {
                    tracing::info!("the state answers again: jobs are started");
                }
            }
            Err(error) => {
                crate::metrics::state_failed();
                if self.readiness.swap(false) {
                    tracing::warn!(
                        error = &error as &dyn std::error::Error,
                        "the state does not answer: no job is started until it does"
                    );
                }
            }
        }
    }
}

impl Run {
    fn tell(&mut self, why: EndReason, elapsed: Duration) {
        if self.ended.is_none() {
            self.ended = Some((why, elapsed));
            self.cancel.cancel();
        }
    }
}
