//! Addresses to listen on: `HOST:PORT`, where the host may be a DNS name.

use std::fmt;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::str::FromStr;

use anyhow::Context as _;
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;

use crate::exit::usage;

/// Address to listen on, exactly as configured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct ListenAddress(String);

impl FromStr for ListenAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let told = || format!("{text:?} is not HOST:PORT, such as 127.0.0.1:8080, localhost:8080 or [::1]:8080");
        let named = || {
            let (host, port) = text.rsplit_once(':')?;
            let plain = |char: char| char.is_ascii_alphanumeric() || matches!(char, '-' | '.' | '_');
            let is_name = !host.is_empty() && host.chars().all(plain);
            (is_name && port.parse::<u16>().is_ok()).then_some(())
        };
        if text.parse::<SocketAddr>().is_ok() || named().is_some() {
            Ok(Self(text.to_owned()))
        } else {
            Err(told())
        }
    }
}

impl TryFrom<String> for ListenAddress {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<ListenAddress> for String {
    fn from(listen: ListenAddress) -> Self {
        listen.0
    }
}

impl fmt::Display for ListenAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl ListenAddress {
    /// Resolves the host. IPv4 addresses come first, because most clients of a local server use them.
    pub(crate) async fn addresses(&self) -> anyhow::Result<Vec<SocketAddr>> {
        let found = tokio::net::lookup_host(self.0.as_str()).await;
        let found = found.with_context(|| format!("cannot listen on {self}: the host name cannot be resolved"));
        let mut addresses: Vec<_> = found.map_err(usage)?.collect();
        addresses.sort_by_key(SocketAddr::is_ipv6);
        Ok(addresses)
    }

    /// Returns the first resolved address, for a listener that needs exactly one.
    pub(crate) async fn address(&self) -> anyhow::Result<SocketAddr> {
        let first = self.addresses().await?.into_iter().next();
        first.with_context(|| format!("cannot listen on {self}: the host has no address"))
    }

    /// Binds the first resolved address that accepts a listener.
    pub(crate) async fn bind(&self) -> anyhow::Result<TcpListener> {
        let addresses = self.addresses().await?;
        TcpListener::bind(addresses.as_slice())
            .await
            .map_err(|error| refused(self, error.kind(), error.into()))
    }
}

/// Returns the error for a failure to listen on `listen`, with advice.
pub(crate) fn refused(listen: impl fmt::Display, kind: ErrorKind, error: anyhow::Error) -> anyhow::Error {
    let told = match kind {
        ErrorKind::AddrInUse => {
            "another program listens there; stop it, or choose another address (127.0.0.1:0 picks a free port)"
        }
        ErrorKind::PermissionDenied => "this user is not permitted to; ports below 1024 need a special permission",
        ErrorKind::AddrNotAvailable => {
            "this machine does not have this address; 0.0.0.0 listens on all of its addresses"
        }
        _ => return error.context(format!("cannot listen on {listen}")),
    };
    anyhow::anyhow!("cannot listen on {listen}: {told}")
}

/// Returns the kind of an error that comes from the operating system.
pub(crate) fn told_by_system(error: &anyhow::Error) -> Option<ErrorKind> {
    let mut causes = error.chain();
    causes
        .find_map(|cause| cause.downcast_ref::<io::Error>())
        .map(io::Error::kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_may_be_names_and_anything_else_is_refused_with_examples() {
        for fine in ["127.0.0.1:0", "localhost:8080", "[::1]:80", "market.example:443"] {
            assert_eq!(fine.parse::<ListenAddress>().unwrap().to_string(), fine);
        }
        for wrong in [
            "8080",
            ":8080",
            "localhost",
            "::1:80",
            "localhost:70000",
            "http://localhost:80",
        ] {
            let told = wrong.parse::<ListenAddress>().unwrap_err();
            assert_eq!(
                told,
                format!("{wrong:?} is not HOST:PORT, such as 127.0.0.1:8080, localhost:8080 or [::1]:8080")
            );
        }
    }

    #[tokio::test]
    async fn a_port_in_use_is_told_with_what_to_do_and_a_name_is_resolved() {
        let first = "localhost:0".parse::<ListenAddress>().unwrap().bind().await.unwrap();
        let taken = first.local_addr().unwrap();
        assert!(taken.ip().is_loopback());
        let error = taken
            .to_string()
            .parse::<ListenAddress>()
            .unwrap()
            .bind()
            .await
            .unwrap_err();
        assert_eq!(
            crate::exit::plain(&error),
            format!(
                "cannot listen on {taken}: another program listens there; stop it, or choose another address \
                 (127.0.0.1:0 picks a free port)"
            )
        );
    }
}
