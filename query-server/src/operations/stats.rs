use super::{Answer, OperationError};
use crate::server::QueryServer;

impl QueryServer {
    /// Totals of the catalogue. They are made once a release, and once for each newer record of checks.
    ///
    /// # Errors
    /// `NotReady`.
    pub fn stats(&self) -> Result<Answer, OperationError> {
        self.at_once(|served| Ok(Answer::constant(&served.checked.load().stats)))
    }
}
