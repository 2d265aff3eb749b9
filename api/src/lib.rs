//! HTTP code shared by all servers of haat.
//!
//! Input: requests, and the decisions of handlers. Output: the response envelope, problem documents with a request id,
//! and 422 bodies that list every fault of a request. The crate also has entity tags and 304, compression, load
//! shedding, access checks and rate limits, metrics, and the server loop. The crate knows nothing of products, brands
//! or prices.

mod access;
mod address_ranges;
mod answer;
mod body;
mod compress;
mod drain_state;
mod edge;
mod etag;
#[cfg(feature = "otlp")]
mod export;
mod log_throttle;
mod openapi;
mod operations;
mod origin_policy;
mod parameters;
mod problem;
mod request_id;
mod serve;
mod telemetry;
mod telemetry_error;
mod trace_config;
mod traces;
mod violation;

/// Style sheet that every page of haat includes first: colours, fonts, fields, buttons and the header.
pub const BASE_STYLE: &str = include_str!("../page/base.css");

pub use access::{
    Allowance, Caller, CallerId, ClientNetwork, Credential, ForwardedHeader, Guard, Identify, KnownCaller, Limit,
    Meter, NoCredentials, NotTaken, Operations, Outcome, Prompt, SESSION_COOKIE, Tries, TryKey, Verdict, Via,
};
pub use address_ranges::{AddressRangeError, AddressRanges};
pub use answer::{Asset, CacheRule, Envelope, GraphAnswer, LiveAnswer, Tier, json};
pub use body::{BodyBytes, JsonObject, JsonText};
pub use drain_state::DrainState;
pub use edge::{AnswerBy, Edge, EdgeConfig, EdgeRouter, OpenRouter, described};
pub use etag::{EntityTag, if_none_match};
#[cfg(feature = "otlp")]
pub use export::Traces;
pub use log_throttle::LogThrottle;
pub use openapi::{
    GraphErrors, LiveErrors, LocationDocument, MethodError, ProblemDocument, ValidationDocument, ViolationDocument,
};
pub use operations::{
    Asker, CallOperation, LocalOperations, OperationAnswer, OperationCall, RemoteError, RemoteOperations,
};
pub use origin_policy::OriginPolicy;
pub use parameters::{
    Field, IgnoredParameter, Members, MembersReader, ParameterReader, ParameterSource, PathParameters, QueryReader,
    QueryString, parse_boolean, parse_integer, product_ident,
};
pub use problem::{Problem, ProblemForm};
pub use request_id::RequestId;
pub use serve::{ServeError, ServerConfig, serve};
#[cfg(not(feature = "otlp"))]
pub use telemetry::Traces;
pub use telemetry::{LogFormat, TraceCollector, init_logs, install_metrics, metrics_answer, run_metrics_upkeep};
pub use telemetry_error::TelemetryError;
pub use trace_config::TraceConfig;
pub use violation::{Location, Rule, Violation};

/// Header with the idempotency key, under which a request is executed only once.
pub const IDEMPOTENCY_KEY: http::HeaderName = http::HeaderName::from_static("idempotency-key");
