use std::net::IpAddr;
use std::str::FromStr;

use ipnet::IpNet;

/// IP addresses and networks, parsed from a comma-separated text such as `127.0.0.0/8, ::1, 10.1.2.3`. An empty text
/// contains no address.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AddressRanges(Vec<IpNet>);

/// Error for a text that is neither an IP address nor a network.
#[derive(Debug, thiserror::Error)]
#[error("{0:?} is neither an IP address nor a network such as 10.0.0.0/8")]
pub struct AddressRangeError(String);

impl FromStr for AddressRanges {
    type Err = AddressRangeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
        let read = |name: &str| {
            let one = name.parse::<IpAddr>().map(IpNet::from);
            one.or_else(|_| name.parse())
                .map_err(|_| AddressRangeError(name.to_owned()))
        };
        names.map(read).collect::<Result<_, _>>().map(Self)
    }
}

impl AddressRanges {
    /// Returns true if an address is in one of the ranges. An IPv4 address written as IPv6 is treated as IPv4.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|range| range.contains(&address))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
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
