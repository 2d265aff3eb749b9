use std::sync::Arc;

use api::{Asker, Guard, OriginPolicy};
use http::HeaderMap;

use crate::SqlError;
use crate::access::AllowedKeys;
use crate::engine::SqlEngine;
use crate::watch::Watch;

/// SQL endpoint: the engine, the callers that may use it, and the time limit of a statement.
#[derive(Debug, Clone)]
pub struct Door {
    /// Engine that runs the statements.
    pub engine: SqlEngine,
    /// Keys that may send statements. `None` allows everyone, because only this machine can reach the endpoint.
    pub allowed: Option<Arc<AllowedKeys>>,
    /// Counts each Flight call that plans or runs a statement. `POST /v1/sql` is already counted at the edge.
    pub guard: Arc<Guard>,
    /// Maximum time of a statement sent to this endpoint, in milliseconds.
    pub timeout_ms: u64,
    /// Checks the origin of requests. `None` if every request must have a key, because web pages have no key.
    pub origin_policy: Option<OriginPolicy>,
}

impl Door {
    pub(crate) fn check(&self, asker: &Asker) -> Result<(), SqlError> {
        match &self.allowed {
            Some(allowed) => allowed.check(&asker.caller),
            None => Ok(()),
        }
    }

    /// Starts a repeated check that the sender of a request is still allowed.
    pub(crate) fn watch(&self, headers: &HeaderMap) -> Watch {
        Watch::of(headers, self.allowed.as_ref(), &self.guard)
    }
}
