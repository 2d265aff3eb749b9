//! Handler of one request, which selects the fault, builds the response and sends it.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt;
use futures::stream::Stream;
use http::header::{CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, HOST, HeaderValue, IF_NONE_MATCH, USER_AGENT};
use http::request::Parts;
use http::{Method, Response, StatusCode};
use http_body_util::{BodyExt, Full, Limited, StreamBody};
use hyper::body::{Frame, Incoming};

use crate::ajax;
use crate::answer::{self, Twist, answer};
use crate::ask::Ask;
use crate::connection::Body;
use crate::control::{CONTROL_PATH, control};
use crate::fault::{Fault, bloated, bomb, drip, endless_robots, is_query, truncated, withheld};
use crate::graphql;
use crate::log::RequestRecord;
use crate::market::Market;
use crate::reply::Reply;
use crate::shop::Shop;

/// Way to send the bytes of a response.
enum Delivery {
    Whole,
    Drip { chunk_bytes: usize, delay: Duration },
    Truncated { after_bytes: usize },
    Bomb { decoded_bytes: u64 },
    Bloated { decoded_bytes: u64, many_records: bool },
    Withheld { decoded_bytes: u64, packed: bool },
    EndlessRobots,
}

/// Handles a request. After an error, the connection is closed without a response.
pub(crate) async fn serve(
    market: &Market,
    shop: Option<&Arc<Shop>>,
    parts: &Parts,
    body: Incoming,
    reset: &AtomicBool,
    close: bool,
) -> io::Result<Response<Body>> {
    let Some(shop) = shop else { return Ok(no_store()) };
    let mut ask = Ask::of(parts);
    let is_control = market.config.control && ask.path == CONTROL_PATH;
    if parts.method == Method::POST && (is_control || is_query(&ask.path) || ajax::takes(&ask.path)) {
        ask.body = read(body, market.config.header_timeout).await?;
        if is_control {
            let reply = control(shop, &ask).finish(shop.shop_id(), &ask, market.config.encoding)?;
            return deliver(reply, Delivery::Whole);
        }
    }
    let fault = shop.meet(&ask.path, ask.page(), &ask.body);
    let result = respond(market, shop, &ask, parts, fault, reset).await;
    note(
        market,
        shop,
        &ask,
        parts,
        result.as_ref().ok().map(|response| response.status().as_u16()),
    );
    result.map(|mut response| {
        if close {
            response
                .headers_mut()
                .insert(CONNECTION, HeaderValue::from_static("close"));
        }
        response
    })
}

/// Maximum size of a request body in bytes.
const BODY_MAX: usize = 4 << 20;

async fn read(body: Incoming, timeout: Duration) -> io::Result<Bytes> {
    let read = Limited::new(body, BODY_MAX).collect();
    let read = tokio::time::timeout(timeout, read).await?;
    Ok(read.map_err(io::Error::other)?.to_bytes())
}

async fn respond(
    market: &Market,
    shop: &Shop,
    ask: &Ask,
    parts: &Parts,
    fault: Option<Fault>,
    reset: &AtomicBool,
) -> io::Result<Response<Body>> {
    let slow = if let Some(Fault::Slow { delay_ms }) = fault {
        Duration::from_millis(delay_ms)
    } else {
        Duration::ZERO
    };
    let delay = market.config.latency + slow;
    if !delay.is_zero() {
        tokio::time::sleep(delay).await;
    }
    if fault == Some(Fault::Reset) {
        reset.store(true, Ordering::Release);
        return Err(io::ErrorKind::ConnectionReset.into());
    }
    let is_asked = match parts.method {
        Method::GET | Method::HEAD => !is_query(&ask.path),
        Method::POST => is_query(&ask.path) || ajax::takes(&ask.path),
        _ => false,
    };
    let (reply, delivery) = if is_asked {
        decide(shop, ask, &parts.method, fault.as_ref())
    } else {
        (answer::not_found(shop), Delivery::Whole)
    };
    if is_query(&ask.path) {
        for late in shop.take_overdue() {
            honest(shop, &late, &Method::POST, None);
        }
    }
    match fault {
        Some(Fault::Delayed { .. }) => shop.delay(ask.clone(), None),
        Some(Fault::Late { requests, .. }) => shop.delay(ask.clone(), Some(requests)),
        _ => {}
    }
    if let Some(Fault::AnswerLost { hold_ms }) = fault {
        tokio::time::sleep(Duration::from_millis(hold_ms)).await;
        reset.store(true, Ordering::Release);
        return Err(io::ErrorKind::ConnectionReset.into());
    }
    let response = reply.finish(shop.shop_id(), ask, market.config.encoding)?;
    deliver(response, delivery)
}

