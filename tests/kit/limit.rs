//! Rate limit that refuses nothing. Tests include it by path, because the kit is built without the edge crate.

use std::sync::atomic::{AtomicU32, Ordering};

use api::{Caller, Limit, Prompt, Verdict};

/// Number of requests that were counted against the limit.
#[derive(Debug, Default)]
pub(crate) struct RequestCount(AtomicU32);

impl RequestCount {
    /// Returns the number of requests since the last call.
    pub(crate) fn take(&self) -> u32 {
        self.0.swap(0, Ordering::Relaxed)
    }
}

impl Limit for RequestCount {
    fn admit(&self, _caller: &Caller) -> Prompt<Verdict> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Prompt::Now(Verdict::UNLIMITED)
    }

    fn owe(&self, _caller: &Caller, requests: u32) -> Prompt<()> {
        self.0.fetch_add(requests, Ordering::Relaxed);
        Prompt::Now(())
    }
}
