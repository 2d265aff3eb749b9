use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use data_model::{Clock, Timestamp};
use jobs::{
    JobFailure, JobName, JobOutcome, JobReport, JobsConfig, MonotonicClock, Scheduler, SchedulerDeps, Turn, Work,
};
use kit::SetClock;
use state::{JobRun, State, StateTarget};
use tokio::sync::Notify;

/// Monotonic clock that only the test advances.
#[derive(Debug, Default)]
pub(crate) struct SetElapsed(AtomicU64);

impl MonotonicClock for SetElapsed {
    fn elapsed(&self) -> Duration {
        Duration::from_millis(self.0.load(Ordering::SeqCst))
    }
}

/// Behaviour of a fake job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JobScript {
    Done,
    Fails,
    /// Waits until the job must stop, and stops.
    Waits,
    /// Never ends and ignores requests to stop.
    Hangs,
    Panics,
}

/// Record that all fake jobs of a test share.
#[derive(Debug, Default)]
pub(crate) struct Book {
    pub(crate) does: BTreeMap<JobName, JobScript>,
    /// Number of current runs of each job, which must not exceed one.
    at_work: BTreeMap<JobName, u32>,
    pub(crate) runs: u64,
}

#[derive(Debug)]
struct Fake {
    name: JobName,
    book: Arc<Mutex<Book>>,
}

/// Guard that reduces the number of current runs when it is dropped.
struct AtWork<'a>(&'a Fake);

impl Drop for AtWork<'_> {
    fn drop(&mut self) {
        *self.0.book.lock().unwrap().at_work.get_mut(&self.0.name).unwrap() -= 1;
    }
}

#[async_trait]
impl Work for Fake {
    fn name(&self) -> JobName {
        self.name
    }

    async fn run(&self, turn: Turn) -> Result<JobReport, JobFailure> {
        let does = {
            let mut book = self.book.lock().unwrap();
            book.runs += 1;
            let at_work = book.at_work.entry(self.name).or_default();
            *at_work += 1;
            assert_eq!(*at_work, 1, "two runs of {} at once", self.name);
            book.does.get(&self.name).copied().unwrap_or(JobScript::Done)
        };
        let _at_work = AtWork(self);
        match does {
            JobScript::Done => Ok(JobReport::done().count("things", 3)),
            JobScript::Fails => Err(JobFailure::new("the disk is full")),
            JobScript::Waits => {
                turn.cancel.cancelled().await;
                Ok(JobReport {
                    ended: JobOutcome::Stopped,
                    ..JobReport::done().count("things", 1)
                })
            }
            JobScript::Hangs => {
                Notify::new().notified().await;
                Ok(JobReport::done())
            }
            JobScript::Panics => panic!("a fault of the job"),
        }
    }
}

/// Schedulers on one state, with clocks that the test sets.
pub(crate) struct Rig {
    pub(crate) state: State,
    pub(crate) clock: Arc<SetClock>,
    pub(crate) elapsed: Arc<SetElapsed>,
    pub(crate) book: Arc<Mutex<Book>>,
    pub(crate) config: JobsConfig,
    pub(crate) zone: &'static str,
    names: Vec<JobName>,
}

impl Rig {
    pub(crate) async fn new(names: &[JobName], begin: &str, zone: &'static str) -> Self {
        Self::over(State::open(&StateTarget::Memory).await.unwrap(), names, begin, zone)
    }

    pub(crate) fn over(state: State, names: &[JobName], begin: &str, zone: &'static str) -> Self {
        Self {
            state,
            clock: SetClock::at(begin),
            elapsed: Arc::default(),
            book: Arc::default(),
            config: JobsConfig::default(),
            zone,
            names: names.to_vec(),
        }
    }

    pub(crate) fn scheduler(&self, worker: &str) -> Scheduler {
        let works = self.names.iter().map(|name| {
            Arc::new(Fake {
                name: *name,
                book: Arc::clone(&self.book),
            }) as Arc<dyn Work>
        });
        let deps = SchedulerDeps {
            state: self.state.clone(),
            works: works.collect(),
            clock: Arc::clone(&self.clock) as Arc<dyn Clock>,
            elapsed: Arc::clone(&self.elapsed) as Arc<dyn MonotonicClock>,
            zone: self.zone.parse().unwrap(),
            worker: worker.to_owned(),
        };
        Scheduler::new(deps, &self.config).unwrap()
    }

    pub(crate) fn does(&self, name: JobName, does: JobScript) {
        self.book.lock().unwrap().does.insert(name, does);
    }

    pub(crate) fn runs(&self) -> u64 {
        self.book.lock().unwrap().runs
    }

    /// Advances both clocks by this number of seconds.
    pub(crate) fn pass(&self, seconds: i64) {
        self.clock.advance_ms(seconds * 1000);
        self.elapsed.0.fetch_add(seconds as u64 * 1000, Ordering::SeqCst);
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Returns the runs of a job as `number cause outcome attempt`, the oldest first.
    pub(crate) async fn told(&self, name: JobName) -> Vec<String> {
        let runs = self.history(name).await;
        let told = runs.iter().map(|run| {
            let (cause, outcome) = (run.cause.as_str(), run.outcome.as_str());
            format!("{} {cause} {outcome} {} missed {}", run.number, run.attempt, run.missed)
        });
        told.collect()
    }

    pub(crate) async fn history(&self, name: JobName) -> Vec<JobRun> {
        let mut runs = self.state.job_runs(Some(name.as_str()), 10_000).await.unwrap();
        runs.reverse();
        runs
    }
}

/// Does one scheduler step, and another one once the started runs could end.
pub(crate) async fn look(scheduler: &mut Scheduler) {
    scheduler.step().await;
    for _ in 0..4 {
        tokio::task::yield_now().await;
    }
    scheduler.step().await;
}
