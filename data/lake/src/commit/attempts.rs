use crate::config::ATTEMPTS_MAX;
use crate::lake::State;
use crate::{Lake, LakeError};

/// Attempts to commit a batch. If another process commits first, the batch is planned again on the newer state.
#[derive(Debug, Default)]
pub(crate) struct Attempts(u32);

impl Attempts {
    /// Begins the next attempt, on the newest state.
    ///
    /// # Errors
    /// Other processes committed first in every attempt, or another process's batch cannot be finished.
    pub(crate) async fn next(&mut self, lake: &Lake, state: &mut State) -> Result<(), LakeError> {
        self.0 += 1;
        if self.0 > ATTEMPTS_MAX {
            return Err(LakeError::Contended);
        }
        lake.recover(state).await
    }
}
