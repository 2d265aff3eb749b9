use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::rules::carts::ids::CartId;
use crate::schema::carts::CartDocument;

/// Recently read carts, so that identical reads share one response.
#[derive(Debug, Default)]
pub(super) struct Reads(Mutex<HashMap<CartId, Arc<CartReading>>>);

/// Shared read of a cart in one version of its stored record.
#[derive(Debug)]
pub(super) struct CartReading {
    sealed: Vec<u8>,
    /// Lock of the task that queries the stores. Identical reads wait for it.
    pub(super) recent: tokio::sync::Mutex<Option<Recent>>,
}

/// Answer of a read with its time.
#[derive(Debug, Clone)]
pub(super) struct Recent {
    at: Instant,
    told: CartDocument,
}

impl Reads {
    /// Returns the shared read of this version of the stored cart. A changed cart gets a new one.
    pub(super) fn of(&self, id: &CartId, sealed: &[u8], reuse: Duration) -> Arc<CartReading> {
        let mut reads = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        reads.retain(|_, read| {
            let recent = read.recent.try_lock();
            // A reader has the lock while it queries the stores or waits for another reader.
            let is_recent = recent.map_or(true, |recent| recent.as_ref().is_some_and(|recent| recent.is_of(reuse)));
            is_recent || Arc::strong_count(read) > 1
        });
        if let Some(read) = reads.get(id).filter(|read| read.sealed == sealed) {
            return Arc::clone(read);
        }
        let read = Arc::new(CartReading {
            sealed: sealed.to_owned(),
            recent: tokio::sync::Mutex::default(),
        });
        reads.insert(id.clone(), Arc::clone(&read));
        read
    }
}

impl Recent {
    /// Returns a response that other readers can share. Returns `None` if a store did not respond.
    pub(super) fn of(told: &CartDocument) -> Option<Self> {
        let cart = &told.data;
        let is_whole = cart.problems.is_empty() && cart.groups.iter().all(|group| group.verified);
        is_whole.then(|| Self {
            at: Instant::now(),
            told: told.clone(),
        })
    }

    pub(super) fn told(&self, reuse: Duration) -> Option<CartDocument> {
        self.is_of(reuse).then(|| self.told.clone())
    }

    fn is_of(&self, reuse: Duration) -> bool {
        self.at.elapsed() < reuse
    }
}
