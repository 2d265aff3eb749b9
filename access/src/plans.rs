use std::num::NonZeroU32;
use std::sync::Arc;

use api::{Allowance, Caller, KnownCaller, Via};
use state::Plan;

use crate::config::{InvalidConfig, LimitsConfig, PlanLimits};

/// Limits of each plan, created once and shared by all callers of the plan.
#[derive(Debug, Clone)]
pub struct Plans {
    anonymous: Arc<Allowance>,
    free: Arc<Allowance>,
    granted: Arc<Allowance>,
}

/// Name of the plan for callers without a key.
pub(crate) const ANONYMOUS: &str = "anonymous";

impl Plans {
    /// Creates the plans from the configuration.
    ///
    /// # Errors
    /// Returns an [`InvalidConfig`]: see [`LimitsConfig::check`].
    pub fn of(config: &LimitsConfig) -> Result<Self, InvalidConfig> {
        config.check()?;
        Ok(Self {
            anonymous: allowance(config.anonymous),
            free: allowance(config.free),
            granted: allowance(config.granted),
        })
    }

    /// Returns the limits of each network without a key.
    #[must_use]
    pub const fn anonymous(&self) -> &Arc<Allowance> {
        &self.anonymous
    }

    /// Returns the limits of each key of a plan.
    #[must_use]
    pub const fn of_plan(&self, plan: Plan) -> &Arc<Allowance> {
        match plan {
            Plan::Free => &self.free,
            Plan::Granted => &self.granted,
        }
    }

    /// Returns the limits of each signed-in account, which equal those of a free key.
    #[must_use]
    pub const fn of_session(&self) -> &Arc<Allowance> {
        &self.free
    }

    pub(crate) fn of_caller<'a>(&'a self, caller: &'a Caller) -> &'a Arc<Allowance> {
        caller.known().map_or(&self.anonymous, |known| &known.allowance)
    }

    pub(crate) fn named(&self) -> [(&'static str, &Arc<Allowance>); 3] {
        [
            (ANONYMOUS, &self.anonymous),
            (Plan::Free.as_str(), &self.free),
            (Plan::Granted.as_str(), &self.granted),
        ]
    }
}

pub(crate) fn plan_of(caller: Option<&KnownCaller>) -> &'static str {
    match caller.map(|known| &known.via) {
        None | Some(Via::Guest { .. }) => ANONYMOUS,
        Some(Via::Key { plan, .. }) => plan,
        Some(Via::Session) => Plan::Free.as_str(),
    }
}

fn allowance(limits: PlanLimits) -> Arc<Allowance> {
    let per_day = (limits.per_day > 0).then_some(limits.per_day);
    let rate = NonZeroU32::new(limits.per_second).zip(NonZeroU32::new(limits.burst));
    Arc::new(rate.map_or_else(Allowance::unlimited, |(per_second, burst)| {
        Allowance::new(per_second, burst, per_day)
    }))
}
