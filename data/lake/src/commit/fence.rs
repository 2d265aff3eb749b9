//! Committers that take turns: the lake refuses one whose turn is over, however late it wakes.

use super::apply::DECIDING;
use crate::lake::State;
use crate::{Lake, LakeError};

impl Lake {
    /// The same lake, for a committer that has a right of which there is one at a time: a number that rises with each
    /// holder. The lake keeps the highest under which a tick was begun, and refuses every later tick under a lower one
    /// with [`LakeError::Fenced`]. The next holder finishes a tick that was begun before the right was lost, as it does
    /// with anybody's.
    ///
    /// Commits without a right (crawls, upkeep) are neither refused nor noted.
    #[must_use]
    pub fn under(&self, fence: u64) -> Self {
        Self {
            fence: Some(fence),
            ..self.clone()
        }
    }

    /// Checks that nobody with a later right has begun a tick. It holds for the tick that is begun next: its number is
    /// free only as long as nothing has changed since.
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
