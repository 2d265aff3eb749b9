use std::net::IpAddr;

use url::{Host, Url};

use crate::error::Fault;

/// Checks the endpoint URL. The operator chooses it, so it may be on this machine.
pub(crate) fn of(url: &str, allow_http: bool) -> Result<Url, Fault> {
    let mut url: Url = url.parse().map_err(|_| Fault::Address("it is not a URL"))?;
    let on_this_machine = match url.host() {
        Some(Host::Ipv4(ip)) => IpAddr::from(ip).is_loopback(),
        Some(Host::Ipv6(ip)) => IpAddr::from(ip).is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => return Err(Fault::Address("it has no host")),
    };
    match url.scheme() {
        "https" => {}
        "http" if on_this_machine || allow_http => {}
        "http" => return Err(Fault::Address("plain http to another machine requires allow_http")),
        _ => return Err(Fault::Address("the scheme must be https or http")),
    }
    if !url.username().is_empty() || url.password().is_some() || url.query().is_some() || url.fragment().is_some() {
        return Err(Fault::Address("only scheme, host, port and path are allowed"));
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
                    "url: plain http to another machine requires allow_http",
                ),
                Ok(
                    "http://model.example/v1/chat/completions",
                ),
                Err(
                    "url: the scheme must be https or http",
                ),
                Err(
                    "url: only scheme, host, port and path are allowed",
                ),
                Err(
                    "url: only scheme, host, port and path are allowed",
                ),
                Err(
                    "url: it is not a URL",
                ),
            ]
            "#);
    }
}
