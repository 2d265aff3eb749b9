//! `haat searches`: shows what shoppers search for, and which searches find nothing.

use data_model::Timestamp;
use data_searches::{TopOrder, TopWords, load, top};
use serde_json::json;

use crate::cli::searches::{SearchesCommand, TopArgs};
use crate::exit::Outcome;
use crate::output::counted;
use crate::wiring::Context;

const DAY_MS: i64 = 24 * 3_600_000;

/// Runs `haat searches …`.
pub(crate) async fn run(command: SearchesCommand, context: Context) -> anyhow::Result<Outcome> {
    let SearchesCommand::Top(TopArgs {
        days,
        without_hits,
        limit,
    }) = command;
    let since = day(context.clock.now().plus_millis(-(i64::from(days) - 1) * DAY_MS));
    let counted_days = load(&context.storage()?, &since).await?;
    let order = if without_hits {
        TopOrder::WithoutHits
    } else {
        TopOrder::Searches
    };
    let words = top(counted_days, order, usize::try_from(limit).unwrap_or(usize::MAX));
    context
        .output
        .print(&json!({ "since": since, "words": words }), |out| {
            for one in &words {
                writeln!(out, "{}", line(one))?;
            }
            if words.is_empty() {
                writeln!(out, "no searches since {since}")?;
            }
            Ok(())
        })?;
    Ok(Outcome::Done)
}

fn day(moment: Timestamp) -> String {
    moment.to_string().chars().take(10).collect()
}

fn line(one: &TopWords) -> String {
    let mut line = format!("{}: searched for {}", one.words, counted(one.count, "time"));
    for (count, of) in [
        (one.without_hits, "found nothing"),
        (one.relaxed, "lacked words"),
        (one.understood, "read as a sentence"),
    ] {
        if count > 0 {
            line = format!("{line}, {count} {of}");
        }
    }
    line
}
