//! Limits of a worker process that the operating system enforces. A process that exceeds a limit ends, and the server
//! reports the reason.

use nix::sys::resource::{Resource, UsageWho, getrlimit, getrusage, rlim_t, setrlimit};

/// Memory in bytes that the query engine does not count: batches in transit, plans and thread stacks.
const ROOM_BYTES: u64 = 64 << 20;
/// Extra CPU time beyond the deadline, in seconds. The server normally ends the statement much earlier.
const CPU_SPARE_S: u64 = 2;

/// Limits of the worker process for one statement.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Memory of the process before the statement, in bytes; `None` if the operating system does not report it.
    pub(crate) held_bytes: Option<u64>,
    /// Memory that the query engine counts, in bytes.
    pub(crate) pool_bytes: u64,
    pub(crate) cpu_s: u64,
}

impl Limits {
    /// Sets the limits for this process. Memory-mapped files that are only read do not count.
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

    /// Removes the limits, because none apply between statements.
    pub(crate) fn lift() {
        set(Resource::RLIMIT_DATA, None);
        set(Resource::RLIMIT_CPU, None);
    }
}

/// Returns the size of the writable memory of this process without mapped files, in bytes.
pub(crate) fn held_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmData:"))?;
    let kib: u64 = line.trim().trim_end_matches(" kB").parse().ok()?;
    Some(kib * 1024)
}

/// Gives the calling thread and the threads that it starts the lowest priority. Also disables core dumps of the
/// process.
pub(crate) fn yield_to_all() {
    let _ = setrlimit(Resource::RLIMIT_CORE, 0, 0);
    let _ = thread_priority::ThreadPriority::Min.set_for_current();
    // The idle scheduling policy ranks below the lowest priority: a waking task of another process runs before this
    // thread.
    #[cfg(target_os = "linux")]
    let _ = thread_priority::unix::set_thread_priority_and_policy(
        thread_priority::unix::thread_native_id(),
        thread_priority::ThreadPriority::Min,
        thread_priority::unix::ThreadSchedulePolicy::Normal(thread_priority::unix::NormalThreadSchedulePolicy::Idle),
    );
}

/// Sets a soft limit, which can be raised again. `None` sets the highest value that the operating system allows.
fn set(resource: Resource, bound: Option<rlim_t>) {
    let told = getrlimit(resource)
        .and_then(|(_, most)| setrlimit(resource, bound.map_or(most, |bound| bound.min(most)), most));
    if let Err(error) = told {
        tracing::warn!(%error, ?resource, "a resource limit of a worker process cannot be set");
    }
}
