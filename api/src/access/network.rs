use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use http::{HeaderMap, HeaderName, header};

use crate::AddressRanges;

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// What callers and connections are counted under: an IPv4 address, or the /64 network of an IPv6 address, of which one
/// subscriber has all addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ClientNetwork {
    /// One address.
    V4(Ipv4Addr),
    /// The first 64 bits.
    V6([u8; 8]),
}

impl ClientNetwork {
    /// The network of an address; an IPv4 address is the same when it is written as IPv6.
    #[must_use]
    pub fn of(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(address) => Self::V4(address),
            IpAddr::V6(address) => {
                let [a, b, c, d, e, f, g, h, ..] = address.octets();
                Self::V6([a, b, c, d, e, f, g, h])
            }
        }
    }

    /// The network of whoever sent a request over a connection from `peer`.
    ///
    /// Proxies that are `trusted` say whom they forward for; what stands before the last address that no trusted proxy
    /// wrote was written by the client, and is not believed.
    pub(crate) fn of_request(peer: IpAddr, headers: &HeaderMap, trusted: &AddressRanges) -> Self {
        if !trusted.contains(peer) {
            return Self::of(peer);
        }
        let mut client = peer;
        for named in forwarded_for(headers).into_iter().rev() {
            let Some(address) = named else { break };
            client = address;
            if !trusted.contains(address) {
                break;
            }
        }
        Self::of(client)
    }
}

impl fmt::Display for ClientNetwork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::V4(address) => address.fmt(f),
            Self::V6([a, b, c, d, e, g, h, i]) => {
                let network = Ipv6Addr::from([*a, *b, *c, *d, *e, *g, *h, *i, 0, 0, 0, 0, 0, 0, 0, 0]);
                write!(f, "{network}/64")
            }
        }
    }
}

/// Whom a request was forwarded for, the client first: `X-Forwarded-For`, or where that is absent `Forwarded` (RFC 7239).
/// `None` stands for what is no address.
fn forwarded_for(headers: &HeaderMap) -> Vec<Option<IpAddr>> {
    let listed = |name: HeaderName| {
        headers
            .get_all(name)
            .into_iter()
            .filter_map(|value| value.to_str().ok())
    };
    let plain: Vec<_> = listed(FORWARDED_FOR)
        .flat_map(|value| value.split(','))
        .map(|name| address(name.trim()))
        .collect();
    if !plain.is_empty() {
        return plain;
    }
    let hops = listed(header::FORWARDED).flat_map(|value| value.split(','));
    let named = |hop: &str| {
        let mut pairs = hop.split(';').filter_map(|pair| pair.trim().split_once('='));
        let (_, value) = pairs.find(|(name, _)| name.eq_ignore_ascii_case("for"))?;
        address(value.trim().trim_matches('"'))
    };
    hops.map(named).collect()
}

/// `192.0.2.1`, `192.0.2.1:4711`, `2001:db8::1`, `[2001:db8::1]`, `[2001:db8::1]:4711`.
fn address(text: &str) -> Option<IpAddr> {
    if let Ok(address) = text.parse() {
        return Some(address);
    }
    if let Ok(address) = text.parse::<std::net::SocketAddr>() {
        return Some(address.ip());
    }
    text.strip_prefix('[')?.strip_suffix(']')?.parse().ok().map(IpAddr::V6)
}
