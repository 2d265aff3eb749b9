use std::sync::Arc;

use api::{Asker, Guard, OriginPolicy};
use http::HeaderMap;

use crate::SqlError;
use crate::access::AllowedKeys;
use crate::engine::SqlEngine;
use crate::watch::Watch;

/// A door to an engine: who may come in, and for how long.
#[derive(Debug, Clone)]
pub struct Door {
    /// The engine that runs statements.
    pub engine: SqlEngine,
    /// Keys that may; `None`: anybody who reaches the door, because nobody but this machine does.
    pub allowed: Option<Arc<AllowedKeys>>,
    /// Counts each call over Flight that plans or runs a statement; the edge counts `POST /v1/sql`.
    pub guard: Arc<Guard>,
    /// Longest time of a statement through this door.
    pub timeout_ms: u64,
    /// Looks at where requests come from; `None` where all have a key, which no page has.
    pub origin_policy: Option<OriginPolicy>,
}

impl Door {
    pub(crate) fn check(&self, asker: &Asker) -> Result<(), SqlError> {
        match &self.allowed {
            Some(allowed) => allowed.check(&asker.caller),
            None => Ok(()),
        }
    }

    /// Asks from time to time whether whoever sent a request still may.
    pub(crate) fn watch(&self, headers: &HeaderMap) -> Watch {
        Watch::of(headers, self.allowed.as_ref(), &self.guard)
    }
}
