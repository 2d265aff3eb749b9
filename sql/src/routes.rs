//! HTTP endpoints of the crate, which read the caller and the statement, run the statement and write the answer.

use api::{Asker, JsonObject, LiveErrors, MembersReader, OpenRouter, Problem, ProblemDocument, Rule, described};
use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use data_model::{Classify, ErrorCode};
use futures::TryStreamExt;
use http::{HeaderMap, HeaderValue, Uri, header};
use serde_json::Value;
use utoipa::ToSchema;
use utoipa::openapi::OpenApi;
use utoipa::openapi::schema::{ObjectBuilder, OneOfBuilder, Schema, Type};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::SqlError;
use crate::door::Door;
use crate::encode::{Chunks, Format};
use crate::engine::Question;
use crate::watch::Watch;

/// Maximum length of a statement in the request body, in characters. The limit for planning is lower.
const STATEMENT_CHARS_MAX: usize = 65_536;
const MOMENT_CHARS_MAX: usize = 64;
/// Known keys of the request body.
const MEMBERS: [&str; 2] = ["sql", "as_of"];
const UNKNOWN_MAX: usize = 10;

/// Request body of `POST /v1/sql`.
#[derive(Debug, Clone, PartialEq, Eq, ToSchema)]
pub struct SqlBody {
    /// One read-only statement: `select`, `with`, `values`, `explain`, `show`, `describe`.
    #[schema(max_length = 65536)]
    pub sql: String,
    /// Point in time of the tables to read: an RFC 3339 timestamp or a tick number (string or integer). Only available
    /// if the server keeps past states.
    #[schema(required = false, schema_with = moment)]
    pub as_of: Option<String>,
}

/// Returns the schema of `as_of`: a string or an integer.
fn moment() -> Schema {
    let text = ObjectBuilder::new()
        .schema_type(Type::String)
        .max_length(Some(MOMENT_CHARS_MAX));
    let tick = ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(0));
    OneOfBuilder::new()
        .item(text)
        .item(tick)
        .item(ObjectBuilder::new().schema_type(Type::Null))
        .build()
        .into()
}

/// Column of an answer.
#[derive(Debug, Clone, PartialEq, Eq, ToSchema)]
pub struct SqlColumn {
    /// Column name.
    pub name: String,
    /// Arrow data type of the column.
    #[schema(rename = "type")]
    pub kind: String,
    /// True if the column may contain nulls.
    pub nullable: bool,
    /// Description of the column; null if the statement computes the column.
    #[schema(required = true)]
    pub comment: Option<String>,
}

/// Origin of the data in an answer.
#[derive(Debug, Clone, PartialEq, Eq, ToSchema)]
pub struct SqlProvenance {
    /// Always `sql`.
    pub engine: String,
    /// Id of the release, or tick of the lake, that the statement read.
    pub source: String,
}

/// Answer to a statement in JSON format.
#[derive(Debug, Clone, PartialEq, ToSchema)]
pub struct SqlAnswer {
    /// Columns of the answer, in order.
    pub columns: Vec<SqlColumn>,
    /// Rows of the answer, each an object with a key for every column.
    #[schema(value_type = Vec<Object>)]
    pub data: Vec<serde_json::Value>,
    /// Origin of the rows.
    pub provenance: SqlProvenance,
    /// Always `graph`.
    pub tier: String,
}

fn operations() -> OpenApiRouter<Door> {
    described("Runs SQL statements that read data.").routes(routes!(run_sql))
}

/// Returns the OpenAPI description of `POST /v1/sql`.
#[must_use]
pub fn openapi() -> OpenApi {
    operations().into_openapi()
}

/// Creates the router with `POST /v1/sql`.
#[must_use]
pub fn open_router(door: Door) -> OpenRouter {
    OpenRouter::of(operations(), door)
}

/// Creates the router for Arrow Flight SQL. The protocol uses gRPC, so the listener must support HTTP/2.
#[cfg(feature = "flight")]
#[must_use]
pub fn flight_router(door: Door) -> OpenRouter {
    use crate::flight;
    let router = axum::Router::new().route(flight::PATTERN, axum::routing::post(flight::call).with_state(door));
    OpenRouter::new(router, [flight::PATTERN])
}

