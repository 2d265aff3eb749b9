//! Map from a connection to the store that it addresses.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use crate::EmulatorError;
use crate::config::Addressing;

/// Maximum number of stores with a port each. Each store needs a file descriptor, and a process can usually open 1,024.
const PORTS_MAX: u64 = 500;

/// Maximum number of stores for the other kinds of addressing.
const STORES_MAX: u64 = 100_000;

/// Number of stores in one block 127.a.b.0/24. The last octet of an address in a block is 1 to 250.
const BLOCK: u32 = 250;

/// Fails if there are more stores than addresses, or if other machines can reach the bind address.
pub(crate) fn check(addressing: Addressing, bind: SocketAddr, stores: u64) -> Result<(), EmulatorError> {
    let most = if addressing == Addressing::PortPerStore {
        PORTS_MAX
    } else {
        STORES_MAX
    };
    if stores > most {
        return Err(EmulatorError::TooMany {
            what: "stores",
            asked: stores,
            most,
        });
    }
    if bind.ip().is_loopback() {
        Ok(())
    } else {
        Err(EmulatorError::NotLoopback { address: bind })
    }
}

/// Returns the loopback address of store `index`. The first store has 127.1.0.1, because other programs use 127.0.x.x.
pub(crate) fn ip_of(index: u32) -> Ipv4Addr {
    let block = index / BLOCK;
    Ipv4Addr::new(
        127,
        (1 + block / 256) as u8,
        (block % 256) as u8,
        (1 + index % BLOCK) as u8,
    )
}

pub(crate) fn index_of(ip: IpAddr) -> Option<usize> {
    let IpAddr::V4(ip) = ip else { return None };
    let [127, high, low, last] = ip.octets() else {
        return None;
    };
    let block = u32::from(high).checked_sub(1)? * 256 + u32::from(low);
    let within = u32::from(last).checked_sub(1).filter(|within| *within < BLOCK)?;
    Some((block * BLOCK + within) as usize)
}

/// Returns the slug in a `Host` header, the first label of `slug.localhost:8080`.
pub(crate) fn slug_of(host: &str) -> Option<&str> {
    let host = host.rsplit_once(':').map_or(host, |(host, _)| host);
    host.strip_suffix(".localhost").filter(|slug| !slug.is_empty())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_store_is_found_by_its_address(index in 0u32..100_000) {
            let ip = ip_of(index);
            prop_assert!(ip.is_loopback() && ip.octets()[1] > 0);
            prop_assert_eq!(index_of(ip.into()), Some(index as usize));
        }
    }

    #[test]
    fn addresses_of_no_store_find_none() {
        for ip in ["127.0.0.1", "127.1.0.0", "127.1.0.251", "10.1.0.1", "::1"] {
            assert_eq!(index_of(ip.parse().unwrap()), None, "{ip}");
        }
        assert_eq!(slug_of("brand-1.localhost:80"), Some("brand-1"));
        assert_eq!(slug_of("localhost:80"), None);
        assert_eq!(slug_of(".localhost"), None);
    }
}
