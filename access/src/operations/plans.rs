use api::Allowance;

use super::Access;
use crate::plans::ANONYMOUS;
use crate::schema::{AccessLimits, AccessPlan, AccessPolicy, KeyHowTo, KeyWay, UNLIMITED};

/// Page on which a person creates a key.
const DASHBOARD: &str = "/dashboard/";

impl AccessLimits {
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

impl KeyWay {
    const fn by(self) -> &'static str {
        match self {
            Self::Provider => "with the identity provider that the page names",
            Self::Mail => "with a link that is sent by e-mail",
            Self::Operator => "with a link from the operator",
        }
    }
}

impl Access {
    pub(crate) fn policy(&self) -> AccessPolicy {
        let plans = self.0.plans.named().map(|(name, allowance)| AccessPlan {
            name,
            description: match name {
                ANONYMOUS => {
                    "For everyone without a key. Each client address is counted separately (for IPv6, each /64 \
                     network)."
                }
                "free" => {
                    "For holders of a key, and for people who are signed in. Each key and each account is counted \
                     separately."
                }
                _ => "For keys to which the operator has granted higher limits.",
            },
            needs_key: name != ANONYMOUS,
            limits: AccessLimits::of(allowance),
        });
        AccessPolicy {
            plans,
            keyed_operations: self.0.keyed.iter().cloned().collect(),
            get_a_key: self.key_how_to(),
        }
    }

    /// Returns the ways to get a key that this server offers.
    fn key_how_to(&self) -> KeyHowTo {
        let sign_in = &self.0.sign_in;
        let (path, ways, description) = if self.0.known.is_none() {
            (None, vec![], "This server accepts no keys.".to_owned())
        } else if sign_in.is_empty() {
            (None, vec![KeyWay::Operator], "Ask the operator for a key.".to_owned())
        } else {
            let by: Vec<_> = sign_in.iter().map(|way| way.by()).collect();
            let by = by.join(", or ");
            let description =
                format!("Keys are free: sign in at this path {by}, and create a key. It is shown only once.");
            (Some(DASHBOARD), sign_in.clone(), description)
        };
        KeyHowTo {
            path,
            ways,
            description,
            headers: ["X-Service-Key: <key>", "Authorization: Bearer <key>"],
        }
    }
}
