//! Moves the counts of searched words into the lake, once per run, as a task of the crawl's committer.
//!
//! Only days that are over are moved. The counts of a server are deleted after the commit. A run that is killed in
//! between commits them again, which changes nothing.

use std::error::Error;

use data_lake::Lake;
use data_model::Timestamp;
use data_searches::{CountedDays, KEPT_DAYS, first_day, first_open_day, list, read, remove};
use data_storage::Storage;

use crate::error::with_causes;

/// Maximum number of servers and days in one commit.
const FILES_AT_ONCE: usize = 32;

/// Moves the counts of all days that are over, and removes days that are too old. Never fails the run. Counts that
/// cannot be moved wait for the next one.
pub(crate) async fn fold_searches(storage: &Storage, lake: &Lake, now: Timestamp) {
    if let Err(error) = folded(storage, lake, now).await {
        tracing::warn!(
            error = with_causes(&*error),
            "counts of searched words could not be moved into the lake; the next run moves them"
        );
    }
}

async fn folded(storage: &Storage, lake: &Lake, now: Timestamp) -> Result<(), Box<dyn Error + Send + Sync>> {
    let (open, oldest) = (first_open_day(now), first_day(now, KEPT_DAYS + 1));
    let files = list(storage, |day| day < open.as_str()).await?;
    for some in files.chunks(FILES_AT_ONCE) {
        let (mut days, mut stored) = (CountedDays::new(), Vec::new());
        for file in some {
            if let Some(counts) = read(storage, file.clone()).await? {
                let (day, server) = (counts.file.day.clone(), counts.file.server.clone());
                days.entry(day).or_default().insert(server, counts.words.clone());
                stored.push(counts);
            }
        }
        lake.commit_searches(&days, &oldest).await?;
        remove(storage, &stored).await?;
    }
    if files.is_empty() {
        lake.commit_searches(&CountedDays::new(), &oldest).await?;
    }
    Ok(())
}
