use axum::body::Body;
use axum::extract::{FromRequest, Request};
use data_model::ErrorCode;
use http::{HeaderMap, header};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde_json::{Map, Value};

use crate::{Location, Problem, Rule, Violation};

/// Size limit of request bodies, which the edge adds to each request for extractors.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BodyLimit(pub(crate) usize);

impl BodyLimit {
    pub(crate) const DEFAULT: usize = 256 * 1024;
}

/// The verbatim body of a request with a JSON media type. Rejects another media type with 415 and a too large body with
/// 413. An empty body is accepted with any media type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonText(pub bytes::Bytes);

impl<S: Send + Sync> FromRequest<S> for JsonText {
    type Rejection = Problem;

    async fn from_request(request: Request, _state: &S) -> Result<Self, Problem> {
        let (is_json, is_stated) = (
            is_json(request.headers()),
            request.headers().contains_key(header::CONTENT_TYPE),
        );
        // The bytes of a compressed body are not JSON.
        let is_packed = request.headers().contains_key(header::CONTENT_ENCODING);
        if is_packed {
            let detail = "The body is compressed (Content-Encoding): send it uncompressed.";
            return Err(Problem::new(ErrorCode::UnsupportedMediaType).detail(detail));
        }
        if is_stated && !is_json {
            return Err(Problem::new(ErrorCode::UnsupportedMediaType));
        }
        let bytes_max = bytes_max(&request);
        let bytes = read(request.into_body(), bytes_max).await?;
        // An empty body counts as missing, not as a wrong media type.
        if !is_stated && !bytes.is_empty() {
            return Err(Problem::new(ErrorCode::UnsupportedMediaType));
        }
        Ok(Self(bytes))
    }
}

/// The verbatim body of a request of any media type. Rejects a too large body with 413.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BodyBytes(pub bytes::Bytes);

impl<S: Send + Sync> FromRequest<S> for BodyBytes {
    type Rejection = Problem;

    async fn from_request(request: Request, _state: &S) -> Result<Self, Problem> {
        let bytes_max = bytes_max(&request);
        read(request.into_body(), bytes_max).await.map(Self)
    }
}

fn bytes_max(request: &Request) -> usize {
    let limit = request.extensions().get::<BodyLimit>();
    limit.map_or(BodyLimit::DEFAULT, |limit| limit.0)
}

/// The JSON object in a request body. Rejects another media type with 415, a too large body with 413, and a body that
/// is not a JSON object with 422.
#[derive(Debug, Clone, PartialEq)]
pub struct JsonObject(pub Map<String, Value>);

impl<S: Send + Sync> FromRequest<S> for JsonObject {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let JsonText(bytes) = JsonText::from_request(request, state).await?;
        parse(&bytes).map(Self)
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let stated = headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let essence = stated.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    essence == "application/json" || (essence.starts_with("application/") && essence.ends_with("+json"))
}

async fn read(body: Body, bytes_max: usize) -> Result<bytes::Bytes, Problem> {
    match Limited::new(body, bytes_max).collect().await {
        Ok(whole) => Ok(whole.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(too_large(bytes_max)),
        // The client disconnected, so nobody reads this response.
        Err(_) => Err(Problem::new(ErrorCode::MalformedJson).detail("The body ended early.")),
    }
}

/// Returns the problem for a body larger than `bytes_max`, with or without a stated length.
pub(crate) fn too_large(bytes_max: usize) -> Problem {
    let detail = format!("The body is too large: it may have at most {bytes_max} bytes.");
    Problem::new(ErrorCode::PayloadTooLarge).detail(detail)
}

fn parse(bytes: &[u8]) -> Result<Map<String, Value>, Problem> {
    let at = |below: Option<Location>| std::iter::once(Location::from("body")).chain(below).collect::<Vec<_>>();
    if bytes.trim_ascii().is_empty() {
        return Err(Problem::invalid(vec![Violation::new(
            at(None),
            &Rule::Missing,
            Some(Value::Null),
        )]));
    }
    match serde_json::from_slice(bytes) {
        Ok(Value::Object(members)) => Ok(members),
        // The value is not echoed, because a text or list instead of the object may contain secrets.
        Ok(_) => Err(Problem::invalid(vec![Violation::new(at(None), &Rule::DictType, None)])),
        Err(error) => {
            let line_start = bytes.split(|byte| *byte == b'\n').take(error.line().saturating_sub(1));
            let position = line_start.map(|line| line.len() + 1).sum::<usize>() + error.column().saturating_sub(1);
            let rule = Rule::BodyInvalid(error.to_string());
            let input = Some(Value::Object(Map::new()));
            Err(Problem::malformed_json(Violation::new(
                at(Some(position.into())),
                &rule,
                input,
            )))
        }
    }
}
