//! Tests that the address guard refuses every spelling of an address that is not public.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use proptest::prelude::*;
use storefront::address::{Refusal, Zone, check_ip, check_url};
use url::Url;

fn check(url: &str, allow_loopback: bool) -> Result<Zone, Refusal> {
    check_url(&Url::parse(url).unwrap(), allow_loopback)
}

#[test]
fn public_stores_pass() {
    for url in [
        "https://bluetokaicoffee.com/",
        "http://shop.example.com:80/",
        "https://x.myshopify.com.:443/",
        "https://8.8.8.8/",
        "https://[2606:4700::1111]/",
        "https://bücher.example/",
        "https://127.0.0.1.example.com/",
        "https://localhost.example.com/",
    ] {
        assert_eq!(check(url, false), Ok(Zone::Public), "{url}");
    }
}

#[test]
fn every_spelling_of_loopback_is_loopback() {
    for host in [
        "127.0.0.1",
        "127.1",
        "127.0.1",
        "2130706433",
        "0x7f000001",
        "0x7f.1",
        "0177.0.0.1",
        "017700000001",
        "127.0.0.1.",
        "127.255.255.254",
        "%31%32%37.0.0.1",
        "１２７.0.0.1",
        "①②⑦.⓪.⓪.①",
        "127。0。0。1",
        "localhost",
        "LOCALHOST",
        "localhost.",
        "localhost..",
        "brand-0001.localhost",
        "a.b.localhost.",
        "%6cocalhost",
        "ｌocalhost",
        "[::1]",
        "[0:0:0:0:0:0:0:1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
    ] {
        let url = format!("http://{host}:8080/products.json");
        assert_eq!(check(&url, false), Err(Refusal::Loopback), "{url}");
        assert_eq!(check(&url, true), Ok(Zone::Loopback), "{url}");
    }
}

/// Private, shared, link-local, metadata, multicast, documentation, benchmarking and reserved addresses in every
/// spelling, and IPv6 addresses that embed them.
const NOT_PUBLIC: &[&str] = &[
    "0.0.0.0",
    "0",
    "0.1.2.3",
    "10.0.0.1",
    "10.1",
    "167772161",
    "012.0.0.1",
    "100.64.0.1",
    "100.100.100.200",
    "100.127.255.255",
    "169.254.169.254",
    "169.254.170.2",
    "2852039166",
    "0xa9fea9fe",
    "0251.0376.0251.0376",
    "169.16689662",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.192",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.1.1",
    "3232235777",
    "198.18.0.1",
    "198.19.255.255",
    "198.51.100.7",
    "203.0.113.9",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
    "4294967295",
    "168.63.129.16",
    "[::]",
    "[::ffff:0:0]",
    "[::ffff:10.0.0.1]",
    "[::ffff:169.254.169.254]",
    "[::ffff:a9fe:a9fe]",
    "[::169.254.169.254]",
    "[::7f00:1]",
    "[64:ff9b::10.0.0.1]",
    "[64:ff9b::a9fe:a9fe]",
    "[64:ff9b::7f00:1]",
    "[64:ff9b:1::808:808]",
    "[100::1]",
    "[2001::1]",
    "[2001:2::1]",
    "[2001:10::1]",
    "[2001:20::1]",
    "[2001:db8::1]",
    "[2002:a9fe:a9fe::1]",
    "[2002:808:808::1]",
    "[3fff::1]",
    "[5f00::1]",
    "[fc00::1]",
    "[fd00:ec2::254]",
    "[fd12:3456::1]",
    "[fe80::1]",
    "[febf::1]",
    "[fec0::1]",
    "[ff02::1]",
    "[4000::1]",
    "[1::1]",
];

#[test]
fn nothing_else_that_is_not_public_is_asked_even_with_loopback_allowed() {
    for host in NOT_PUBLIC {
        for allow_loopback in [false, true] {
            let refusal = check(&format!("https://{host}/"), allow_loopback);
            assert!(matches!(refusal, Err(Refusal::NotPublic(_))), "{host}: {refusal:?}");
        }
    }
}

#[test]
fn names_of_private_networks_are_refused_unasked() {
    for host in [
        "metadata",
        "redis",
        "metadata.google.internal",
        "METADATA.GOOGLE.INTERNAL.",
        "printer.local",
        "nas.lan",
        "router.home.arpa",
        "x.corp",
    ] {
        assert_eq!(
            check(&format!("http://{host}/"), true),
            Err(Refusal::PrivateName),
            "{host}"
        );
    }
    for host in ["internal.example.com", "mylocal.com", "home.shop"] {
        assert_eq!(check(&format!("http://{host}/"), false), Ok(Zone::Public), "{host}");
    }
}

