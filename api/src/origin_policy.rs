//! Check of a request's origin (the Fetch standard's `Origin`) and of the host name by which it reached this server.
//!
//! DNS rebinding lets a page's own host name resolve to this machine. For the browser the page then has the origin of
//! this server, so CORS does not stop it. The names in the request's `Origin` and `Host` are not those of this server.

use std::net::IpAddr;

use axum::extract::Request;
use data_model::ErrorCode;
use http::uri::Authority;
use http::{HeaderMap, HeaderValue, header};
use url::{Host, Url};

use crate::Problem;

/// Decides if a request's origin and host name are allowed.
#[derive(Debug, Clone)]
pub struct OriginPolicy {
    /// Allowed origins in the spelling of browsers.
    origins: Vec<String>,
    /// Allowed host names besides those of this machine; `None` allows any name.
    hosts: Option<Vec<String>>,
}

impl OriginPolicy {
    /// Allows pages of `public_url`, of `origins` and of this machine. A server that listens only on this machine must
    /// be addressed by a local name or the host of `public_url`. Other servers accept any host name, because not all
    /// their names are known.
    #[must_use]
    pub fn new(public_url: &str, origins: &[HeaderValue], is_local: bool) -> Self {
        let public = Url::parse(public_url).ok();
        let own = public.as_ref().map(|url| url.origin().ascii_serialization());
        let named = origins.iter().filter_map(|origin| origin.to_str().ok());
        let hosts = public.as_ref().and_then(Url::host_str);
        Self {
            origins: named.map(str::to_ascii_lowercase).chain(own).collect(),
            hosts: is_local.then(|| hosts.map(str::to_ascii_lowercase).into_iter().collect()),
        }
    }

    /// Checks the origin and host name of a request.
    ///
    /// # Errors
    /// `forbidden`
    pub fn check(&self, request: &Request) -> Result<(), Problem> {
        self.check_names(request.headers(), request.uri().authority())
    }

    /// Checks a request's headers and the authority of its URI.
    ///
    /// # Errors
    /// `forbidden`
    pub fn check_names(&self, headers: &HeaderMap, authority: Option<&Authority>) -> Result<(), Problem> {
        let refused = |detail: &'static str| Err(Problem::new(ErrorCode::Forbidden).detail(detail));
        if !self.takes_origin(headers) {
            return refused(
                "Pages of this origin may not send requests. The operator can allow the origin (api.cors_origins, \
                 public_url).",
            );
        }
        if !self.takes_host(headers, authority) {
            return refused(
                "This server does not answer under this host name. The operator can set the name (public_url).",
            );
        }
        Ok(())
    }

    fn takes_origin(&self, headers: &HeaderMap) -> bool {
        let mut sent = headers.get_all(header::ORIGIN).iter();
        let Some(origin) = sent.next() else {
            // The request is not from a page, because browsers send the origin with every POST.
            return true;
        };
        if sent.next().is_some() {
            return false;
        }
        let Ok(origin) = origin.to_str().map(str::to_ascii_lowercase) else {
            return false;
        };
        self.origins.contains(&origin) || is_of_this_machine(&origin)
    }

    fn takes_host(&self, headers: &HeaderMap, authority: Option<&Authority>) -> bool {
        let Some(hosts) = &self.hosts else { return true };
        let named = headers.get(header::HOST).map(HeaderValue::as_bytes);
        let named = match (named, authority) {
            (Some(named), _) => Authority::try_from(named).ok(),
            (None, authority) => authority.cloned(),
        };
        // A request from within the process has no host.
        let Some(named) = named else {
            return !headers.contains_key(header::HOST);
        };
        let name = named.host().trim_end_matches('.').to_ascii_lowercase();
        hosts.contains(&name) || is_this_machine(&name)
    }
}

pub(crate) fn is_of_this_machine(origin: &str) -> bool {
    let Ok(url) = Url::parse(origin) else { return false };
    let plain = url.origin().ascii_serialization() == origin;
    let host = match url.host() {
        Some(Host::Domain(name)) => is_this_machine(name),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => IpAddr::from(address).to_canonical().is_loopback(),
        None => false,
    };
    plain && host && matches!(url.scheme(), "http" | "https")
}

/// True for `localhost`, names below it (RFC 6761, 6.3), and loopback addresses.
fn is_this_machine(name: &str) -> bool {
    let address = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    name == "localhost"
        || name.ends_with(".localhost")
        || address.is_ok_and(|address| address.to_canonical().is_loopback())
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    fn takes(origin_policy: &OriginPolicy, host: &str, origin: Option<&str>) -> bool {
        let mut request = Request::builder().uri("/v1/mcp").header("host", host);
        if let Some(origin) = origin {
            request = request.header("origin", origin);
        }
        origin_policy.check(&request.body(Body::empty()).unwrap()).is_ok()
    }

    #[test]
    fn a_local_server_is_asked_by_names_of_this_machine() {
        let origin_policy = OriginPolicy::new("", &[], true);
        for host in [
            "localhost:8080",
            "127.0.0.1:8080",
            "[::1]:8080",
            "haat.localhost",
            "LOCALHOST.",
        ] {
            assert!(takes(&origin_policy, host, None), "{host}");
            assert!(!takes(&origin_policy, host, Some("http://evil.example")), "{host}");
        }
        for host in [
            "evil.example",
            "localhost.evil.example:8080",
            "10.0.0.1",
            "127.0.0.1.evil.example",
        ] {
            assert!(!takes(&origin_policy, host, None), "{host}");
            assert!(!takes(&origin_policy, host, Some(&format!("http://{host}"))), "{host}");
        }
    }

    #[test]
    fn pages_of_this_machine_and_of_named_origins_may_ask() {
        let named = [HeaderValue::from_static("https://shop.example")];
        let origin_policy = OriginPolicy::new("https://market.example/", &named, false);
        for origin in [
            "https://market.example",
            "https://shop.example",
            "HTTPS://SHOP.EXAMPLE",
            "http://localhost:6274",
            "http://127.0.0.1",
            "http://[::1]:9",
        ] {
            assert!(takes(&origin_policy, "market.example", Some(origin)), "{origin}");
        }
        for origin in [
            "null",
            "",
            "http://shop.example",
            "https://shop.example.evil.example",
            "https://market.example:444",
            "http://localhost.evil.example",
            "file://localhost",
            "http://localhost/path",
        ] {
            assert!(!takes(&origin_policy, "market.example", Some(origin)), "{origin}");
        }
        assert!(
            takes(&origin_policy, "10.0.0.9:8080", None),
            "nobody knows all names of it"
        );
    }

    #[test]
    fn a_local_server_behind_a_proxy_is_asked_by_its_public_name() {
        let origin_policy = OriginPolicy::new("https://market.example", &[], true);
        assert!(takes(&origin_policy, "market.example", Some("https://market.example")));
        assert!(!takes(&origin_policy, "other.example", None));
    }
}
