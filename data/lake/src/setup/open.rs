//! The door of the lake.

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
    /// Opens the lake in `storage`: creates the tables that are absent, and finishes what a process that died
    /// had begun. Where that cannot be finished now (the disk is full, or may only be read), the lake opens all the
    /// same: reads show the state before, and whoever commits tries again and is told why.
    ///
    /// # Errors
    /// The storage cannot be read, tables are absent and cannot be created, an entry of a table's log is missing or
    /// damaged, or the lake was created with another number of buckets.
    #[boxed]
    pub async fn open(storage: Storage, config: LakeConfig, clock: Arc<dyn Clock>) -> Result<Self, LakeError> {
        create(&storage, &config, clock.now()).await?;
        let ticks = Ticks::new(&storage);
        let inner = Inner {
            storage,
            config: Arc::new(config),
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
            // A lake without any record of a tick does not tell the state of its tables.
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
