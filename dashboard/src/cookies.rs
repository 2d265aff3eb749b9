//! The cookies of the dashboard: for this host alone, sent over TLS alone, out of reach for scripts.

use api::SESSION_COOKIE;
use http::{HeaderMap, HeaderValue, header};
use state::SessionToken;

/// Ties a sign-in at the provider to the browser that began it.
#[cfg(feature = "oidc")]
pub(crate) const PENDING_COOKIE: &str = "__Host-haat_sign_in";

/// The value of a cookie that was sent once; of several with one name, none: whoever set the other meant harm.
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

/// The session's token as the browser sent it; `None` where it sent none, or one that cannot be.
pub(crate) fn session(headers: &HeaderMap) -> Option<SessionToken> {
    value(headers, SESSION_COOKIE)?.parse().ok()
}

/// `Set-Cookie` of a session that ends after so many seconds.
pub(crate) fn set_session(token: &SessionToken, seconds: u64) -> Option<HeaderValue> {
    set(SESSION_COOKIE, token.text(), seconds)
}

/// `Set-Cookie` that removes the session's cookie.
pub(crate) fn remove_session() -> Option<HeaderValue> {
    set(SESSION_COOKIE, "", 0)
}

/// `Set-Cookie`. `Lax`, not `Strict`: whoever comes from the provider, or follows a link to the dashboard, is signed in.
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
