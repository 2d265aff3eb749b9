//! Job schedules in the state, and what their runs did (`haat jobs …`).

mod list;
mod run;

pub(super) use run::{Rights, market, worker};

use jobs::{JobName, TriggerOutcome};
use serde_json::json;
use state::{JobRun, JobRunOutcome, State};

use crate::cli::jobs::JobsCommand;
use crate::exit::{Outcome, lost_race, usage};
use crate::wiring::{Context, until_signal};

pub(crate) async fn run(command: JobsCommand, context: Context) -> anyhow::Result<Outcome> {
    let named = |job: &str| job.parse::<JobName>().map_err(|error| usage(error.into()));
    match command {
        JobsCommand::Run { ops_listen } => run::run(&context, ops_listen).await,
        JobsCommand::Trigger { job, queue: false } => trigger(&context, named(&job)?).await,
        JobsCommand::List => with_state(&context, async |state| list::list(&context, state).await).await,
        JobsCommand::History { job, limit } => {
            let job = job.as_deref().map(named).transpose()?;
            with_state(&context, async |state| list::history(&context, state, job, limit).await).await
        }
        JobsCommand::Trigger { job, queue: true } => {
            let job = named(&job)?;
            with_state(&context, async |state| queue(&context, state, job).await).await
        }
        JobsCommand::Pause { job } => {
            let job = named(&job)?;
            with_state(&context, async |state| pause(&context, state, job).await).await
        }
        JobsCommand::Resume { job } => {
            let job = named(&job)?;
            with_state(&context, async |state| resume(&context, state, job).await).await
        }
    }
}

async fn with_state(
    context: &Context,
    work: impl AsyncFnOnce(&State) -> anyhow::Result<()>,
) -> anyhow::Result<Outcome> {
    let state = context.state().await?;
    let done = work(&state).await;
    // Closing merges SQLite's write-ahead log into the database file.
    state.close().await;
    done.map(|()| Outcome::Done)
}

/// Runs a job in this process and prints its result.
async fn trigger(context: &Context, job: JobName) -> anyhow::Result<Outcome> {
    let (state, _) = context.served_state().await?;
    let scheduler = run::scheduler(context, &state)?;
    let (stop, _listener) = until_signal();
    // The future is boxed because it is large and would take much stack space.
    let triggered = Box::pin(scheduler.trigger(job, stop)).await;
    state.close().await;
    match triggered? {
        Some(TriggerOutcome::Ran(run)) => {
            context.output.print(&run, |out| list::write_run(out, &run))?;
            outcome(&run)
        }
        Some(TriggerOutcome::Busy(run)) => Err(lost_race(format!(
            "{} is already running {job} (run {})",
            run.worker, run.number
        ))),
        None => Ok(Outcome::Partial),
    }
}

/// Returns the exit code of a run.
fn outcome(run: &JobRun) -> anyhow::Result<Outcome> {
    match run.outcome {
        JobRunOutcome::Done => Ok(Outcome::Done),
        JobRunOutcome::Partial | JobRunOutcome::Interrupted => Ok(Outcome::Partial),
        JobRunOutcome::Running | JobRunOutcome::Lost => {
            anyhow::bail!("the outcome of run {} of {} is unknown", run.number, run.job)
        }
        JobRunOutcome::Failed | JobRunOutcome::TimedOut => {
            let detail = run.detail.as_deref().unwrap_or("it exceeded its time limit");
            anyhow::bail!("run {} of {} failed: {detail}", run.number, run.job)
        }
    }
}

async fn queue(context: &Context, state: &State, job: JobName) -> anyhow::Result<()> {
    let is_new = state
        .trigger_job(job.as_str(), &run::worker(), context.clock.now())
        .await?;
    context
        .output
        .print(&json!({ "job": job, "queued": is_new }), |out| match is_new {
            true => writeln!(
                out,
                "{job} is requested: the next `haat jobs run` process that checks for requests runs it"
            ),
            false => writeln!(out, "{job} is already requested"),
        })
}

async fn pause(context: &Context, state: &State, job: JobName) -> anyhow::Result<()> {
    let is_new = state
        .pause_job(job.as_str(), &run::worker(), context.clock.now())
        .await?;
    context.output.print(
        &json!({ "job": job, "paused": true, "changed": is_new }),
        |out| match is_new {
            true => writeln!(out, "{job} is paused until `haat jobs resume {job}`"),
            false => writeln!(out, "{job} is already paused"),
        },
    )
}

async fn resume(context: &Context, state: &State, job: JobName) -> anyhow::Result<()> {
    let is_new = state.resume_job(job.as_str(), context.clock.now()).await?;
    context.output.print(
        &json!({ "job": job, "paused": false, "changed": is_new }),
        |out| match is_new {
            true => writeln!(out, "{job} is resumed and runs at its next scheduled time"),
            false => writeln!(out, "{job} is not paused"),
        },
    )
}
