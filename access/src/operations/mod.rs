//! Operations on a caller's own access, one operation a file.

mod me;
mod plans;
mod quota;

use std::collections::BTreeSet;
use std::sync::Arc;

use api::{Caller, Prompt, Verdict};
use data_model::{Clock, Timestamp};
use state::State;

pub(crate) use self::me::MeError;
use crate::limits::Limits;
use crate::plans::Plans;
use crate::schema::KeyWay;
use crate::usage::UsageMeter;

/// The parts of an [`Access`].
#[derive(Debug)]
pub struct AccessParts {
    /// The plans.
    pub plans: Plans,
    /// Ids of the operations that need a key or a session.
    pub keyed: BTreeSet<String>,
    /// The limits that the guard checks; `None` where nothing is limited.
    pub limits: Option<Arc<dyn Limits>>,
    /// The state, and what counts what keys are used for; `None` on a server that takes no keys.
    pub known: Option<(State, Arc<UsageMeter>)>,
    /// The ways to sign in at the dashboard; empty where there is none.
    pub sign_in: Vec<KeyWay>,
    /// The source of time.
    pub clock: Arc<dyn Clock>,
}

/// Answers callers about their plans, limits and use. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Access(Arc<AccessParts>);

impl Access {
    /// The operations over `parts`.
    #[must_use]
    pub fn new(parts: AccessParts) -> Self {
        Self(Arc::new(parts))
    }

    /// The present moment.
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
