//! Address checks that protect against server-side request forgery through a store's address, its redirects or its DNS
//! records. This module does no I/O.
//!
//! [`check_url`] runs before every request and every redirect. [`check_ip`] runs at connection time for every address
//! that a name resolves to. A name therefore cannot be public for the check and private for the connection.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::{Host, Url};

/// Network zone of an address. A store in one zone never leads to the other zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Zone {
    /// A globally routable IP address, or a name that may resolve to one.
    Public,
    /// A loopback address. The configuration permits it only for emulated stores.
    Loopback,
}

/// Reason why an address is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The scheme is neither http nor https.
    #[error("the scheme is neither http nor https")]
    Scheme,
    /// The URL contains `user:password@`. No store needs it, and it can disguise a host.
    #[error("the URL contains user information")]
    UserInfo,
    /// The URL has no host.
    #[error("the URL has no host")]
    NoHost,
    /// A public host has another port than 80 and 443.
    #[error("port {0} is not 80 or 443")]
    Port(u16),
    /// The address is a loopback address, which is not allowed.
    #[error("loopback is not allowed (storefront.allow_loopback)")]
    Loopback,
    /// The name is one that only a private network resolves (`router`, `db.internal`, `printer.local`).
    #[error("the name belongs to a private network")]
    PrivateName,
    /// The address is not globally routable: private, link-local, shared, multicast, reserved or for metadata.
    #[error("{0} is not a public address")]
    NotPublic(IpAddr),
}

/// Top-level names that only private networks resolve: RFC 6762, RFC 8375, ICANN's `.internal`, and customary ones.
const PRIVATE_SUFFIXES: [&str; 10] = [
    "local",
    "localdomain",
    "internal",
    "intranet",
    "lan",
    "home",
    "corp",
    "private",
    "home.arpa",
    "onion",
];

/// Decides whether a URL may be requested, before any name is resolved.
///
/// The spelling of the host does not matter: the URL parser has already converted decimal, octal, hexadecimal, short,
/// percent-encoded and full-width IPv4 literals into addresses.
///
/// # Errors
/// The first reason for a [`Refusal`].
pub fn check_url(url: &Url, allow_loopback: bool) -> Result<Zone, Refusal> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err(Refusal::Scheme);
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(Refusal::UserInfo);
    }
    let zone = match url.host() {
        None => return Err(Refusal::NoHost),
        Some(Host::Ipv4(ip)) => check_ip(ip.into())?,
        Some(Host::Ipv6(ip)) => check_ip(ip.into())?,
        Some(Host::Domain(name)) => check_name(name)?,
    };
    match (zone, url.port_or_known_default()) {
        (Zone::Loopback, _) if allow_loopback => Ok(Zone::Loopback),
        (Zone::Loopback, _) => Err(Refusal::Loopback),
        (Zone::Public, Some(80 | 443)) => Ok(Zone::Public),
        (Zone::Public, port) => Err(Refusal::Port(port.unwrap_or(0))),
    }
}

/// Returns the network zone of an IP address.
///
/// # Errors
/// [`Refusal::NotPublic`] for every address that is neither globally routable nor loopback.
pub fn check_ip(ip: IpAddr) -> Result<Zone, Refusal> {
    let (zone, refused) = match ip {
        IpAddr::V4(v4) => (zone_v4(v4), ip),
        IpAddr::V6(v6) => (zone_v6(v6), ip),
    };
    zone.ok_or(Refusal::NotPublic(refused))
}

/// Returns true for `localhost` and its subdomains (RFC 6761). These names always mean the loopback address and are
/// never looked up in DNS.
pub(crate) fn is_localhost(name: &str) -> bool {
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    name == "localhost" || name.ends_with(".localhost")
}

fn check_name(name: &str) -> Result<Zone, Refusal> {
    if is_localhost(name) {
        return Ok(Zone::Loopback);
    }
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    let below = |suffix: &&str| name.strip_suffix(*suffix).is_some_and(|rest| rest.ends_with('.'));
    if name.is_empty() {
        Err(Refusal::NoHost)
    } else if !name.contains('.') || PRIVATE_SUFFIXES.iter().any(|suffix| name == *suffix || below(suffix)) {
        Err(Refusal::PrivateName)
    } else {
        Ok(Zone::Public)
    }
}

/// Applies the IANA IPv4 special-purpose registry. One cloud metadata address outside of it is not public either.
fn zone_v4(ip: Ipv4Addr) -> Option<Zone> {
    let [a, b, c, d] = ip.octets();
    match (a, b, c, d) {
        (127, ..) => Some(Zone::Loopback),
        (0 | 10, ..)
        | (100, 64..=127, ..)
        | (169, 254, ..)
        | (172, 16..=31, ..)
        | (192, 0, 0 | 2, _)
        | (192, 88, 99, _)
        | (192, 168, ..)
        | (198, 18 | 19, ..)
        | (198, 51, 100, _)
        | (203, 0, 113, _)
        | (224.., ..)
        // Azure's platform address is reachable only from inside Azure virtual machines.
        | (168, 63, 129, 16) => None,
        _ => Some(Zone::Public),
    }
}

/// Only global unicast (2000::/3) can be public, except the special blocks inside it. An embedded IPv4 address decides
/// for its IPv6 address.
fn zone_v6(ip: Ipv6Addr) -> Option<Zone> {
    if ip == Ipv6Addr::LOCALHOST {
        return Some(Zone::Loopback);
    }
    if let Some(mapped) = ip.to_ipv4_mapped() {
        return zone_v4(mapped);
    }
    let [a, b, c, d, e, f, g, h] = ip.segments();
    match (a, b, c, d, e, f) {
        // DNS64 returns NAT64's well-known prefix on networks without IPv4.
        (0x64, 0xff9b, 0, 0, 0, 0) => {
            let [high, low] = [g.to_be_bytes(), h.to_be_bytes()];
            let v4 = Ipv4Addr::new(high[0], high[1], low[0], low[1]);
            zone_v4(v4).filter(|zone| *zone == Zone::Public)
        }
        // These blocks are for protocol assignments (Teredo, benchmarking, ORCHID, …), documentation, and 6to4.
        (0x2001, 0..=0x1ff, ..) | (0x2001, 0xdb8, ..) | (0x2002, ..) | (0x3fff, 0..=0x0fff, ..) => None,
        (0x2000..=0x3fff, ..) => Some(Zone::Public),
        _ => None,
    }
}
