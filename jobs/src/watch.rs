use std::collections::BTreeMap;
use std::time::Duration;

use state::{JobRow, JobWork};

/// Interval of the heartbeats of a process that runs a job.
pub const BEAT_EVERY: Duration = Duration::from_secs(15);
/// Time without a heartbeat after which other processes consider the process dead. The process stops its own job before
/// that.
pub const DEAD_AFTER: Duration = Duration::from_secs(60);

/// Detector of dead processes by their heartbeat counts, which increase while a process is alive.
///
/// A watch uses the monotonic time of this process, so it depends neither on a clock that can be set nor on the clocks
/// of two machines. A new watch waits for [`DEAD_AFTER`] before it reports a process as dead.
#[derive(Debug, Default)]
pub struct Watch {
    /// Run number, heartbeat count and time of the last change, by job.
    seen: BTreeMap<String, (i64, i64, Duration)>,
}

impl Watch {
    /// Checks a job at the monotonic time `elapsed`. Returns true if the job's process is dead.
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
