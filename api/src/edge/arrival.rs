//! Request bodies while they arrive. A request gets a processing slot only after its body has arrived, so that clients
//! with slow or unfinished bodies do not take slots from others.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use data_model::ErrorCode;
use http::StatusCode;
use hyper::body::{Frame, SizeHint};
use tokio::time::{Instant, sleep_until};

use super::{EdgeState, Place};
use crate::access::{Full, Share};
use crate::{Caller, ClientNetwork, Problem};

/// Delay of a refusal for a caller whose share of bodies is used up. The delay makes immediate reconnects expensive.
const REFUSAL_DELAY: Duration = Duration::from_secs(1);
/// Interval between two such refusals. Many clients that came together then do not come back together.
const REFUSAL_INTERVAL: Duration = Duration::from_millis(5);
const REFUSAL_DELAY_MAX: Duration = Duration::from_secs(5);

/// Time of the next refusal of a body.
#[derive(Debug, Default)]
pub(super) struct RefusalPace(Mutex<Option<Instant>>);

impl RefusalPace {
    /// Returns the time at which a refusal that is decided `now` must be sent.
    fn take(&self, now: Instant) -> Instant {
        let mut next = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let soonest = now + REFUSAL_DELAY;
        let at = next
            .map_or(soonest, |next| next.max(soonest))
            .min(now + REFUSAL_DELAY_MAX);
        *next = Some(at + REFUSAL_INTERVAL);
        at
    }
}

/// Progress of a request's body.
pub(super) struct Arrival {
    shared: Arc<EdgeState>,
    always: bool,
    stage: Mutex<Stage>,
}

enum Stage {
    /// The body is arriving, in a slot for arriving bodies.
    Arriving { _share: Share },
    /// The request has a processing slot: its body has arrived, or no handler reads the body.
    In { _place: Place },
    /// The body has arrived, but no processing slot was free.
    NoPlace,
}

/// Body that reports its end.
struct ArrivalBody {
    body: Body,
    arrival: Arc<Arrival>,
}

impl Arrival {
    /// Takes a slot for an arriving body. Returns `None` if there is no body. With `always`, the request is processed
    /// even if all processing slots are taken.
    pub(super) fn of(
        request: &mut Request,
        caller: &Caller,
        network: Option<ClientNetwork>,
        shared: &Arc<EdgeState>,
        always: bool,
    ) -> Result<Option<Arc<Self>>, Problem> {
        if request.body().is_end_stream() {
            return Ok(None);
        }
        let share = shared.arriving.take(caller, network).map_err(|full| match full {
            Full::All => refused("all", ErrorCode::Overloaded),
            Full::Share => refused("share", ErrorCode::RateLimit)
                .detail("Too many request bodies are being received at the same time.")
                .retry_after(Duration::from_secs(1)),
        })?;
        let arrival = Arc::new(Self {
            shared: Arc::clone(shared),
            always,
            stage: Mutex::new(Stage::Arriving { _share: share }),
        });
        let arriving = ArrivalBody {
            body: std::mem::take(request.body_mut()),
            arrival: Arc::clone(&arrival),
        };
        *request.body_mut() = Body::new(arriving);
        Ok(Some(arrival))
    }

    /// Runs `work`, which reads the body. Returns the result if `work` finishes before the body has arrived, else
    /// `None`.
    pub(super) async fn during<T>(&self, mut work: Pin<&mut impl Future<Output = T>>) -> Result<Option<T>, Problem> {
        let until_in = poll_fn(|context| {
            let answered = work.as_mut().poll(context).map(|done| Ok(Some(done)));
            match (answered, &*self.stage()) {
                (Poll::Ready(done), _) => Poll::Ready(done),
                (Poll::Pending, Stage::Arriving { .. }) => Poll::Pending,
                (Poll::Pending, Stage::In { .. }) => Poll::Ready(Ok(None)),
                (Poll::Pending, Stage::NoPlace) => Poll::Ready(Err(Problem::new(ErrorCode::Overloaded))),
            }
        });
        let limit = Duration::from_millis(self.shared.config.body_timeout_ms);
        tokio::time::timeout(limit, until_in).await.unwrap_or_else(|_| {
            // The list of error codes is closed and has no code for 408.
            let slow = refused("slow", ErrorCode::RateLimit).with_status(StatusCode::REQUEST_TIMEOUT);
            Err(slow
                .detail("The body arrived too slowly.")
                .retry_after(Duration::from_secs(1)))
        })
    }

