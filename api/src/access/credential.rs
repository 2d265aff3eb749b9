use http::{HeaderMap, HeaderName, header};

const SERVICE_KEY: HeaderName = HeaderName::from_static("x-service-key");

/// The name of the cookie of a session. The prefix makes browsers take it from this host alone, over TLS.
pub const SESSION_COOKIE: &str = "__Host-haat_session";

/// The beginning of every key: it gives away a key that stands in an address.
const KEY_PREFIX: &[u8] = b"haat_live_";

/// Longest text that is looked at as a key or session: both are much shorter.
const BYTES_MAX: usize = 256;

/// A credential that a request brings.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Credential<'a> {
    /// A key, from `X-Service-Key` or `Authorization: Bearer`.
    Key(&'a str),
    /// The value of the session's cookie.
    Session(&'a str),
}

impl std::fmt::Debug for Credential<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Key(_) => "Key(…)",
            Self::Session(_) => "Session(…)",
        })
    }
}

/// A request's credentials cannot be read; what is wrong, for the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CredentialError(pub(super) &'static str);

impl<'a> Credential<'a> {
    /// The credential of a request. A key goes before a session: it was sent on purpose, a browser sends cookies by
    /// itself.
    pub(super) fn of(headers: &'a HeaderMap, query: Option<&str>) -> Result<Option<Self>, CredentialError> {
        if query.is_some_and(holds_key) {
            return Err(CredentialError(
                "A key stands in the address, where logs and histories keep it: rotate it, and send it as the header \
                 X-Service-Key.",
            ));
        }
        let own = single(headers, SERVICE_KEY, "X-Service-Key")?;
        let bearer = single(headers, header::AUTHORIZATION, "Authorization")?
            .map(bearer)
            .transpose()?;
        match (own, bearer) {
            (Some(own), Some(bearer)) if own != bearer => Err(CredentialError(
                "X-Service-Key and Authorization hold two keys: send one.",
            )),
            (Some(key), _) | (None, Some(key)) => Ok(Some(Self::Key(key))),
            (None, None) => Ok(session(headers).map(Self::Session)),
        }
    }
}

/// The only value of a header, where it is there.
fn single<'a>(
    headers: &'a HeaderMap,
    name: HeaderName,
    words: &'static str,
) -> Result<Option<&'a str>, CredentialError> {
    let mut values = headers.get_all(name).into_iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    if values.next().is_some() {
        return Err(CredentialError(if words == "Authorization" {
            "A request has one Authorization header."
        } else {
            "A request has one X-Service-Key header."
        }));
    }
    if value.len() > BYTES_MAX {
        return Err(CredentialError("That is no key: it is too long."));
    }
    let text = value
        .to_str()
        .map_err(|_| CredentialError("That is no key: keys are ASCII."));
    text.map(|text| Some(text.trim()))
}

/// The token of `Bearer TOKEN` (RFC 6750, 2.1; the scheme's case does not count).
fn bearer(value: &str) -> Result<&str, CredentialError> {
    let token = value
        .split_once(' ')
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
    token
        .map(|(_, token)| token.trim())
        .ok_or(CredentialError("Authorization is to be `Bearer` and a key."))
}

/// The session's cookie; of several, none: a host cookie is set once.
fn session(headers: &HeaderMap) -> Option<&str> {
    let lines = headers.get_all(header::COOKIE).into_iter();
    let cookies = lines
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(';'));
    let mut named = cookies.filter_map(|cookie| {
        let (name, value) = cookie.trim().split_once('=')?;
        (name == SESSION_COOKIE).then_some(value)
    });
    let first = named.next()?;
    (named.next().is_none() && first.len() <= BYTES_MAX).then_some(first)
}

/// True where a query holds a key, percent-encoded or not.
fn holds_key(query: &str) -> bool {
    let plain = |bytes: &[u8]| memchr::memmem::find(bytes, KEY_PREFIX).is_some();
    if query.contains('%') {
        let decoded: Vec<u8> = percent_encoding::percent_decode_str(query).collect();
        plain(&decoded)
    } else {
        plain(query.as_bytes())
    }
}