/// Returns the response under a fault, and the way to send it.
fn decide(shop: &Shop, ask: &Ask, method: &Method, fault: Option<&Fault>) -> (Reply, Delivery) {
    let Some(fault) = fault else {
        return (honest(shop, ask, method, None), Delivery::Whole);
    };
    if let Some(delivered) = delivery_of(shop, ask, method, fault) {
        return delivered;
    }
    let base_url = &shop.address.base_url;
    let told = |ask: &Ask| honest(shop, ask, method, Some(fault));
    let reply = match fault {
        Fault::Status { status, retry_after_s } => refusal(*status, *retry_after_s),
        Fault::Challenge => {
            let body = "<!DOCTYPE html><html><head><title>Just a moment...</title></head><body>Checking your browser</body></html>";
            Reply {
                challenge: true,
                ..Reply::html(403, body)
            }
        }
        Fault::HtmlForJson => Reply::html(200, "<!doctype html><html><body><h1>Welcome</h1></body></html>"),
        Fault::PasswordPage if is_query(&ask.path) => graphql::locked(),
        Fault::PasswordPage if ask.path == "/password" => answer::password(shop),
        Fault::PasswordPage => Reply::redirect(302, format!("{base_url}/password")),
        Fault::QueryThrottled => graphql::throttled(),
        Fault::CartError { code } => graphql::cart_error(&ask.body, code.as_deref()).unwrap_or_else(|| told(ask)),
        Fault::QueryErrors { partial: false } => graphql::broken(),
        Fault::QueryErrors { partial: true } => graphql::half_broken(&told(ask)),
        Fault::CatalogueClosed { status } | Fault::Delayed { status } | Fault::Late { status, .. } => {
            refusal(*status, None)
        }
        Fault::EdgeFailed { status } => {
            told(ask);
            refusal(*status, None)
        }
        Fault::Bloated { .. } => Reply::json(&b"{\"products\":[]}"[..]),
        Fault::RedirectLoop => Reply::redirect(302, format!("{base_url}{}", ask.path)),
        Fault::RedirectTo { location } => Reply::redirect(302, location.clone()),
        Fault::BrokenJson => {
            let mut reply = told(&ask.unconditional());
            reply.body.truncate(reply.body.len() / 2);
            reply
        }
        Fault::ForgetsValidators => told(&ask.unconditional()),
        Fault::NoValidators => Reply {
            etag: None,
            ..told(&ask.unconditional())
        },
        Fault::RobotsDisallow => answer::forbidding(shop),
        Fault::RobotsUnavailable => refusal(503, None),
        Fault::NoMeta => answer::not_found(shop),
        _ => told(ask),
    };
    (reply, Delivery::Whole)
}

/// Carries out the deferred requests and returns their number.
pub(crate) fn catch_up(shop: &Shop) -> usize {
    let delayed = shop.take_delayed();
    for ask in &delayed {
        honest(shop, ask, &Method::POST, None);
    }
    delayed.len()
}

/// Returns the store's own response, with the fault's changes to its content.
fn honest(shop: &Shop, ask: &Ask, method: &Method, fault: Option<&Fault>) -> Reply {
    let twist = Twist::of(fault, shop);
    if let Some(reply) = ajax::answer(shop, ask, method, &twist.lie) {
        return reply;
    }
    if is_query(&ask.path) {
        graphql::answer(shop, ask, &twist)
    } else {
        answer(shop, ask, &twist)
    }
}

