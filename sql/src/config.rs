use serde::{Deserialize, Serialize};

/// The callers that may send statements, the addresses for them, and the bounds on their cost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SqlConfig {
    /// Address of a listener for `POST /v1/sql` and Arrow Flight SQL; empty: none.
    pub listen: String,
    /// Keys that may send statements: `granted` for all of that plan, ids of keys, separated by commas, or `none`. Empty: it is
    /// for the door to say.
    pub keys: String,
    /// Memory of all statements together, in bytes.
    pub memory_bytes_max: usize,
    /// Folder for data that does not fit into it; empty: the system's folder for temporary files.
    pub spill: String,
    /// Files of all statements together in that folder, in bytes.
    pub spill_bytes_max: u64,
    /// Longest time from the beginning of a statement to its last row.
    pub timeout_ms: u64,
    /// Most rows of one answer.
    pub rows_max: usize,
    /// Largest answer, in bytes as Arrow holds them.
    pub answer_bytes_max: usize,
    /// Statements that run at the same time.
    pub concurrency_max: usize,
    /// Statements that wait for their turn.
    pub waiting_max: usize,
    /// The longest wait of a statement.
    pub wait_ms: u64,
    /// Threads that run statements.
    pub threads: usize,
}

/// A bound that leaves no statement.
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
    /// Refuses bounds that no statement could keep.
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
