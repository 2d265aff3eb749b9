//! Records the maximum number of a brand's products in the last days, because losses add up.

use data_model::Timestamp;
use pipeline_crawl::Peak;

const DAY_MICROS: i64 = 24 * 3600 * 1_000_000;

/// Losses since this time are added up.
pub(crate) fn window_began(now: Timestamp, window_s: u64) -> Timestamp {
    let window_ms = i64::try_from(window_s.saturating_mul(1000)).unwrap_or(i64::MAX);
    now.plus_millis(window_ms.saturating_neg())
}

/// Returns the maximum number of the brand's products since the given time, including now.
pub(crate) fn most(peaks: &[Peak], since: Timestamp, products: u64) -> u64 {
    let counted = peaks.iter().filter(|peak| peak.until >= since);
    counted.map(|peak| peak.products).fold(products, u64::max)
}

/// Returns the peaks in the window, with the new one. Only the highest peak of each day is kept.
pub(crate) fn noted(peaks: &[Peak], since: Timestamp, peak: Peak) -> Vec<Peak> {
    let Peak { until, products } = peak;
    let mut noted: Vec<Peak> = peaks.iter().copied().filter(|peak| peak.until >= since).collect();
    if products == 0 {
        return noted;
    }
    let day = |at: Timestamp| at.micros().div_euclid(DAY_MICROS);
    match noted.last_mut() {
        Some(last) if day(last.until) == day(until) => {
            last.until = until;
            last.products = last.products.max(products);
        }
        _ => noted.push(peak),
    }
    noted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(day: i64, hour: i64) -> Timestamp {
        Timestamp::from_micros((day * 24 + hour) * 3600 * 1_000_000)
    }

    fn peak(until: Timestamp, products: u64) -> Peak {
        Peak { until, products }
    }

    #[test]
    fn the_most_of_each_day_is_remembered_for_as_long_as_the_window_is() {
        let mut peaks = Vec::new();
        for (day, hour, products) in [(1, 3, 100), (1, 9, 60), (2, 3, 80), (2, 4, 90), (9, 5, 40)] {
            let since = window_began(at(day, hour), 7 * 24 * 3600);
            peaks = noted(&peaks, since, peak(at(day, hour), products));
        }
        let kept: Vec<_> = peaks.iter().map(|peak| (peak.until, peak.products)).collect();
        assert_eq!(kept, [(at(9, 5), 40)]);
        let mut peaks = noted(&[], at(0, 0), peak(at(1, 3), 100));
        peaks = noted(&peaks, at(0, 0), peak(at(1, 9), 60));
        assert_eq!(
            (peaks.len(), most(&peaks, at(1, 9), 30), most(&peaks, at(1, 10), 30)),
            (1, 100, 30)
        );
        for minute in 0..10_000 {
            let until = Timestamp::from_micros(minute * 60 * 1_000_000);
            peaks = noted(&peaks, window_began(until, 7 * 24 * 3600), peak(until, 10));
        }
        assert!(peaks.len() <= 9, "{}", peaks.len());
    }
}
