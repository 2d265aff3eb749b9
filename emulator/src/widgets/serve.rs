//! Listening sockets and faults of the review apps.

use std::collections::VecDeque;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bytes::Bytes;
use data_model::ReviewWidget;
use http::header::{HeaderValue, IF_NONE_MATCH, USER_AGENT};
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::json;
use tokio::net::{TcpListener, TcpStream};

use super::answer::{answer, counting, is_behind_the_last, product_of};
use crate::EmulatorError;
use crate::ask::Ask;
use crate::connection::{Body, ConnectionContext};
use crate::log::{Log, RequestRecord};
use crate::market::Market;
use crate::reply::Reply;
use crate::shop::lock;

/// A fault of a review app.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WidgetFault {
    /// Responds with 429 to requests above this rate.
    Throttle {
        /// Maximum number of requests per second.
        per_second: u32,
        /// Value of `Retry-After`, in seconds.
        retry_after_s: u64,
    },
    /// Responds to paths that contain this text with a fixed status and body.
    Answer {
        /// Part of the path that selects the requests.
        path: String,
        /// HTTP status of the response.
        status: u16,
        /// Body of the response, sent with a JSON content type.
        body: Bytes,
    },
    /// Responds to requests for the ratings of this product with a fixed status.
    Product {
        /// Product id on the platform.
        product: u64,
        /// HTTP status of the response.
        status: u16,
    },
    /// Makes lists state this count of reviews for each shop, whatever they contain.
    Counts {
        /// Stated number of reviews.
        total: u64,
    },
    /// Responds to pages after the last one of a list with this status. Okendo's lists have no such pages.
    Ends {
        /// HTTP status of the response.
        status: u16,
    },
    /// Responds to this number of requests; all later ones close the connection.
    DiesAfter {
        /// Number of requests that get a response.
        requests: u64,
    },
}

/// Review app with a listening socket.
#[derive(Debug)]
pub(crate) struct WidgetHost {
    pub(crate) widget: ReviewWidget,
    pub(crate) address: SocketAddr,
    pub(crate) fault: Mutex<Option<WidgetFault>>,
    pub(crate) log: Mutex<Log>,
    /// Number of requests since the fault was set.
    pub(crate) since: AtomicU64,
    recent: Mutex<VecDeque<Instant>>,
}

pub(crate) async fn listen() -> Result<Vec<(Arc<WidgetHost>, TcpListener)>, EmulatorError> {
    let mut hosts = Vec::new();
    for widget in ReviewWidget::ALL {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let broken = |source| EmulatorError::Listen { address, source };
        let listener = TcpListener::bind(address).await.map_err(broken)?;
        let host = WidgetHost {
            widget,
            address: listener.local_addr().map_err(broken)?,
            fault: Mutex::default(),
            log: Mutex::default(),
            since: AtomicU64::new(0),
            recent: Mutex::default(),
        };
        hosts.push((Arc::new(host), listener));
    }
    Ok(hosts)
}

/// Handles requests at an app's address until the stop.
pub(crate) async fn serve_widget(context: ConnectionContext, host: Arc<WidgetHost>, listener: TcpListener) {
    loop {
        let accepted = tokio::select! {
            () = context.stop.cancelled() => return,
            accepted = listener.accept() => accepted,
        };
        if let Ok((stream, _)) = accepted {
            context
                .tasks
                .spawn(connection(context.clone(), Arc::clone(&host), stream));
        }
    }
}

async fn connection(context: ConnectionContext, host: Arc<WidgetHost>, stream: TcpStream) {
    let market = Arc::clone(&context.market);
    let service = service_fn(move |request: Request<Incoming>| {
        let (market, host) = (Arc::clone(&market), Arc::clone(&host));
        async move {
            let (parts, _) = request.into_parts();
            let ask = Ask::of(&parts);
            let reply = host.reply(&market, &ask);
            let header = |name| {
                let value = parts.headers.get(name);
                value.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
            };
            let record = RequestRecord {
                at: market.started.elapsed(),
                method: parts.method.to_string(),
                path: ask.path.clone(),
                query: parts.uri.query().map(str::to_owned),
                if_none_match: header(IF_NONE_MATCH),
                user_agent: header(USER_AGENT),
                status: reply.as_ref().map(|reply| reply.status),
            };
            lock(&host.log).note(record, market.config.request_log_max);
            let reset = || io::Error::from(io::ErrorKind::ConnectionReset);
            reply.map(response).ok_or_else(reset)
        }
    });
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(context.market.config.header_timeout);
    let serving = builder.serve_connection(TokioIo::new(stream), service);
    tokio::pin!(serving);
    tokio::select! {
        ended = serving.as_mut() => drop(ended),
        () = context.stop.cancelled() => serving.as_mut().graceful_shutdown(),
    }
}

impl WidgetHost {
    /// Returns the response under the current fault; `None` closes the connection.
    fn reply(&self, market: &Market, ask: &Ask) -> Option<Reply> {
        let fault = lock(&self.fault).clone();
        let is_robots = ask.path == "/robots.txt";
        let product = product_of(self.widget, ask);
        let honest = || answer(market, self.widget, ask);
        match fault {
            Some(WidgetFault::Throttle {
                per_second,
                retry_after_s,
            }) if !is_robots && self.is_above(per_second) => Some(Reply {
                retry_after_s: Some(retry_after_s),
                ..Reply::text(429, "Too Many Requests")
            }),
            Some(WidgetFault::Answer {
                path: part,
                status,
                body,
            }) if ask.path.contains(&part) => Some(Reply {
                status,
                ..Reply::json(body)
            }),
            Some(WidgetFault::Product { product: one, status }) if product == Some(one) => {
                Some(Reply::json_of(status, &json!({"status": {"code": status}})))
            }
            Some(WidgetFault::Counts { total }) if !is_robots && product.is_none() => {
                let honest = answer(market, self.widget, &ask.unconditional());
                Some(counting(self.widget, honest, total))
            }
            Some(WidgetFault::Ends { status }) if !is_robots && product.is_none() => {
                let honest = honest();
                Some(match is_behind_the_last(self.widget, &honest) {
                    true => Reply::json_of(status, &json!({"status": {"code": status}})),
                    false => honest,
                })
            }
            Some(WidgetFault::DiesAfter { requests }) if !is_robots => {
                let answered = self.since.fetch_add(1, Ordering::AcqRel);
                (answered < requests).then(honest)
            }
            _ => Some(honest()),
        }
    }

    fn is_above(&self, per_second: u32) -> bool {
        let (now, mut recent) = (Instant::now(), lock(&self.recent));
        while recent
            .front()
            .is_some_and(|first| now.duration_since(*first) >= Duration::from_secs(1))
        {
            recent.pop_front();
        }
        if recent.len() >= per_second as usize {
            return true;
        }
        recent.push_back(now);
        false
    }
}

fn response(reply: Reply) -> Response<Body> {
    let body = Full::new(reply.body).map_err(|never| match never {}).boxed_unsync();
    let mut response = Response::new(body);
    *response.status_mut() = http::StatusCode::from_u16(reply.status).unwrap_or(http::StatusCode::OK);
    let headers = response.headers_mut();
    let mut put = |name: &'static str, value: &str| {
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.insert(name, value);
        }
    };
    put("content-type", reply.content_type);
    if let Some(etag) = &reply.etag {
        put("etag", etag);
    }
    if let Some(seconds) = reply.retry_after_s {
        put("retry-after", &seconds.to_string());
    }
    response
}
