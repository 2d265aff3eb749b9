//! Operations on a caller's own access, one per file.

mod me;
mod plans;
mod quota;

use std::collections::BTreeSet;
use std::sync::Arc;

use api::{Caller, Limit, Prompt, Verdict};
use data_model::{Clock, Timestamp};
use state::State;

pub(crate) use self::me::MeError;
use crate::plans::Plans;
use crate::schema::KeyWay;
use crate::usage::UsageMeter;

/// Dependencies of [`Access`].
#[derive(Debug)]
pub struct AccessParts {
    /// Plans with their limits.
    pub plans: Plans,
    /// Ids of the operations that need a key or a session.
    pub keyed: BTreeSet<String>,
    /// Limits that the guard checks; `None` if requests are not limited.
    pub limits: Option<Arc<dyn Limit>>,
    /// State and usage meter; `None` on a server that accepts no keys.
    pub known: Option<(State, Arc<UsageMeter>)>,
    /// Ways to sign in at the dashboard; empty if there is none.
    pub sign_in: Vec<KeyWay>,
    /// Clock of the operations.
    pub clock: Arc<dyn Clock>,
}

/// Operations that show callers their plans, limits and usage; cheap to clone.
#[derive(Debug, Clone)]
pub struct Access(Arc<AccessParts>);

impl Access {
    /// Creates the operations from their dependencies.
    #[must_use]
    pub fn new(parts: AccessParts) -> Self {
        Self(Arc::new(parts))
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.0.clock.now()
    }

    async fn look(&self, caller: &Caller) -> Option<Verdict> {
        match self.0.limits.as_ref()?.look(caller) {
            Prompt::Now(verdict) => Some(verdict),
            Prompt::Later(verdict) => Some(verdict.await),
        }
    }
}
