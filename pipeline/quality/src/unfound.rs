use std::error::Error;

use data_lake::LakeSnapshot;
use data_model::Timestamp;
use data_reports::UnfoundWords;
use data_searches::{CountedDays, TopOrder, first_day, load, top};
use data_storage::Storage;

/// Number of days of searches that are counted, with today.
const DAYS: u32 = 7;
/// Maximum number of words in a report.
const WORDS_MAX: usize = 20;

/// Returns the words that shoppers searched for from the day `since` on: days that are over from the lake, and counts
/// that are not there yet as servers wrote them.
///
/// # Errors
/// The lake or the counts cannot be read.
pub async fn searched(
    storage: &Storage,
    lake: &LakeSnapshot,
    since: &str,
) -> Result<CountedDays, Box<dyn Error + Send + Sync>> {
    // Servers' counts are read first: those that are moved into a newer state of the lake meanwhile are known then.
    let unmoved = load(storage, since).await?;
    let mut days = lake.searches(since).await?;
    for (day, servers) in unmoved {
        days.entry(day).or_default().extend(servers);
    }
    Ok(days)
}

/// Returns the words that shoppers searched without results in the last week, most frequent first. Returns none, with a
/// warning, if the counts cannot be read, because the data can be judged without them.
pub async fn unfound(storage: &Storage, lake: &LakeSnapshot, now: Timestamp) -> Vec<UnfoundWords> {
    let days = match searched(storage, lake, &first_day(now, DAYS)).await {
        Ok(days) => days,
        Err(error) => {
            let error: &dyn Error = &*error;
            tracing::warn!(error, "the words that shoppers did not find cannot be read");
            return Vec::new();
        }
    };
    let words = top(days, TopOrder::WithoutHits, WORDS_MAX).into_iter();
    let told = words.map(|one| UnfoundWords {
        words: one.words,
        searches: one.count,
        without_hits: one.without_hits,
        last_day: one.last_day,
    });
    told.collect()
}
