//! The bounds of a worker's process, which the system keeps. A bound that it meets ends the process; the server says
//! why.

use nix::sys::resource::{Resource, UsageWho, getrlimit, getrusage, rlim_t, setrlimit};

/// Memory that the engine does not count: batches on their way, plans, stacks of threads.
const ROOM_BYTES: u64 = 64 << 20;
/// Time of the processor beyond the deadline, in seconds: the server ends a statement long before.
const CPU_SPARE_S: u64 = 2;

/// Bounds of one statement.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Memory that the process has before the statement; `None` where the system does not say.
    pub(crate) held_bytes: Option<u64>,
    /// Memory that the engine counts.
    pub(crate) pool_bytes: u64,
    /// Seconds of the processor.
    pub(crate) cpu_s: u64,
}

impl Limits {
    /// Holds the process to them. Files that are mapped to be read are not bounded.
    pub(crate) fn set(self) {
        if let Some(held_bytes) = self.held_bytes {
            set(
                Resource::RLIMIT_DATA,
                Some(held_bytes + 2 * self.pool_bytes + ROOM_BYTES),
            );
        }
        if let Ok(used) = getrusage(UsageWho::RUSAGE_SELF) {
            let used_s = used.user_time().tv_sec() + used.system_time().tv_sec();
            let used_s = u64::try_from(used_s).unwrap_or(0);
            set(Resource::RLIMIT_CPU, Some(used_s + self.cpu_s + CPU_SPARE_S));
        }
    }

    /// Between statements nothing is bounded.
    pub(crate) fn lift() {
        set(Resource::RLIMIT_DATA, None);
        set(Resource::RLIMIT_CPU, None);
    }
}

/// Memory that this process may write to, mapped files left out.
pub(crate) fn held_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmData:"))?;
    let kib: u64 = line.trim().trim_end_matches(" kB").parse().ok()?;
    Some(kib * 1024)
}

/// Lets this thread, and those that it starts, run only while no other process wants to, and leaves no file of memory
/// where the process ends.
pub(crate) fn yield_to_all() {
    let _ = setrlimit(Resource::RLIMIT_CORE, 0, 0);
    let _ = thread_priority::ThreadPriority::Min.set_for_current();
    // Beyond the lowest priority: a task that wakes up on a core that only does this runs there at once.
    #[cfg(target_os = "linux")]
    let _ = thread_priority::unix::set_thread_priority_and_policy(
        thread_priority::unix::thread_native_id(),
        thread_priority::ThreadPriority::Min,
        thread_priority::unix::ThreadSchedulePolicy::Normal(thread_priority::unix::NormalThreadSchedulePolicy::Idle),
    );
}

/// Sets a bound that can be raised again; `None`: as high as the system lets it be.
fn set(resource: Resource, bound: Option<rlim_t>) {
    let told = getrlimit(resource)
        .and_then(|(_, most)| setrlimit(resource, bound.map_or(most, |bound| bound.min(most)), most));
    if let Err(error) = told {
        tracing::warn!(%error, ?resource, "a bound of a worker cannot be set");
    }
}
