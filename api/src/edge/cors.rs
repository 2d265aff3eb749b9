use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};

use crate::access::RouteAccess;

const ANY: HeaderValue = HeaderValue::from_static("*");
/// Headers of an answer that a page's script may read, besides those that every script may.
const EXPOSED: HeaderValue =
    HeaderValue::from_static("etag, x-request-id, ratelimit, ratelimit-policy, retry-after, www-authenticate");
/// Headers that a page's script may send.
const SENT: HeaderValue = HeaderValue::from_static(
    "accept, authorization, content-type, idempotency-key, if-none-match, last-event-id, mcp-method, mcp-name, \
     mcp-protocol-version, mcp-session-id, x-request-id, x-service-key",
);
const READS: HeaderValue = HeaderValue::from_static("GET, HEAD, OPTIONS");
const READS_BY_POST: HeaderValue = HeaderValue::from_static("GET, HEAD, POST, OPTIONS");
const ALL: HeaderValue = HeaderValue::from_static("GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS");
/// The time for which a browser remembers that it may ask, in seconds: as long as any browser does.
const REMEMBERED_S: HeaderValue = HeaderValue::from_static("7200");

/// The pages of other origins that may read an answer (the Fetch standard, "CORS protocol").
///
/// Stored data that anybody may read is for pages of any origin; all else for those that the operator names. Cookies are
/// never sent along: a page elsewhere asks with a key.
#[derive(Debug)]
pub(super) enum Cors {
    /// Only its own pages, or no browser asks.
    Own,
    /// Any origin, by these methods.
    Any(HeaderValue),
    /// This one, which the operator named; other origins get another answer.
    Named(HeaderValue),
    /// None of those that the operator named.
    Refused,
}

impl Cors {
    /// The origins whose pages may read the answer to a request of this method, with these headers, to such a route.
    pub(super) fn of(method: &Method, headers: &HeaderMap, route: &RouteAccess, named: &[HeaderValue]) -> Self {
        let asked = match *method {
            Method::OPTIONS => headers
                .get(header::ACCESS_CONTROL_REQUEST_METHOD)
                .map(HeaderValue::as_bytes),
            _ => Some(method.as_str().as_bytes()),
        };
        let is_post = asked == Some(b"POST");
        if route.any_origin && (matches!(asked, Some(b"GET" | b"HEAD")) || is_post && route.reads_by_post) {
            return Self::Any(if is_post { READS_BY_POST } else { READS });
        }
        if named.is_empty() {
            return Self::Own;
        }
        match headers.get(header::ORIGIN) {
            Some(origin) if named.contains(origin) => Self::Named(origin.clone()),
            _ => Self::Refused,
        }
    }

    /// The answer to a browser that asks before it sends a request. It brings no key, and is not counted.
    pub(super) fn preflight(&self, method: &Method, headers: &HeaderMap) -> Option<Response> {
        let asks = method == Method::OPTIONS
            && headers.contains_key(header::ORIGIN)
            && headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
        let methods = match self {
            _ if !asks => return None,
            Self::Own | Self::Refused => return None,
            Self::Any(methods) => methods.clone(),
            Self::Named(_) => ALL,
        };
        let mut response = (StatusCode::NO_CONTENT, Body::empty()).into_response();
        let told = response.headers_mut();
        told.insert(header::ACCESS_CONTROL_ALLOW_METHODS, methods);
        told.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, SENT);
        told.insert(header::ACCESS_CONTROL_MAX_AGE, REMEMBERED_S);
        Some(response)
    }

    /// Adds it to the answer's headers.
    pub(super) fn tell(self, headers: &mut HeaderMap) {
        let origin = match self {
            Self::Own => return,
            Self::Any(_) => ANY,
            Self::Named(origin) => {
                vary(headers);
                origin
            }
            Self::Refused => return vary(headers),
        };
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
    }
}

/// Caches keep an answer for one origin from another.
fn vary(headers: &mut HeaderMap) {
    const ORIGIN: HeaderName = header::ORIGIN;
    headers.append(header::VARY, HeaderValue::from_name(ORIGIN));
}
