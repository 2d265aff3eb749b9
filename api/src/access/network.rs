use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use http::{HeaderMap, HeaderName, header};

use crate::AddressRanges;

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The networks around a client's: the bits of their prefix, and how many times as much as one client they may.
const AROUND_V4: [(u8, u32); 1] = [(24, 16)];
const AROUND_V6: [(u8, u32); 2] = [(56, 4), (48, 16)];

/// What callers and connections are counted under: an IPv4 address, or the /64 network of an IPv6 address, of which one
/// subscriber has all addresses; and the networks around these, which whoever holds many of them counts under too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClientNetwork {
    /// The network's first address.
    address: IpAddr,
    prefix_bits: u8,
}

impl ClientNetwork {
    /// The network of an address; an IPv4 address is the same when it is written as IPv6.
    #[must_use]
    pub fn of(address: IpAddr) -> Self {
        let address = address.to_canonical();
        Self::first(address, if address.is_ipv4() { 32 } else { 64 })
    }

    /// This network with one, and those around it with how many times as much each of them may: of IPv6 the /56, which
    /// many subscribers are given, and the /48, which any can have; of IPv4 the /24.
    pub fn levels(self) -> impl Iterator<Item = (Self, u32)> {
        let around: &[_] = if self.address.is_ipv4() { &AROUND_V4 } else { &AROUND_V6 };
        let around = around
            .iter()
            .map(move |(bits, times)| (Self::first(self.address, *bits), *times));
        std::iter::once((self, 1)).chain(around)
    }

    /// The network around this one that holds all others of [`Self::levels`].
    #[must_use]
    pub fn widest(self) -> Self {
        self.levels().last().map_or(self, |(network, _)| network)
    }

    fn first(address: IpAddr, prefix_bits: u8) -> Self {
        let address = match address {
            IpAddr::V4(address) => {
                let kept = u32::MAX.checked_shl(32 - u32::from(prefix_bits)).unwrap_or(0);
                IpAddr::V4(Ipv4Addr::from_bits(address.to_bits() & kept))
            }
            IpAddr::V6(address) => {
                let kept = u128::MAX.checked_shl(128 - u32::from(prefix_bits)).unwrap_or(0);
                IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & kept))
            }
        };
        Self { address, prefix_bits }
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
        match (self.address, self.prefix_bits) {
            (IpAddr::V4(address), 32) => address.fmt(f),
            (address, prefix_bits) => write!(f, "{address}/{prefix_bits}"),
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
