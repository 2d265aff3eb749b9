use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use data_model::ErrorCode;

use crate::Problem;

/// The state of a server that may be about to stop. Its probe says so, and proxies ask another one; it answers as before.
#[derive(Debug, Clone, Default)]
pub struct DrainState(Arc<AtomicBool>);

impl DrainState {
    /// Says it from now on.
    pub fn begin(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// The question that a probe has to ask first.
    ///
    /// # Errors
    /// 503 `not_ready`: it is about to stop.
    pub fn check(&self) -> Result<(), Problem> {
        match self.0.load(Ordering::Relaxed) {
            true => Err(Problem::new(ErrorCode::NotReady).detail("The server is about to stop.")),
            false => Ok(()),
        }
    }
}
