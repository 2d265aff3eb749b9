//! Fencing of committers: the lake refuses commits of a process that has lost its lease, however late they come.

use super::apply::DECIDING;
use crate::lake::State;
use crate::{Lake, LakeError};

impl Lake {
    /// Returns a handle to the same lake that commits under a fence, which rises with each holder of a lease. The lake
    /// stores the highest fence of all commit batches. Later batches with a lower fence are refused with
    /// [`LakeError::Fenced`]. The next holder finishes a batch that was begun before the lease was lost.
    ///
    /// Commits without a fence (crawls, maintenance) are neither refused nor recorded.
    #[must_use]
    pub fn under(&self, fence: u64) -> Self {
        Self {
            fence: Some(fence),
            ..self.clone()
        }
    }

    /// Checks that no process with a higher fence has begun a commit batch. The check also covers the batch begun next,
    /// because its number is free only as long as nothing has changed since.
    pub(crate) async fn check_fence(&self, state: &mut State) -> Result<(), LakeError> {
        let Some(fence) = self.fence else { return Ok(()) };
        let newest = match self.tables(state).await?.get(&DECIDING) {
            Some(table) => table.fence().await?,
            None => 0,
        };
        if newest > fence {
            return Err(LakeError::Fenced { fence, newest });
        }
        Ok(())
    }
}
