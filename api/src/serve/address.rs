use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// What connections are counted under: an IPv4 address, or the /64 network of an IPv6 address, of which one subscriber
/// has all addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Holder {
    V4(Ipv4Addr),
    V6([u8; 8]),
}

impl Holder {
    pub(super) fn of(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(address) => Self::V4(address),
            IpAddr::V6(address) => {
                let [a, b, c, d, e, f, g, h, ..] = address.octets();
                Self::V6([a, b, c, d, e, f, g, h])
            }
        }
    }
}

impl fmt::Display for Holder {
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

/// Addresses and networks, as a text names them: `127.0.0.0/8, ::1, 10.1.2.3`. The empty text names none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AddressRanges(Vec<AddressRange>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct AddressRange {
    network: IpAddr,
    prefix_bits: u8,
}

/// Why a text names no address or network.
#[derive(Debug, thiserror::Error)]
#[error("{0:?} is neither an IP address nor a network such as 10.0.0.0/8")]
pub struct AddressRangeError(String);

impl FromStr for AddressRanges {
    type Err = AddressRangeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
        names.map(str::parse).collect::<Result<_, _>>().map(Self)
    }
}

impl FromStr for AddressRange {
    type Err = AddressRangeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let read = || {
            let (network, prefix) = text
                .split_once('/')
                .map_or((text, None), |(net, bits)| (net, Some(bits)));
            let network: IpAddr = network.parse().ok()?;
            let bits_max = if network.is_ipv4() { 32 } else { 128 };
            let prefix_bits = match prefix {
                Some(bits) => bits.parse().ok().filter(|bits| *bits <= bits_max)?,
                None => bits_max,
            };
            Some(Self { network, prefix_bits })
        };
        read().ok_or_else(|| AddressRangeError(text.to_owned()))
    }
}

impl AddressRanges {
    /// Whether an address is one of these; an IPv4 address is the same when it is written as IPv6.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|range| range.contains(address))
    }
}

impl AddressRange {
    fn contains(&self, address: IpAddr) -> bool {
        let prefix = u32::from(self.prefix_bits);
        match (self.network, address) {
            (IpAddr::V4(network), IpAddr::V4(address)) => {
                let differing = network.to_bits() ^ address.to_bits();
                differing.checked_shr(32 - prefix).unwrap_or(0) == 0
            }
            (IpAddr::V6(network), IpAddr::V6(address)) => {
                let differing = network.to_bits() ^ address.to_bits();
                differing.checked_shr(128 - prefix).unwrap_or(0) == 0
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn an_ipv6_subscriber_is_one_holder_and_each_ipv4_address_another() {
        let same = |one: &str, other: &str| Holder::of(ip(one)) == Holder::of(ip(other));
        assert!(same("2001:db8:1:2::1", "2001:db8:1:2:ffff:ffff:ffff:ffff"));
        assert!(!same("2001:db8:1:2::1", "2001:db8:1:3::1"));
        assert!(same("10.0.0.1", "::ffff:10.0.0.1") && !same("10.0.0.1", "10.0.0.2"));
        assert_eq!(Holder::of(ip("2001:db8:1:2::9")).to_string(), "2001:db8:1:2::/64");
        assert_eq!(Holder::of(ip("10.0.0.1")).to_string(), "10.0.0.1");
    }

    #[test]
    fn ranges_hold_what_their_prefix_says() {
        let ranges: AddressRanges = "127.0.0.0/8, ::1,10.1.2.3 , 2001:db8::/32".parse().unwrap();
        for inside in ["127.255.0.1", "::ffff:127.0.0.1", "::1", "10.1.2.3", "2001:db8:ffff::1"] {
            assert!(ranges.contains(ip(inside)), "{inside}");
        }
        for outside in ["128.0.0.1", "::2", "10.1.2.4", "2001:db9::1", "::"] {
            assert!(!ranges.contains(ip(outside)), "{outside}");
        }
        let all: AddressRanges = "0.0.0.0/0,::/0".parse().unwrap();
        assert!(all.contains(ip("192.0.2.1")) && all.contains(ip("2001:db8::1")));
        let none: AddressRanges = " , ".parse().unwrap();
        assert_eq!(none, AddressRanges::default());
        assert!(!none.contains(ip("127.0.0.1")));
    }

    #[test]
    fn a_text_that_names_no_address_is_refused_by_its_words() {
        for text in [
            "localhost",
            "10.0.0.0/33",
            "10.0.0.0/-1",
            "::/129",
            "10.0.0/8",
            "10.0.0.1/",
            "10.0.0.1/8/8",
        ] {
            let refused = format!("127.0.0.1,{text}").parse::<AddressRanges>().unwrap_err();
            assert!(refused.to_string().contains(&format!("{text:?}")), "{refused}");
        }
    }
}
