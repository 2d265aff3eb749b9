use std::net::IpAddr;

use url::{Host, Url};

use super::ModelError;

/// The address that is asked, checked: the operator's own, so it may be on this machine.
pub(super) fn of(url: &str, allow_http: bool) -> Result<Url, ModelError> {
    let mut url: Url = url.parse().map_err(|_| ModelError::Address("it is no URL"))?;
    let on_this_machine = match url.host() {
        Some(Host::Ipv4(ip)) => IpAddr::from(ip).is_loopback(),
        Some(Host::Ipv6(ip)) => IpAddr::from(ip).is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => return Err(ModelError::Address("it names no host")),
    };
    match url.scheme() {
        "https" => {}
        "http" if on_this_machine || allow_http => {}
        "http" => return Err(ModelError::Address("plain http to another machine must be allowed")),
        _ => return Err(ModelError::Address("neither https nor http")),
    }
    if !url.username().is_empty() || url.password().is_some() || url.query().is_some() || url.fragment().is_some() {
        return Err(ModelError::Address("scheme, host, port and path only"));
    }
    let path = format!("{}/chat/completions", url.path().trim_end_matches('/'));
    url.set_path(&path);
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_addresses_are_asked_and_without_tls_only_this_machine() {
        let asked = |url, allow| of(url, allow).map(String::from).map_err(|error| error.to_string());
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
                    "discover.model.url: plain http to another machine must be allowed",
                ),
                Ok(
                    "http://model.example/v1/chat/completions",
                ),
                Err(
                    "discover.model.url: neither https nor http",
                ),
                Err(
                    "discover.model.url: scheme, host, port and path only",
                ),
                Err(
                    "discover.model.url: scheme, host, port and path only",
                ),
                Err(
                    "discover.model.url: it is no URL",
                ),
            ]
            "#);
    }
}
