use http::uri::Authority;
use http::{Request, Version, header};

use crate::{Problem, Rule, Violation};

/// Fault in the `Host` header of a request over a connection. The response is 400, as RFC 9112 (3.2) requires, with the
/// code `validation` and the header as location.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HostFault {
    /// The request has HTTP/1.1 but no `Host`.
    Missing,
    /// The request has several `Host` headers.
    Repeated,
    /// The value is not a host with an optional port.
    Invalid,
}

impl HostFault {
    /// Checks a request from a connection. The server loop calls this function and the edge responds, because a request
    /// within the process needs no host.
    pub(crate) fn of<B>(request: &Request<B>) -> Option<Self> {
        let mut hosts = request.headers().get_all(header::HOST).iter();
        let Some(host) = hosts.next() else {
            // HTTP/2 has `:authority` instead, and HTTP/1.0 has no `Host`.
            return (request.version() == Version::HTTP_11).then_some(Self::Missing);
        };
        if hosts.next().is_some() {
            return Some(Self::Repeated);
        }
        // An empty value is valid: clients send it for a target without an authority.
        let valid = is_plain(host.as_bytes())
            || Authority::try_from(host.as_bytes()).is_ok_and(|authority| !authority.as_str().contains('@'));
        (!valid).then_some(Self::Invalid)
    }

    pub(super) fn problem(self) -> Problem {
        let rule = match self {
            Self::Missing => Rule::Missing,
            Self::Repeated => Rule::Value("a request must have exactly one Host"),
            Self::Invalid => Rule::Value("must be a host name with an optional port"),
        };
        let input = (self == Self::Missing).then_some(serde_json::Value::Null);
        Problem::no_http(vec![Violation::new(vec!["header".into(), "host".into()], &rule, input)])
    }
}

/// True for letters, digits, `-` and `.`, optionally with `:` and digits at the end. Nearly every host passes this
/// check and needs no parsing.
fn is_plain(host: &[u8]) -> bool {
    let name = host.iter().position(|byte| *byte == b':').unwrap_or(host.len());
    let (name, port) = host.split_at(name);
    let named = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.');
    let port = port.strip_prefix(b":").unwrap_or_default();
    name.iter().all(named) && port.len() <= 5 && port.iter().all(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_plain_parses_as_a_host(host in "[a-zA-Z0-9.:@-]{1,9}|[a-z.-]{0,9}:[0-9]{0,6}|[a-z0-9.-]{1,99}") {
            if is_plain(host.as_bytes()) {
                let parsed = Authority::try_from(host.as_bytes());
                prop_assert!(parsed.is_ok_and(|authority| !authority.as_str().contains('@')));
            }
        }
    }
}
