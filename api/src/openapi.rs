use std::collections::BTreeMap;

use data_model::ErrorCode;
use serde::{Deserialize, Serialize};
use utoipa::openapi::content::ContentBuilder;
use utoipa::openapi::header::HeaderBuilder;
use utoipa::openapi::response::{Response, ResponseBuilder};
use utoipa::openapi::schema::{ComponentsBuilder, ObjectBuilder, Type};
use utoipa::openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{Components, Ref, RefOr, Schema};
use utoipa::{IntoResponses, PartialSchema, ToSchema};

/// The body of every error except 422 (RFC 9457).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = Problem)]
pub struct ProblemDocument {
    /// URI of the kind of problem: `urn:haat:problem:` followed by the code.
    #[serde(rename = "type")]
    #[schema(format = "uri")]
    pub kind: String,
    /// Title of the kind of problem, the same for every occurrence.
    pub title: String,
    /// The HTTP status code.
    pub status: u16,
    /// Explanation of this occurrence.
    pub detail: String,
    /// Error code from a closed list.
    #[schema(schema_with = problem_code)]
    pub code: String,
    /// Id of the request, as in the header `X-Request-Id`.
    pub request_id: String,
}

fn problem_code() -> Schema {
    one_of(ErrorCode::ALL, "The kind of problem.")
}

fn validation_code() -> Schema {
    let codes = [
        ErrorCode::Validation,
        ErrorCode::MalformedJson,
        ErrorCode::CursorExpired,
        ErrorCode::IdempotencyMismatch,
        ErrorCode::StoreRejected,
    ];
    one_of(
        &codes,
        "`malformed_json`: the body is not valid JSON. `cursor_expired`: the cursor belongs to another release. \
         `idempotency_mismatch`: the key was used with a different request. `store_rejected`: a store refuses the \
         request.",
    )
}

fn one_of(codes: &[ErrorCode], description: &str) -> Schema {
    let codes = codes.iter().map(|code| code.as_str());
    let text = ObjectBuilder::new()
        .schema_type(Type::String)
        .enum_values(Some(codes))
        .description(Some(description));
    Schema::Object(text.build())
}

/// All validation errors of a request, not only the first error.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = ValidationProblem)]
pub struct ValidationDocument {
    /// The list of validation errors.
    pub detail: Vec<ViolationDocument>,
    /// The error code.
    #[schema(schema_with = validation_code)]
    pub code: String,
    /// Id of the request, as in the header `X-Request-Id`.
    pub request_id: String,
}

/// One validation error.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = Violation)]
pub struct ViolationDocument {
    /// Path to the invalid value; begins with `query`, `path`, `header` or `body`.
    #[schema(value_type = Vec<LocationDocument>)]
    pub loc: Vec<serde_json::Value>,
    /// Message for people.
    pub msg: String,
    /// Error type for programs: `missing`, `int_parsing`, `less_than_equal`, `enum`, …
    #[serde(rename = "type")]
    pub kind: String,
    /// The value as sent, of any JSON type, truncated if long; absent if possibly secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = serde_json::Value, required = false)]
    pub input: Option<serde_json::Value>,
    /// The limits that the value violates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Object, required = false)]
    pub ctx: Option<serde_json::Value>,
}

/// A step of a path: a name or an index.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = Location)]
#[serde(untagged)]
pub enum LocationDocument {
    /// The name of a field or parameter.
    Name(String),
    /// An index in a list.
    Index(u64),
}

pub(crate) fn common_components() -> Components {
    let text = || ObjectBuilder::new().schema_type(Type::String).build();
    let whole = || ObjectBuilder::new().schema_type(Type::Integer).build();
    let header = |schema, description: &str| HeaderBuilder::new().schema(Some(schema)).description(Some(description));
    ComponentsBuilder::new()
        .schema("Problem", ProblemDocument::schema())
        .schema("ValidationProblem", ValidationDocument::schema())
        .schema("Violation", ViolationDocument::schema())
        .schema("Location", LocationDocument::schema())
        .header(
            "RequestId",
            header(
                text(),
                "The client's own X-Request-Id if it sent a valid one, otherwise a new UUID.",
            )
            .build(),
        )
        .header(
            "ETag",
            header(
                text(),
                "Depends on the release and the request. Send it back as If-None-Match.",
            )
            .build(),
        )
        .header("RetryAfter", header(whole(), "Seconds to wait.").build())
        .header("Allow", header(text(), "The methods that the path accepts.").build())
        .security_scheme(
            "ServiceKey",
            SecurityScheme::ApiKey(ApiKey::Header(ApiKeyValue::new("X-Service-Key"))),
        )
        .security_scheme(
            "Bearer",
            SecurityScheme::Http(HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build()),
        )
        .security_scheme(
            "Session",
            SecurityScheme::ApiKey(ApiKey::Cookie(ApiKeyValue::new(crate::SESSION_COOKIE))),
        )
        .build()
}

