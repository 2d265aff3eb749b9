//! Runs what is due, in one process of any number.

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
            false => Self::Failed(JobFailure::new("the job broke off: see the log")),
        }
    }
}

/// The parts that a scheduler works with.
#[derive(Debug)]
pub struct SchedulerDeps {
    /// The state that has jobs and their runs.
    pub state: State,
    /// The works that there are.
    pub works: Vec<Arc<dyn Work>>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// The time that passes, whatever the clock is set to.
    pub elapsed: Arc<dyn MonotonicClock>,
    /// The market's time zone.
    pub zone: TimeZone,
    /// The machine and the process that run jobs, for people to read.
    pub worker: String,
}

/// Runs the jobs that are due. Any number of processes may have one over the same state; each run is begun by one of them.
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
    /// The time of its oldest run, for as long as none was good.
    oldest_run_at: Option<Timestamp>,
}

/// A run of this process, until its end is written down.
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
    /// When the state last took a beat, and when it was last asked to.
    beat_taken: Duration,
    beat_asked: Duration,
    /// The reason why it was told to stop, and the time.
    ended: Option<(EndReason, Duration)>,
    /// The outcome, and its time, where that is not written down yet.
    came: Option<(WorkOutcome, Timestamp)>,
}

/// The interval at which a scheduler looks for due jobs.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Time for a job that took too long to stop, before it is dropped.
const GRACE: Duration = Duration::from_secs(60);

impl Scheduler {
    /// A scheduler that has begun nothing yet.
    ///
    /// # Errors
    /// [`JobsConfigError`]: a schedule cannot be read.
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

    /// The scheduler's readiness to begin jobs, for probes.
    #[must_use]
    pub fn readiness(&self) -> Readiness {
        self.readiness.clone()
    }

    /// Runs what is due until it is told to stop; then lets what runs come to a good end, for as long as it may take.
    #[boxed]
    pub async fn run(mut self, stop: CancellationToken) {
        while !stop.is_cancelled() {
            self.step().await;
            self.rest(&stop).await;
        }
        self.end().await;
    }

    /// One look: ends what has ended, says that what runs lives, and begins what is due. Without an answer of the state
    /// nothing is begun.
    #[boxed]
    pub async fn step(&mut self) {
        self.keep().await;
        let began = self.begin_due().await;
        self.note(began);
    }

    /// Tells what runs to stop, and waits until it has; what takes too long is dropped.
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
                // The state does not take the end either: the next that looks finds the runs lost.
                break;
            }
            if now > until {
                self.runs.values().for_each(|run| run.task.abort());
            }
            self.rest(&never).await;
        }
    }

    /// Waits until something has ended, or it is time to look again.
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

    /// Says once that the state does not answer, and once that it does again.
    fn note(&mut self, answered: Result<(), StateError>) {
        match answered {
            Ok(()) => {
                if !self.readiness.swap(true) {
                    tracing::info!("the state answers again: jobs are begun");
                }
            }
            Err(error) => {
                crate::metrics::state_failed();
                if self.readiness.swap(false) {
                    tracing::warn!(
                        error = &error as &dyn std::error::Error,
                        "the state cannot be asked: no job is begun until it answers"
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
