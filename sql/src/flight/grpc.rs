//! Minimal gRPC server over HTTP/2: one request message, then a stream of response messages and a status.

use std::convert::Infallible;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use data_model::{Classify, ErrorCode};
use http::{HeaderMap, HeaderName, HeaderValue, header};
use http_body_util::{BodyExt, Limited, StreamBody};
use hyper::body::Frame;
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use prost::Message;

use crate::SqlError;
use crate::encode::Chunks;
use crate::ipc::PREFIX_BYTES;
use crate::watch::Watch;

const GRPC: HeaderValue = HeaderValue::from_static("application/grpc");
const STATUS: HeaderName = HeaderName::from_static("grpc-status");
const MESSAGE: HeaderName = HeaderName::from_static("grpc-message");

const REQUEST_BYTES_MAX: usize = 256 * 1024;
/// Characters that must be percent-encoded in a status message.
const ESCAPED: &AsciiSet = &CONTROLS.add(b'%');

/// Error of a gRPC call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failure {
    Sql(SqlError),
    Malformed(&'static str),
    Unimplemented(String),
}

impl From<SqlError> for Failure {
    fn from(error: SqlError) -> Self {
        Self::Sql(error)
    }
}

impl Failure {
    /// Returns the status code (`google.rpc.Code`) and the message.
    fn status(&self) -> (u8, String) {
        match self {
            Self::Sql(error) => {
                let code = match (error, error.code()) {
                    (SqlError::Time { .. }, _) => 4,
                    (SqlError::Memory { .. } | SqlError::Disk { .. } | SqlError::Rows { .. }, _) => 8,
                    (_, ErrorCode::RateLimit | ErrorCode::DailyLimit) => 8,
                    (_, ErrorCode::Validation) => 3,
                    (_, ErrorCode::Forbidden) => 7,
                    (_, ErrorCode::Overloaded | ErrorCode::NotReady) => 14,
                    (_, ErrorCode::MissingCredentials) => 16,
                    _ => 13,
                };
                (code, error.to_string())
            }
            Self::Malformed(words) => (3, (*words).to_owned()),
            Self::Unimplemented(what) => (12, format!("this server does not support {what}")),
        }
    }

    fn tell(&self, headers: &mut HeaderMap) {
        let (code, words) = self.status();
        headers.insert(STATUS, HeaderValue::from(u16::from(code)));
        let words = utf8_percent_encode(&words, ESCAPED).to_string();
        // The encoded text is ASCII without control characters, so it is a valid header.
        if let Ok(words) = HeaderValue::from_str(&words) {
            headers.insert(MESSAGE, words);
        }
    }

    /// Builds the response of a call that fails before its first message.
    pub(crate) fn answer(&self) -> Response {
        let mut response = Response::new(Body::empty());
        response.headers_mut().insert(header::CONTENT_TYPE, GRPC);
        self.tell(response.headers_mut());
        response
    }
}

/// Reads and decodes the message of a request.
pub(crate) async fn read<M: Message + Default>(body: Body) -> Result<M, Failure> {
    let whole = Limited::new(body, REQUEST_BYTES_MAX).collect().await;
    let whole = whole.map_err(|_| Failure::Malformed("the request is too large, or ended early"))?;
    let bytes = whole.to_bytes();
    let Some((prefix, rest)) = bytes.split_at_checked(PREFIX_BYTES) else {
        return Err(Failure::Malformed("the request has no message"));
    };
    if prefix.first() != Some(&0) {
        return Err(Failure::Malformed("compressed messages are not supported"));
    }
    let length = prefix
        .iter()
        .skip(1)
        .fold(0_usize, |sum, byte| sum << 8 | usize::from(*byte));
    let message = rest
        .get(..length)
        .ok_or(Failure::Malformed("the message ended early"))?;
    decode(message)
}

/// Decodes a message that is embedded in another message.
pub(crate) fn decode<M: Message + Default>(bytes: &[u8]) -> Result<M, Failure> {
    M::decode(bytes).map_err(|_| Failure::Malformed("the message cannot be read"))
}

/// Builds a response from complete messages.
pub(crate) fn whole(messages: Vec<u8>) -> Response {
    let frames = [Frame::data(Bytes::from(messages)), Frame::trailers(ended(None))];
    answer(futures::stream::iter(frames.map(Ok::<_, Infallible>)))
}

/// Builds a response whose messages are produced while they are sent.
pub(crate) fn streamed(first: Option<Bytes>, chunks: Chunks, watch: Watch) -> Response {
    let frames = futures::stream::unfold(Some((first, chunks, watch)), |held| async move {
        let (first, mut chunks, mut watch) = held?;
        let next = match first {
            Some(first) => Ok(Some(first)),
            None => watch.while_allowed(chunks.next()).await,
        };
        Some(match next {
            Ok(Some(bytes)) => (Ok::<_, Infallible>(Frame::data(bytes)), Some((None, chunks, watch))),
            Ok(None) => (Ok(Frame::trailers(ended(None))), None),
            Err(error) => (Ok(Frame::trailers(ended(Some(error)))), None),
        })
    });
    answer(frames)
}

fn answer(frames: impl futures::Stream<Item = Result<Frame<Bytes>, Infallible>> + Send + 'static) -> Response {
    let mut response = Response::new(Body::new(StreamBody::new(frames)));
    response.headers_mut().insert(header::CONTENT_TYPE, GRPC);
    response
}

fn ended(error: Option<SqlError>) -> HeaderMap {
    let mut trailers = HeaderMap::new();
    match error {
        Some(error) => Failure::Sql(error).tell(&mut trailers),
        None => {
            trailers.insert(STATUS, HeaderValue::from_static("0"));
        }
    }
    trailers
}
