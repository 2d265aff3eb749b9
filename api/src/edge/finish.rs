use axum::body::{Body, HttpBody};
use axum::extract::Request;
use axum::response::Response;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use http_body_util::BodyExt;

use super::routes::RouteFacts;
use crate::compress::{Coding, compressed};
use crate::{CacheRule, Problem, RequestId, request_id};

/// Authentication scheme in a 401 response.
const KEYS_WANTED: HeaderValue = HeaderValue::from_static("Bearer realm=\"haat\"");

/// Facts about a request that are needed to finish its response.
pub(super) struct FinishContext {
    pub(super) id: RequestId,
    method: Method,
    /// Path without the query, which may contain something that must not be logged.
    path: String,
    coding: Option<Coding>,
}

impl FinishContext {
    pub(super) fn of(request: &Request) -> Self {
        let headers = request.headers();
        let coding = headers
            .contains_key(header::ACCEPT_ENCODING)
            .then(|| Coding::accepted(headers))
            .flatten();
        let logged = tracing::enabled!(target: "access", tracing::Level::DEBUG);
        Self {
            id: RequestId::of(headers),
            method: request.method().clone(),
            path: if logged {
                request.uri().path().chars().take(200).collect()
            } else {
                String::new()
            },
            coding,
        }
    }

    /// Finishes a response: writes problem bodies, handles `OPTIONS`, compresses, and adds the request id.
    pub(super) async fn finish(
        self,
        mut response: Response,
        compress_bytes_min: usize,
        route: &RouteFacts,
    ) -> Response {
        // axum adds `Allow` to the response if a path has no handler for the method.
        if response.status() == StatusCode::METHOD_NOT_ALLOWED && self.method == Method::OPTIONS {
            *response.status_mut() = StatusCode::NO_CONTENT;
            response.extensions_mut().remove::<Problem>();
        }
        if let Some(problem) = response.extensions_mut().remove::<Problem>() {
            problem.render(&mut response, &self.id, route.form);
        }
        if let Some(coding) = self.coding {
            response = self.compress(response, coding, compress_bytes_min).await;
        }
        self.frame(&mut response);
        let status = response.status().as_u16();
        tracing::debug!(target: "access", request_id = self.id.as_str(), method = %self.method, path = self.path, status);
        let headers = response.headers_mut();
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        headers.insert(request_id::HEADER, self.id.into_header());
        if headers.get(header::CACHE_CONTROL) == Some(&CacheRule::Graph.value()) && route.access.needs_key(&self.method)
        {
            headers.insert(header::CACHE_CONTROL, CacheRule::KeyedGraph.value());
        }
        if status == StatusCode::UNAUTHORIZED {
            headers.entry(header::WWW_AUTHENTICATE).or_insert(KEYS_WANTED);
        }
        response
    }

    /// Sets the length of the body. A response to HEAD loses its body (RFC 9110, 8.6).
    fn frame(&self, response: &mut Response) {
        if matches!(response.status(), StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED) {
            // Responses with these statuses have no body. A length in a 304 would be that of the client's cached
            // response.
            response.headers_mut().remove(header::CONTENT_LENGTH);
        } else if !response.headers().contains_key(header::CONTENT_LENGTH)
            && let Some(bytes) = response.body().size_hint().exact()
        {
            response.headers_mut().insert(header::CONTENT_LENGTH, bytes.into());
        }
        if self.method == Method::HEAD {
            *response.body_mut() = Body::empty();
        }
    }

    async fn compress(&self, response: Response, coding: Coding, bytes_min: usize) -> Response {
        let size = response
            .body()
            .size_hint()
            .exact()
            .and_then(|bytes| usize::try_from(bytes).ok());
        let worth = size.is_some_and(|bytes| bytes >= bytes_min) && compressible(response.headers());
        // Responses to HEAD state the length of the GET response, so they are compressed too (RFC 9110, 8.6).
        if !worth {
            return response;
        }
        let (mut parts, body) = response.into_parts();
        let Ok(whole) = body.collect().await else {
            return Response::from_parts(parts, Body::empty());
        };
        let plain = whole.to_bytes();
        let short = compressed(&plain, coding).filter(|short| short.len() < plain.len());
        if short.is_some() {
            parts.headers.insert(header::CONTENT_ENCODING, coding.header());
        }
        parts.headers.remove(header::CONTENT_LENGTH);
        Response::from_parts(parts, Body::from(short.unwrap_or(plain)))
    }
}

fn compressible(headers: &HeaderMap) -> bool {
    let media_type = headers
        .get(header::CONTENT_TYPE)
        .map_or(&b""[..], HeaderValue::as_bytes);
    let text = media_type.starts_with(b"application/") || media_type.starts_with(b"text/");
    text && !headers.contains_key(header::CONTENT_ENCODING)
}
