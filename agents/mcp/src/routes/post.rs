use std::convert::Infallible;

use api::{Asker, JsonText, Problem};
use axum::body::Body;
use axum::extract::{FromRequest, FromRequestParts, Request, State};
use axum::response::Response;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};

use super::empty;
use super::schema::{McpAnswered, McpBody};
use crate::protocol::accept::{Accept, Form};
use crate::protocol::gate::{Head, SentHeader};
use crate::server::{Mcp, Reply};

const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
const ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// Offers the Model Context Protocol: tools for agents.
///
/// The body is one JSON-RPC 2.0 message or a batch of messages. `tools/list` lists the tools; `tools/call` takes `name`
/// and `arguments`. Tools return the same results as the corresponding operations, as `structuredContent` and as text.
/// An error in a tool is a result with `isError` and the problem document as text. All revisions from 2024-11-05 to
/// 2026-07-28 are supported: those with `initialize`, and the one in which each request contains all of its metadata.
/// There are no sessions: `Mcp-Session-Id` is ignored, and `DELETE` returns 405. The response is JSON, or an event
/// stream if `Accept` excludes JSON.
///
/// Each request of a batch counts as one towards the caller's limit. Notifications return 202 without a body.
#[utoipa::path(
    post,
    path = "/v1/mcp",
    operation_id = "call_mcp",
    tag = "Agents",
    request_body(content = McpBody, content_type = "application/json"),
    responses(McpAnswered)
)]
pub(crate) async fn call_mcp(State(mcp): State<Mcp>, request: Request) -> Result<Response, Problem> {
    answered(&mcp, request).await
}

pub(super) async fn answered(mcp: &Mcp, request: Request) -> Result<Response, Problem> {
    mcp.0.origin_policy.check(&request)?;
    let (mut parts, body) = request.into_parts();
    let Ok(asker) = Asker::from_request_parts(&mut parts, &()).await as Result<_, Infallible>;
    let headers = parts.headers.clone();
    let JsonText(body) = JsonText::from_request(Request::from_parts(parts, body), &()).await?;
    let head = head(&headers);
    // The future is boxed because a tool's future may be large.
    let reply = Box::pin(mcp.reply(&head, &asker, &body)).await;
    Ok(written(reply, accept(&headers).form()))
}

/// Reads the headers that describe the message.
pub(super) fn head(headers: &HeaderMap) -> Head<'_> {
    let sent = |name: HeaderName| {
        let mut values = headers.get_all(name).into_iter();
        match (values.next(), values.next()) {
            (None, _) => SentHeader::Nothing,
            (Some(value), None) => value
                .to_str()
                .map_or(SentHeader::Unreadable, |text| SentHeader::Text(text.trim())),
            (Some(_), Some(_)) => SentHeader::Unreadable,
        }
    };
    Head {
        version: sent(VERSION),
        method: sent(METHOD),
        name: sent(NAME),
    }
}

pub(super) fn accept(headers: &HeaderMap) -> Accept {
    let lines = headers.get_all(header::ACCEPT).into_iter();
    Accept::of(lines.filter_map(|line| line.to_str().ok()))
}

/// Returns an event stream, with headers that prevent caching and proxy buffering.
pub(super) fn event_stream(body: Body) -> Response {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(ACCEL_BUFFERING, HeaderValue::from_static("no"));
    response
}

fn written(reply: Reply, form: Form) -> Response {
    match (reply, form) {
        (Reply::Taken, _) => empty(StatusCode::ACCEPTED),
        // Each message is an event of its own, because clients of later revisions do not accept arrays.
        (Reply::One(200, message), Form::EventStream) => event_stream(event(&message).into()),
        (Reply::Many(messages), Form::EventStream) => {
            event_stream(messages.iter().map(|message| event(message)).collect::<String>().into())
        }
        (Reply::One(status, message), _) => json(status, message),
        (Reply::Many(messages), Form::Json) => json(200, ["[", &messages.join(","), "]"].concat()),
    }
}

/// Formats a message, which must be one line, as an event.
fn event(message: &str) -> String {
    ["event: message\ndata: ", message, "\n\n"].concat()
}

fn json(status: u16, body: String) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if status == 401 {
        let challenge = HeaderValue::from_static("Bearer realm=\"haat\"");
        headers.insert(header::WWW_AUTHENTICATE, challenge);
    }
    response
}
