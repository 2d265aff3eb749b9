//! Metrics of jobs.

use std::time::Duration;

use data_model::Timestamp;
use state::{JobRow, JobRunOutcome, JobWork, WorkCounts};

use crate::decide::Policy;
use crate::name::JobName;

const GOOD: &str = "job_last_good_timestamp_seconds";
const OWED: &str = "job_owed_timestamp_seconds";
const NEXT: &str = "job_next_timestamp_seconds";
const PAUSED: &str = "job_paused";
const RUNNING: &str = "job_running";
const RUNS: &str = "job_runs_total";
const DURATION: &str = "job_run_duration_seconds";
const FAILURES: &str = "jobs_state_failures_total";

const WORK_STORES: &str = "work_stores";
const WORK_RUNS: &str = "work_runs_open";
const WORK_OLDEST: &str = "work_oldest_age_seconds";
pub(crate) const WORK_ENDED: &str = "work_ended_total";
pub(crate) const WORK_LOST: &str = "work_leases_lost_total";

pub(crate) fn describe_work() {
    metrics::describe_gauge!(
        WORK_STORES,
        "Number of stores in the queue, over all workers: queued, leased, lost (leased by a worker that stopped), \
         staged, dead"
    );
    metrics::describe_gauge!(WORK_RUNS, "Number of unfinished runs of the queue");
    metrics::describe_gauge!(
        WORK_OLDEST,
        "Age of the oldest store in the queue, in seconds; 0 if the queue is empty"
    );
    metrics::describe_counter!(WORK_ENDED, "Number of stores that this worker processed, by outcome");
    metrics::describe_counter!(
        WORK_LOST,
        "Number of store leases that this worker lost to another worker"
    );
    metrics::counter!(WORK_LOST).increment(0);
}

pub(crate) fn tell_work(counts: &WorkCounts, now: Timestamp) {
    for (state, stores) in [
        ("queued", counts.queued),
        ("leased", counts.leased),
        ("lost", counts.lost),
        ("staged", counts.staged),
        ("dead", counts.dead),
    ] {
        metrics::gauge!(WORK_STORES, "state" => state).set(stores as f64);
    }
    metrics::gauge!(WORK_RUNS).set(counts.runs as f64);
    let age_ms = counts.oldest_at.map_or(0, |oldest| now.millis_since(oldest).max(0));
    metrics::gauge!(WORK_OLDEST).set(age_ms as f64 / 1e3);
}

pub(crate) fn describe() {
    metrics::describe_gauge!(
        GOOD,
        "End of the job's last successful run, in seconds since 1970; absent before the first one"
    );
    metrics::describe_gauge!(
        OWED,
        "First scheduled time of the job after its last successful run, in seconds since 1970; before the first \
         successful run, the first scheduled time of all"
    );
    metrics::describe_gauge!(
        NEXT,
        "Next due time of the job, in seconds since 1970; 0 if the job is paused or not enabled"
    );
    metrics::describe_gauge!(PAUSED, "1 while the job is paused or its schedule is not enabled");
    metrics::describe_gauge!(RUNNING, "1 while a process runs the job");
    metrics::describe_counter!(RUNS, "Number of job runs that ended in this process, by outcome");
    metrics::describe_histogram!(DURATION, "Duration of job runs in this process");
    metrics::describe_counter!(
        FAILURES,
        "Number of failed requests to the state; no job is started until it answers"
    );
    metrics::counter!(FAILURES).increment(0);
}

/// Sets the metrics for a job's state and for the time since which a successful run is overdue.
pub(crate) fn tell(name: JobName, row: &JobRow, policy: &Policy, owed: Option<Timestamp>) {
    let job = name.as_str();
    let rests = row.paused.is_some() || !policy.enabled;
    metrics::gauge!(PAUSED, "job" => job).set(f64::from(u8::from(rests)));
    let is_running = row.work != JobWork::Idle;
    metrics::gauge!(RUNNING, "job" => job).set(f64::from(u8::from(is_running)));
    if let Some(good_at) = row.good_at {
        metrics::gauge!(GOOD, "job" => job).set(seconds(good_at));
    }
    if let Some(owed) = owed {
        metrics::gauge!(OWED, "job" => job).set(seconds(owed));
    }
    let next = policy.schedule.next(row.accounted_to).filter(|_| !rests);
    metrics::gauge!(NEXT, "job" => job).set(next.map_or(0.0, seconds));
}

pub(crate) fn ended(name: JobName, outcome: JobRunOutcome, took: Duration) {
    metrics::counter!(RUNS, "job" => name.as_str(), "outcome" => outcome.as_str()).increment(1);
    metrics::histogram!(DURATION, "job" => name.as_str()).record(took.as_secs_f64());
}

pub(crate) fn state_failed() {
    metrics::counter!(FAILURES).increment(1);
}

/// Returns the time in seconds. A float is exact to the microsecond for about the next 200 years.
fn seconds(moment: Timestamp) -> f64 {
    moment.micros() as f64 / 1e6
}
