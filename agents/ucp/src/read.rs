//! Reads requests.

use api::Asker;
use axum::extract::FromRequestParts;
use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue};
use serde::de::DeserializeOwned;
use url::Url;

use crate::failure::Failure;

const AGENT: HeaderName = HeaderName::from_static("ucp-agent");
/// Most characters of the header.
const AGENT_CHARS_MAX: usize = 2_048;

/// What every request to an operation begins with: who asks, and the key under which it is done once.
#[derive(Debug)]
pub(crate) struct Agent {
    pub(crate) asker: Asker,
    pub(crate) key: Option<HeaderValue>,
    /// What the header `UCP-Agent` is not.
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

/// Looks at the header that names the agent's profile: `profile="https://…"` (RFC 8941). The profile is not fetched.
fn agent(headers: &HeaderMap) -> Result<(), Failure> {
    let Some(value) = headers.get(AGENT) else {
        return Ok(());
    };
    let bad = || {
        let content = "The header UCP-Agent is no dictionary with profile=\"https://…\" (RFC 8941).";
        Failure::bad("invalid_profile_url", content)
    };
    let text = value.to_str().ok().filter(|text| text.len() <= AGENT_CHARS_MAX);
    let profile = text.and_then(profile).ok_or_else(bad)?;
    let url = Url::parse(profile).map_err(|_| bad())?;
    let is_here = matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"));
    if url.scheme() == "https" || url.scheme() == "http" && is_here {
        Ok(())
    } else {
        Err(bad())
    }
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
pub(crate) fn body<T: DeserializeOwned>(body: &Bytes) -> Result<T, Failure> {
    let value: serde_json::Value = serde_json::from_slice(body)
        .map_err(|error| Failure::bad("malformed_json", format!("The body is no JSON: {error}")))?;
    if !value.is_object() {
        return Err(Failure::bad("invalid", "The body is no JSON object."));
    }
    serde_json::from_value(value).map_err(|error| Failure::bad("invalid", error.to_string()))
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
