use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use datafusion::error::DataFusionError;
use datafusion::execution::disk_manager::{DiskManager, DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::memory_pool::{FairSpillPool, MemoryPool};

use crate::config::{InvalidConfig, SqlConfig};

/// Memory and disk space of one worker: its share of the limits for all statements. Tables are created with these
/// bounds.
#[derive(Debug, Clone)]
pub struct Bounds {
    pub(crate) config: Arc<SqlConfig>,
    pub(crate) memory_bytes_max: usize,
    pub(crate) memory: Arc<dyn MemoryPool>,
    pub(crate) spill_bytes_max: u64,
    pub(crate) disk: Arc<DiskManager>,
}

/// Error that explains why a worker has no tables to read.
pub type SourceError = Box<dyn Error + Send + Sync>;

/// Error that prevents the server from accepting statements.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// A configured limit is too small.
    #[error(transparent)]
    Config(#[from] InvalidConfig),
    /// The folder for temporary files cannot be used.
    #[error("sql.spill: the folder for temporary files cannot be used")]
    Spill(#[source] SourceError),
    /// The tables cannot be registered in the SQL session.
    #[error("the tables cannot be registered")]
    Tables(#[source] Box<DataFusionError>),
}

impl Bounds {
    /// Divides memory and disk space into one share for each concurrent statement. Data that does not fit into memory
    /// goes to `spill`.
    ///
    /// # Errors
    /// [`StartError::Config`] or [`StartError::Spill`]
    pub fn new(config: &SqlConfig, spill: &Path) -> Result<Self, StartError> {
        config.check()?;
        let memory_bytes_max = config.memory_bytes_max / config.concurrency_max;
        let spill_bytes_max = config.spill_bytes_max / config.concurrency_max as u64;
        let disk = DiskManagerBuilder::default()
            .with_mode(DiskManagerMode::Directories(vec![spill.to_owned()]))
            .with_max_temp_directory_size(spill_bytes_max)
            .build()
            .map_err(|error| StartError::Spill(error.into()))?;
        Ok(Self {
            config: Arc::new(config.clone()),
            memory_bytes_max,
            memory: Arc::new(FairSpillPool::new(memory_bytes_max)),
            spill_bytes_max,
            disk: Arc::new(disk),
        })
    }
}
