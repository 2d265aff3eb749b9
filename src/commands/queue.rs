//! Queue of stores (`haat queue …`, `haat crawl --queue`): shows its content, and adds stores.

use std::sync::Arc;

use data_model::BrandSlug;
use jobs::{EnqueueError, EnqueueRequest, EnqueuedRun, enqueue_run};
use serde_json::json;
use state::{DeadLetter, State, WORK_STORES_MAX, WorkState};

use super::jobs::{market, worker};
use super::stores::slugs;
use crate::cli::CrawlArgs;
use crate::cli::queue::{LettersArgs, QueueCommand};
use crate::exit::{Outcome, usage};
use crate::output::counted;
use crate::wiring::Context;

pub(crate) async fn run(command: QueueCommand, context: Context) -> anyhow::Result<Outcome> {
    let state = context.state().await?;
    let done = match command {
        QueueCommand::List { limit } => list(&context, &state, limit).await,
        QueueCommand::Dead { limit } => dead(&context, &state, limit).await,
        QueueCommand::Retry(args) => retry(&context, &state, &args).await,
        QueueCommand::Drop(args) => drop_letters(&context, &state, &args).await,
    };
    // Closing merges SQLite's write-ahead log into the database file.
    state.close().await;
    done.map(|()| Outcome::Done)
}

/// Runs `haat crawl --queue`: puts the stores into the queue for `haat worker`.
pub(super) async fn enqueue(
    context: &Context,
    args: &CrawlArgs,
    only: Option<Vec<BrandSlug>>,
) -> anyhow::Result<Outcome> {
    let (state, _) = context.served_state().await?;
    let market = Arc::new(market(context, None)?);
    let request = EnqueueRequest {
        only: only.as_deref(),
        force: args.force,
        priority: args.queued.priority,
        by: &worker(),
    };
    let run = enqueue_run(&market, &state, request).await;
    state.close().await;
    print_run(context, &run.map_err(told)?)?;
    Ok(Outcome::Done)
}

fn told(error: EnqueueError) -> anyhow::Error {
    match error {
        EnqueueError::UnknownBrand(_) => usage(error.into()),
        error => error.into(),
    }
}

fn print_run(context: &Context, run: &EnqueuedRun) -> anyhow::Result<()> {
    let document = json!({ "run": run.run, "queued": run.stores });
    context.output.print(&document, |out| {
        writeln!(
            out,
            "run {}: {} in the queue; `haat worker` refreshes them, `haat queue list` shows the progress",
            run.run,
            counted(run.stores, "store")
        )
    })
}

async fn list(context: &Context, state: &State, limit: u32) -> anyhow::Result<()> {
    let now = context.clock.now();
    let counts = state.work_counts(now).await?;
    let (runs, items) = (state.open_work_runs().await?, state.work_items(limit).await?);
    let document = json!({ "counts": counts, "runs": runs, "stores": items });
    context.output.print(&document, |out| {
        writeln!(
            out,
            "{}: {} waiting, {} with a worker ({} of them lost), {} to commit; {}",
            counted(counts.runs, "run"),
            counts.queued,
            counts.leased,
            counts.lost,
            counts.staged,
            counted(counts.dead, "dead letter"),
        )?;
        for run in &runs {
            let force = if run.force { ", all pages read again" } else { "" };
            writeln!(
                out,
                "run {}: requested by {} at {}{force}",
                run.run, run.requested_by, run.created_at
            )?;
        }
        for item in &items {
            write!(out, "{}: {}", item.slug, item.state.as_str())?;
            if let (Some(holder), Some(until)) = (&item.holder, item.lease_until) {
                write!(out, " by {holder} until {until}")?;
            } else if item.state == WorkState::Queued && item.available_at > now {
                write!(out, ", not before {}", item.available_at)?;
            }
            if item.attempts > 1 {
                write!(out, ", try {}", item.attempts)?;
            }
            writeln!(out)?;
        }
        Ok(())
    })
}

async fn dead(context: &Context, state: &State, limit: u32) -> anyhow::Result<()> {
    let letters = state.dead_letters(limit).await?;
    context.output.print(&json!({ "dead": letters }), |out| {
        for letter in &letters {
            write_letter(out, letter)?;
        }
        if letters.is_empty() {
            return writeln!(out, "no dead letters");
        }
        writeln!(
            out,
            "`haat queue retry SLUG` puts one back into the queue, `haat queue drop SLUG` deletes it"
        )
    })
}

fn write_letter(out: &mut dyn std::io::Write, letter: &DeadLetter) -> std::io::Result<()> {
    writeln!(
        out,
        "{}: {} ({}, since {}, run {})",
        letter.slug,
        letter.reason,
        counted(u64::from(letter.attempts), "attempt"),
        letter.since,
        letter.run
    )
}

/// Removes the selected dead letters and returns them.
async fn taken_out(state: &State, args: &LettersArgs) -> anyhow::Result<Vec<DeadLetter>> {
    let slugs: Vec<BrandSlug> = if args.all {
        let limit = u32::try_from(WORK_STORES_MAX).unwrap_or(u32::MAX);
        let letters = state.dead_letters(limit).await?;
        letters.into_iter().map(|letter| letter.slug).collect()
    } else {
        slugs(&args.brands)?
    };
    let dropped = state.drop_dead_letters(&slugs).await?;
    if let Some(slug) = slugs
        .iter()
        .find(|slug| !dropped.iter().any(|letter| letter.slug == **slug))
        && dropped.is_empty()
    {
        return Err(usage(anyhow::anyhow!(
            "{slug} has no dead letter: `haat queue dead` lists all dead letters"
        )));
    }
    Ok(dropped)
}

async fn retry(context: &Context, state: &State, args: &LettersArgs) -> anyhow::Result<()> {
    let letters = taken_out(state, args).await?;
    if letters.is_empty() {
        return context.output.print(&json!({ "run": null, "queued": 0 }), |out| {
            writeln!(out, "no dead letters")
        });
    }
    let market = Arc::new(market(context, None)?);
    let slugs: Vec<BrandSlug> = letters.into_iter().map(|letter| letter.slug).collect();
    let request = EnqueueRequest {
        only: Some(slugs.as_slice()),
        force: false,
        priority: 0,
        by: &worker(),
    };
    let run = enqueue_run(&market, state, request).await;
    print_run(context, &run.map_err(told)?)
}

async fn drop_letters(context: &Context, state: &State, args: &LettersArgs) -> anyhow::Result<()> {
    let letters = taken_out(state, args).await?;
    context.output.print(&json!({ "dropped": letters }), |out| {
        for letter in &letters {
            write!(out, "forgotten: ")?;
            write_letter(out, letter)?;
        }
        Ok(())
    })
}
