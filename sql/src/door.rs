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
    /// Guard that counts each Flight call that plans or runs a statement. The edge already counts `POST /v1/sql`.
    pub guard: Arc<Guard>,
    /// Maximum time of a statement sent to this endpoint, in milliseconds.
    pub timeout_ms: u64,
    /// Policy for the origin of requests. `None` if every request must have a key, which web pages do not have.
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
