use std::collections::BTreeMap;
use std::time::Duration;

use state::{JobRow, JobWork};

/// The interval at which the process that runs a job says that it lives.
pub const BEAT_EVERY: Duration = Duration::from_secs(15);
/// Silence after which others take the process that runs a job for dead; it stops by itself before that.
pub const DEAD_AFTER: Duration = Duration::from_secs(60);

/// Distinguishes holders that live from those that are gone: the former go on counting.
///
/// It goes by the time that passes in this process, not by any clock that may be set, and compares no clocks of two
/// machines. Whoever begins to watch waits for [`DEAD_AFTER`] before it says anything about anybody.
#[derive(Debug, Default)]
pub struct Watch {
    /// By job: the run, its count, and since when it is that.
    seen: BTreeMap<String, (i64, i64, Duration)>,
}

impl Watch {
    /// Looks at a job after `elapsed` of this process, and answers whether whoever held it is gone.
    pub fn is_dead(&mut self, row: &JobRow, elapsed: Duration) -> bool {
        let beat = match row.work {
            JobWork::Held { beat } => beat,
            JobWork::Abandoned { .. } => return true,
            JobWork::Idle => {
                self.seen.remove(&row.name);
                return false;
            }
        };
        match self.seen.get(&row.name) {
            Some((run, count, since)) if (*run, *count) == (row.last_run, beat) => {
                elapsed.saturating_sub(*since) >= DEAD_AFTER
            }
            _ => {
                self.seen.insert(row.name.clone(), (row.last_run, beat, elapsed));
                false
            }
        }
    }
}
