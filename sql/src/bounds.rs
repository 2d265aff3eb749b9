use std::path::PathBuf;
use std::sync::Arc;

use datafusion::error::DataFusionError;
use datafusion::execution::disk_manager::{DiskManager, DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::memory_pool::{FairSpillPool, MemoryPool};

use crate::config::{InvalidConfig, SqlConfig};

/// What all statements of a process share: their memory and their room on disk. Tables are made with it.
#[derive(Debug, Clone)]
pub struct Bounds {
    pub(crate) config: Arc<SqlConfig>,
    pub(crate) memory: Arc<dyn MemoryPool>,
    pub(crate) disk: Arc<DiskManager>,
}

/// Why statements cannot be taken.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// A bound is too small.
    #[error(transparent)]
    Config(#[from] InvalidConfig),
    /// The folder for temporary files cannot be used.
    #[error("sql.spill: the folder for temporary files cannot be used")]
    Spill(#[source] Box<DataFusionError>),
    /// The threads cannot be started.
    #[error("the threads for statements cannot be started")]
    Threads(#[source] std::io::Error),
    /// The tables cannot be registered.
    #[error("the tables cannot be registered")]
    Tables(#[source] Box<DataFusionError>),
}

impl Bounds {
    /// Sets memory and room aside; nothing is taken yet.
    ///
    /// # Errors
    /// [`StartError::Config`] or [`StartError::Spill`]
    pub fn new(config: &SqlConfig) -> Result<Self, StartError> {
        config.check()?;
        let mode = if config.spill.is_empty() {
            DiskManagerMode::OsTmpDirectory
        } else {
            DiskManagerMode::Directories(vec![PathBuf::from(&config.spill)])
        };
        let disk = DiskManagerBuilder::default()
            .with_mode(mode)
            .with_max_temp_directory_size(config.spill_bytes_max)
            .build()
            .map_err(|error| StartError::Spill(Box::new(error)))?;
        Ok(Self {
            config: Arc::new(config.clone()),
            memory: Arc::new(FairSpillPool::new(config.memory_bytes_max)),
            disk: Arc::new(disk),
        })
    }

    /// Bytes that statements hold at this moment, as far as the engine counts them.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.memory.reserved()
    }
}
