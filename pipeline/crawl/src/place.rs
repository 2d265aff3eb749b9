use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// Time for which a store keeps its place while it waits: about as long as a quick store takes to answer.
const KEPT: Duration = Duration::from_millis(50);

/// A store's place among those that are at work. While it waits for its pace, for an answer or for memory, another
/// store may have the place.
#[derive(Debug)]
pub(crate) struct Place {
    places: Arc<Semaphore>,
    permit: Option<OwnedSemaphorePermit>,
}

impl Place {
    /// Waits for a place.
    pub(crate) async fn taken(places: &Arc<Semaphore>) -> Self {
        let mut place = Self {
            places: Arc::clone(places),
            permit: None,
        };
        place.take().await;
        place
    }

    async fn take(&mut self) {
        // Never closed, so there is always one in the end.
        self.permit = Arc::clone(&self.places).acquire_owned().await.ok();
    }

    /// The outcome of `waiting`. The place is given up if that takes longer than a moment, and taken again afterwards.
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