    /// Takes the processing slot once the body has arrived. Returns true if one was free.
    fn end(&self) -> bool {
        let mut stage = self.stage();
        if matches!(*stage, Stage::Arriving { .. }) {
            let (place, is_free) = EdgeState::place(&self.shared);
            *stage = if is_free || self.always {
                Stage::In { _place: place }
            } else {
                Stage::NoPlace
            };
        }
        matches!(*stage, Stage::In { .. })
    }

    fn stage(&self) -> MutexGuard<'_, Stage> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Builds the response to a request whose body got no slot.
pub(super) async fn refuse(refusal: Problem, shared: &EdgeState) -> Response {
    let answer = refusal.into_response();
    if answer.status() == StatusCode::TOO_MANY_REQUESTS {
        sleep_until(shared.refusals.take(Instant::now())).await;
    }
    answer
}

fn refused(why: &'static str, code: ErrorCode) -> Problem {
    metrics::counter!("http_bodies_refused_total", "why" => why).increment(1);
    Problem::new(code)
}

impl HttpBody for ArrivalBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        let is_last = !matches!(frame, Some(Ok(_))) || self.body.is_end_stream();
        if is_last && !self.arrival.end() {
            // The edge sends the response instead of the handler.
            return Poll::Pending;
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for ArrivalBody {
    fn drop(&mut self) {
        self.arrival.end();
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::net::IpAddr;

    use axum::Router;
    use axum::body::to_bytes;
    use axum::routing::{get, post};
    use futures::future::{BoxFuture, join_all};
    use futures::{FutureExt, StreamExt, poll, stream};
    use serde_json::Value;

    use super::*;
    use crate::{
        Allowance, CallerId, Credential, EdgeConfig, EdgeRouter, Guard, Identify, JsonObject, KnownCaller, NotTaken,
        OpenRouter, Prompt, Via,
    };

    #[derive(Debug)]
    struct AnyKey;

    impl Identify for AnyKey {
        fn identify(&self, credential: Credential<'_>) -> Prompt<Result<Arc<KnownCaller>, NotTaken>> {
            let Credential::Key(key) = credential else {
                return Prompt::Now(Err(NotTaken::Invalid));
            };
            Prompt::Now(Ok(Arc::new(KnownCaller {
                id: CallerId::key(key),
                via: Via::Session,
                allowance: Arc::new(Allowance::unlimited()),
            })))
        }
    }

    fn edge(config: EdgeConfig) -> EdgeRouter {
        let router = Router::new()
            .route("/orders", post(async |_: JsonObject| "taken"))
            .route("/graph", get(async || "read"));
        let guard = Arc::new(Guard {
            identify: Arc::new(AnyKey),
            ..Guard::default()
        });
        OpenRouter::new(router, ["/orders", "/graph"]).edge(EdgeConfig { guard, ..config })
    }

    fn half() -> Body {
        let begun = stream::iter([Ok::<_, Infallible>("{")]);
        Body::from_stream(begun.chain(stream::pending()))
    }

    fn sent(edge: &EdgeRouter, from: &str, key: &str, body: Body) -> BoxFuture<'static, Response> {
        let request = Request::post("/orders").header("content-type", "application/json");
        let request = if key.is_empty() {
            request
        } else {
            request.header("x-service-key", key)
        };
        let from: Option<IpAddr> = from.parse().ok();
        edge.answer_from(from, request.body(body).unwrap()).boxed()
    }

    /// Sends a request and only half of its body.
    async fn held(edge: &EdgeRouter, from: &str, key: &str) -> BoxFuture<'static, Response> {
        let mut sending = sent(edge, from, key, half());
        assert!(poll!(&mut sending).is_pending(), "{from} {key}");
        sending
    }

    async fn read(response: Response) -> (u16, String) {
        let status = response.status().as_u16();
        let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
        let body: Value = serde_json::from_slice(&body).unwrap_or_default();
        (status, body["detail"].as_str().unwrap_or_default().to_owned())
    }

    #[tokio::test]
    async fn half_sent_bodies_take_no_place_from_other_requests() {
        let edge = edge(EdgeConfig {
            in_flight_max: 1,
            ..EdgeConfig::default()
        });
        let mut held_back = Vec::new();
        for _ in 0..60 {
            held_back.push(held(&edge, "192.0.2.1", "").await);
        }
        let read = edge.answer(Request::get("/graph").body(Body::empty()).unwrap()).await;
        assert_eq!(read.status(), 200);
        assert_eq!(sent(&edge, "192.0.2.1", "", Body::from("{}")).await.status(), 200);
    }

    #[tokio::test]
    async fn a_request_whose_body_is_in_is_refused_where_there_is_no_place() {
        let edge = edge(EdgeConfig {
            in_flight_max: 0,
            ..EdgeConfig::default()
        });
        let refused = sent(&edge, "192.0.2.1", "", Body::from("{}")).await;
        assert_eq!(read(refused).await.0, 503);
        let unread = Request::post("/graph").body(half()).unwrap();
        assert_eq!(edge.answer(unread).await.status(), 405, "at once, by the router alone");
    }

    #[tokio::test(start_paused = true)]
    async fn each_caller_and_each_network_has_a_share_of_the_bodies_that_arrive() {
        let config = || EdgeConfig {
            bodies_per_client_max: 1,
            ..EdgeConfig::default()
        };
        let often = (
            429,
            "Too many request bodies are being received at the same time.".to_owned(),
        );
        // Each entry names a client with a slot, a client that is refused meanwhile, and a client that is admitted.
        for (first, refused, let_in) in [
            (("192.0.2.1", ""), ("192.0.2.1", ""), ("192.0.2.2", "")),
            (("192.0.2.1", "one"), ("192.0.2.2", "one"), ("192.0.2.3", "other")),
            (("192.0.2.1", "one"), ("192.0.2.1", "other"), ("192.0.2.3", "")),
            (("2001:db8::1", ""), ("2001:db8::2", ""), ("2001:db8:0:1::1", "")),
        ] {
            let edge = edge(config());
            let holds = held(&edge, first.0, first.1).await;
            let began = Instant::now();
            let response = sent(&edge, refused.0, refused.1, Body::from("{}")).await;
            assert_eq!(began.elapsed().as_secs(), 1, "who comes again at once does so seldom");
            assert_eq!(response.headers()["retry-after"], "1");
            assert_eq!(read(response).await, often, "{refused:?}");
            let response = sent(&edge, let_in.0, let_in.1, Body::from("{}")).await;
            assert_eq!(response.status(), 200, "{let_in:?}");
            drop(holds);
            let response = sent(&edge, refused.0, refused.1, Body::from("{}")).await;
            assert_eq!(response.status(), 200, "{refused:?}");
        }
        // The networks around a client have larger shares.
        for (networks, times) in [("2001:db8:0:{}::1", 4), ("2001:db8:0:{}00::1", 16), ("192.0.2.{}", 16)] {
            let edge = edge(config());
            let network = |number: usize| networks.replace("{}", &format!("{number}"));
            let mut holds = Vec::new();
            for number in 0..times {
                holds.push(held(&edge, &network(number), "").await);
            }
            let response = sent(&edge, &network(times), "", Body::from("{}")).await;
            assert_eq!(read(response).await, often, "{networks}");
        }
        let edge = self::edge(EdgeConfig {
            bodies_max: 1,
            ..config()
        });
        let _holds = held(&edge, "192.0.2.1", "").await;
        assert_eq!(sent(&edge, "198.51.100.1", "", Body::from("{}")).await.status(), 503);
    }

    #[tokio::test(start_paused = true)]
    async fn callers_who_are_refused_together_are_told_one_after_the_other() {
        let edge = edge(EdgeConfig {
            bodies_per_client_max: 1,
            ..EdgeConfig::default()
        });
        let _holds = held(&edge, "192.0.2.1", "").await;
        let began = Instant::now();
        let refused = (0..1_000).map(|_| async {
            sent(&edge, "192.0.2.1", "", Body::from("{}")).await;
            began.elapsed().as_millis()
        });
        let mut times = join_all(refused).await;
        times.sort_unstable();
        assert_eq!(
            (times[0], times[1], times[200], times[799]),
            (1_000, 1_005, 2_000, 4_995)
        );
        assert_eq!(times[800..], [5_000; 200], "and none later than that");
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_does_not_arrive_in_time_is_refused() {
        let edge = edge(EdgeConfig::default());
        let began = Instant::now();
        let refused = read(sent(&edge, "192.0.2.1", "", half()).await).await;
        assert_eq!(refused, (408, "The body arrived too slowly.".to_owned()));
        assert_eq!(began.elapsed().as_secs(), 5 + 2, "what is left is read for two seconds");
    }
}
