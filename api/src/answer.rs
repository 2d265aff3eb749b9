use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use serde::Serialize;

use crate::compress::{Coding, compressed};
use crate::{EntityTag, if_none_match};

/// The tier that a response comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// Stored data, cacheable with an entity tag.
    Graph,
    /// Fetched live for this request, and never cached.
    Live,
}

/// The JSON envelope around every REST response.
#[derive(Debug, Clone, Serialize)]
pub struct Envelope<T, P> {
    /// The result of the operation.
    pub data: T,
    /// The source of the result.
    pub provenance: P,
    /// Time at which the result was current, RFC 3339; always present on the live tier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub as_of: Option<data_model::Timestamp>,
    /// The tier that the result comes from.
    pub tier: Tier,
}

/// The caching rule of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheRule {
    /// Stored data: cached for 30 seconds, and served stale during revalidation.
    Graph,
    /// Like `Graph`, but for operations that need a key. Shared caches must not store such a response.
    KeyedGraph,
    /// Asset of the web page. Clients revalidate it on each use, which is cheap with the entity tag.
    Asset,
    /// The response must not be cached.
    NoStore,
}

impl CacheRule {
    /// Returns the value of `Cache-Control`.
    #[must_use]
    pub const fn value(self) -> HeaderValue {
        match self {
            Self::Graph => HeaderValue::from_static("public, max-age=30, stale-while-revalidate=300"),
            Self::KeyedGraph => HeaderValue::from_static("private, max-age=30, stale-while-revalidate=300"),
            Self::Asset => HeaderValue::from_static("public, no-cache"),
            Self::NoStore => HeaderValue::from_static("no-store"),
        }
    }
}

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const VARY: HeaderValue = HeaderValue::from_static("accept-encoding");

/// A JSON response of the graph tier.
#[derive(Debug)]
pub enum GraphAnswer {
    /// The complete body, with its entity tag.
    Fresh(EntityTag, Bytes),
    /// The client's cached copy is still current.
    NotModified(EntityTag),
}

impl IntoResponse for GraphAnswer {
    fn into_response(self) -> Response {
        let (tag, mut response) = match self {
            Self::Fresh(tag, body) => {
                let mut response = Response::new(Body::from(body));
                // The map is allocated once, with space for headers that are added later.
                response.headers_mut().reserve(HEADERS_EXPECTED);
                response.headers_mut().insert(header::CONTENT_TYPE, JSON);
                (tag, response)
            }
            Self::NotModified(tag) => (tag, StatusCode::NOT_MODIFIED.into_response()),
        };
        let headers = response.headers_mut();
        headers.insert(header::ETAG, tag.header().clone());
        headers.insert(header::CACHE_CONTROL, CacheRule::Graph.value());
        headers.insert(header::VARY, VARY);
        response
    }
}

/// JSON response of the live tier with its complete body. The response belongs to one request and is never cached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveAnswer(pub Bytes);

impl IntoResponse for LiveAnswer {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::from(self.0));
        let headers = response.headers_mut();
        headers.reserve(HEADERS_EXPECTED);
        headers.insert(header::CONTENT_TYPE, JSON);
        headers.insert(header::CACHE_CONTROL, CacheRule::NoStore.value());
        response
    }
}

/// Creates a JSON response that must not be cached.
#[must_use]
pub fn json(status: StatusCode, value: &impl Serialize) -> Response {
    match serde_json::to_vec(value) {
        Ok(body) => {
            let headers = [
                (header::CONTENT_TYPE, JSON),
                (header::CACHE_CONTROL, CacheRule::NoStore.value()),
            ];
            (status, headers, body).into_response()
        }
        Err(error) => {
            tracing::error!(%error, "a response could not be written as JSON");
            crate::Problem::new(data_model::ErrorCode::Internal).into_response()
        }
    }
}

/// Usual number of response headers, including those of the edge and the guard. More headers would need a larger map.
const HEADERS_EXPECTED: usize = 12;

/// A response body that never changes while it is served, compressed once.
#[derive(Debug, Clone)]
pub struct Asset {
    plain: Bytes,
    gzip: Option<Bytes>,
    brotli: Option<Bytes>,
    tag: EntityTag,
    headers: HeaderMap,
}

impl Asset {
    /// Prepares `bytes` with the media type `media_type`.
    #[must_use]
    pub fn new(media_type: &'static str, bytes: impl Into<Bytes>) -> Self {
        let plain = bytes.into();
        let shorter = |coding| compressed(&plain, coding).filter(|short| short.len() < plain.len());
        let headers = HeaderMap::from_iter([
            (header::CONTENT_TYPE, HeaderValue::from_static(media_type)),
            (header::CACHE_CONTROL, CacheRule::Asset.value()),
            (header::VARY, VARY),
        ]);
        let (gzip, brotli) = (shorter(Coding::Gzip), shorter(Coding::Brotli));
        let tag = EntityTag::of(&[&plain]);
        Self {
            gzip,
            brotli,
            tag,
            headers,
            plain,
        }
    }

    /// Prepares a response of the graph tier that is the same for all callers. `tag` must depend on the same data as
    /// `json`.
    #[must_use]
    pub fn graph(tag: EntityTag, json: impl Into<Bytes>) -> Self {
        let mut answer = Self::new("application/json", json);
        answer.tag = tag;
        answer.headers.insert(header::CACHE_CONTROL, CacheRule::Graph.value());
        answer
    }

    /// Adds a header to each response with this body.
    #[must_use]
    pub fn header(mut self, name: header::HeaderName, value: &'static str) -> Self {
        self.headers.insert(name, HeaderValue::from_static(value));
        self
    }

    /// Returns the uncompressed bytes.
    #[must_use]
    pub const fn bytes(&self) -> &Bytes {
        &self.plain
    }

    /// Returns the entity tag of the body.
    #[must_use]
    pub const fn tag(&self) -> &EntityTag {
        &self.tag
    }

    /// Returns the response to a request with these headers.
    #[must_use]
    pub fn answer(&self, request: &HeaderMap) -> Response {
        if if_none_match(request, &self.tag) {
            return self.not_modified();
        }
        let mut response = {
            let short = match Coding::accepted(request) {
                Some(Coding::Gzip) => self.gzip.as_ref().map(|bytes| (bytes, Coding::Gzip)),
                Some(Coding::Brotli) => self.brotli.as_ref().map(|bytes| (bytes, Coding::Brotli)),
                None => None,
            };
            let mut response = Response::new(Body::from(short.map_or(&self.plain, |(bytes, _)| bytes).clone()));
            // The map is allocated once, with space for headers that are added later.
            response.headers_mut().reserve(HEADERS_EXPECTED);
            if let Some((_, coding)) = short {
                response.headers_mut().insert(header::CONTENT_ENCODING, coding.header());
            }
            response
        };
        let headers = response.headers_mut();
        headers.extend(self.headers.iter().map(|(name, value)| (name.clone(), value.clone())));
        headers.insert(header::ETAG, self.tag.header().clone());
        response
    }

    /// Builds a 304 response with only the headers that caches need (RFC 9110, 15.4.5).
    fn not_modified(&self) -> Response {
        let mut response = StatusCode::NOT_MODIFIED.into_response();
        let headers = response.headers_mut();
        for name in [header::CACHE_CONTROL, header::VARY] {
            headers.extend(self.headers.get(&name).map(|value| (name, value.clone())));
        }
        headers.insert(header::ETAG, self.tag.header().clone());
        response
    }
}
