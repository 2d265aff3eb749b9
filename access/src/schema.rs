//! Response types of access operations.

use data_model::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

/// Number that represents "no limit" in fields that must be integers. The number is the largest signed 32-bit integer,
/// which every client can read. A value of 0 would make clients slow down.
pub const UNLIMITED: u32 = i32::MAX as u32;

/// Limits of the callers of one plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct AccessLimits {
    /// Average number of requests per second; 2147483647 if `unlimited`.
    #[schema(minimum = 1)]
    pub rate_limit_rps: u32,
    /// Maximum number of requests without delay (burst); 2147483647 if `unlimited`.
    #[schema(minimum = 1)]
    pub burst: u32,
    /// Maximum number of requests on one day of the market; null for no daily limit.
    #[schema(required = true)]
    pub daily_limit: Option<u64>,
    /// True if requests are not limited.
    pub unlimited: bool,
}

/// Plan with its limits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct AccessPlan {
    /// Name of the plan: `anonymous`, `free` or `granted`.
    pub name: &'static str,
    /// Description of the intended users.
    pub description: &'static str,
    /// True if the plan needs a key or a session.
    pub needs_key: bool,
    /// Request limits of the plan.
    #[serde(flatten)]
    pub limits: AccessLimits,
}

/// Way to get a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum KeyWay {
    /// Sign in at an OpenID provider and create a key.
    Provider,
    /// Sign in with a link that is sent by e-mail, and create a key.
    Mail,
    /// Ask the operator for a key or for a sign-in link.
    Operator,
}

/// Instructions for getting and sending a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct KeyHowTo {
    /// Path of the page on which a person signs in to get a key, relative to this server; null if there is none.
    #[schema(required = true, format = "uri-reference")]
    pub path: Option<&'static str>,
    /// Ways to get a key on this server; empty if the server does not accept keys.
    pub ways: Vec<KeyWay>,
    /// Human-readable instructions.
    pub description: String,
    /// Headers in which a key can be sent; one of them is enough.
    pub headers: [&'static str; 2],
}

/// Access policy of the server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct AccessPolicy {
    /// Available plans.
    pub plans: [AccessPlan; 3],
    /// Ids of the operations that need a key or a session. All other operations are open to everyone.
    pub keyed_operations: Vec<String>,
    /// Instructions for getting a key.
    pub get_a_key: KeyHowTo,
}

/// Limits of the caller, and the remaining requests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Quota {
    /// Plan of the caller: `anonymous`, `free` or `granted`.
    pub plan: &'static str,
    /// Request limits of the caller.
    #[serde(flatten)]
    pub limits: AccessLimits,
    /// Number of remaining requests today; null if there is no daily limit or the number is unknown.
    #[schema(required = true)]
    pub remaining_today: Option<u64>,
    /// Time at which the market's next day begins and the daily limit is reset; null if there is no daily limit.
    #[schema(required = true, value_type = Option<String>, format = DateTime)]
    pub resets_at: Option<Timestamp>,
    /// Human-readable summary of the quota.
    pub note: String,
}

/// Key of the request, without the key itself or anything that grants access.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct OwnKey {
    /// Id of the key.
    pub id: String,
    /// Name that the owner gave to the key.
    pub name: String,
    /// Plan of the key: `free` or `granted`.
    pub plan: &'static str,
    /// Last four characters of the key.
    pub hint: String,
    /// Time at which the key was created.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// Time at which the key expires after a rotation; null if it does not expire.
    #[schema(required = true, value_type = Option<String>, format = DateTime)]
    pub ends_at: Option<Timestamp>,
}

/// Account that is signed in, or to which the key belongs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct OwnAccount {
    /// Id of the account.
    pub id: String,
    /// E-mail address that the sign-in provider last stated; null if it stated none.
    #[schema(required = true, format = Email)]
    pub email: Option<String>,
}

/// Way in which a caller is identified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum CallerKind {
    /// The caller sent a key.
    Key,
    /// The caller sent a session of the dashboard.
    Session,
}

/// Number of requests to one route.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct RouteUsage {
    /// Pattern of the route.
    pub route: String,
    /// Number of requests.
    pub requests: u64,
}

/// Requests on the market's current day, including this one. With a key they are those of the key; with a session,
/// those of all keys of the account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct UsageToday {
    /// The market's current day.
    #[schema(value_type = String, format = Date)]
    pub day: String,
    /// Number of requests.
    pub requests: u64,
    /// Number of requests by route.
    pub by_route: Vec<RouteUsage>,
}

/// Identity of the caller, and the caller's requests today.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Me {
    /// Way in which the caller is identified.
    pub kind: CallerKind,
    /// Key of the request; null for a session.
    #[schema(required = true)]
    pub key: Option<OwnKey>,
    /// Account of the caller; null for a key that belongs to no account.
    #[schema(required = true)]
    pub account: Option<OwnAccount>,
    /// Requests of today. Counts of other servers are added within seconds.
    pub usage_today: UsageToday,
    /// Request limits of the caller.
    pub limits: Quota,
}

/// Source of responses about access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct AccessProvenance {
    /// Engine of the response: always `access`.
    pub engine: &'static str,
}

macro_rules! answers {
    ($($(#[$about:meta])* $answer:ident of $data:ident;)*) => {$(
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
        pub struct $answer {
            /// Result of the operation.
            pub data: $data,
            /// Source of the response.
            pub provenance: AccessProvenance,
            /// Time at which the response was valid.
            #[schema(value_type = String, format = DateTime)]
            pub as_of: Timestamp,
            /// Tier of the response: always `live`.
            pub tier: &'static str,
        }

        impl $answer {
            pub(crate) const fn new(data: $data, as_of: Timestamp) -> Self {
                let provenance = AccessProvenance { engine: "access" };
                Self { data, provenance, as_of, tier: "live" }
            }
        }
    )*};
}

answers! {
    /// Answer of `GET /v1/plans`.
    PlansAnswer of AccessPolicy;
    /// Answer of `GET /v1/quota`.
    QuotaAnswer of Quota;
    /// Answer of `GET /v1/me`.
    MeAnswer of Me;
}
