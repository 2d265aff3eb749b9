use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// A waiting store keeps its slot for this time. A fast store responds in about this time.
const KEPT: Duration = Duration::from_millis(50);

/// Slot of a store that is worked on. While the store waits for its rate limit, a response or memory, another store may
/// use the slot.
#[derive(Debug)]
pub(crate) struct Place {
    places: Arc<Semaphore>,
    permit: Option<OwnedSemaphorePermit>,
}

impl Place {
    pub(crate) async fn taken(places: &Arc<Semaphore>) -> Self {
        let mut place = Self {
            places: Arc::clone(places),
            permit: None,
        };
        place.take().await;
        place
    }

    async fn take(&mut self) {
        // The semaphore is never closed, so that a permit always becomes available.
        self.permit = Arc::clone(&self.places).acquire_owned().await.ok();
    }

    /// If `waiting` takes longer than `KEPT`, the slot is released and acquired again afterwards.
    pub(crate) async fn during<T>(&mut self, waiting: impl Future<Output = T>) -> T {
        let mut waiting = pin!(waiting);
        if let Ok(done) = timeout(KEPT, &mut waiting).await {
            return done;
        }
        self.permit = None;
        let done = waiting.await;
        self.take().await;
        done
    }
}
