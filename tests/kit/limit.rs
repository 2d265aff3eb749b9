//! A limit that refuses nothing. Tests take it in by its path: the kit is built without the edge that it is a part of.

use std::sync::atomic::{AtomicU32, Ordering};

use api::{Caller, Limit, Prompt, Verdict};

/// The number of requests that callers' requests were counted as.
#[derive(Debug, Default)]
pub(crate) struct RequestCount(AtomicU32);

impl RequestCount {
    /// Requests since it was asked before.
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
