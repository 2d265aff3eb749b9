use serde::{Deserialize, Serialize};

/// Settings of SQL: the callers that may send statements, the addresses of the endpoint, and the limits on statements.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SqlConfig {
    /// Address of a listener for `POST /v1/sql` and Arrow Flight SQL; empty means none.
    pub listen: String,
    /// Keys that may send statements: `granted` for all keys of that plan, key ids separated by commas, or `none`. If
    /// empty, the default of the endpoint applies.
    pub keys: String,
    /// Maximum memory of all statements together, in bytes.
    pub memory_bytes_max: usize,
    /// Folder for data that does not fit into memory; empty means the system's folder for temporary files.
    pub spill: String,
    /// Maximum total size of the temporary files of all statements, in bytes.
    pub spill_bytes_max: u64,
    /// Maximum time from the start of a statement to its last row, in milliseconds.
    pub timeout_ms: u64,
    /// Maximum number of rows in one answer.
    pub rows_max: usize,
    /// Maximum size of an answer, in bytes of Arrow memory.
    pub answer_bytes_max: usize,
    /// Maximum number of statements that run at the same time.
    pub concurrency_max: usize,
    /// Maximum number of statements in the queue.
    pub waiting_max: usize,
    /// Maximum time that a statement waits in the queue, in milliseconds.
    pub wait_ms: u64,
    /// Number of threads that run statements.
    pub threads: usize,
}

/// Error for a configured limit that is too small for any statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("sql.{key} must be at least {least}")]
pub struct InvalidConfig {
    key: &'static str,
    least: u64,
}

const MIB: usize = 1 << 20;

impl Default for SqlConfig {
    fn default() -> Self {
        Self {
            listen: String::new(),
            keys: String::new(),
            memory_bytes_max: 256 * MIB,
            spill: String::new(),
            spill_bytes_max: 2048 * MIB as u64,
            timeout_ms: 30_000,
            rows_max: 1_000_000,
            answer_bytes_max: 1024 * MIB,
            concurrency_max: 2,
            waiting_max: 16,
            wait_ms: 5_000,
            threads: 1,
        }
    }
}

impl SqlConfig {
    /// Checks that the limits are large enough to run statements.
    ///
    /// # Errors
    /// [`InvalidConfig`]
    pub fn check(&self) -> Result<(), InvalidConfig> {
        let least = [
            ("memory_bytes_max", self.memory_bytes_max as u64, 16 * MIB as u64),
            ("timeout_ms", self.timeout_ms, 1),
            ("rows_max", self.rows_max as u64, 1),
            ("answer_bytes_max", self.answer_bytes_max as u64, MIB as u64),
            ("concurrency_max", self.concurrency_max as u64, 1),
            ("threads", self.threads as u64, 1),
        ];
        match least.into_iter().find(|(_, given, least)| given < least) {
            Some((key, _, least)) => Err(InvalidConfig { key, least }),
            None => Ok(()),
        }
    }
}
