use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use anyhow::Context as _;
use serde_json::json;
use url::Url;

use crate::exit::Outcome;
use crate::wiring::Context;

/// Maximum wait for a response. The wait is short, because a supervisor repeats the check soon.
const TIMEOUT: Duration = Duration::from_secs(3);

/// Runs `haat health`: queries a probe, for environments without an HTTP client, such as a container.
pub(crate) async fn run(url: Option<Url>, context: Context) -> anyhow::Result<Outcome> {
    let given = &context.config.query_server;
    let url = match (url, given.ops_listen.as_str()) {
        (Some(url), _) => url,
        (None, "") => probe_at(&given.listen.to_string())?,
        (None, listen) => probe_at(listen)?,
    };
    let client = reqwest::Client::builder()
        .no_proxy()
        .timeout(TIMEOUT)
        .redirect(reqwest::redirect::Policy::none())
        .build()?;
    let sent = client.get(url.clone()).send().await;
    let status = sent.with_context(|| format!("{url} does not answer"))?.status();
    anyhow::ensure!(status.is_success(), "{url} answers {}", status.as_u16());
    let document = json!({ "url": url, "status": status.as_u16() });
    context
        .output
        .print(&document, |out| writeln!(out, "{url} answers {}", status.as_u16()))?;
    Ok(Outcome::Done)
}

/// Returns the probe's URL of a server that listens on `listen`. A server that listens on all interfaces is queried on
/// this machine.
fn probe_at(listen: &str) -> anyhow::Result<Url> {
    let near = |address: SocketAddr| match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => SocketAddr::from((Ipv4Addr::LOCALHOST, address.port())),
        IpAddr::V6(ip) if ip.is_unspecified() => SocketAddr::from((Ipv6Addr::LOCALHOST, address.port())),
        _ => address,
    };
    let at = listen
        .parse()
        .map_or_else(|_| listen.to_owned(), |address| near(address).to_string());
    format!("http://{at}/healthz")
        .parse()
        .with_context(|| format!("{listen:?} is not a valid address"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_listens_everywhere_is_asked_on_this_machine() {
        let asked = |listen: &str| probe_at(listen).unwrap().to_string();
        assert_eq!(asked("0.0.0.0:9090"), "http://127.0.0.1:9090/healthz");
        assert_eq!(asked("[::]:9090"), "http://[::1]:9090/healthz");
        assert_eq!(asked("10.0.0.5:8080"), "http://10.0.0.5:8080/healthz");
        assert_eq!(asked("localhost:8080"), "http://localhost:8080/healthz");
    }
}
