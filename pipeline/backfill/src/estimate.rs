use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Estimated size and duration of a backfill.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Number of stores whose landing is read.
    pub stores: u64,
    /// Number of landed pages.
    pub pages: u64,
    /// Decompressed size of the pages in bytes.
    pub bytes: u64,
    /// Number of products on the pages.
    pub products: u64,
    /// Estimated minutes for reading, extrapolated from the first pages. `None` if none could be read. Writing to the
    /// lake takes additional time.
    pub minutes: Option<f64>,
}

impl Estimate {
    /// Extrapolates the duration on `cores` cores from the time that `bytes` bytes took on one core.
    #[must_use]
    pub(crate) fn timed(mut self, bytes: u64, took: Duration, cores: usize) -> Self {
        if bytes > 0 {
            let seconds = took.as_secs_f64() * self.bytes as f64 / bytes as f64 / cores.max(1) as f64;
            // The estimate is not more exact than a tenth of a second.
            self.minutes = Some((seconds * 10.0).ceil() / 600.0);
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minutes_follow_from_the_pages_that_were_timed_and_are_unknown_where_none_was() {
        let estimate = Estimate {
            bytes: 1_200_000_000,
            ..Estimate::default()
        };
        let timed = estimate.timed(1_000_000, Duration::from_millis(10), 2);
        assert_eq!(timed.minutes, Some(0.1));
        assert_eq!(estimate.timed(0, Duration::ZERO, 2).minutes, None);
    }
}
