use api::Allowance;

use super::Access;
use crate::plans::ANONYMOUS;
use crate::schema::{AccessLimits, AccessPlan, AccessPolicy, KeyHowTo, UNLIMITED};

/// Where keys are got.
const DASHBOARD: &str = "/dashboard/";

impl AccessLimits {
    /// What an allowance allows.
    pub(super) fn of(allowance: &Allowance) -> Self {
        let rate = allowance.rate();
        Self {
            rate_limit_rps: rate.map_or(UNLIMITED, |(per_second, _)| per_second.get()),
            burst: rate.map_or(UNLIMITED, |(_, burst)| burst.get()),
            daily_limit: allowance.per_day(),
            unlimited: rate.is_none(),
        }
    }
}

impl Access {
    /// The access policy.
    pub(crate) fn policy(&self) -> AccessPolicy {
        let plans = self.0.plans.named().map(|(name, allowance)| AccessPlan {
            name,
            description: match name {
                ANONYMOUS => "Anybody: each client address for itself (of IPv6, each /64 network).",
                "free" => "Whoever has a key, and whoever is signed in: each key and each account for itself.",
                _ => "Keys that the operator has granted more to.",
            },
            needs_key: name != ANONYMOUS,
            limits: AccessLimits::of(allowance),
        });
        AccessPolicy {
            plans,
            keyed_operations: self.0.keyed.iter().cloned().collect(),
            get_a_key: KeyHowTo {
                path: DASHBOARD,
                description: "Keys are free: sign in at this path and create one. It is shown once.",
                headers: ["X-Service-Key: <key>", "Authorization: Bearer <key>"],
            },
        }
    }
}
