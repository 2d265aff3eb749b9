use std::sync::Arc;

use api::Problem;
use axum::extract::FromRequestParts;
use data_model::ErrorCode;
use http::request::Parts;
use http::{HeaderMap, header};

use crate::Inner;

/// Header that the page's script sets. A page of another site needs permission (CORS) to set it, which is never
/// granted.
const OWN_HEADER: &str = "x-haat-dashboard";

/// Proof that the dashboard's own page sent the request. Browsers also send the session cookie with requests of pages,
/// forms or images of other sites.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OwnPage;

impl FromRequestParts<Arc<Inner>> for OwnPage {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, inner: &Arc<Inner>) -> Result<Self, Problem> {
        let own = parts.headers.get(OWN_HEADER).is_some_and(|value| value == "1");
        let from_here = is_from(&parts.headers, inner.public_url.origin(), parts.method.is_safe());
        if own && from_here {
            return Ok(Self);
        }
        let detail =
            "Only the dashboard's own page may send this request. Programs must send a key to the API under /v1/.";
        Err(Problem::new(ErrorCode::Forbidden).detail(detail))
    }
}

/// True if the browser's headers name this origin as the sender. A request that changes something must have such a
/// header.
fn is_from(headers: &HeaderMap, origin: &str, is_safe: bool) -> bool {
    let site = headers.get("sec-fetch-site");
    let named = headers.get(header::ORIGIN);
    let fits = site.is_none_or(|site| site == "same-origin") && named.is_none_or(|named| named == origin);
    fits && (is_safe || site.is_some() || named.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_something_must_say_that_it_comes_from_here() {
        let told = |pairs: &[(&'static str, &'static str)], is_safe| {
            let headers = pairs.iter().map(|(name, value)| {
                (
                    http::HeaderName::from_static(name),
                    http::HeaderValue::from_static(value),
                )
            });
            is_from(&headers.collect(), "https://market.example", is_safe)
        };
        let here = ("origin", "https://market.example");
        assert!(told(&[here], false));
        assert!(told(&[("sec-fetch-site", "same-origin")], false));
        assert!(told(&[("sec-fetch-site", "same-origin"), here], false));
        assert!(told(&[], true));
        assert!(!told(&[], false));
        for site in ["cross-site", "same-site", "none"] {
            assert!(!told(&[("sec-fetch-site", site)], true), "{site}");
            assert!(!told(&[("sec-fetch-site", site), here], false), "{site}");
        }
        for origin in [
            "null",
            "http://market.example",
            "https://market.example:8443",
            "https://evil.example",
        ] {
            assert!(!told(&[("origin", origin)], true), "{origin}");
            assert!(
                !told(&[("sec-fetch-site", "same-origin"), ("origin", origin)], false),
                "{origin}"
            );
        }
    }
}
