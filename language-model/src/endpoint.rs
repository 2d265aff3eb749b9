//! Addresses and HTTP clients of OpenAI-compatible endpoints.

use std::net::IpAddr;
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Client, redirect};
use url::{Host, Url};

/// Error of a client that cannot be created.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The API key cannot be sent in a header.
    #[error("the key must be one line of ASCII")]
    Key,
    /// The HTTP client itself.
    #[error(transparent)]
    Http(reqwest::Error),
}

/// Checks the base URL of an endpoint and returns the URL of an operation. The operator chooses the endpoint, so it may
/// be on this machine.
///
/// # Errors
/// Fails with the reason if the URL is not an allowed address.
pub fn address(base: &str, allow_http: bool, operation: &str) -> Result<Url, &'static str> {
    let mut url: Url = base.parse().map_err(|_| "it is not a URL")?;
    let on_this_machine = match url.host() {
        Some(Host::Ipv4(ip)) => IpAddr::from(ip).is_loopback(),
        Some(Host::Ipv6(ip)) => IpAddr::from(ip).is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => return Err("it has no host"),
    };
    match url.scheme() {
        "https" => {}
        "http" if on_this_machine || allow_http => {}
        "http" => return Err("plain http to another machine requires allow_http"),
        _ => return Err("the scheme must be https or http"),
    }
    if !url.username().is_empty() || url.password().is_some() || url.query().is_some() || url.fragment().is_some() {
        return Err("only scheme, host, port and path are allowed");
    }
    let path = format!("{}/{operation}", url.path().trim_end_matches('/'));
    url.set_path(&path);
    Ok(url)
}

/// Creates an HTTP client that sends JSON with the API key, if there is one, and follows no redirects.
///
/// # Errors
/// Fails if the key cannot be sent, or if the client cannot be created.
pub fn client(api_key: &str, connect_timeout: Duration) -> Result<Client, ClientError> {
    let mut headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("application/json"))]);
    if !api_key.is_empty() {
        let bearer = HeaderValue::try_from(format!("Bearer {api_key}"));
        let mut bearer = bearer.map_err(|_| ClientError::Key)?;
        bearer.set_sensitive(true);
        headers.insert(AUTHORIZATION, bearer);
    }
    Client::builder()
        .default_headers(headers)
        .redirect(redirect::Policy::none())
        .no_proxy()
        .connect_timeout(connect_timeout)
        .build()
        .map_err(ClientError::Http)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_addresses_are_asked_and_without_tls_only_this_machine() {
        let asked = |url, allow| address(url, allow, "chat/completions").map(String::from);
        insta::assert_debug_snapshot!([
            asked("https://model.example/v1/", false),
            asked("http://127.0.0.1:11434/v1", false),
            asked("http://[::1]:1/", false),
            asked("http://model.example/v1", false),
            asked("http://model.example/v1", true),
            asked("ftp://model.example", true),
            asked("https://me:secret@model.example/v1", true),
            asked("https://model.example/v1?key=secret", true),
            asked("model", true),
        ], @r#"
            [
                Ok(
                    "https://model.example/v1/chat/completions",
                ),
                Ok(
                    "http://127.0.0.1:11434/v1/chat/completions",
                ),
                Ok(
                    "http://[::1]:1/chat/completions",
                ),
                Err(
                    "plain http to another machine requires allow_http",
                ),
                Ok(
                    "http://model.example/v1/chat/completions",
                ),
                Err(
                    "the scheme must be https or http",
                ),
                Err(
                    "only scheme, host, port and path are allowed",
                ),
                Err(
                    "only scheme, host, port and path are allowed",
                ),
                Err(
                    "it is not a URL",
                ),
            ]
            "#);
    }
}
