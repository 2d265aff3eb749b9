use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use async_trait::async_trait;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use crate::address::{Refusal, Zone, check_ip, is_localhost};

/// Resolves a name to IP addresses. Tests replace the system's resolver.
#[async_trait]
pub trait Lookup: Send + Sync + std::fmt::Debug {
    /// Returns all IP addresses of a name, unchecked.
    ///
    /// # Errors
    /// The resolver's error if it has no answer.
    async fn lookup(&self, name: &str) -> io::Result<Vec<IpAddr>>;
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct SystemLookup;

#[async_trait]
impl Lookup for SystemLookup {
    async fn lookup(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        Ok(tokio::net::lookup_host((name, 0))
            .await?
            .map(|address| address.ip())
            .collect())
    }
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum ResolveError {
    #[error("the host name resolves to no public address")]
    Refused(#[source] Refusal),
    #[error("the host name does not resolve")]
    Lookup(#[source] io::Error),
    #[error("the host name has no address")]
    Empty,
}

/// Connection-time half of the address guard. The HTTP client connects only to addresses that pass it.
#[derive(Debug, Clone)]
pub(crate) struct GuardedResolver {
    lookup: Arc<dyn Lookup>,
    allow_loopback: bool,
}

impl GuardedResolver {
    pub(crate) fn new(lookup: Arc<dyn Lookup>, allow_loopback: bool) -> Self {
        Self { lookup, allow_loopback }
    }

    /// Returns the public addresses of a name. Only `localhost` and names below it are loopback, because DNS must not
    /// decide what is loopback. They need no lookup.
    async fn addresses(&self, name: &str) -> Result<Vec<SocketAddr>, ResolveError> {
        if is_localhost(name) {
            return match self.allow_loopback {
                true => Ok(vec![SocketAddr::from((Ipv4Addr::LOCALHOST, 0))]),
                false => Err(ResolveError::Refused(Refusal::Loopback)),
            };
        }
        let found = self.lookup.lookup(name).await.map_err(ResolveError::Lookup)?;
        let mut refusal = None;
        let mut addresses = Vec::with_capacity(found.len());
        for ip in found {
            match check_ip(ip) {
                Ok(Zone::Public) => addresses.push(SocketAddr::from((ip, 0))),
                Ok(Zone::Loopback) => refusal = Some(Refusal::Loopback),
                Err(reason) => refusal = Some(reason),
            }
        }
        match (addresses.is_empty(), refusal) {
            (false, _) => Ok(addresses),
            (true, Some(reason)) => Err(ResolveError::Refused(reason)),
            (true, None) => Err(ResolveError::Empty),
        }
    }
}

impl Resolve for GuardedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let guard = self.clone();
        Box::pin(async move {
            let addresses = guard.addresses(name.as_str()).await?;
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct FixedAddresses(Vec<IpAddr>);

    #[async_trait]
    impl Lookup for FixedAddresses {
        async fn lookup(&self, _: &str) -> io::Result<Vec<IpAddr>> {
            Ok(self.0.clone())
        }
    }

    async fn addresses(name: &str, found: &[&str], allow_loopback: bool) -> Result<Vec<String>, ResolveError> {
        let lookup = Arc::new(FixedAddresses(found.iter().map(|ip| ip.parse().unwrap()).collect()));
        let guard = GuardedResolver::new(lookup, allow_loopback);
        guard
            .addresses(name)
            .await
            .map(|addresses| addresses.iter().map(|address| address.ip().to_string()).collect())
    }

    #[tokio::test]
    async fn of_mixed_answers_only_the_public_ones_are_connected_to() {
        let found = [
            "10.0.0.1",
            "8.8.8.8",
            "::1",
            "2606:4700::1111",
            "64:ff9b::808:808",
            "127.0.0.1",
        ];
        let public = addresses("brand.example", &found, true).await.unwrap();
        assert_eq!(public, ["8.8.8.8", "2606:4700::1111", "64:ff9b::808:808"]);
    }

    #[tokio::test]
    async fn localhost_is_this_machine_or_refused_whatever_dns_says() {
        assert_eq!(
            addresses("a.localhost", &["8.8.8.8"], true).await.unwrap(),
            ["127.0.0.1"]
        );
        let refused = addresses("a.localhost", &["8.8.8.8"], false).await;
        assert!(matches!(refused, Err(ResolveError::Refused(Refusal::Loopback))));
        assert!(matches!(
            addresses("brand.example", &[], false).await,
            Err(ResolveError::Empty)
        ));
    }
}
