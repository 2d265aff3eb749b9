use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use data_model::ErrorCode;

use crate::Problem;

/// State of a server that may be about to stop. The server's probe then fails, so that proxies choose another server.
/// Requests are still handled as before.
#[derive(Debug, Clone, Default)]
pub struct DrainState(Arc<AtomicBool>);

impl DrainState {
    /// Makes the probe fail from now on.
    pub fn begin(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Checks that the server still accepts traffic. A probe must call this first.
    ///
    /// # Errors
    /// 503 `not_ready`: the server is about to stop.
    pub fn check(&self) -> Result<(), Problem> {
        match self.0.load(Ordering::Relaxed) {
            true => Err(Problem::new(ErrorCode::NotReady).detail("The server is shutting down.")),
            false => Ok(()),
        }
    }
}
