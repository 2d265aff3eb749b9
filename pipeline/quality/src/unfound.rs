use data_lake::Lake;
use data_model::Timestamp;
use data_reports::UnfoundWords;
use data_searches::{CountedDays, TopOrder, first_day, load, top};
use data_storage::Storage;

use crate::QualityError;

/// Number of days of searches that are counted, with today.
const DAYS: u32 = 7;
const WORDS_MAX: usize = 20;

/// Returns the words that shoppers searched for from the day `since` on. Days that are over come from the lake, and
/// other counts from the servers' files.
///
/// # Errors
/// The lake or the counts cannot be read.
pub async fn searched(storage: &Storage, lake: &Lake, since: &str) -> Result<CountedDays, QualityError> {
    let unmoved = load(storage, since).await?;
    // The lake is read afterwards, so that counts that a crawl moves meanwhile are not missed.
    let mut days = lake.snapshot().await?.searches(since).await?;
    for (day, servers) in unmoved {
        days.entry(day).or_default().extend(servers);
    }
    Ok(days)
}

/// Returns the words that shoppers searched without results in the last week, most frequent first. Returns none, with a
/// warning, if the counts cannot be read, because the data can be judged without them.
pub async fn unfound(storage: &Storage, lake: &Lake, now: Timestamp) -> Vec<UnfoundWords> {
    let days = match searched(storage, lake, &first_day(now, DAYS)).await {
        Ok(days) => days,
        Err(error) => {
            let error: &dyn std::error::Error = &error;
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
