use http::{HeaderMap, HeaderName, header};

const SERVICE_KEY: HeaderName = HeaderName::from_static("x-service-key");

/// Name of the session cookie. Browsers accept the prefix `__Host-` only from the host itself and over TLS.
pub const SESSION_COOKIE: &str = "__Host-haat_session";

/// Prefix of every key, by which a key in a URL can be detected.
const KEY_PREFIX: &[u8] = b"haat_live_";

/// Maximum length of a text that is checked as a key or session. Real ones are much shorter.
const BYTES_MAX: usize = 256;

/// A credential in a request.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Credential<'a> {
    /// A key from `X-Service-Key` or `Authorization: Bearer`.
    Key(&'a str),
    /// The value of the session cookie.
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

/// Error for unreadable credentials, with a message for the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CredentialError(pub(super) &'static str);

impl<'a> Credential<'a> {
    /// Returns the credential of a request. A key has priority over a session, because clients send keys on purpose and
    /// browsers send cookies automatically.
    pub(super) fn of(headers: &'a HeaderMap, query: Option<&str>) -> Result<Option<Self>, CredentialError> {
        if query.is_some_and(holds_key) {
            return Err(CredentialError(
                "The URL contains a key, and logs and browser histories keep URLs. Rotate the key, and send it in the \
                 header X-Service-Key.",
            ));
        }
        let own = single(headers, SERVICE_KEY, "X-Service-Key")?;
        let bearer = single(headers, header::AUTHORIZATION, "Authorization")?
            .map(bearer)
            .transpose()?;
        match (own, bearer) {
            (Some(own), Some(bearer)) if own != bearer => Err(CredentialError(
                "X-Service-Key and Authorization contain two keys: send only one.",
            )),
            (Some(key), _) | (None, Some(key)) => Ok(Some(Self::Key(key))),
            (None, None) => Ok(session(headers).map(Self::Session)),
        }
    }
}

/// Returns the only value of a header, if the header is present.
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
            "The request has more than one Authorization header: send one."
        } else {
            "The request has more than one X-Service-Key header: send one."
        }));
    }
    if value.len() > BYTES_MAX {
        return Err(CredentialError("The key is not valid: it is too long."));
    }
    let text = value
        .to_str()
        .map_err(|_| CredentialError("The key is not valid: keys are ASCII text."));
    text.map(|text| Some(text.trim()))
}

/// Parses the token in `Bearer TOKEN` (RFC 6750, 2.1). The case of the scheme does not matter.
fn bearer(value: &str) -> Result<&str, CredentialError> {
    let token = value
        .split_once(' ')
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
    token.map(|(_, token)| token.trim()).ok_or(CredentialError(
        "The Authorization header must be `Bearer` followed by a key.",
    ))
}

/// Returns the session cookie. Returns `None` if there are several, because a `__Host-` cookie exists only once.
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

/// True if a query contains a key, percent-encoded or not.
fn holds_key(query: &str) -> bool {
    let plain = |bytes: &[u8]| memchr::memmem::find(bytes, KEY_PREFIX).is_some();
    if query.contains('%') {
        let decoded: Vec<u8> = percent_encoding::percent_decode_str(query).collect();
        plain(&decoded)
    } else {
        plain(query.as_bytes())
    }
}