/// Runs a read-only statement.
///
/// The answer is complete, or the connection is closed early: closing the connection is the only way to report an error
/// after the first rows. The `Accept` header selects `application/json` (the default),
/// `application/vnd.apache.arrow.stream` or `text/csv`. A statement that cannot be run gets a 422 with a `reason`.
/// `refused` means that the statement does more than read or is too large. `invalid` means that the statement cannot be
/// parsed, planned or evaluated. `memory`, `disk`, `time` and `rows` mean that the statement exceeds a limit, which
/// `detail` names. `as_of` means that the requested point in time is not available. If too many other statements are
/// running, the answer is 503 `overloaded`.
#[utoipa::path(
    post,
    path = "/v1/sql",
    operation_id = "run_sql",
    tag = "Platform",
    request_body(content = SqlBody, content_type = "application/json"),
    responses(
        (status = 200, description = "The rows.", content(
            (SqlAnswer = "application/json"),
            (String = "text/csv"),
            (Vec<u8> = "application/vnd.apache.arrow.stream"),
        ), headers(("X-Request-Id" = String))),
        LiveErrors,
        (status = 403, description = "The key has no permission to send statements.", body = ProblemDocument,
            content_type = "application/problem+json", headers(("X-Request-Id" = String))),
    )
)]
async fn run_sql(
    State(door): State<Door>,
    asker: Asker,
    uri: Uri,
    headers: HeaderMap,
    body: JsonObject,
) -> Result<Response, Problem> {
    if let Some(origin_policy) = &door.origin_policy {
        origin_policy.check_names(&headers, uri.authority())?;
    }
    door.check(&asker).map_err(|error| problem(&error))?;
    let question = question(&body)?;
    let format = Format::accepted(&headers);
    let answered = answer(&door, question, format, door.watch(&headers)).await;
    answered.map_err(|error| problem(&error))
}

fn question(body: &JsonObject) -> Result<Question, Problem> {
    let mut reader = MembersReader::new(body);
    let statement = reader.required("sql").parsed(|text| bounded(text, STATEMENT_CHARS_MAX));
    let as_of = match body.0.get("as_of") {
        Some(Value::Number(tick)) if tick.is_u64() => Some(tick.to_string()),
        _ => reader.optional("as_of").parsed(|text| bounded(text, MOMENT_CHARS_MAX)),
    };
    // Unknown keys are rejected, because a misspelt key would change the answer unnoticed.
    let unknown = body.0.keys().filter(|name| !MEMBERS.contains(&name.as_str()));
    for name in unknown.take(UNKNOWN_MAX) {
        let name: String = name.chars().take(MOMENT_CHARS_MAX).collect();
        reader.refuse(name, &Rule::ExtraForbidden(None), None);
    }
    let statement = reader.finish(statement)?;
    let statement = statement.ok_or_else(|| Problem::new(ErrorCode::Internal))?;
    Ok(Question { statement, as_of })
}

fn bounded(text: &str, chars_max: usize) -> Result<String, Rule> {
    match text.chars().count() {
        0 => Err(Rule::StringTooShort(1)),
        count if count > chars_max => Err(Rule::StringTooLong(chars_max)),
        _ => Ok(text.to_owned()),
    }
}

async fn answer(door: &Door, question: Question, format: Format, mut watch: Watch) -> Result<Response, SqlError> {
    let mut chunks = door.engine.query(question, format, door.timeout_ms).await?;
    // An error before the first rows can still be an HTTP problem.
    let first = watch.while_allowed(chunks.next()).await?;
    let rest = futures::stream::try_unfold((first, chunks, watch), next);
    let mut response = Response::new(Body::from_stream(rest.map_err(std::io::Error::other)));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(format.media_type()));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

type AnswerState = (Option<bytes::Bytes>, Chunks, Watch);

async fn next((first, mut chunks, mut watch): AnswerState) -> Result<Option<(bytes::Bytes, AnswerState)>, SqlError> {
    let chunk = match first {
        Some(first) => Some(first),
        None => watch.while_allowed(chunks.next()).await?,
    };
    Ok(chunk.map(|chunk| (chunk, (None, chunks, watch))))
}

fn problem(error: &SqlError) -> Problem {
    let problem = if error.code() == ErrorCode::Validation {
        let member = if error.reason() == "as_of" { "as_of" } else { "sql" };
        Problem::refused_at(error.code(), vec!["body".into(), member.into()], error.to_string())
    } else {
        Problem::of(error).detail(error.to_string())
    };
    let problem = problem.member("reason", error.reason());
    match error {
        SqlError::Anonymous => problem.header(
            header::WWW_AUTHENTICATE,
            HeaderValue::from_static("Bearer realm=\"haat\""),
        ),
        _ => problem,
    }
}
