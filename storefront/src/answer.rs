use std::time::Duration;

use bytes::Bytes;
use data_model::{CurrencyCode, Timestamp};
use http::header::{CONTENT_TYPE, LOCATION, SET_COOKIE};
use http::{HeaderMap, StatusCode};
use memchr::memmem;
use url::Url;

use crate::error::{RedirectFault, StoreError};
use crate::page::Accept;
use crate::retry;

/// One complete answer of one host.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Answer {
    /// True where it sends the client elsewhere.
    pub(crate) fn is_redirect(&self) -> bool {
        matches!(self.status.as_u16(), 301 | 302 | 303 | 307 | 308)
    }
}

/// An answer's word on the pace, whatever page it was for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PaceRefusal {
    TooFast { retry_after: Option<Duration> },
    Challenge,
}

impl PaceRefusal {
    /// A refusal to serve a client like us, or at this speed. 430 is the platform's own "security rejection",
    /// which shared and data-centre addresses see; 503 counts when it says when to come back.
    pub(crate) fn by(status: StatusCode, headers: &HeaderMap, now: Timestamp) -> Option<Self> {
        let retry_after = retry::retry_after(headers, now);
        if headers
            .get("cf-mitigated")
            .is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"challenge"))
        {
            return Some(Self::Challenge);
        }
        match status.as_u16() {
            429 | 430 => Some(Self::TooFast { retry_after }),
            503 if retry_after.is_some() => Some(Self::TooFast { retry_after }),
            _ => None,
        }
    }
}

/// The address that an answer leads to, if it is a redirect.
pub(crate) fn redirect(answer: &Answer, from: &Url) -> Option<Result<Url, RedirectFault>> {
    if !answer.is_redirect() {
        return None;
    }
    let location = answer
        .headers
        .get(LOCATION)
        .and_then(|value| std::str::from_utf8(value.as_bytes()).ok());
    let target = location.and_then(|location| from.join(location).ok());
    Some(target.ok_or(RedirectFault::Location))
}

/// The wall that a redirect leads to instead of a page, if any.
pub(crate) fn wall(target: &Url, status: StatusCode) -> Option<StoreError> {
    let segments: Vec<&str> = target.path().trim_matches('/').split('/').collect();
    let last = match segments[..] {
        [last] => last,
        // Below a market's folder: `/en-in/password`.
        [market, last] if market.len() == 2 || (market.len() == 5 && market.as_bytes()[2] == b'-') => last,
        _ => return None,
    };
    match last {
        "password" => Some(StoreError::PasswordPage),
        "challenge" => Some(StoreError::Challenged {
            status: status.as_u16(),
        }),
        _ => None,
    }
}

/// Judges a final answer (not a redirect, not a refusal by pace): a page, or why it is none.
pub(crate) fn judge(answer: &Answer, accept: Accept, is_catalogue: bool) -> Result<(), StoreError> {
    let status = answer.status.as_u16();
    match status {
        // A part of a page, which nobody asked for, is no page.
        206 => Err(StoreError::Status { status }),
        200..=299 if accept == Accept::Json => judge_json(answer),
        200..=299 => Ok(()),
        400 if is_page_cap(&answer.body) => Err(StoreError::PageCap),
        401 | 403 | 404 | 410 if is_catalogue => Err(StoreError::CatalogueClosed { status }),
        402 | 423 => Err(StoreError::Suspended { status }),
        _ => Err(StoreError::Status { status }),
    }
}

/// The first octet decides, not the label: stores send HTML pages with status 200 on JSON paths, and proxies
/// mislabel JSON.
fn judge_json(answer: &Answer) -> Result<(), StoreError> {
    let body = answer
        .body
        .strip_prefix(b"\xef\xbb\xbf")
        .unwrap_or(&answer.body)
        .trim_ascii();
    match (body.first(), body.last()) {
        (Some(b'{'), Some(b'}')) | (Some(b'['), Some(b']')) if !is_open(body) => return Ok(()),
        // An answer that ends with its connection looks complete to HTTP, however early it ends; it may end behind a
        // record.
        (Some(b'{' | b'['), _) => return Err(StoreError::Truncated),
        _ => {}
    }
    let content_type = text(&answer.headers, &CONTENT_TYPE).map(|text| text.chars().take(80).collect());
    Err(StoreError::NotJson { content_type })
}

/// True where a bracket outside of texts is never closed.
fn is_open(json: &[u8]) -> bool {
    let (mut depth, mut at) = (0_u64, 0);
    while let Some(byte) = json.get(at) {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                at += 1;
                while let Some(found) = memchr::memchr2(b'"', b'\\', json.get(at..).unwrap_or_default()) {
                    at += found;
                    if json[at] == b'"' {
                        break;
                    }
                    at += 2;
                }
            }
            _ => {}
        }
        at += 1;
    }
    depth > 0
}

/// "Page * Limit exceeds the 25000 limit."
fn is_page_cap(body: &[u8]) -> bool {
    let lower = body[..body.len().min(4096)].to_ascii_lowercase();
    memmem::find(&lower, b"page * limit exceeds").is_some() || memmem::find(&lower, b"25000 limit").is_some()
}

/// The currency that the store says it shows its amounts in: the cookie by which it would remember that of a visitor.
/// Of several the last counts, as in a browser.
pub(crate) fn cart_currency(headers: &HeaderMap) -> Option<CurrencyCode> {
    let stated = |cookie: &http::HeaderValue| {
        let (name, value) = cookie.to_str().ok()?.split(';').next()?.split_once('=')?;
        (name.trim() == "cart_currency").then(|| value.trim().trim_matches('"').to_ascii_uppercase())
    };
    let last = headers.get_all(SET_COOKIE).iter().filter_map(stated).next_back()?;
    last.parse().ok()
}

/// A header as text, if it is there and is text.
pub(crate) fn text<'a>(headers: &'a HeaderMap, name: &http::HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}
