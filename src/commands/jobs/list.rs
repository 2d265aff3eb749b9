use std::collections::BTreeMap;
use std::io::{self, Write};

use data_model::Timestamp;
use jobs::{JobName, Policy};
use serde::Serialize;
use serde_json::json;
use state::{JobMark, JobRow, JobRun, JobRunOutcome, JobWork, State};

use crate::exit::usage;
use crate::output::{counted, write_columns};
use crate::wiring::Context;

/// Job with its status, for `haat jobs list`.
#[derive(Debug, Serialize)]
struct JobEntry {
    name: JobName,
    enabled: bool,
    cron: String,
    /// Time of the next scheduled run; `None` if the job is paused.
    next_at: Option<Timestamp>,
    running: bool,
    paused: Option<JobMark>,
    triggered: Option<JobMark>,
    /// Time at which a failed run is retried.
    retry_at: Option<Timestamp>,
    /// End of the last successful run, and its age.
    good_at: Option<Timestamp>,
    good_age_s: Option<i64>,
    last_run: Option<JobRun>,
}

pub(super) async fn list(context: &Context, state: &State) -> anyhow::Result<()> {
    let (now, config) = (context.clock.now(), &context.config);
    let mut rows: BTreeMap<_, _> = state
        .jobs()
        .await?
        .into_iter()
        .map(|row| (row.name.clone(), row))
        .collect();
    let mut runs: BTreeMap<_, _> = state
        .last_job_runs()
        .await?
        .into_iter()
        .map(|run| (run.job.clone(), run))
        .collect();
    let mut listed = Vec::new();
    for name in JobName::ALL {
        let policy = config.jobs.policy(name, config.market_time_zone);
        let policy = policy.map_err(|error| usage(error.into()))?;
        let (row, last_run) = (rows.remove(name.as_str()), runs.remove(name.as_str()));
        listed.push(told(name, &config.jobs.of(name).cron, &policy, row, last_run, now));
    }
    let document = json!({ "time_zone": config.market_time_zone, "jobs": listed });
    context.output.print(&document, |out| {
        let rows: Vec<_> = listed.iter().map(|job| cells(job, now)).collect();
        write_columns(out, &rows)?;
        writeln!(
            out,
            "{}; schedules are in the time zone {}, times in UTC",
            counted(listed.len(), "job"),
            config.market_time_zone
        )
    })
}

fn told(
    name: JobName,
    cron: &str,
    policy: &Policy,
    row: Option<JobRow>,
    last_run: Option<JobRun>,
    now: Timestamp,
) -> JobEntry {
    let rests = !policy.enabled || row.as_ref().is_some_and(|row| row.paused.is_some());
    // A job that is already due starts when the scheduler looks next.
    let from = row.as_ref().map_or(now, |row| row.accounted_to);
    let next_at = policy.schedule.next(from).filter(|_| !rests);
    let good_at = row.as_ref().and_then(|row| row.good_at);
    JobEntry {
        name,
        enabled: policy.enabled,
        cron: cron.to_owned(),
        next_at,
        running: row.as_ref().is_some_and(|row| row.work != JobWork::Idle),
        paused: row.as_ref().and_then(|row| row.paused.clone()),
        triggered: row.as_ref().and_then(|row| row.triggered.clone()),
        retry_at: row.as_ref().and_then(|row| row.retry_at),
        good_at,
        good_age_s: good_at.map(|at| now.millis_since(at) / 1000),
        last_run,
    }
}

/// Formats name, schedule, status, time of the last success and result of the last run.
fn cells(job: &JobEntry, now: Timestamp) -> [String; 5] {
    let stands = match (&job.paused, job.next_at) {
        _ if job.running => "running".to_owned(),
        (Some(paused), _) => format!("paused since {}", paused.at),
        (None, None) => "not enabled".to_owned(),
        (None, Some(next)) if next <= now => format!("due since {next}"),
        (None, Some(next)) => format!("next {next}"),
    };
    let good = match job.good_at {
        Some(at) => format!("last success {at}"),
        None => "never succeeded".to_owned(),
    };
    let last = job.last_run.as_ref().filter(|run| !run.outcome.is_good());
    [
        job.name.to_string(),
        job.cron.clone(),
        stands,
        good,
        last.map_or_else(String::new, |run| format!("last run {}", word(run.outcome))),
    ]
}

pub(super) async fn history(context: &Context, state: &State, job: Option<JobName>, limit: u32) -> anyhow::Result<()> {
    let runs = state.job_runs(job.map(JobName::as_str), limit).await?;
    context.output.print(&json!({ "runs": runs }), |out| {
        for run in &runs {
            write_run(out, run)?;
        }
        writeln!(out, "{}", counted(runs.len(), "run"))
    })
}

pub(super) fn write_run(out: &mut dyn Write, run: &JobRun) -> io::Result<()> {
    let cause = match run.cause {
        state::JobCause::Schedule => "on schedule".to_owned(),
        state::JobCause::CatchUp if run.missed > 0 => format!("catching up {}", counted(run.missed + 1, "run")),
        state::JobCause::CatchUp => "catching up".to_owned(),
        state::JobCause::Retry => format!("attempt {}", run.attempt),
        state::JobCause::Trigger => "triggered".to_owned(),
    };
    let counts: Vec<_> = run
        .counts
        .iter()
        .map(|(name, count)| format!("{name} {count}"))
        .collect();
    let took = run
        .ended_at
        .map(|ended| format!(" in {:.1} s", ended.millis_since(run.started_at) as f64 / 1000.0));
    let parts = [counts.join(", "), run.detail.clone().unwrap_or_default()];
    let told: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    let told = match told.join("; ").as_str() {
        "" => String::new(),
        told => format!(": {told}"),
    };
    writeln!(
        out,
        "{} {} #{} {}, {cause}{}{told}",
        run.started_at,
        run.job,
        run.number,
        word(run.outcome),
        took.unwrap_or_default()
    )
}

fn word(outcome: JobRunOutcome) -> &'static str {
    match outcome {
        JobRunOutcome::Running => "running",
        JobRunOutcome::Partial => "done in part",
        JobRunOutcome::TimedOut => "timed out",
        other => other.as_str(),
    }
}
