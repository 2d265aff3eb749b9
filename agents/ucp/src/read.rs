//! Parsers of requests.

use api::Asker;
use axum::extract::FromRequestParts;
use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value};
use url::Url;

use crate::Version;
use crate::failure::{Failure, RequestBody};

const AGENT: HeaderName = HeaderName::from_static("ucp-agent");
/// Maximum length of the header in characters.
const AGENT_CHARS_MAX: usize = 2_048;

/// Caller of an operation, with the idempotency key.
#[derive(Debug)]
pub(crate) struct Agent {
    pub(crate) asker: Asker,
    pub(crate) key: Option<HeaderValue>,
    /// Failure if the agent identified itself incorrectly or the key is invalid.
    pub(crate) fault: Option<Failure>,
}

impl<S: Sync> FromRequestParts<S> for Agent {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Self::Rejection> {
        Ok(Self {
            asker: Asker::from_request_parts(parts, state).await?,
            key: parts.headers.get(api::IDEMPOTENCY_KEY).cloned(),
            fault: agent(&parts.headers).err(),
        })
    }
}

impl Agent {
    /// Reads a tool's argument `meta`: `profile` and `version` of `ucp-agent`, and `idempotency-key`.
    pub(crate) fn of_meta(meta: Option<&Value>, asker: Asker) -> Self {
        let member = |name: &str| meta.and_then(|meta| meta.get(name));
        let of_agent = member("ucp-agent").and_then(|agent| {
            let stated = |name: &str| agent.get(name).map(|value| value.as_str().unwrap_or_default());
            let content = "meta.ucp-agent.profile must be the URL of the agent's profile.";
            check(stated("profile"), stated("version"), content).err()
        });
        let given = member("idempotency-key").filter(|key| !key.is_null());
        let key = given
            .and_then(Value::as_str)
            .filter(|key| key.is_ascii())
            .and_then(|key| HeaderValue::from_str(key).ok());
        // Without the key, a retry would execute the operation again.
        let of_key = (given.is_some() && key.is_none()).then(|| {
            let content = "meta.idempotency-key must be a string of 1 to 255 printable ASCII characters.";
            Failure::bad("validation", content)
        });
        Self {
            asker,
            key,
            fault: of_agent.or(of_key),
        }
    }
}

/// Checks the header with the agent's profile, `profile="https://…"` (RFC 8941), and an optional version.
fn agent(headers: &HeaderMap) -> Result<(), Failure> {
    let Some(value) = headers.get(AGENT) else {
        return Ok(());
    };
    let text = value.to_str().ok().filter(|text| text.len() <= AGENT_CHARS_MAX);
    let stated = text.map(Statement::read).unwrap_or_default();
    let content = "The header UCP-Agent must be a dictionary with profile=\"https://…\" (RFC 8941).";
    check(stated.profile, stated.version, content)
}

/// Checks an agent's identification. The profile is not fetched. The version must be a supported one.
///
/// # Errors
/// Fails for a missing or invalid profile with the text `wrong_profile`, and for an unsupported version with
/// `version_unsupported`.
fn check(profile: Option<&str>, version: Option<&str>, wrong_profile: &str) -> Result<(), Failure> {
    if !profile.is_some_and(is_address) {
        return Err(Failure::bad("invalid_profile_url", wrong_profile));
    }
    if version.is_some_and(|version| Version::of(version).is_none()) {
        let spoken = Version::ALL.map(Version::as_str).join(", ");
        let content = format!("This server does not support that protocol version. It supports: {spoken}.");
        return Err(Failure::bad("version_unsupported", content));
    }
    Ok(())
}

/// True if the URL could be that of a profile.
fn is_address(profile: &str) -> bool {
    let Ok(url) = Url::parse(profile) else { return false };
    let is_here = matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"));
    profile.len() <= AGENT_CHARS_MAX && (url.scheme() == "https" || url.scheme() == "http" && is_here)
}

/// Identification of the agent in the header.
#[derive(Debug, Default, PartialEq, Eq)]
struct Statement<'a> {
    profile: Option<&'a str>,
    /// Version, from a dictionary member of its own or from a parameter of the profile.
    version: Option<&'a str>,
}

impl<'a> Statement<'a> {
    /// Parses the strings of the dictionary: texts between quotation marks, each named by the text before it. URLs and
    /// versions contain no quotation marks.
    fn read(text: &'a str) -> Self {
        let parts: Vec<&str> = text.split('"').collect();
        let (mut stated, mut member) = (Self::default(), "");
        let pairs = parts.chunks_exact(2);
        // A remainder means that the last string has no end, so the dictionary is invalid.
        if pairs.remainder().is_empty() {
            return stated;
        }
        for (nth, pair) in pairs.enumerate() {
            let [before, value] = [pair[0], pair[1]];
            let begun = before.rsplit_once(',').map(|(_, own)| own);
            if let Some(own) = begun.or((nth == 0).then_some(before)) {
                member = own.split([';', '=']).next().unwrap_or_default().trim();
            }
            let key = before.rsplit([',', ';']).next().unwrap_or_default().trim();
            match (member, key) {
                ("profile", "profile=") => stated.profile = Some(value),
                ("profile" | "version", "version=") => stated.version = Some(value),
                _ => {}
            }
        }
        stated
    }
}

/// Parses an optional body. A missing body is an empty object.
pub(crate) fn optional_body(sent: &Bytes) -> RequestBody {
    if sent.is_empty() {
        return Ok(Value::Object(Map::new()));
    }
    body(sent)
}

pub(crate) fn body(body: &Bytes) -> RequestBody {
    let value: Value = serde_json::from_slice(body)
        .map_err(|error| Failure::bad("malformed_json", format!("The body is not valid JSON: {error}")))?;
    object(value, "The body")
}

/// Returns the value as an object. Errors call it `name`.
pub(crate) fn object(value: Value, name: &str) -> RequestBody {
    if value.is_object() {
        Ok(value)
    } else {
        Err(Failure::bad("invalid", format!("{name} must be a JSON object.")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_is_an_address_of_the_web_over_tls_or_on_this_machine() {
        let of = |value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(AGENT, HeaderValue::from_str(value).unwrap());
            agent(&headers).is_ok()
        };
        assert!(agent(&HeaderMap::new()).is_ok());
        for good in [
            r#"profile="https://agent.example/profile.json""#,
            r#"a=1, profile="https://agent.example/p";v=2"#,
            r#"profile="http://127.0.0.1:7000/p""#,
            r#"profile="https://agent.example/p;a,b=c"; version="2026-04-08""#,
            r#"profile="https://agent.example/p", version="2026-08-25""#,
            r#"other=1;version="7", profile="https://agent.example/p""#,
        ] {
            assert!(of(good), "{good}");
        }
        for bad in [
            "",
            "profile",
            "profile=https://agent.example",
            r#"profile="ftp://agent.example""#,
            r#"profile="http://agent.example""#,
            r#"profile="nowhere""#,
            r#"profile="https://agent.example"#,
            r#"other="x";profile="https://agent.example""#,
            r#"profile="https://agent.example"; version="2099-01-01""#,
            r#"version="", profile="https://agent.example""#,
        ] {
            assert!(!of(bad), "{bad}");
        }
    }
}
