use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// Time for which a waiting store keeps its slot. A fast store responds in about this time.
const KEPT: Duration = Duration::from_millis(50);

/// Slot of a store among those worked on concurrently. While the store waits for its rate limit, an answer or memory,
/// another store may use the slot.
#[derive(Debug)]
pub(crate) struct Place {
    places: Arc<Semaphore>,
    permit: Option<OwnedSemaphorePermit>,
}

impl Place {
    /// Waits for a free slot.
    pub(crate) async fn taken(places: &Arc<Semaphore>) -> Self {
        let mut place = Self {
            places: Arc::clone(places),
            permit: None,
        };
        place.take().await;
        place
    }

    async fn take(&mut self) {
        // The semaphore is never closed, so a permit always becomes available.
        self.permit = Arc::clone(&self.places).acquire_owned().await.ok();
    }

    /// Awaits `waiting` and returns its result. If it takes longer than `KEPT`, the slot is released and acquired again
    /// afterwards.
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
