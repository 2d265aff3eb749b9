//! Reads requests.

use api::Asker;
use axum::extract::FromRequestParts;
use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use url::Url;

use crate::failure::{Failure, RequestBody};

const AGENT: HeaderName = HeaderName::from_static("ucp-agent");
/// Most characters of the header.
const AGENT_CHARS_MAX: usize = 2_048;

/// The caller of an operation, and the key under which it is done once. Every request begins with them.
#[derive(Debug)]
pub(crate) struct Agent {
    pub(crate) asker: Asker,
    pub(crate) key: Option<HeaderValue>,
    /// The failure that a wrong header `UCP-Agent` leads to.
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
    /// Reads a tool's argument `meta`: `ucp-agent.profile`, and `idempotency-key`.
    pub(crate) fn of_meta(meta: Option<&Value>, asker: Asker) -> Self {
        let member = |name: &str| meta.and_then(|meta| meta.get(name));
        let profile = member("ucp-agent").map(|agent| agent.get("profile").and_then(Value::as_str));
        let is_wrong = profile.is_some_and(|profile| !profile.is_some_and(is_address));
        let of_profile = is_wrong.then(|| {
            let content = "meta.ucp-agent.profile is to be the address of the agent's profile.";
            Failure::bad("invalid_profile_url", content)
        });
        let given = member("idempotency-key").filter(|key| !key.is_null());
        let key = given
            .and_then(Value::as_str)
            .filter(|key| key.is_ascii())
            .and_then(|key| HeaderValue::from_str(key).ok());
        // Done without the key, it would be done again with the next try.
        let of_key = (given.is_some() && key.is_none()).then(|| {
            let content = "meta.idempotency-key is to be a text of 1 to 255 characters of printable ASCII.";
            Failure::bad("validation", content)
        });
        Self {
            asker,
            key,
            fault: of_profile.or(of_key),
        }
    }
}

/// Looks at the header that names the agent's profile: `profile="https://…"` (RFC 8941). The profile is not fetched.
fn agent(headers: &HeaderMap) -> Result<(), Failure> {
    let Some(value) = headers.get(AGENT) else {
        return Ok(());
    };
    let text = value.to_str().ok().filter(|text| text.len() <= AGENT_CHARS_MAX);
    let is_profile = text.and_then(profile).is_some_and(is_address);
    is_profile.then_some(()).ok_or_else(|| {
        let content = "The header UCP-Agent is no dictionary with profile=\"https://…\" (RFC 8941).";
        Failure::bad("invalid_profile_url", content)
    })
}

/// True where a profile could lie at this address: it is not fetched.
pub(crate) fn is_address(profile: &str) -> bool {
    let Ok(url) = Url::parse(profile) else { return false };
    let is_here = matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"));
    profile.len() <= AGENT_CHARS_MAX && (url.scheme() == "https" || url.scheme() == "http" && is_here)
}

/// The string of the member `profile`. Addresses hold neither commas nor quotation marks that are not escaped.
fn profile(text: &str) -> Option<&str> {
    let members = text.split(',').map(str::trim);
    let value = members
        .filter_map(|member| member.strip_prefix("profile="))
        .next_back()?;
    value.strip_prefix('"')?.split_once('"').map(|(url, _)| url)
}

/// The body of a request.
pub(crate) fn body(body: &Bytes) -> RequestBody {
    let value: Value = serde_json::from_slice(body)
        .map_err(|error| Failure::bad("malformed_json", format!("The body is no JSON: {error}")))?;
    object(value, "The body")
}

/// The value as an object; errors call it `name`.
pub(crate) fn object(value: Value, name: &str) -> RequestBody {
    if value.is_object() {
        Ok(value)
    } else {
        Err(Failure::bad("invalid", format!("{name} is no JSON object.")))
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
        ] {
            assert!(!of(bad), "{bad}");
        }
    }
}