fn described(description: &str) -> ResponseBuilder {
    ResponseBuilder::new()
        .description(description)
        .header_ref("X-Request-Id", Ref::new("#/components/headers/RequestId"))
}

pub(crate) fn problem(description: &str) -> ResponseBuilder {
    let body = ContentBuilder::new()
        .schema(Some(Ref::from_schema_name("Problem")))
        .build();
    described(description).content("application/problem+json", body)
}

fn validation(description: &str) -> ResponseBuilder {
    let body = ContentBuilder::new()
        .schema(Some(Ref::from_schema_name("ValidationProblem")))
        .build();
    described(description).content("application/json", body)
}

fn not_allowed() -> ResponseBuilder {
    problem("The path does not accept this method.").header_ref("Allow", Ref::new("#/components/headers/Allow"))
}

/// The response to an unsupported method, for operations with hardly any other error.
#[derive(Debug, Clone, Copy)]
pub struct MethodError;

impl IntoResponses for MethodError {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        BTreeMap::from([("405".to_owned(), RefOr::T(not_allowed().build()))])
    }
}

/// Returns the error responses that every operation of both tiers has.
fn common_errors() -> BTreeMap<&'static str, ResponseBuilder> {
    let retry =
        |response: ResponseBuilder| response.header_ref("Retry-After", Ref::new("#/components/headers/RetryAfter"));
    BTreeMap::from([
        ("401", problem("The key of the request is not valid.")),
        ("405", not_allowed()),
        ("408", problem("The body did not arrive in time.")),
        (
            "413",
            problem("The body is too large. `detail` states the maximum size."),
        ),
        (
            "414",
            problem("The URI is too long. `detail` states the maximum length."),
        ),
        ("422", validation("The request is not valid.")),
        ("429", retry(problem("Too many requests."))),
        (
            "431",
            described("The request line and headers are larger than the server accepts. The response has no body."),
        ),
        ("500", problem("Something went wrong on our side.")),
        (
            "503",
            retry(problem("No release is open yet, or the server is overloaded.")),
        ),
    ])
}

fn documented(responses: BTreeMap<&'static str, ResponseBuilder>) -> BTreeMap<String, RefOr<Response>> {
    responses
        .into_iter()
        .map(|(status, response)| (status.to_owned(), RefOr::T(response.build())))
        .collect()
}

/// The error responses of every reading operation of the graph tier, except 404.
#[derive(Debug, Clone, Copy)]
pub struct GraphErrors;

impl IntoResponses for GraphErrors {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        let not_modified =
            described("The client's copy is still current.").header_ref("ETag", Ref::new("#/components/headers/ETag"));
        let mut errors = common_errors();
        errors.insert("304", not_modified);
        documented(errors)
    }
}

/// The error responses of every operation of the live tier, except 404. There is no 304, because nothing is cached.
#[derive(Debug, Clone, Copy)]
pub struct LiveErrors;

impl IntoResponses for LiveErrors {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        let media_type = problem("The media type of the body is not JSON.");
        let mut errors = common_errors();
        errors.insert("415", media_type);
        documented(errors)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_live_tier_is_described_without_304_and_with_415() {
        let statuses = |responses: std::collections::BTreeMap<String, _>| responses.into_keys().collect::<Vec<_>>();
        assert_eq!(
            statuses(LiveErrors::responses()),
            [
                "401", "405", "408", "413", "414", "415", "422", "429", "431", "500", "503"
            ]
        );
        assert_eq!(
            statuses(GraphErrors::responses()),
            [
                "304", "401", "405", "408", "413", "414", "422", "429", "431", "500", "503"
            ]
        );
    }
}
