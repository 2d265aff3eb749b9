//! Opens a lake.

use std::sync::Arc;

use async_recursion::async_recursion as boxed;
use data_model::Clock;
use data_storage::Storage;
use tokio::sync::Mutex;

use super::create::create;
use crate::lake::Inner;
use crate::ticks::Ticks;
use crate::{Lake, LakeConfig, LakeError};

impl Lake {
    /// Opens the lake in `storage`: creates the tables of a new lake, and finishes a commit batch that a dead process had begun.
    /// If the batch cannot be finished now (the disk is full or read-only), the lake still opens. Reads then show the
    /// state before the batch, and the next commit tries again and reports the error.
    ///
    /// # Errors
    /// The storage cannot be read, tables cannot be created, a log entry is missing or damaged, or the lake was
    /// created with another number of buckets.
    #[boxed]
    pub async fn open(storage: Storage, config: LakeConfig, clock: Arc<dyn Clock>) -> Result<Self, LakeError> {
        create(&storage, config, clock.now()).await?;
        let ticks = Ticks::new(&storage);
        let inner = Inner {
            storage,
            config,
            clock,
            ticks,
            state: Mutex::default(),
        };
        let lake = Self {
            inner: Arc::new(inner),
            fence: None,
        };
        let mut state = lake.inner.state.lock().await;
        match lake.recover(&mut state).await {
            // Without any commit batch record, only the tables themselves show their state.
            Ok(()) if state.ended == 0 => {
                lake.tables(&mut state).await?;
            }
            Ok(()) => {}
            Err(error) => lake.leave_unrecovered(&mut state, error).await?,
        }
        drop(state);
        Ok(lake)
    }
}
