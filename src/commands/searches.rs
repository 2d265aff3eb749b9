//! Shows what shoppers search for, and which searches find nothing (`haat searches`).

use data_searches::{TopOrder, TopWords, first_day, top};
use pipeline_quality::searched;
use serde_json::json;

use crate::cli::searches::{SearchesCommand, TopArgs};
use crate::exit::Outcome;
use crate::output::counted;
use crate::wiring::Context;

pub(crate) async fn run(command: SearchesCommand, context: Context) -> anyhow::Result<Outcome> {
    let SearchesCommand::Top(TopArgs {
        days,
        without_hits,
        limit,
    }) = command;
    let since = first_day(context.clock.now(), days);
    let storage = context.storage()?;
    let lake = context.lake_in(&storage).await?;
    let counted_days = searched(&storage, &lake, &since).await?;
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

fn line(one: &TopWords) -> String {
    let mut line = format!("{}: searched for {}", one.words, counted(one.count, "time"));
    for (count, of) in [
        (one.without_hits, "found nothing"),
        (one.relaxed, "lacked words"),
        (one.understood, "read as a sentence"),
        (one.clicks, "followed by a click"),
    ] {
        if count > 0 {
            line = format!("{line}, {count} {of}");
        }
    }
    line
}
