//! Cookies of the dashboard. Browsers send the cookies only to this host and only over TLS, and scripts cannot read
//! them.

use api::SESSION_COOKIE;
use http::{HeaderMap, HeaderValue, header};
use state::SessionToken;

/// Cookie that ties a sign-in at the provider to the browser that started it.
#[cfg(feature = "oidc")]
pub(crate) const PENDING_COOKIE: &str = "__Host-haat_sign_in";

/// Returns the value of a cookie that was sent exactly once. Duplicate cookies are ignored, because an attacker may
/// have set one of them.
pub(crate) fn value<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let lines = headers.get_all(header::COOKIE).into_iter();
    let cookies = lines
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(';'));
    let mut named = cookies.filter_map(|cookie| {
        let (own, value) = cookie.trim().split_once('=')?;
        (own == name).then_some(value)
    });
    let first = named.next()?;
    named.next().is_none().then_some(first)
}

/// Returns the session token in the browser's cookie. Returns `None` if the cookie is missing or malformed.
pub(crate) fn session(headers: &HeaderMap) -> Option<SessionToken> {
    value(headers, SESSION_COOKIE)?.parse().ok()
}

/// Builds the `Set-Cookie` header of a session that ends after `seconds` seconds.
pub(crate) fn set_session(token: &SessionToken, seconds: u64) -> Option<HeaderValue> {
    set(SESSION_COOKIE, token.text(), seconds)
}

pub(crate) fn remove_session() -> Option<HeaderValue> {
    set(SESSION_COOKIE, "", 0)
}

/// Builds a `Set-Cookie` header. `SameSite` is `Lax`, not `Strict`, so that users who return from the provider or
/// follow a link stay signed in.
pub(crate) fn set(name: &str, value: &str, seconds: u64) -> Option<HeaderValue> {
    let text = format!("{name}={value}; Path=/; Max-Age={seconds}; Secure; HttpOnly; SameSite=Lax");
    let mut value = HeaderValue::try_from(text).ok()?;
    value.set_sensitive(true);
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_is_read_where_it_was_sent_once() {
        let read = |lines: &[&'static str]| {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append(header::COOKIE, HeaderValue::from_static(line));
            }
            value(&headers, "a").map(str::to_owned)
        };
        assert_eq!(read(&["a=1"]).as_deref(), Some("1"));
        assert_eq!(read(&["b=2; a=1=2; c"]).as_deref(), Some("1=2"));
        assert_eq!(read(&["b=2", "a=1"]).as_deref(), Some("1"));
        assert_eq!(read(&["a=1; a=2"]), None);
        assert_eq!(read(&["a=1", "a=1"]), None);
        assert_eq!(read(&["aa=1", "A=1", "b"]), None);
    }
}
