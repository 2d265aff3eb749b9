//! Unread rest of a body after the response to its request. Closing a connection with unread bytes resets it, and the
//! client may lose the response, which it reads only after it has sent everything (RFC 9112, 9.6).

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::extract::Request;
use bytes::Bytes;
use http::{Version, header};
use http_body_util::BodyExt;
use hyper::body::{Frame, SizeHint};
use tokio::sync::Semaphore;

/// Maximum number of body bytes to discard; `TIMEOUT` is the maximum time. A client that sends more loses the
/// connection.
const BYTES_MAX: usize = 16 << 20;
const TIMEOUT: Duration = Duration::from_secs(2);
/// Maximum number of bodies that are discarded concurrently.
const AT_ONCE_MAX: usize = 32;
static AT_ONCE: Semaphore = Semaphore::const_new(AT_ONCE_MAX);

/// Slot to which a dropped reader returns an unfinished body.
type Place = Arc<Mutex<Option<Body>>>;

/// Unread rest of a body, if the body was lent.
pub(super) struct Rest(Option<Place>);

/// Body that returns to its slot if it is dropped before its end.
struct LentBody {
    body: Option<Body>,
    place: Place,
}

impl Rest {
    /// Wraps the body of a request, so that the unread rest comes back if the handler drops the body. Two kinds of
    /// bodies are not wrapped: a client that waits for `100 Continue` sends nothing more, and an HTTP/2 stream ends
    /// without closing its connection.
    pub(super) fn of(request: &mut Request) -> Self {
        let waits = request.headers().contains_key(header::EXPECT);
        let is_shared = !matches!(request.version(), Version::HTTP_10 | Version::HTTP_11);
        let is_long = |least: u64| usize::try_from(least).map_or(true, |least| least > BYTES_MAX);
        let body = request.body();
        if waits || is_shared || body.is_end_stream() || is_long(body.size_hint().lower()) {
            return Self(None);
        }
        let place = Place::default();
        let body = Some(std::mem::take(request.body_mut()));
        let lent = LentBody {
            body,
            place: Arc::clone(&place),
        };
        *request.body_mut() = Body::new(lent);
        Self(Some(place))
    }

    pub(super) const fn is_lent(&self) -> bool {
        self.0.is_some()
    }

    /// Reads and discards the unread rest, within limits.
    pub(super) async fn drain(self) {
        let left = self.0.and_then(|place| taken(&place));
        let (Some(mut left), Ok(_one)) = (left, AT_ONCE.try_acquire()) else {
            return;
        };
        let reading = async {
            let mut bytes = 0;
            while let Some(Ok(frame)) = left.frame().await {
                bytes += frame.data_ref().map_or(0, Bytes::len);
                if bytes > BYTES_MAX {
                    return;
                }
            }
        };
        // The response is sent in any case, so the result is ignored.
        let _ = tokio::time::timeout(TIMEOUT, reading).await;
    }
}

fn taken(place: &Place) -> Option<Body> {
    place.lock().unwrap_or_else(PoisonError::into_inner).take()
}

impl HttpBody for LentBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        let Some(body) = self.body.as_mut() else {
            return Poll::Ready(None);
        };
        let polled = Pin::new(body).poll_frame(context);
        if matches!(polled, Poll::Ready(None | Some(Err(_)))) {
            self.body = None;
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(HttpBody::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body
            .as_ref()
            .map_or_else(|| SizeHint::with_exact(0), HttpBody::size_hint)
    }
}

impl Drop for LentBody {
    fn drop(&mut self) {
        if let Some(body) = self.body.take().filter(|body| !body.is_end_stream()) {
            *self.place.lock().unwrap_or_else(PoisonError::into_inner) = Some(body);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use axum::Router;
    use axum::routing::post;

    use super::*;
    use crate::{EdgeConfig, EdgeRouter, JsonObject, OpenRouter};

    fn router() -> EdgeRouter {
        let router = Router::new().route("/orders", post(async |_: JsonObject| "taken"));
        OpenRouter::new(router, ["/orders"]).edge(EdgeConfig::default())
    }

    /// Returns a body of `chunks` chunks of 64 KiB, and a counter of the chunks that were read.
    fn long_body(chunks: usize) -> (Body, Arc<AtomicUsize>) {
        let read = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&read);
        let chunks = (0..chunks).map(move |_| {
            count.fetch_add(1, Ordering::Relaxed);
            Ok::<_, std::io::Error>(vec![b' '; 64 << 10])
        });
        (Body::from_stream(futures::stream::iter(chunks)), read)
    }

    #[tokio::test]
    async fn what_is_left_of_a_body_is_read_so_that_the_answer_arrives() {
        let sent = async |request: http::request::Builder, chunks: usize| {
            let (body, read) = long_body(chunks);
            let request = request.method("POST").uri("/orders").body(body).unwrap();
            let response = router().answer(request).await;
            (response.status().as_u16(), read.load(Ordering::Relaxed))
        };
        let json = || Request::builder().header("content-type", "application/json");
        assert_eq!(sent(json(), 100).await, (413, 100));
        let other = Request::builder().header("content-type", "text/plain");
        assert_eq!(sent(other, 100).await, (415, 100), "what no handler reads");
        let (status, read) = sent(json(), 1_000).await;
        assert_eq!(status, 413);
        assert!((256..=264).contains(&read), "up to 16 MiB: {read}");
        // A client that waits for `100 Continue` has not sent the body yet.
        let waiting = Request::builder()
            .header("content-type", "text/plain")
            .header("expect", "100-continue");
        assert_eq!(sent(waiting, 100).await, (415, 0));
    }
}
