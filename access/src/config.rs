use std::collections::BTreeSet;
use std::fmt;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

/// Operations that need a key or a session by default: those on behalf of a caller, and those that return whole
/// catalogues.
const KEYED: [&str; 25] = [
    "account_action",
    "add_cart_discount",
    "add_cart_lines",
    "choose_cart_delivery",
    "create_cart",
    "create_checkout",
    "create_watch",
    "delete_watch",
    "end_cart",
    "find_coupons",
    "get_cart",
    "get_me",
    "get_watch",
    "list_changes",
    "list_watch_events",
    "list_watches",
    "optimize_cart",
    "remove_cart_discount",
    "remove_cart_line",
    "replace_cart_lines",
    "rotate_watch_secret",
    "set_cart_address",
    "test_watch",
    "update_cart_line",
    "update_watch",
];

const PER_SECOND_MAX: u32 = 100_000;
const BURST: RangeInclusive<u32> = 1..=1_000_000;
const TIMEOUT_MS: RangeInclusive<u64> = 1..=5_000;
const ADDRESSES: RangeInclusive<usize> = 1_000..=10_000_000;
const USAGE_FLUSH_MS: RangeInclusive<u64> = 100..=600_000;

/// Invalid value. The message names the key, the fault and the allowed values, and contains no secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidConfig(pub(crate) String);

/// Request limits of one caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanLimits {
    /// Average number of requests per second; 0 for no limit.
    pub per_second: u32,
    /// Maximum number of requests without delay (burst).
    pub burst: u32,
    /// Maximum number of requests on one day of the market; 0 for no daily limit.
    pub per_day: u64,
}

/// Request limits of callers, and the store of the counters.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LimitsConfig {
    /// `redis://` or `rediss://` URL of a Valkey or Redis server that counts for several servers. If empty, each server
    /// counts on its own. The URL may contain a password and is never shown.
    pub url: String,
    /// PEM file with the certificates to trust for a `rediss://` server. If empty, those that this machine trusts are
    /// used.
    pub ca_file: String,
    /// Maximum wait for the shared server, in milliseconds. A request without a response by then is counted in this
    /// process.
    pub timeout_ms: u64,
    /// Maximum number of client networks that are counted separately.
    pub addresses_max: usize,
    /// Limits of each client network without a key.
    pub anonymous: PlanLimits,
    /// Limits of each key of the plan `free`, and of each signed-in account.
    pub free: PlanLimits,
    /// Limits of each key of the plan `granted`.
    pub granted: PlanLimits,
}

/// Settings of access: operations that need a key, and the counting of usage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AccessConfig {
    /// Ids of the operations that need a key or a session.
    pub keyed: BTreeSet<String>,
    /// Interval in milliseconds at which the usage of keys is written to the state.
    pub usage_flush_ms: u64,
}

impl Default for LimitsConfig {
    fn default() -> Self {
        Self {
            url: String::new(),
            ca_file: String::new(),
            timeout_ms: 50,
            addresses_max: 100_000,
            anonymous: PlanLimits {
                per_second: 5,
                burst: 20,
                per_day: 0,
            },
            free: PlanLimits {
                per_second: 20,
                burst: 60,
                per_day: 50_000,
            },
            granted: PlanLimits {
                per_second: 0,
                burst: 0,
                per_day: 0,
            },
        }
    }
}

impl Default for AccessConfig {
    fn default() -> Self {
        Self {
            keyed: KEYED.map(str::to_owned).into(),
            usage_flush_ms: 5_000,
        }
    }
}

impl fmt::Debug for LimitsConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LimitsConfig")
            .field("url", &if self.url.is_empty() { "" } else { "***" })
            .field("ca_file", &self.ca_file)
            .field("timeout_ms", &self.timeout_ms)
            .field("addresses_max", &self.addresses_max)
            .field("anonymous", &self.anonymous)
            .field("free", &self.free)
            .field("granted", &self.granted)
            .finish()
    }
}

fn within<T: PartialOrd + fmt::Display>(key: &str, value: T, range: &RangeInclusive<T>) -> Result<(), InvalidConfig> {
    if range.contains(&value) {
        return Ok(());
    }
    let (start, end) = (range.start(), range.end());
    Err(InvalidConfig(format!(
        "{key} must be between {start} and {end}, not {value}"
    )))
}

impl PlanLimits {
    fn check(&self, plan: &str) -> Result<(), InvalidConfig> {
        let Self {
            per_second,
            burst,
            per_day,
        } = *self;
        if per_second == 0 && per_day > 0 {
            return Err(InvalidConfig(format!(
                "limits.{plan}.per_day is {per_day}, but limits.{plan}.per_second is 0, which disables all limits: \
                 set per_second too"
            )));
        }
        within(&format!("limits.{plan}.per_second"), per_second, &(0..=PER_SECOND_MAX))?;
        if per_second > 0 {
            within(&format!("limits.{plan}.burst"), burst, &BURST)?;
        }
        Ok(())
    }
}

impl LimitsConfig {
    /// Checks all values except `limits.url`, which is checked when the connection opens.
    ///
    /// # Errors
    /// Returns an [`InvalidConfig`] for the first invalid value.
    pub fn check(&self) -> Result<(), InvalidConfig> {
        within("limits.timeout_ms", self.timeout_ms, &TIMEOUT_MS)?;
        within("limits.addresses_max", self.addresses_max, &ADDRESSES)?;
        self.anonymous.check("anonymous")?;
        self.free.check("free")?;
        self.granted.check("granted")
    }
}

impl AccessConfig {
    /// Checks all values.
    ///
    /// # Errors
    /// Returns an [`InvalidConfig`] for the first invalid value.
    pub fn check(&self) -> Result<(), InvalidConfig> {
        let is_id = |id: &str| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        if let Some(id) = self.keyed.iter().find(|id| !is_id(id)) {
            return Err(InvalidConfig(format!(
                "access.keyed must contain ids of operations, such as get_me; {id:?} is not one"
            )));
        }
        within("access.usage_flush_ms", self.usage_flush_ms, &USAGE_FLUSH_MS)
    }
}
