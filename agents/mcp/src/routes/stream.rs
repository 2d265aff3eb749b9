use std::time::Duration;

use api::{ClientNetwork, LiveErrors, Problem};
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use data_model::ErrorCode;
use http::{HeaderValue, header};

use super::post::{accept, event_stream, head};
use crate::heartbeat::heartbeat;
use crate::server::Mcp;

/// Opens a stream that only shows that the server is alive.
///
/// The server never sends unsolicited messages; only comments keep the stream open. The stream ends after some time,
/// when the server stops, or when the same client network opens more streams than its share. Clients then open a new
/// stream. Revisions without `initialize` have no such stream and get 405, as do clients that do not accept event
/// streams.
#[utoipa::path(
    get,
    path = "/v1/mcp",
    operation_id = "open_mcp_stream",
    tag = "Agents",
    responses(
        (status = 200, description = "A stream of comments, sent at intervals to keep the connection open.",
            content((String = "text/event-stream")), headers(("X-Request-Id" = String))),
        (status = 403, description = "The origin may not send requests, or the host name is not one of this server's.",
            body = api::ProblemDocument, content_type = "application/problem+json", headers(("X-Request-Id" = String))),
        LiveErrors,
    )
)]
pub(crate) async fn open_mcp_stream(State(mcp): State<Mcp>, request: Request) -> Result<Response, Problem> {
    mcp.0.origin_policy.check(&request)?;
    let accept = accept(request.headers());
    if head(request.headers()).is_modern() || !accept.takes_event_stream() {
        let problem =
            Problem::new(ErrorCode::MethodNotAllowed).detail("This server offers no event stream to this client.");
        return Err(problem.header(header::ALLOW, HeaderValue::from_static("POST")));
    }
    let network = request.extensions().get::<ClientNetwork>().copied();
    let stream = mcp.0.streams.open(network, &mcp.0.stop);
    let pause = Duration::from_millis(mcp.0.config.heartbeat_ms);
    let lifetime = Duration::from_secs(mcp.0.config.stream_lifetime_s);
    Ok(event_stream(Body::from_stream(heartbeat(pause, lifetime, stream))))
}