/// Returns the response under a fault of the delivery, or `None` for another fault.
fn delivery_of(shop: &Shop, ask: &Ask, method: &Method, fault: &Fault) -> Option<(Reply, Delivery)> {
    let delivery = match *fault {
        Fault::Drip { chunk_bytes, delay_ms } => Delivery::Drip {
            chunk_bytes,
            delay: Duration::from_millis(delay_ms),
        },
        Fault::Truncated { after_bytes } => Delivery::Truncated { after_bytes },
        Fault::GzipBomb { decoded_bytes } => Delivery::Bomb { decoded_bytes },
        Fault::Bloated {
            decoded_bytes,
            many_records,
        } if ask.page() == 1 => Delivery::Bloated {
            decoded_bytes,
            many_records,
        },
        Fault::Withheld { decoded_bytes, packed } => Delivery::Withheld { decoded_bytes, packed },
        Fault::RobotsEndless => Delivery::EndlessRobots,
        _ => return None,
    };
    let reply = match &delivery {
        Delivery::Drip { .. } | Delivery::Truncated { .. } => honest(shop, ask, method, Some(fault)),
        Delivery::EndlessRobots => Reply::text(200, Bytes::new()),
        _ => Reply::json(Bytes::new()),
    };
    Some((reply, delivery))
}

/// Returns an error response with the body that the platform sends for this status.
fn refusal(status: u16, retry_after_s: Option<u64>) -> Reply {
    let status = if (100..1000).contains(&status) { status } else { 500 };
    let reply = match status {
        429 => Reply::text(429, "local_rate_limited"),
        430 => Reply::html(430, "<html><body><h1>Shopify Security Rejection</h1></body></html>"),
        404 => Reply::html(
            404,
            "<html><body><h1>Sorry, this shop is currently unavailable.</h1></body></html>",
        ),
        other => Reply::html(other, format!("<html><body><h1>{other}</h1></body></html>")),
    };
    Reply { retry_after_s, ..reply }
}

fn deliver(response: Response<Bytes>, delivery: Delivery) -> io::Result<Response<Body>> {
    let (mut head, body) = response.into_parts();
    let body = match delivery {
        Delivery::Whole => Full::new(body).map_err(|never| match never {}).boxed_unsync(),
        Delivery::Drip { chunk_bytes, delay } => streamed(drip(body, chunk_bytes, delay)),
        Delivery::Truncated { after_bytes } => streamed(truncated(body, after_bytes)),
        Delivery::Bomb { decoded_bytes } => {
            head.headers.remove(CONTENT_LENGTH);
            head.headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            streamed(bomb(decoded_bytes)?)
        }
        Delivery::Bloated {
            decoded_bytes,
            many_records,
        } => {
            head.headers.remove(CONTENT_LENGTH);
            head.headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            streamed(bloated(decoded_bytes, many_records)?)
        }
        Delivery::Withheld { decoded_bytes, packed } => {
            head.headers.remove(CONTENT_LENGTH);
            if packed {
                head.headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            }
            streamed(withheld(decoded_bytes, packed)?)
        }
        Delivery::EndlessRobots => {
            head.headers.remove(CONTENT_LENGTH);
            streamed(endless_robots())
        }
    };
    Ok(Response::from_parts(head, body))
}

fn streamed(chunks: impl Stream<Item = io::Result<Bytes>> + Send + 'static) -> Body {
    StreamBody::new(chunks.map(|chunk| chunk.map(Frame::data))).boxed_unsync()
}

fn note(market: &Market, shop: &Shop, ask: &Ask, parts: &Parts, status: Option<u16>) {
    let header = |name| {
        parts
            .headers
            .get(name)
            .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
    };
    let record = RequestRecord {
        at: market.started.elapsed(),
        method: parts.method.to_string(),
        path: ask.path.clone(),
        query: parts.uri.query().map(str::to_owned),
        if_none_match: header(IF_NONE_MATCH),
        user_agent: header(USER_AGENT),
        status,
    };
    shop.log().note(record, market.config.request_log_max);
}

/// Returns the platform's response for an address without a shop.
fn no_store() -> Response<Body> {
    let text = "<html><body><h1>Sorry, this shop is currently unavailable.</h1></body></html>";
    let body = Full::new(Bytes::from_static(text.as_bytes()))
        .map_err(|never| match never {})
        .boxed_unsync();
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::NOT_FOUND;
    response
}

pub(crate) fn host(parts: &Parts) -> Option<&str> {
    parts.headers.get(HOST)?.to_str().ok()
}
