use data_model::Timestamp;
use data_reports::UnfoundWords;
use data_searches::{TopOrder, load, top};
use data_storage::Storage;

/// Number of days of searches that are counted.
const DAYS: i64 = 7;
/// Maximum number of words in a report.
const WORDS_MAX: usize = 20;
const DAY_MS: i64 = 24 * 3_600_000;

/// Returns the words that shoppers searched without results in the last week, most frequent first. If the counts cannot
/// be read, logs a warning and returns an empty list, because the data can be checked without them.
pub async fn unfound(storage: &Storage, now: Timestamp) -> Vec<UnfoundWords> {
    let since: String = now
        .plus_millis(-(DAYS - 1) * DAY_MS)
        .to_string()
        .chars()
        .take(10)
        .collect();
    let days = match load(storage, &since).await {
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
