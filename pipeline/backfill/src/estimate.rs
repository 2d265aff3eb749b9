use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The size of a backfill, and the time that it will take.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Stores whose landing is read.
    pub stores: u64,
    /// Landed pages.
    pub pages: u64,
    /// Their bytes, unpacked.
    pub bytes: u64,
    /// Products that they list.
    pub products: u64,
    /// Minutes to read them, by the first pages, which were timed; `None` where none could be read. What is written to the
    /// lake comes to it.
    pub minutes: Option<f64>,
}

impl Estimate {
    /// With the time that so many bytes took on one core, where so many work.
    #[must_use]
    pub(crate) fn timed(mut self, bytes: u64, took: Duration, cores: usize) -> Self {
        if bytes > 0 {
            let seconds = took.as_secs_f64() * self.bytes as f64 / bytes as f64 / cores.max(1) as f64;
            // A tenth of a second is as exact as a guess is.
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
