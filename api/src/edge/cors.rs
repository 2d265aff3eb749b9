use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};

use crate::access::RouteAccess;
use crate::origin_policy::is_of_this_machine;

const ANY: HeaderValue = HeaderValue::from_static("*");
/// Response headers that a page's script may read in addition to the standard ones.
const EXPOSED: HeaderValue =
    HeaderValue::from_static("etag, x-request-id, ratelimit, ratelimit-policy, retry-after, www-authenticate");
/// Request headers that a page's script may send.
const SENT: HeaderValue = HeaderValue::from_static(
    "accept, authorization, content-type, idempotency-key, if-none-match, last-event-id, mcp-method, mcp-name, \
     mcp-protocol-version, mcp-session-id, x-request-id, x-service-key",
);
const READS: HeaderValue = HeaderValue::from_static("GET, HEAD, OPTIONS");
const READS_BY_POST: HeaderValue = HeaderValue::from_static("GET, HEAD, POST, OPTIONS");
const ALL: HeaderValue = HeaderValue::from_static("GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS");
/// Seconds for which a browser may cache a preflight response: the maximum of all browsers.
const REMEMBERED_S: HeaderValue = HeaderValue::from_static("7200");

/// Cross-origin pages that may read a response (Fetch standard, "CORS protocol").
///
/// Pages of any origin may read public stored data. Only pages that the operator configured, and pages of this machine,
/// may read everything else. Cross-origin pages never send cookies, so they need a key.
#[derive(Debug)]
pub(super) enum Cors {
    /// No other origin, or the request is not from a browser. Responses for pages of this machine differ.
    Own,
    /// Any origin, with these methods.
    Any(HeaderValue),
    /// This origin, which is configured or of this machine. Responses for other origins differ.
    Named(HeaderValue),
    /// Any other origin.
    Refused,
}

impl Cors {
    /// Returns the origins that may read the response to a request with this method and these headers.
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
        match headers.get(header::ORIGIN) {
            Some(origin) if named.contains(origin) || is_local(origin) => Self::Named(origin.clone()),
            _ if named.is_empty() => Self::Own,
            _ => Self::Refused,
        }
    }

    /// Returns the response to a preflight request. Such a request has no key and is not counted.
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

    pub(super) fn tell(self, headers: &mut HeaderMap) {
        let origin = match self {
            Self::Own => return vary(headers),
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

fn is_local(origin: &HeaderValue) -> bool {
    origin.to_str().is_ok_and(is_of_this_machine)
}

/// Makes caches store separate responses for different origins.
fn vary(headers: &mut HeaderMap) {
    const ORIGIN: HeaderName = header::ORIGIN;
    headers.append(header::VARY, HeaderValue::from_name(ORIGIN));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_this_machine_may_read_what_named_ones_may_and_no_others() {
        let told = |origin: &'static str| {
            let headers = HeaderMap::from_iter([(header::ORIGIN, HeaderValue::from_static(origin))]);
            let mut told = HeaderMap::new();
            Cors::of(&Method::POST, &headers, &RouteAccess::default(), &[]).tell(&mut told);
            assert_eq!(told[header::VARY], "origin");
            told.get(header::ACCESS_CONTROL_ALLOW_ORIGIN).cloned()
        };
        for local in ["http://localhost:6274", "http://127.0.0.1:8080", "https://[::1]"] {
            assert_eq!(told(local), Some(HeaderValue::from_static(local)));
        }
        for other in ["http://localhost.evil.example", "http://10.0.0.1", "null"] {
            assert_eq!(told(other), None, "{other}");
        }
    }
}
