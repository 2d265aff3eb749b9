//! Computes the counts for the report's plots.

use data_model::Timestamp;

use crate::summary::{Outcome, StoreSummary};
use data_reports::page::chart::Bar;

/// Maximum number of columns in the plot over time.
const STEPS_MAX: u64 = 48;

/// Histogram bin, from the upper bound of the previous one to below this bound.
struct Bin {
    below: u64,
    label: &'static str,
}

const fn bin(below: u64, label: &'static str) -> Bin {
    Bin { below, label }
}

/// Counts stores by number of products.
pub(super) fn products(stores: &[StoreSummary]) -> Vec<Bar> {
    const BINS: [Bin; 8] = [
        bin(1, "none"),
        bin(10, "1–9"),
        bin(50, "10–49"),
        bin(250, "50–249"),
        bin(1_000, "250–999"),
        bin(5_000, "1,000–4,999"),
        bin(25_000, "5,000–24,999"),
        bin(u64::MAX, "25,000 and more"),
    ];
    histogram(&BINS, stores.iter().map(|store| store.products))
}

/// Skipped stores are left out.
pub(super) fn durations(stores: &[StoreSummary]) -> Vec<Bar> {
    const BINS: [Bin; 8] = [
        bin(100, "under 0.1 s"),
        bin(1_000, "0.1–1 s"),
        bin(5_000, "1–5 s"),
        bin(15_000, "5–15 s"),
        bin(60_000, "15–60 s"),
        bin(300_000, "1–5 min"),
        bin(1_800_000, "5–30 min"),
        bin(u64::MAX, "over 30 min"),
    ];
    let crawled = stores.iter().filter(|store| store.outcome != Outcome::Skipped);
    histogram(&BINS, crawled.map(|store| store.duration_ms))
}

fn histogram(bins: &[Bin], values: impl Iterator<Item = u64>) -> Vec<Bar> {
    let empty = |bin: &Bin| Bar {
        label: bin.label.to_owned(),
        value: 0,
    };
    let mut bars: Vec<Bar> = bins.iter().map(empty).collect();
    for value in values {
        let bin = bins.iter().position(|bin| value < bin.below).unwrap_or(bins.len() - 1);
        bars[bin].value += 1;
    }
    bars
}

/// Amount with its time of completion.
#[derive(Debug, Clone, Copy)]
pub(super) struct TimedAmount {
    pub(super) at: Timestamp,
    pub(super) amount: u64,
}

/// Returns the milliseconds of a time step, and the sum of the amounts that end in each step.
pub(super) fn over_time(start: Timestamp, end: Timestamp, ended: &[TimedAmount]) -> (u64, Vec<u64>) {
    const STEPS_MS: [u64; 10] = [
        100, 1_000, 5_000, 15_000, 60_000, 300_000, 900_000, 3_600_000, 21_600_000, 86_400_000,
    ];
    let total_ms = u64::try_from(end.millis_since(start)).unwrap_or(0);
    let fits = |step: &&u64| total_ms / **step < STEPS_MAX;
    let step_ms = STEPS_MS.iter().find(fits).copied().unwrap_or(total_ms / STEPS_MAX + 1);
    let last = usize::try_from(total_ms / step_ms).unwrap_or(0);
    let mut steps = vec![0_u64; last + 1];
    for TimedAmount { at, amount } in ended {
        let since = u64::try_from(at.millis_since(start)).unwrap_or(0);
        let step = usize::try_from(since / step_ms).unwrap_or(last).min(last);
        steps[step] = steps[step].saturating_add(*amount);
    }
    (step_ms, steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_cover_the_whole_time_and_are_few() {
        let at = |ms: i64| Timestamp::default().plus_millis(ms);
        let of = |ms: i64, amount| TimedAmount { at: at(ms), amount };
        let (step, steps) = over_time(at(0), at(10_000), &[of(-5, 1), of(0, 2), of(9_999, 4), of(99_999, 8)]);
        assert_eq!((step, steps.len(), steps[0], steps[9], steps[10]), (1_000, 11, 3, 4, 8));
        assert_eq!(over_time(at(0), at(0), &[of(0, 7)]), (100, vec![7]));
        assert_eq!(over_time(at(5), at(0), &[]), (100, vec![0]));
        for ms in [1, 99_999, 7_200_000, 864_000_000, 86_400_000_000, i64::MAX / 1000] {
            assert!(over_time(at(0), at(ms), &[]).1.len() <= 48, "{ms}");
        }
    }
}
