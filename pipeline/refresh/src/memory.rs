use serde::{Deserialize, Serialize};
use storefront::MemoryUsage;

/// The memory that a run took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryReport {
    /// The bound: `refresh.memory_bytes_max`.
    pub bytes_max: u64,
    /// Most bytes that were reserved at the same time for what stores sent.
    pub reserved_bytes_peak: u64,
    /// Most bytes that the process had in memory since it began; `None` where the system does not say.
    pub resident_bytes_peak: Option<u64>,
    /// The number of times that something waited for memory.
    pub waits: u64,
}

impl MemoryReport {
    /// The quota for the memory that the system states of this process.
    pub(crate) fn of(usage: MemoryUsage) -> Self {
        Self {
            bytes_max: usage.bytes_max,
            reserved_bytes_peak: usage.reserved_bytes_peak,
            resident_bytes_peak: resident_bytes_peak(),
            waits: usage.waits,
        }
    }

    /// The most of both; they waited one after the other.
    pub(crate) fn most(self, other: Self) -> Self {
        Self {
            bytes_max: self.bytes_max.max(other.bytes_max),
            reserved_bytes_peak: self.reserved_bytes_peak.max(other.reserved_bytes_peak),
            resident_bytes_peak: self.resident_bytes_peak.max(other.resident_bytes_peak),
            waits: self.waits.saturating_add(other.waits),
        }
    }
}

/// `VmHWM` of Linux, which is in kibibytes.
fn resident_bytes_peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes << 10)
}
