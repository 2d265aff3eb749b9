use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::num::NonZeroU32;

use http::{HeaderMap, HeaderName, header};
use serde::{Deserialize, Serialize};

use crate::AddressRanges;

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// Header in which trusted proxies name the client. Clients can set other forwarding headers, so those are ignored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ForwardedHeader {
    /// `X-Forwarded-For`, which nearly all proxies set.
    #[default]
    XForwardedFor,
    /// The `Forwarded` header (RFC 7239).
    Forwarded,
}

/// Limit of a network with many clients, as a multiple of one client's limit. The next constant is for a network with
/// very many clients.
const MANY: NonZeroU32 = NonZeroU32::new(4).unwrap();
const VERY_MANY: NonZeroU32 = NonZeroU32::new(16).unwrap();

/// Prefix lengths of the networks around an IPv4 client that have a limit, as a multiple of the client's own limit.
const AROUND_V4: [(u8, NonZeroU32); 1] = [(24, VERY_MANY)];
const AROUND_V6: [(u8, NonZeroU32); 2] = [(56, MANY), (48, VERY_MANY)];

/// Unit in which callers and connections are counted: an IPv4 address, or an IPv6 /64 network, because one subscriber
/// has all addresses of a /64. Larger networks around it are counted too, to limit clients with many units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClientNetwork {
    address: IpAddr,
    prefix_bits: u8,
}

impl ClientNetwork {
    /// Returns the network of an address. An IPv4 address written as IPv6 is treated as IPv4.
    #[must_use]
    pub fn of(address: IpAddr) -> Self {
        let address = address.to_canonical();
        Self::first(address, if address.is_ipv4() { 32 } else { 64 })
    }

    /// All multiples that [`Self::around`] may return, in limits of one client.
    pub const TIMES_AROUND: [NonZeroU32; 2] = [MANY, VERY_MANY];

    /// Returns the networks around this one, the smallest first, each with its limit as a multiple of one client's. An
    /// IPv6 client has the /56, which many subscribers get, and the /48, which anybody can get. An IPv4 client has the
    /// /24.
    pub fn around(self) -> impl Iterator<Item = (Self, NonZeroU32)> {
        let around: &[_] = if self.address.is_ipv4() { &AROUND_V4 } else { &AROUND_V6 };
        let first = move |(bits, times): &(u8, NonZeroU32)| (Self::first(self.address, *bits), *times);
        around.iter().map(first)
    }

