//! Shared code of the tests, such as a transport that follows a script.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures::StreamExt;
use http::{HeaderMap, Method, StatusCode};
use kit::SetClock;
use storefront::{
    FetchOutcome, Page, Store, Storefront, StorefrontConfig, Transport, TransportError, TransportRequest,
    TransportResponse,
};
use tokio::time::{Instant, sleep};
use url::Url;

/// The clock is set to a fixed midnight, from which dates in responses are calculated.
pub(crate) fn clock() -> Arc<SetClock> {
    SetClock::at("2026-11-21T00:00:00Z")
}

pub(crate) enum Reply {
    Answer(u16, Vec<(&'static str, String)>, &'static str),
    Fail(TransportError),
    /// No response head arrives.
    Hang,
    /// The head arrives, and the body breaks off.
    Torn(u16),
    /// The response arrives after this delay.
    Late(Duration, Box<Reply>),
}

pub(crate) fn ok(body: &'static str) -> Reply {
    Reply::Answer(200, vec![], body)
}

pub(crate) fn status(status: u16) -> Reply {
    Reply::Answer(status, vec![], "")
}

pub(crate) fn redirect(status: u16, location: &str) -> Reply {
    Reply::Answer(status, vec![("location", location.to_owned())], "")
}

pub(crate) fn throttled(retry_after: Option<&str>) -> Reply {
    Reply::Answer(
        429,
        retry_after
            .map(|value| ("retry-after", value.to_owned()))
            .into_iter()
            .collect(),
        "local_rate_limited",
    )
}

/// Script of a test: maps the URL and the number of earlier page requests (without robots.txt) to a reply.
type Script = Box<dyn Fn(&Url, usize) -> Reply + Send + Sync>;

pub(crate) struct ScriptedTransport {
    script: Script,
    /// Time (milliseconds since the first request) and target of each request.
    pub(crate) log: Mutex<Vec<(u64, String)>>,
    pub(crate) headers: Mutex<Vec<HeaderMap>>,
    /// URL and body of each POST.
    pub(crate) posts: Mutex<Vec<(String, String)>>,
    started: Instant,
}

impl std::fmt::Debug for ScriptedTransport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Scripted")
    }
}

impl ScriptedTransport {
    pub(crate) fn new(script: impl Fn(&Url, usize) -> Reply + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self {
            script: Box::new(script),
            log: Mutex::default(),
            headers: Mutex::default(),
            posts: Mutex::default(),
            started: Instant::now(),
        })
    }

    /// Returns the times of page requests, without robots.txt, in milliseconds.
    pub(crate) fn page_times(&self) -> Vec<u64> {
        self.log
            .lock()
            .unwrap()
            .iter()
            .filter(|(_, url)| !url.ends_with("/robots.txt"))
            .map(|(at, _)| *at)
            .collect()
    }

    pub(crate) fn posted_to(&self) -> Vec<String> {
        self.posts.lock().unwrap().iter().map(|(url, _)| url.clone()).collect()
    }

    pub(crate) fn urls(&self) -> Vec<String> {
        self.log.lock().unwrap().iter().map(|(_, url)| url.clone()).collect()
    }
}

#[async_trait]
impl Transport for ScriptedTransport {
    async fn send(&self, request: TransportRequest) -> Result<TransportResponse, TransportError> {
        let reply = {
            let mut log = self.log.lock().unwrap();
            let nth = log.iter().filter(|(_, url)| !url.ends_with("/robots.txt")).count();
            log.push((
                u64::try_from(self.started.elapsed().as_millis()).unwrap(),
                request.url.to_string(),
            ));
            self.headers.lock().unwrap().push(request.headers);
            if request.method == Method::POST {
                let body = String::from_utf8(request.body.to_vec()).unwrap();
                self.posts.lock().unwrap().push((request.url.to_string(), body));
            } else {
                assert!(
                    matches!(request.method, Method::GET | Method::HEAD),
                    "{}",
                    request.method
                );
                assert!(request.body.is_empty());
            }
            (self.script)(&request.url, nth)
        };
        let reply = match reply {
            Reply::Late(wait, reply) => {
                sleep(wait).await;
                *reply
            }
            reply => reply,
        };
        let (status, fields, body) = match reply {
            Reply::Answer(status, fields, body) => (status, fields, Ok(Bytes::from_static(body.as_bytes()))),
            Reply::Torn(status) => (status, vec![], Err(TransportError::Truncated)),
            Reply::Fail(error) => return Err(error),
            Reply::Hang | Reply::Late(..) => std::future::pending().await,
        };
        let headers = fields
            .into_iter()
            .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()))
            .collect();
        Ok(TransportResponse {
            status: StatusCode::from_u16(status).unwrap(),
            headers,
            body: futures::stream::iter([body]).boxed(),
        })
    }
}

/// Creates a script for pages of a store without a robots.txt.
pub(crate) fn pages(script: impl Fn(&Url, usize) -> Reply + Send + Sync + 'static) -> Arc<ScriptedTransport> {
    ScriptedTransport::new(move |url, nth| {
        if url.path() == "/robots.txt" {
            status(404)
        } else {
            script(url, nth)
        }
    })
}

pub(crate) fn storefront(config: StorefrontConfig, transport: &Arc<ScriptedTransport>) -> Storefront {
    Storefront::with_transport(config, clock(), Arc::clone(transport) as Arc<dyn Transport>).unwrap()
}

pub(crate) fn store_at(url: &str, config: StorefrontConfig, transport: &Arc<ScriptedTransport>) -> Store {
    storefront(config, transport).store(&url.parse().unwrap()).unwrap()
}

pub(crate) fn store(config: StorefrontConfig, transport: &Arc<ScriptedTransport>) -> Store {
    store_at("https://brand.example", config, transport)
}

/// Returns the default configuration without a rate limit.
pub(crate) fn unpaced() -> StorefrontConfig {
    StorefrontConfig {
        rate_start_per_s: f64::INFINITY,
        ..StorefrontConfig::default()
    }
}

pub(crate) fn page(fetched: FetchOutcome) -> Page {
    match fetched {
        FetchOutcome::Body(page) => page,
        FetchOutcome::NotModified => panic!("not modified"),
    }
}
