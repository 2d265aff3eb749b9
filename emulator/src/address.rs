//! The way from a connection to its store.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use crate::EmulatorError;
use crate::config::Addressing;

/// Stores that may have a port each: a file descriptor each, of the 1,024 that a process usually has.
const PORTS_MAX: u64 = 500;

/// Stores that any other addressing has room for.
const STORES_MAX: u64 = 100_000;

/// Stores in one block of 127.a.b.0/24: the last number of an address goes from 1 to 250.
const BLOCK: u32 = 250;

/// Refuses what the addressing has no room for, and addresses that other machines could reach.
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

/// The loopback address of store `index`: 127.1.0.1 for the first; 127.0.x.x is left to others.
pub(crate) fn ip_of(index: u32) -> Ipv4Addr {
    let block = index / BLOCK;
    Ipv4Addr::new(
        127,
        (1 + block / 256) as u8,
        (block % 256) as u8,
        (1 + index % BLOCK) as u8,
    )
}

/// The store whose address this is.
pub(crate) fn index_of(ip: IpAddr) -> Option<usize> {
    let IpAddr::V4(ip) = ip else { return None };
    let [127, high, low, last] = ip.octets() else {
        return None;
    };
    let block = u32::from(high).checked_sub(1)? * 256 + u32::from(low);
    let within = u32::from(last).checked_sub(1).filter(|within| *within < BLOCK)?;
    Some((block * BLOCK + within) as usize)
}

/// The slug that a `Host` header names: the first label of `slug.localhost:8080`.
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
