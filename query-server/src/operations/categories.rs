use super::{Answer, OperationError};
use crate::server::QueryServer;

impl QueryServer {
    /// The category tree, pruned to what the catalogue holds. It is made once a release.
    ///
    /// # Errors
    /// `NotReady`.
    pub fn categories(&self) -> Result<Answer, OperationError> {
        self.at_once(|served| Ok(Answer::constant(served.categories())))
    }
}
