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

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Answer {
    pub(crate) fn is_redirect(&self) -> bool {
        matches!(self.status.as_u16(), 301 | 302 | 303 | 307 | 308)
    }
}

/// A response that refuses because of the request rate or the kind of client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PaceRefusal {
    TooFast {
        retry_after: Option<Duration>,
    },
    /// The store limits one operation, such as sign-ins. Other calls are not affected.
    OfOperation,
    Challenge,
}

impl PaceRefusal {
    /// Status 430 is Shopify's "security rejection", which shared and data-centre IP addresses get. Status 503 counts
    /// only with a `Retry-After`.
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

/// Returns the error for a redirect that leads to the store's password page or a bot challenge.
pub(crate) fn wall(target: &Url, status: StatusCode) -> Option<StoreError> {
    let segments: Vec<&str> = target.path().trim_matches('/').split('/').collect();
    let last = match segments[..] {
        [last] => last,
        // The path may be below a market's folder: `/en-in/password`.
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

/// Checks that a final response is a usable page. Other functions handle redirects and rate refusals.
pub(crate) fn judge(answer: &Answer, accept: Accept, is_catalogue: bool) -> Result<(), StoreError> {
    let status = answer.status.as_u16();
    match status {
        // Partial content was not requested, so it is not a page.
        206 => Err(StoreError::Status { status }),
        200..=299 if accept == Accept::Json => judge_json(answer),
        200..=299 => Ok(()),
        400 if is_page_cap(&answer.body) => Err(StoreError::PageCap),
        401 | 403 | 404 | 410 if is_catalogue => Err(StoreError::CatalogueClosed { status }),
        402 | 423 => Err(StoreError::Suspended { status }),
        _ => Err(StoreError::Status { status }),
    }
}

/// The first byte decides and not the content type, because stores send HTML pages with status 200 on JSON paths, and
/// proxies mislabel JSON.
fn judge_json(answer: &Answer) -> Result<(), StoreError> {
    let body = answer
        .body
        .strip_prefix(b"\xef\xbb\xbf")
        .unwrap_or(&answer.body)
        .trim_ascii();
    match (body.first(), body.last()) {
        (Some(b'{'), Some(b'}')) | (Some(b'['), Some(b']')) if !is_open(body) => return Ok(()),
        // A response without a length ends with its connection. HTTP cannot detect that it was cut off, possibly
        // between records.
        (Some(b'{' | b'['), _) => return Err(StoreError::Truncated),
        _ => {}
    }
    let content_type = text(&answer.headers, &CONTENT_TYPE).map(|text| text.chars().take(80).collect());
    Err(StoreError::NotJson { content_type })
}

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

/// Recognises Shopify's error text "Page * Limit exceeds the 25000 limit."
fn is_page_cap(body: &[u8]) -> bool {
    let lower = body[..body.len().min(4096)].to_ascii_lowercase();
    memmem::find(&lower, b"page * limit exceeds").is_some() || memmem::find(&lower, b"25000 limit").is_some()
}

/// Returns the currency of the store's amounts, from the cookie that the store sets to remember it. The last one of
/// several such cookies counts, as in a browser.
pub(crate) fn cart_currency(headers: &HeaderMap) -> Option<CurrencyCode> {
    let stated = |cookie: &http::HeaderValue| {
        let (name, value) = cookie.to_str().ok()?.split(';').next()?.split_once('=')?;
        (name.trim() == "cart_currency").then(|| value.trim().trim_matches('"').to_ascii_uppercase())
    };
    let last = headers.get_all(SET_COOKIE).iter().filter_map(stated).next_back()?;
    last.parse().ok()
}

/// Returns a header's value if it is text.
pub(crate) fn text<'a>(headers: &'a HeaderMap, name: &http::HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}