#[test]
fn only_the_web_on_its_own_ports_without_user_information() {
    assert_eq!(check("https://brand.example:8443/", true), Err(Refusal::Port(8443)));
    assert_eq!(check("http://8.8.8.8:22/", true), Err(Refusal::Port(22)));
    assert_eq!(check("http://brand.example:6379/", false), Err(Refusal::Port(6379)));
    assert_eq!(check("https://user@brand.example/", false), Err(Refusal::UserInfo));
    assert_eq!(
        check("https://brand.example:pw@169.254.169.254/", false),
        Err(Refusal::UserInfo)
    );
    assert_eq!(
        check("https://169.254.169.254#@brand.example/", false),
        Err(Refusal::NotPublic([169, 254, 169, 254].into()))
    );
    assert_eq!(
        check("https://169.254.169.254\\@brand.example/", false),
        Err(Refusal::NotPublic([169, 254, 169, 254].into()))
    );
    for url in [
        "ftp://brand.example/",
        "file:///etc/passwd",
        "data:,x",
        "gopher://127.0.0.1/",
        "javascript:1",
        "ws://brand.example/",
    ] {
        assert_eq!(check(url, true), Err(Refusal::Scheme), "{url}");
    }
}

#[test]
fn what_is_no_address_at_all_does_not_parse() {
    for url in [
        "http://[fe80::1%25eth0]/",
        "http://[::1%lo]/",
        "http://256.1.1.1/",
        "http://1.2.3.4.5/",
        "http://127.0.0.0x/x y",
        "http:///",
        "http://exa mple/",
    ] {
        let refused = Url::parse(url).map_or(true, |url| check_url(&url, false).is_err());
        assert!(refused, "{url}");
    }
}

proptest! {
    #[test]
    fn all_spellings_of_an_ipv4_address_are_judged_alike(bits: u32) {
        let ip = Ipv4Addr::from(bits);
        let [a, b, c, d] = ip.octets();
        let expected = check_ip(ip.into());
        let low = bits & 0xff_ffff;
        for host in [
            format!("{ip}"), format!("{bits}"), format!("{bits:#x}"), format!("0{bits:o}"), format!("{a}.{low}"),
            format!("0{a:o}.0{b:o}.0{c:o}.0{d:o}"), format!("{a:#x}.{b:#x}.{c:#x}.{d:#x}"), format!("{ip}."),
            format!("[::ffff:{ip}]"), format!("[::ffff:{:x}:{:x}]", bits >> 16, bits & 0xffff),
        ] {
            let got = check(&format!("http://{host}/"), true);
            prop_assert_eq!(got.ok(), expected.ok(), "{}", host);
        }
    }

    #[test]
    fn an_ipv6_address_is_public_only_in_global_unicast_or_over_nat64(bits: u128) {
        let ip = Ipv6Addr::from(bits);
        if check_ip(ip.into()) == Ok(Zone::Public) {
            prop_assert!(ip.segments()[0] & 0xe000 == 0x2000 || ip.to_ipv4_mapped().is_some() || bits >> 32 == 0x64_ff9b_u128 << 64);
        }
    }

    #[test]
    fn what_the_standard_library_calls_special_is_never_public(bits: u32) {
        let ip = Ipv4Addr::from(bits);
        let special = ip.is_private() || ip.is_loopback() || ip.is_link_local() || ip.is_broadcast()
            || ip.is_documentation() || ip.is_multicast() || ip.is_unspecified();
        if special {
            prop_assert_ne!(check_ip(IpAddr::V4(ip)), Ok(Zone::Public));
            let nat64 = Ipv6Addr::from((0x64_ff9b_u128 << 96) | u128::from(bits));
            prop_assert!(check_ip(nat64.into()).is_err());
        }
    }

    #[test]
    fn no_text_makes_the_guard_panic(text in "\\PC{0,60}") {
        if let Ok(url) = Url::parse(&text) {
            let _ = check_url(&url, true);
        }
        if let Ok(url) = Url::parse(&format!("http://{text}")) {
            let _ = check_url(&url, false);
        }
    }
}
