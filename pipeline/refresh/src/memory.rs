use serde::{Deserialize, Serialize};
use storefront::MemoryUsage;

/// Memory used by a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryReport {
    /// Maximum in bytes, from `refresh.memory_bytes_max`.
    pub bytes_max: u64,
    /// Maximum bytes reserved at once for data from stores.
    pub reserved_bytes_peak: u64,
    /// Peak resident bytes of the process. `None` if the operating system does not report them.
    pub resident_bytes_peak: Option<u64>,
    /// Number of times that a task waited for memory.
    pub waits: u64,
}

impl MemoryReport {
    pub(crate) fn of(usage: MemoryUsage) -> Self {
        Self {
            bytes_max: usage.bytes_max,
            reserved_bytes_peak: usage.reserved_bytes_peak,
            resident_bytes_peak: resident_bytes_peak(),
            waits: usage.waits,
        }
    }

    /// Returns the maximum of two successive attempts of a run. Their waits are added.
    pub(crate) fn most(self, other: Self) -> Self {
        Self {
            bytes_max: self.bytes_max.max(other.bytes_max),
            reserved_bytes_peak: self.reserved_bytes_peak.max(other.reserved_bytes_peak),
            resident_bytes_peak: self.resident_bytes_peak.max(other.resident_bytes_peak),
            waits: self.waits.saturating_add(other.waits),
        }
    }
}

/// Linux reports `VmHWM` in kibibytes.
fn resident_bytes_peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes << 10)
}
