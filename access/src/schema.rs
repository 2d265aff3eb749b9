//! The shapes of the answers.

use data_model::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

/// The number that means "no limit" where the contract needs an integer: the largest that every client reads. Clients
/// that pace themselves by it do not slow down, which they would by 0.
pub const UNLIMITED: u32 = i32::MAX as u32;

/// The limits of callers of one plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct AccessLimits {
    /// Requests a second in the long run; 2147483647 where `unlimited`.
    #[schema(minimum = 1)]
    pub rate_limit_rps: u32,
    /// Requests at once; 2147483647 where `unlimited`.
    #[schema(minimum = 1)]
    pub burst: u32,
    /// Requests on one of the market's days; null: no daily limit.
    #[schema(required = true)]
    pub daily_limit: Option<u64>,
    /// True where nothing is limited.
    pub unlimited: bool,
}

/// One plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct AccessPlan {
    /// `anonymous`, `free` or `granted`.
    pub name: &'static str,
    /// The people whom it is for.
    pub description: &'static str,
    /// True where it needs a key or a session.
    pub needs_key: bool,
    /// The limits of the plan.
    #[serde(flatten)]
    pub limits: AccessLimits,
}

/// A way to get a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum KeyWay {
    /// To sign in at an OpenID provider, and make one.
    Provider,
    /// To sign in with a link that is sent by e-mail, and make one.
    Mail,
    /// To ask the operator for one, or for a link to sign in with.
    Operator,
}

/// The way to get a key and to send it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct KeyHowTo {
    /// The page where a person signs in for a key, relative to this server; null where there is none.
    #[schema(required = true, format = "uri-reference")]
    pub path: Option<&'static str>,
    /// The ways that work on this server; empty where it takes no keys.
    pub ways: Vec<KeyWay>,
    /// Instructions for people.
    pub description: String,
    /// The headers that a key is sent in: either.
    pub headers: [&'static str; 2],
}

/// The access policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct AccessPolicy {
    /// The plans.
    pub plans: [AccessPlan; 3],
    /// Ids of the operations that need a key or a session; all others answer anybody.
    pub keyed_operations: Vec<String>,
    /// The way to get a key.
    pub get_a_key: KeyHowTo,
}

/// The limits of the caller, and the rest of each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Quota {
    /// The caller's plan: `anonymous`, `free` or `granted`.
    pub plan: &'static str,
    /// The limits of the caller.
    #[serde(flatten)]
    pub limits: AccessLimits,
    /// Requests left today; null where there is no daily limit, or where it is not known.
    #[schema(required = true)]
    pub remaining_today: Option<u64>,
    /// When the next of the market's days begins, and with it the daily limit; null where there is none.
    #[schema(required = true, value_type = Option<String>, format = DateTime)]
    pub resets_at: Option<Timestamp>,
    /// The same, for people.
    pub note: String,
}

/// The key that a request was sent with; neither the key nor anything that opens a door.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct OwnKey {
    /// Names it.
    pub id: String,
    /// The name that its owner gave it.
    pub name: String,
    /// `free` or `granted`.
    pub plan: &'static str,
    /// Its last four characters.
    pub hint: String,
    /// When it was made.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When it ends after a rotation; null where it does not.
    #[schema(required = true, value_type = Option<String>, format = DateTime)]
    pub ends_at: Option<Timestamp>,
}

/// The account that is signed in, or that a key belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct OwnAccount {
    /// Names it.
    pub id: String,
    /// The address that its provider last stated; null where it stated none.
    #[schema(required = true, format = Email)]
    pub email: Option<String>,
}

/// The way in which a caller is identified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum CallerKind {
    /// By a key.
    Key,
    /// By a session of the dashboard.
    Session,
}

/// Requests to one route.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct RouteUsage {
    /// The route's pattern.
    pub route: String,
    /// The number of requests.
    pub requests: u64,
}

/// Requests on the market's day, the one that asks included: of the key, or for a session of all keys of the account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct UsageToday {
    /// The market's day.
    #[schema(value_type = String, format = Date)]
    pub day: String,
    /// The number of requests.
    pub requests: u64,
    /// The number of requests to each route.
    pub by_route: Vec<RouteUsage>,
}

/// The caller, and their requests today.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Me {
    /// The way in which the caller is identified.
    pub kind: CallerKind,
    /// The key; null for a session.
    #[schema(required = true)]
    pub key: Option<OwnKey>,
    /// The account; null for a key that belongs to none.
    #[schema(required = true)]
    pub account: Option<OwnAccount>,
    /// Requests of today. Other servers add their counts within seconds.
    pub usage_today: UsageToday,
    /// The limits of the caller.
    pub limits: Quota,
}

/// The source of these answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct AccessProvenance {
    /// Always `access`.
    pub engine: &'static str,
}

macro_rules! answers {
    ($($(#[$about:meta])* $answer:ident of $data:ident;)*) => {$(
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
        pub struct $answer {
            /// The result.
            pub data: $data,
            /// The source of the answer.
            pub provenance: AccessProvenance,
            /// When it was so.
            #[schema(value_type = String, format = DateTime)]
            pub as_of: Timestamp,
            /// Always `live`.
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
    /// The answer of `GET /v1/plans`.
    PlansAnswer of AccessPolicy;
    /// The answer of `GET /v1/quota`.
    QuotaAnswer of Quota;
    /// The answer of `GET /v1/me`.
    MeAnswer of Me;
}
