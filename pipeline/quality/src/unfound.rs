use data_model::Timestamp;
use data_reports::UnfoundWords;
use data_searches::{TopOrder, load, top};
use data_storage::Storage;

/// Days of searches that are looked at.
const DAYS: i64 = 7;
/// Most words that are told.
const WORDS_MAX: usize = 20;
const DAY_MS: i64 = 24 * 3_600_000;

/// The words that shoppers looked for in vain in the last week, those first that were looked for most. None, with a warning,
/// where the counts cannot be read: the data can be judged without them.
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
            tracing::warn!(error, "the words that shoppers did not find are not known");
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