    /// Returns this network with the limit of one client, and the surrounding ones.
    pub fn levels(self) -> impl Iterator<Item = (Self, NonZeroU32)> {
        std::iter::once((self, NonZeroU32::MIN)).chain(self.around())
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

    /// Returns the client's network for a request from `peer`.
    ///
    /// `trusted` proxies state the address of the client whose request they forward. Earlier entries come from the
    /// client and are ignored. If a proxy's entry is not an address, the network of the proxy is used.
    pub(crate) fn of_request(peer: IpAddr, headers: &HeaderMap, trusted: &AddressRanges, by: ForwardedHeader) -> Self {
        if !trusted.contains(peer) {
            return Self::of(peer);
        }
        let mut client = peer;
        for named in forwarded_for(headers, by).rev() {
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

/// Returns the clients that a request was forwarded for, in their order. `None` is an entry without an address.
fn forwarded_for(headers: &HeaderMap, by: ForwardedHeader) -> impl DoubleEndedIterator<Item = Option<IpAddr>> {
    let name = match by {
        ForwardedHeader::XForwardedFor => FORWARDED_FOR,
        ForwardedHeader::Forwarded => header::FORWARDED,
    };
    let values = headers.get_all(name).into_iter();
    let hops = values.flat_map(|value| value.as_bytes().split(|byte| *byte == b','));
    hops.map(move |hop| {
        let hop = std::str::from_utf8(hop).ok()?;
        match by {
            ForwardedHeader::XForwardedFor => address(hop.trim()),
            ForwardedHeader::Forwarded => {
                let mut pairs = hop.split(';').filter_map(|pair| pair.trim().split_once('='));
                let (_, value) = pairs.find(|(name, _)| name.eq_ignore_ascii_case("for"))?;
                address(value.trim().trim_matches('"'))
            }
        }
    })
}

/// Parses an address with or without port: `192.0.2.1`, `192.0.2.1:4711`, `2001:db8::1`, `[2001:db8::1]`,
/// `[2001:db8::1]:4711`.
fn address(text: &str) -> Option<IpAddr> {
    if let Ok(address) = text.parse() {
        return Some(address);
    }
    if let Ok(address) = text.parse::<std::net::SocketAddr>() {
        return Some(address.ip());
    }
    text.strip_prefix('[')?.strip_suffix(']')?.parse().ok().map(IpAddr::V6)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PLAIN: ForwardedHeader = ForwardedHeader::XForwardedFor;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let pairs = pairs.iter().map(|(name, value)| {
            (
                name.parse().unwrap(),
                http::HeaderValue::from_bytes(value.as_bytes()).unwrap(),
            )
        });
        pairs.collect()
    }

    #[test]
    fn proxies_are_believed_only_where_they_are_trusted() {
        let trusted: AddressRanges = "10.0.0.0/8, ::1".parse().unwrap();
        let client = |peer: &str, pairs: &[(&'static str, &str)]| {
            ClientNetwork::of_request(ip(peer), &headers(pairs), &trusted, PLAIN).to_string()
        };
        let forwarded = "x-forwarded-for";
        assert_eq!(client("203.0.113.9", &[(forwarded, "198.51.100.1")]), "203.0.113.9");
        assert_eq!(client("10.0.0.1", &[(forwarded, "198.51.100.1")]), "198.51.100.1");
        // The entries of the client come before the entry of the first trusted proxy.
        assert_eq!(
            client("10.0.0.1", &[(forwarded, "1.1.1.1, 198.51.100.1, 10.2.2.2")]),
            "198.51.100.1"
        );
        assert_eq!(client("10.0.0.1", &[(forwarded, "1.1.1.1, nonsense")]), "10.0.0.1");
        assert_eq!(
            client("10.0.0.1", &[(forwarded, "1.1.1.1, nonsense, 10.0.0.7")]),
            "10.0.0.7"
        );
        assert_eq!(client("::1", &[(forwarded, "2001:db8:1:2::9")]), "2001:db8:1:2::/64");
        assert_eq!(client("::1", &[]), "::/64");
    }

    #[test]
    fn what_cannot_be_read_of_a_proxy_is_its_own_and_the_other_header_is_the_clients() {
        let trusted: AddressRanges = "10.0.0.0/8".parse().unwrap();
        let client = |by: ForwardedHeader, pairs: &[(&'static str, &str)]| {
            ClientNetwork::of_request(ip("10.0.0.1"), &headers(pairs), &trusted, by).to_string()
        };
        let chosen = ("forwarded", "for=1.1.1.1");
        // A non-ASCII character in one entry must not hide the others.
        for (written, is) in [
            ("\u{e9}, 198.51.100.1", "198.51.100.1"),
            ("\u{e9}", "10.0.0.1"),
            ("1.1.1.1, \u{e9}", "10.0.0.1"),
            ("1.1.1.1, \u{e9}, 10.0.0.7", "10.0.0.7"),
            ("", "10.0.0.1"),
            ("unknown", "10.0.0.1"),
        ] {
            assert_eq!(client(PLAIN, &[("x-forwarded-for", written), chosen]), is, "{written}");
        }
        assert_eq!(client(PLAIN, &[chosen]), "10.0.0.1");
        let standard = ForwardedHeader::Forwarded;
        let told = "for=1.1.1.1, for=\"[2001:db8:1:2::9]:80\";proto=https";
        assert_eq!(client(standard, &[("forwarded", told)]), "2001:db8:1:2::/64");
        assert_eq!(client(standard, &[("x-forwarded-for", "1.1.1.1")]), "10.0.0.1");
        assert_eq!(
            client(standard, &[("forwarded", "for=1.1.1.1, for=_hidden")]),
            "10.0.0.1"
        );
    }

    #[test]
    fn an_ipv6_subscriber_is_one_holder_and_each_ipv4_address_another() {
        let same = |one: &str, other: &str| ClientNetwork::of(ip(one)) == ClientNetwork::of(ip(other));
        assert!(same("2001:db8:1:2::1", "2001:db8:1:2:ffff:ffff:ffff:ffff"));
        assert!(!same("2001:db8:1:2::1", "2001:db8:1:3::1"));
        assert!(same("10.0.0.1", "::ffff:10.0.0.1") && !same("10.0.0.1", "10.0.0.2"));
        assert_eq!(
            ClientNetwork::of(ip("2001:db8:1:2::9")).to_string(),
            "2001:db8:1:2::/64"
        );
        assert_eq!(ClientNetwork::of(ip("10.0.0.1")).to_string(), "10.0.0.1");
        let around = |address: &str| {
            let around = ClientNetwork::of(ip(address)).around();
            around
                .map(|(network, times)| format!("{network} {times}"))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            around("2001:db8:1:2ff::9"),
            ["2001:db8:1:200::/56 4", "2001:db8:1::/48 16"]
        );
        assert_eq!(around("10.1.2.3"), ["10.1.2.0/24 16"]);
    }

    proptest! {
        #[test]
        fn whatever_a_client_writes_its_network_is_one_of_those_named_or_its_own(
            written in "[0-9a-f.:, \\[\\]\"a-z=;]{0,80}", name in prop::sample::select(vec!["x-forwarded-for", "forwarded"]),
        ) {
            let trusted: AddressRanges = "10.0.0.0/8".parse().unwrap();
            let headers = headers(&[(name, written.as_str())]);
            for by in [PLAIN, ForwardedHeader::Forwarded] {
                let network = |peer| ClientNetwork::of_request(ip(peer), &headers, &trusted, by);
                prop_assert_eq!(network("192.0.2.7").to_string(), "192.0.2.7");
                // A trusted proxy without a forwarding header counts as the client.
                let _any = network("10.0.0.7");
            }
        }
    }
}
