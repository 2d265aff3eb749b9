use data_model::Timestamp;

/// Delays in seconds after each failed attempt. The last delay applies to all later attempts.
const PAUSES_S: [i64; 9] = [5, 60, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000];
/// Time in milliseconds after which an event is no longer retried.
const KEPT_MS: i64 = 3 * 24 * 3_600_000;

/// Returns the time of the next attempt after attempt number `attempt` failed at `now`. Returns `None` after three
/// days.
pub(crate) fn next(created_at: Timestamp, attempt: u32, now: Timestamp) -> Option<Timestamp> {
    let at = (attempt as usize).saturating_sub(1).min(PAUSES_S.len() - 1);
    let next = now.plus_millis(PAUSES_S[at] * 1_000);
    let last = created_at.plus_millis(KEPT_MS);
    // The last attempt is at the end of the three days, even if the delay would be longer.
    (now < last).then(|| next.min(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_tried_for_three_days_and_not_longer() {
        let created_at = Timestamp::from_micros(0);
        let (mut now, mut attempts) = (created_at, 1);
        while let Some(next) = next(created_at, attempts, now) {
            assert!(next > now);
            now = next;
            attempts += 1;
        }
        assert_eq!(now.millis_since(created_at), 3 * 24 * 3_600_000);
        assert!((10..=14).contains(&attempts), "{attempts}");
    }
}
