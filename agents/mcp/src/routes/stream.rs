use std::sync::Arc;
use std::time::Duration;

use api::{LiveErrors, Problem};
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use data_model::ErrorCode;
use http::{HeaderValue, header};

use super::post::{accept, event_stream, head};
use crate::heartbeat::heartbeat;
use crate::server::Mcp;

/// For how long somebody is told who takes anything and did not name event streams: a browser's tab, say.
const UNASKED: Duration = Duration::from_secs(5);

/// A stream that only tells that the server is there.
///
/// The server sends no messages of its own accord: comments alone keep the stream open, and it ends when the server stops.
/// Revisions without `initialize` have no such stream and are answered 405, as is whoever takes no event stream. Who does
/// not name `text/event-stream` in `Accept` is told for a few seconds.
#[utoipa::path(
    get,
    path = "/v1/mcp",
    operation_id = "open_mcp_stream",
    tag = "Agents",
    responses(
        (status = 200, description = "Comments, now and then.", content((String = "text/event-stream")), headers(("X-Request-Id" = String))),
        (status = 403, description = "A page of an origin that may not ask, or a name that is not this server's.",
            body = api::ProblemDocument, content_type = "application/problem+json", headers(("X-Request-Id" = String))),
        LiveErrors,
    )
)]
pub(crate) async fn open_mcp_stream(State(mcp): State<Mcp>, request: Request) -> Result<Response, Problem> {
    mcp.0.doorman.check(&request)?;
    let accept = accept(request.headers());
    if head(request.headers()).is_modern() || !accept.takes_event_stream() {
        let problem = Problem::new(ErrorCode::MethodNotAllowed).detail("There is no event stream for this client.");
        return Err(problem.header(header::ALLOW, HeaderValue::from_static("POST")));
    }
    let place = Arc::clone(&mcp.0.streams).try_acquire_owned();
    let place = place.map_err(|_| Problem::new(ErrorCode::Overloaded).detail("Too many streams are open."))?;
    let lifetime = (!accept.names_event_stream()).then_some(UNASKED);
    let pause = Duration::from_millis(mcp.0.config.heartbeat_ms);
    Ok(event_stream(Body::from_stream(heartbeat(
        pause,
        lifetime,
        mcp.0.stop.clone(),
        place,
    ))))
}
